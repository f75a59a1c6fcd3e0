-- What holds for every kind of filter: facts as templates, asked of each type.

CREATE TABLE kind (type text PRIMARY KEY, name text, arguments text, time text);
INSERT INTO kind VALUES
  ('bloomfilter', '', '', ''),
  ('countingfilter', '_counting', '', ''),
  ('cuckoofilter', '_cuckoo', '', ''),
  ('scalablefilter', '_scalable', '', ''),
  ('layeredfilter', '_layered', ', 4, ''1 day''', 'now(), ');

-- NEW[seed]: an empty filter for 1000 keys at 1%; AGG[key]: one of a column; TYPE: the type
CREATE FUNCTION holds(template text, type text, OUT result text) LANGUAGE plpgsql AS $$
DECLARE
  k kind;
  query text := template;
BEGIN
  SELECT * INTO k FROM kind WHERE kind.type = holds.type;
  query := regexp_replace(query, 'NEW\[([^]]*)\]', format('bf_create%s(1000, 0.01%s, \1)', k.name, k.arguments), 'g');
  query := regexp_replace(query, 'AGG\[([^]]*)\]', format('bf_agg%s(\1, %s1000, 0.01%s)', k.name, k.time, k.arguments), 'g');
  query := replace(query, 'TYPE', k.type);
  EXECUTE 'SELECT (' || query || ')::text' INTO result;
EXCEPTION
  WHEN OTHERS THEN result := SQLSTATE;
END
$$;

