-- Stored filters: right answers however they are stored and however often they
-- change, few pages read for one key, one whole read for many, bounded memory.

-- a filter that fits many TOAST chunks, one that fits none, compressed ones, one of few bytes
CREATE TABLE filters (name text PRIMARY KEY, keys int, f bloomfilter);
INSERT INTO filters SELECT 'large', 200000, bf_agg(x, 1000000, 0.01) FROM generate_series(1, 200000) AS x;
INSERT INTO filters SELECT 'inline', 500, bf_agg(x, 500, 0.01) FROM generate_series(1, 500) AS x;
INSERT INTO filters SELECT 'short', 5, bf_agg(x, 5, 0.01) FROM generate_series(1, 5) AS x;
ALTER TABLE filters ALTER f SET STORAGE extended;
INSERT INTO filters SELECT 'compressed', 10000, bf_agg(x, 2000000, 0.01) FROM generate_series(1, 10000) AS x;
INSERT INTO filters SELECT 'compressed inline', 10, bf_agg(x, 100000, 0.01) FROM generate_series(1, 10) AS x;
DO $$ BEGIN
  EXECUTE 'ALTER TABLE filters ALTER f SET COMPRESSION lz4';
EXCEPTION WHEN syntax_error OR feature_not_supported OR invalid_parameter_value THEN NULL; -- before 14, or built without: pglz again
END $$;
INSERT INTO filters SELECT 'lz4', 10000, bf_agg(x, 2000000, 0.01) FROM generate_series(1, 10000) AS x;
INSERT INTO filters SELECT 'lz4 inline', 10, bf_agg(x, 100000, 0.01) FROM generate_series(1, 10) AS x;
ALTER TABLE filters ALTER f SET STORAGE plain;
INSERT INTO filters SELECT 'plain', 100, bf_agg(x, 1000, 0.01) FROM generate_series(1, 100) AS x;
ALTER TABLE filters ALTER f SET STORAGE external;
VACUUM ANALYZE filters;

-- as an InitPlan, as a join column (both loop orders), from a CTE, from a lateral subquery
CREATE TABLE asked AS SELECT x AS id FROM generate_series(1, 20000) AS x;
ANALYZE asked;
SELECT name, (SELECT count(*) FROM asked WHERE bf_contains((SELECT f FROM filters AS i WHERE i.name = o.name), id)) BETWEEN least(keys, 20000) AND least(keys, 20000) * 1.02 + 260 AS initplan
FROM filters AS o ORDER BY name;
SELECT name, count(*) FILTER (WHERE bf_contains(f, id)) BETWEEN least(keys, 20000) AND least(keys, 20000) * 1.02 + 260 AS joined,
       count(*) FILTER (WHERE id <= keys AND NOT bf_contains(f, id)) AS lost
FROM filters, asked GROUP BY name, keys ORDER BY name;
SELECT count(*) FILTER (WHERE id <= keys AND NOT bf_contains(f, id)) AS lost_alternating FROM (SELECT id, name, keys, f FROM asked, filters ORDER BY id, name) AS s;
WITH c AS MATERIALIZED (SELECT f FROM filters WHERE name = 'large') SELECT count(*) FROM c, asked WHERE bf_contains(f, id);

-- 300 stored filters in turn at one call site, twice: more than it remembers
CREATE TABLE many AS SELECT g, bf_agg(g * 1000 + x, 30000, 0.01) AS f FROM generate_series(1, 300) AS g, generate_series(1, 20) AS x GROUP BY g;
SELECT count(*) AS asked, count(*) FILTER (WHERE NOT bf_contains(f, g * 1000 + x)) AS lost
FROM (SELECT g, x, f FROM many, generate_series(1, 20) AS x ORDER BY x, g) AS s;
SELECT count(*) AS asked, count(*) FILTER (WHERE NOT bf_contains(f, g * 1000 + x)) AS lost,
       count(*) FILTER (WHERE bf_contains(f, -x)) < 200 AS rate
FROM (SELECT g, x, f FROM many, generate_series(1, 20) AS x ORDER BY g, x) AS s;