CREATE TABLE fact (id serial, what text, template text, expected text);
INSERT INTO fact (what, template, expected) VALUES
-- adding and asking
('every added key is in', 'SELECT count(*) FROM (SELECT AGG[x] AS f FROM generate_series(1, 1000) AS x) AS s, generate_series(1, 1000) AS x WHERE NOT bf_contains(f, x)', '0'),
-- 20,000 questions at 1%: 200, and five standard deviations
('the rate is kept', 'SELECT count(*) <= 271 FROM (SELECT AGG[x] AS f FROM generate_series(1, 1000) AS x) AS s, generate_series(1001, 21000) AS x WHERE bf_contains(f, x)', 'true'),
('an empty filter has nothing', 'SELECT bool_or(bf_contains(NEW[0], x)) FROM generate_series(1, 1000) AS x', 'false'),
('adding one by one', 'WITH RECURSIVE r (i, f) AS (SELECT 0, NEW[0] UNION ALL SELECT i + 1, bf_add(f, i + 1) FROM r WHERE i < 20) SELECT count(*) FROM (SELECT f FROM r WHERE i = 20) AS s, generate_series(1, 20) AS x WHERE NOT bf_contains(f, x)', '0'),
('an array at once', 'SELECT bf_contains_all(bf_add_all(NEW[0], ARRAY[1, 2, NULL, 3]), ARRAY[3, 2, 1])', 'true'),
('any of an array', 'SELECT ARRAY[bf_contains_any(f, ARRAY[9, 1]), bf_contains_any(f, ARRAY[]::int[]), bf_contains_any(f, ARRAY[9, NULL])] FROM bf_add(NEW[0], 1) AS f', '{t,f,NULL}'),
('all of an array', 'SELECT ARRAY[bf_contains_all(f, ARRAY[9, 1]), bf_contains_all(f, ARRAY[]::int[]), bf_contains_all(f, ARRAY[1, NULL])] FROM bf_add(NEW[0], 1) AS f', '{f,t,NULL}'),
('a key made before', 'SELECT bf_contains(bf_add(NEW[0], bf_key(1)), 1) AND bf_contains(bf_add(NEW[0], 1), bf_key(1))', 'true'),
('equal numbers of other types', 'SELECT bf_contains(bf_add(NEW[0], 1), 1.0) AND bf_contains(bf_add(NEW[0], 1::smallint), 1::bigint)', 'true'),
-- NULL
('adding to NULL', 'SELECT bf_add(NULL::TYPE, 1) IS NULL AND bf_add_all(NULL::TYPE, ARRAY[1]) IS NULL', 'true'),
('adding NULL', 'SELECT bf_add(f, NULL::int) = f AND bf_add_all(f, NULL::int[]) = f AND bf_add_all(f, ARRAY[NULL]::int[]) = f FROM bf_add(NEW[0], 1) AS f', 'true'),
('asking for NULL', 'SELECT bf_contains(f, NULL::int) IS NULL AND bf_contains(NULL::TYPE, 1) IS NULL AND bf_contains_any(f, NULL::int[]) IS NULL FROM bf_add(NEW[0], 1) AS f', 'true'),
('uniting with NULL', 'SELECT bf_union(f, NULL) = f AND bf_union(NULL, f) = f AND f | NULL = f AND bf_union(NULL::TYPE, NULL) IS NULL FROM bf_add(NEW[0], 1) AS f', 'true'),
('the rest of NULL', 'SELECT bf_count(NULL::TYPE) IS NULL AND bf_fpp(NULL::TYPE) IS NULL AND (bf_info(NULL::TYPE)).n IS NULL', 'true'),
-- types, seeds, parameters
('a key of another type', 'SELECT bf_contains(bf_add(NEW[0], 1), ''a''::text)', '42804'),
('adding one of another type', 'SELECT bf_add(bf_add(NEW[0], 1), ''a''::text)', '42804'),
('uniting with another type', 'SELECT bf_union(bf_add(NEW[0], 1), bf_add(NEW[0], ''a''::text))', '42804'),
('an empty one fits any type', 'SELECT bf_contains(NEW[0] | bf_add(NEW[0], ''a''::text), ''a'') AND bf_contains(bf_add(NEW[0], ''a''::text) | NEW[0], ''a'')', 'true'),
('seeds tell filters apart', 'SELECT bf_union(NEW[1], NEW[2])', '22023'),
('of one seed they fit', 'SELECT bf_contains_all(bf_union(bf_add(NEW[-7], 1), bf_add(NEW[-7], 2)), ARRAY[1, 2])', 'true'),
('the seed is kept', 'SELECT (bf_info(NEW[-7])).seed', '-7'),
('the parameters are kept', 'SELECT ARRAY[(bf_info(f)).n, (bf_info(f)).p] FROM bf_add(NEW[0], 1) AS f', '{1000,0.01}'),
('the key type is told', 'SELECT ARRAY[(bf_info(NEW[0])).key_type, (bf_info(bf_add(NEW[0], now()::date))).key_type]', '{NULL,"date or timestamp"}'),
('bytes are those of the value', 'SELECT (bf_info(f)).bytes = pg_column_size(f) FROM (SELECT AGG[x] AS f FROM generate_series(1, 1000) AS x OFFSET 0) AS s', 'true'),
('the other kinds have no part in it', 'SELECT f::bytea::TYPE = f FROM (SELECT bf_add(NEW[0], 1) AS f) AS s', 'true'),
-- sets of filters
('a union has all keys', 'SELECT count(*) FROM (SELECT bf_union_agg(f) AS f FROM (SELECT AGG[x] AS f FROM generate_series(1, 900) AS x GROUP BY x % 9) AS s) AS t, generate_series(1, 900) AS x WHERE NOT bf_contains(f, x)', '0'),
('a union of nothing', 'SELECT bf_union_agg(f) IS NULL FROM (VALUES (NULL::TYPE)) AS v (f)', 'true'),
('an aggregate of nothing', 'SELECT AGG[x] IS NULL FROM generate_series(1, 0) AS x', 'true'),
('an aggregate of NULLs is empty', 'SELECT bf_count(AGG[x]) FROM (VALUES (NULL::int)) AS v (x)', '0'),
('aggregating keys made before', 'SELECT count(*) FROM (SELECT AGG[bf_key(x)] AS f FROM generate_series(1, 500) AS x) AS s, generate_series(1, 500) AS x WHERE NOT bf_contains(f, x)', '0'),
('as a window', 'SELECT bool_and(ok) FROM (SELECT bf_contains(AGG[x] OVER (ORDER BY x), x) AS ok FROM generate_series(1, 100) AS x) AS s', 'true'),
('in a moving frame', 'SELECT count(*) FROM (SELECT x, AGG[x] OVER (ORDER BY x ROWS BETWEEN 5 PRECEDING AND 2 FOLLOWING) AS f FROM generate_series(1, 50) AS x) AS w WHERE f <> (SELECT AGG[y] FROM generate_series(greatest(x - 5, 1), least(x + 2, 50)) AS y)', '0'),
('of keys in a moving frame', 'SELECT count(*) FROM (SELECT x, AGG[bf_key(x)] OVER (ORDER BY x ROWS BETWEEN 5 PRECEDING AND 2 FOLLOWING) AS f FROM generate_series(1, 50) AS x) AS w WHERE f <> (SELECT AGG[bf_key(y)] FROM generate_series(greatest(x - 5, 1), least(x + 2, 50)) AS y)', '0'),
('unions in a moving frame', 'SELECT count(*) FROM (SELECT g, bf_union_agg(f) OVER (ORDER BY g ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS f FROM (SELECT x % 9 AS g, AGG[x] AS f FROM generate_series(1, 90) AS x GROUP BY x % 9) AS s) AS w, generate_series(1, 90) AS x WHERE x % 9 BETWEEN g - 1 AND g + 1 AND NOT bf_contains(f, x)', '0'),
('=', 'SELECT bf_add(NEW[0], 1) = bf_add(NEW[0], 1) AND NOT bf_add(NEW[0], 1) = NEW[0]', 'true'),
('GROUP BY, by hash', 'SELECT count(*) FROM (SELECT f FROM (VALUES (bf_add(NEW[0], 1)), (bf_add(NEW[0], 1)), (NEW[0])) AS v (f) GROUP BY f) AS s', '2'),
('<>', 'SELECT bf_add(NEW[0], 1) <> bf_add(NEW[0], 2) AND NOT NEW[0] <> NEW[0]', 'true'),
-- estimates: 1000 keys, five standard deviations
('keys are counted', 'SELECT abs(bf_count(AGG[x]) - 500) < 50 FROM generate_series(1, 500) AS x', 'true'),
('the rate is told', 'SELECT bf_fpp(AGG[x]) BETWEEN 0.002 AND 0.0115 FROM generate_series(1, 1000) AS x', 'true'),
('overfull, it tells more', 'SELECT bf_fpp(f) >= 0 AND bf_fpp(f) <= 1 FROM (SELECT AGG[x] AS f FROM generate_series(1, 1030) AS x) AS s', 'true'),
-- in and out
('text', 'SELECT f::text::TYPE = f AND f::text::TYPE::text = f::text FROM (SELECT AGG[x] AS f FROM generate_series(1, 300) AS x) AS s', 'true'),
('empty as text', 'SELECT NEW[5]::text::TYPE = NEW[5]', 'true'),
('bytea', 'SELECT f::bytea::TYPE = f FROM (SELECT AGG[x] AS f FROM generate_series(1, 300) AS x) AS s', 'true'),
('every flipped bit is noticed', 'SELECT count(*) FROM (SELECT bf_add_all(NEW[0], ARRAY[1, 2, 3])::bytea AS b) AS s, generate_series(0, 8 * least(length(b), 200) - 1) AS bit WHERE refused(''TYPE'', set_bit(b, bit, 1 - get_bit(b, bit)))', 'all'),
('and every one at the end', 'SELECT count(*) FROM (SELECT bf_add_all(NEW[0], ARRAY[1, 2, 3])::bytea AS b) AS s, generate_series(8 * length(b) - 800, 8 * length(b) - 1) AS bit WHERE refused(''TYPE'', set_bit(b, bit, 1 - get_bit(b, bit)))', '800'),
('nothing shorter', 'SELECT bool_and(refused(''TYPE'', substr(b, 1, n))) FROM (SELECT bf_add(NEW[0], 1)::bytea AS b) AS s, generate_series(0, least(length(b) - 1, 300)) AS n', 'true'),
('nothing longer', 'SELECT refused(''TYPE'', b || ''\x00'') FROM (SELECT bf_add(NEW[0], 1)::bytea AS b) AS s', 'true'),
('no other kind', 'SELECT bool_and(refused(type, bf_add(NEW[0], 1)::bytea)) FROM kind WHERE type <> ''TYPE''', 'true');

CREATE FUNCTION refused(type text, b bytea) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT $1::%I', type) USING b;
  RETURN false;
EXCEPTION
  WHEN invalid_binary_representation THEN RETURN true;
END
$$;
-- the number of bits depends on the size
UPDATE fact SET template = replace(template, 'count(*) FROM', 'CASE WHEN count(*) = 8 * min(least(length(b), 200)) THEN ''all'' END FROM') WHERE expected = 'all';

-- nothing but exceptions is shown
SELECT what, type, result FROM fact, kind, holds(template, type) WHERE result IS DISTINCT FROM expected ORDER BY id, type;
SELECT count(*) FROM fact, kind;

-- stored: out of line, compressed, in line, with a short header; asked for a few keys by reading
-- places, for many by reading the whole
CREATE TABLE stored (type text, storage text, asked int, wrong bigint);
CREATE PROCEDURE ask_stored(type text, storage text, asked int) LANGUAGE plpgsql AS $$
DECLARE
  k kind;
BEGIN
  SELECT * INTO k FROM kind WHERE kind.type = ask_stored.type;
  EXECUTE format('CREATE TABLE f (f %I)', type);
  EXECUTE format('ALTER TABLE f ALTER f SET STORAGE %s', storage);
  EXECUTE format('INSERT INTO f SELECT bf_agg%s(x, %s5000, 0.001%s) FROM generate_series(1, 5000) AS x', k.name, k.time, k.arguments);
  EXECUTE format('INSERT INTO stored SELECT %L, %L, %s, count(*) FROM f, LATERAL (SELECT x, bf_contains(f, x) AS stored, bf_contains(whole, x) AS whole'
    ' FROM generate_series(1, %s) AS x, (SELECT bf_agg%s(x, %s5000, 0.001%s) AS whole FROM generate_series(1, 5000) AS x) AS s) AS t'
    ' WHERE stored <> whole OR x <= 5000 AND NOT stored', type, storage, asked, asked, k.name, k.time, k.arguments);
  DROP TABLE f;