-- the row is updated between the executions of a cached plan, and within a loop
CREATE FUNCTION is_in(k int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE result boolean;
BEGIN
  SELECT bf_contains(f, k) INTO result FROM filters WHERE name = 'large';
  RETURN result;
END $$;
DO $$
DECLARE
  g bloomfilter;
  missed int := 0;
  early int := 0;
BEGIN
  FOR k IN 1000001..1000040 LOOP
    IF is_in(k) THEN early := early + 1; END IF;
    UPDATE filters SET f = bf_add(f, k) WHERE name = 'large';
    IF NOT is_in(k) THEN missed := missed + 1; END IF;
    -- the filter in a variable, which holds the TOAST pointer
    SELECT f INTO g FROM filters WHERE name = 'large';
    IF NOT bf_contains(g, k) OR NOT bf_contains(g, k - 1000000) THEN missed := missed + 1; END IF;
    g := bf_add(g, -k);
    IF NOT bf_contains(g, -k) OR NOT bf_contains(g, k) THEN missed := missed + 1; END IF;
  END LOOP;
  RAISE NOTICE 'missed %, early %', missed, early < 5;
END $$;

-- subtransactions that are rolled back take their keys with them
DO $$
DECLARE missed int := 0; left_over int := 0;
BEGIN
  FOR k IN 2000001..2000020 LOOP
    BEGIN
      UPDATE filters SET f = bf_add(f, k) WHERE name = 'large';
      IF NOT is_in(k) THEN missed := missed + 1; END IF;
      RAISE EXCEPTION 'undo';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    IF is_in(k) THEN left_over := left_over + 1; END IF;
  END LOOP;
  RAISE NOTICE 'missed %, left over %', missed, left_over < 4;
END $$;
-- an error in the middle of a call site's life
DO $$
DECLARE wrong int := 0;
BEGIN
  FOR k IN 1..20 LOOP
    BEGIN
      PERFORM count(*) FROM filters WHERE bf_contains(f, 'text'::text);
    EXCEPTION WHEN datatype_mismatch THEN NULL;
    END;
    IF NOT is_in(k) THEN wrong := wrong + 1; END IF;
  END LOOP;
  RAISE NOTICE 'wrong %', wrong;
END $$;

-- a cursor sees the filter of its snapshot, whatever happens meanwhile
BEGIN;
DECLARE c CURSOR FOR SELECT id, bf_contains((SELECT f FROM filters WHERE name = 'large'), id + 3000000) FROM asked ORDER BY id LIMIT 3;
FETCH 1 FROM c;
UPDATE filters SET f = bf_add_all(f, ARRAY(SELECT generate_series(3000001, 3000100))) WHERE name = 'large';
SAVEPOINT s;
FETCH 1 FROM c;
ROLLBACK TO s;
FETCH 1 FROM c;
SELECT bf_contains(f, 3000002) FROM filters WHERE name = 'large';
ROLLBACK;

-- the other functions on stored filters
SELECT bf_contains_all(f, ARRAY(SELECT generate_series(1, 5000))), bf_contains_any(f, ARRAY(SELECT generate_series(-5, 0))) IS NOT NULL,
       bf_contains_any(f, ARRAY[-1, 7]), bf_contains_all(f, ARRAY[1, 2, 3])
FROM filters WHERE name = 'large';
SELECT count(*) = 3 * (SELECT count(*) FROM filters) AS commutative FROM filters AS a, filters AS b, generate_series(1, 3) AS i WHERE a.f | b.f = b.f | a.f AND a.name = b.name;
SELECT sum(round(bf_intersect_count(f, g) / 200000 * 100)) FROM (SELECT f FROM filters WHERE name = 'large') AS l,
  (SELECT bf_agg(x, 1000000, 0.01) AS g FROM generate_series(1, 200000) AS x) AS m, generate_series(1, 3) AS i;
SELECT bf_add(f, 5) = f, bf_add_all(f, ARRAY[1, 2, 3]) = f, bf_add(f, -5) <> f, bf_contains(bf_add(f, -5), -5) FROM filters WHERE name = 'large';

-- Few pages: one key of a stored filter of 115 MB (58,000 chunks) reads its header and its block.
CREATE TABLE huge AS SELECT 1 AS id, bf_agg(x, 100000000, 0.01) AS f FROM generate_series(1, 100000) AS x;
VACUUM huge;
CREATE FUNCTION pages_read(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
  RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::int + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::int;
END $$;
-- the first use of a table in a session reads its catalog entries too
SELECT pages_read('SELECT bf_contains(f, 1) FROM huge') < 100 AS warm;
-- one page of the table, and for header and block a page or two of the TOAST table and of its index
SELECT max(pages_read(format('SELECT bf_contains(f, %s) FROM huge', x))) <= 1 + 8 AS few FROM generate_series(1, 100) AS x;
SELECT max(pages_read(format('SELECT bf_contains(f, %s) FROM huge', -x))) <= 1 + 8 AS few FROM generate_series(1, 100) AS x;
SELECT pages_read('SELECT bf_contains_any(f, ARRAY[-1, -2, -3]) FROM huge') <= 1 + 4 + 3 * 4 AS few;
-- a key that is in changes nothing, and needs no more
SELECT pages_read('SELECT bf_add(f, 77) IS NULL FROM huge') <= 1 + 8 AS few;
-- ten thousand look-ups at one call site: one whole read (14,500 pages and their index), not as many
SELECT pages_read('SELECT bf_contains(f, x) FROM huge, generate_series(1, 10000) AS x') BETWEEN 14500 AND 45000 AS once;
SELECT pages_read('SELECT bf_contains((SELECT f FROM huge), x) FROM generate_series(1, 10000) AS x') BETWEEN 14500 AND 45000 AS once;
DROP TABLE huge;
CREATE TABLE huge AS SELECT 1 AS id, bf_agg(x, 10000000, 0.01) AS f FROM generate_series(1, 100000) AS x;
-- updating with a key that is in keeps the TOAST value
CREATE TEMP TABLE before AS SELECT pg_relation_size(reltoastrelid) AS bytes FROM pg_class WHERE oid = 'huge'::regclass;
UPDATE huge SET f = bf_add(f, 77);
UPDATE huge SET f = bf_add_all(f, ARRAY[77, 78, NULL]);
SELECT pg_relation_size(reltoastrelid) = bytes AS same_size FROM pg_class, before WHERE oid = 'huge'::regclass;

-- Memory: alternating between filters of 12 MB with little hash memory, at most one is kept.
SET work_mem = '1MB';
INSERT INTO huge SELECT 2, bf_add(f, -1) FROM huge;
INSERT INTO huge SELECT id + 2, bf_add(f, -2) FROM huge;
CREATE FUNCTION check_memory() RETURNS text LANGUAGE plpgsql AS $$
DECLARE kept bigint;
BEGIN
  IF current_setting('server_version_num')::int < 140000 THEN RETURN 'bounded'; END IF;
  EXECUTE 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts' INTO kept;
  RETURN CASE WHEN kept < 40000000 THEN 'bounded' ELSE 'unbounded: ' || kept END;
END $$;
SELECT count(*) FILTER (WHERE NOT bf_contains(f, x)) AS lost, max(check_memory()) FILTER (WHERE x % 500 = 0) AS memory
FROM (SELECT x, f FROM huge, generate_series(1, 2000) AS x ORDER BY x, id) AS s;
SELECT count(*) FILTER (WHERE NOT bf_contains(f, x)) AS lost, max(check_memory()) FILTER (WHERE x % 500 = 0) AS memory
FROM (SELECT x, f FROM huge, generate_series(1, 2000) AS x ORDER BY id, x) AS s;
-- and they do not push each other out for every row: 8,000 whole reads would be 12 million pages
SELECT pages_read('SELECT count(*) FROM (SELECT x, f FROM huge, generate_series(1, 2000) AS x ORDER BY x, id OFFSET 0) AS s WHERE bf_contains(f, x)') < 300000 AS no_thrashing;
RESET work_mem;

-- one copy for all call sites of a query: 40 partitions, each with a call site of its own, and a filter of 12 MB
CREATE TABLE parted (id int, part int) PARTITION BY LIST (part);
DO $$ BEGIN
  FOR i IN 1..40 LOOP EXECUTE format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%s)', i, i); END LOOP;
END $$;
INSERT INTO parted SELECT x % 1000, x % 40 + 1 FROM generate_series(1, 40000) AS x;
SELECT count(*) AS found, max(check_memory()) FILTER (WHERE part = 40) AS memory
FROM parted WHERE bf_contains((SELECT f FROM huge WHERE huge.id = 2), id) AND id > 0;
DROP TABLE parted;
-- nothing is left when the queries are done
CREATE FUNCTION kept() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint := 0;
BEGIN
  IF current_setting('server_version_num')::int >= 140000 THEN
    EXECUTE $q$SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'bloomset stored filter'$q$ INTO n;
  END IF;
  RETURN n;
END $$;
SELECT kept();
DO $$ BEGIN
  PERFORM count(bf_contains(f, x) AND 1 / (x - 9000) > 0) FROM huge, generate_series(1, 10000) AS x WHERE id = 1;
EXCEPTION WHEN division_by_zero THEN RAISE NOTICE 'an error in the middle';
END $$;
SELECT kept();
-- functions live until the transaction ends
CREATE FUNCTION ask(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE f bloomfilter; hits int := 0;
BEGIN
  SELECT huge.f INTO f FROM huge WHERE id = 2;
  FOR i IN 1..n LOOP IF bf_contains(f, i) THEN hits := hits + 1; END IF; END LOOP;
  RETURN hits;
END $$;
SELECT ask(2000), ask(2000), check_memory();
SELECT kept();
DROP FUNCTION ask, kept;

-- in parallel workers
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM asked WHERE bf_contains((SELECT f FROM filters WHERE name = 'large'), id);
SELECT count(*) FROM asked, filters WHERE name = 'compressed' AND bf_contains(f, id) AND id <= 10000;

DROP TABLE filters, asked, many, huge, before;
DROP FUNCTION is_in, pages_read, check_memory;