END
$$;
DO $$
DECLARE
  r record;
BEGIN
  FOR r IN SELECT type, storage, asked FROM kind, unnest('{external,extended,main}'::text[]) AS storage, unnest('{3,20000}'::int[]) AS asked LOOP
    CALL ask_stored(r.type, r.storage, r.asked);
  END LOOP;
END
$$;
SELECT sum(wrong) AS wrong, count(*) = 6 * (SELECT count(*) FROM kind) AS all_asked FROM stored;

-- parallel aggregates give the bytes of serial ones, but for cuckoofilter, where the order of the
-- keys decides on their places
CREATE TABLE numbers AS SELECT x FROM generate_series(1, 20000) AS x;
ALTER TABLE numbers SET (parallel_workers = 2);
ANALYZE numbers;
CREATE TABLE aggregated (type text, workers int, f bytea);
CREATE PROCEDURE aggregate() LANGUAGE plpgsql AS $$
DECLARE
  k kind;
  query text;
  line text;
  workers int;
  f bytea;
BEGIN
  FOR k IN SELECT * FROM kind WHERE type <> 'cuckoofilter' LOOP
    query := format('SELECT bf_agg%s(x, %s20000, 0.01%s)::bytea FROM numbers', k.name,
      replace(k.time, 'now()', '''2024-01-01''::timestamptz + x * interval ''10 seconds'''), k.arguments);
    workers := 0;
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
      workers := greatest(workers, substring(line FROM 'Workers Launched: ([0-9]+)')::int);
    END LOOP;
    EXECUTE query INTO f;
    INSERT INTO aggregated VALUES (k.type, workers, f);
  END LOOP;
END
$$;
SET max_parallel_workers_per_gather = 0;
CALL aggregate();
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CALL aggregate();
SELECT type, max(workers) > 0 AS parallel, min(workers) = 0 AS serial, count(DISTINCT f) FROM aggregated GROUP BY type ORDER BY type;

DROP TABLE kind, fact, stored, numbers, aggregated;
DROP FUNCTION holds, refused;
DROP PROCEDURE ask_stored, aggregate;
