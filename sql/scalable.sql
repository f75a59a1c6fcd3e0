-- scalablefilter: grows with its keys, and keeps its false-positive rate.

-- an empty one has no layer; the first key makes the first
SELECT n, p, seed, key_type, layers, capacity, bits, bits_set, fill, count, fpp, bytes FROM bf_info(bf_create_scalable(1000, 0.05, 7));
SELECT n, p, seed, key_type, layers, capacity, bits_set > 0 AS has_bits, round(count) AS count, bytes = 64 + 64 + ceil(bits / 64.0) * 8 AS bytes
FROM bf_info(bf_add(bf_create_scalable(1000), 'a'::text));
SELECT bf_create_scalable(100) = bf_create_scalable(100, 0.01, 0) AS defaults;
SELECT bf_create_scalable(NULL) IS NULL, bf_create_scalable(1, NULL) IS NULL, bf_create_scalable(1, 0.1, NULL) IS NULL;

-- the layer grows when the keys pass its capacity, not before
SELECT keys, layers, capacity FROM unnest(ARRAY[1, 100, 101, 300, 301, 700, 701, 5000]) AS keys,
  bf_info((SELECT bf_add_all(bf_create_scalable(100, 1e-6), array_agg(x)) FROM generate_series(1, keys) AS x));

-- the rate of all layers together is the one asked for: of 100,000 others, within 4 standard deviations;
-- the bits tell a little more or less than the rate they were sized for
SELECT start, rate, layers, keys - found AS lost, wrong <= 100000 * rate + 4 * sqrt(100000 * rate) AS rate_kept, fpp <= rate * 1.02 AS rate_told, abs(count / keys - 1) < 0.02 AS count_near
FROM (VALUES (100, 0.01, 100000), (1, 0.01, 3000), (10, 0.05, 20000), (1000, 0.001, 127000)) AS v (start, rate, keys),
  LATERAL (SELECT bf_add_all(bf_create_scalable(start, rate), array_agg(x)) AS f FROM generate_series(1, keys) AS x) AS made,
  LATERAL (SELECT count(*) FILTER (WHERE x <= keys) AS found, count(*) FILTER (WHERE x > keys) AS wrong
           FROM generate_series(1, keys + 100000) AS x WHERE bf_contains(f, x)) AS asked,
  LATERAL bf_info(f);

-- what cannot be made
SELECT bf_create_scalable(0);
SELECT bf_create_scalable(-1);
SELECT bf_create_scalable(100, 0);
SELECT bf_create_scalable(100, 1);
SELECT bf_create_scalable(100, 5);
SELECT bf_create_scalable(100, 'NaN');
SELECT bf_create_scalable(100, 1e-11);
SELECT bf_create_scalable(100, 2e-10);
SELECT bf_create_scalable(1000000000000, 0.01);
\set VERBOSITY sqlstate
SELECT bf_create_scalable(0);
SELECT bf_create_scalable(100, 'NaN');
SELECT bf_create_scalable(100, 2e-10);
SELECT bf_create_scalable(441000000, 0.01);
\set VERBOSITY default

-- at its limit, here that of the least rate, adding is all or nothing
CREATE TABLE small (f scalablefilter);
INSERT INTO small VALUES (bf_add_all(bf_create_scalable(1, 3e-10), ARRAY[1, 2]));
UPDATE small SET f = bf_add_all(f, ARRAY[3, 4, 5]);
SELECT layers, capacity, bf_contains(f, 3) AS added, bf_contains_all(f, ARRAY[1, 2]) AS kept FROM small, bf_info(f);
UPDATE small SET f = bf_add_all(f, ARRAY[3, NULL, 1, 2]);
UPDATE small SET f = bf_add(f, 2);
UPDATE small SET f = bf_add(f, 4);
SELECT bf_contains_all(f, ARRAY[1, 2, 3]) AS kept, bf_contains(f, 4) AS added FROM small;
\set VERBOSITY sqlstate
UPDATE small SET f = bf_add(f, 4);
SELECT bf_agg_scalable(bf_key(x), 1, 3e-10) FROM generate_series(1, 4) AS x;
SELECT bf_agg_scalable(x, 1, 3e-10) FROM generate_series(1, 4) AS x;
\set VERBOSITY default
DROP TABLE small;

-- NULL: no filter, no key
SELECT bf_add(f, NULL::int) = f AS null_key, bf_add(NULL::scalablefilter, 1) IS NULL AS null_filter, bf_add_all(f, NULL::int[]) = f AS null_array,
       bf_add_all(f, ARRAY[NULL, NULL]::int[]) = f AS nulls, bf_contains(f, NULL::int) IS NULL AS unknown, bf_contains(NULL::scalablefilter, 1) IS NULL AS no_filter,
       bf_contains_any(f, ARRAY[1, NULL]) AS any_found, bf_contains_any(f, ARRAY[-5, NULL]) IS NULL AS any_unknown, bf_contains_any(f, '{}'::int[]) AS any_of_none,
       bf_contains_all(f, ARRAY[-5, NULL]) AS all_missing, bf_contains_all(f, ARRAY[1, NULL]) IS NULL AS all_unknown, bf_contains_all(f, '{}'::int[]) AS all_of_none,
       bf_count(NULL::scalablefilter) IS NULL AS count, bf_fpp(NULL::scalablefilter) IS NULL AS fpp
FROM bf_add(bf_create_scalable(10, 1e-6), 1) AS f;

-- keys: those of equal values are equal, those of other types are an error, a bfkey is a key
SELECT bool_and(bf_contains(a, x::int2) AND bf_contains(a, x) AND bf_contains(a, x::int8) AND bf_contains(a, x::numeric) AND bf_contains(a, bf_key(x))) AS all_integers
FROM (SELECT bf_agg_scalable(x::int2, 10, 0.01) AS a FROM generate_series(-50, 49) AS x) AS s, generate_series(-50, 49) AS x;
SELECT bf_contains(bf_add(bf_create_scalable(10), 1), 1.0::float8);
SELECT bf_add(bf_add(bf_create_scalable(10), 1), 'a'::text);
SELECT bf_add_all(bf_add(bf_create_scalable(10), 1), ARRAY['a']);
SELECT bf_contains_any(bf_add(bf_create_scalable(10), 1), ARRAY['a']);
SELECT bf_agg_scalable(k, 10, 0.01) FROM (VALUES (bf_key(1)), (bf_key('a'))) AS v (k);
SELECT bf_agg_scalable(r, 10, 0.01) FROM (VALUES (ROW(1, 2)), (ROW(1))) AS v (r);
SELECT bf_contains(bf_create_scalable(10), point(1, 2));
SELECT bf_contains(bf_create_scalable(10), 'a') AS empty, bf_contains_all(bf_create_scalable(10), ARRAY[now()]) AS empty_all;
-- seeds: independent false positives
SELECT a.layers = b.layers AS same_layers, a.bits_set <> b.bits_set AS other_bits
FROM bf_info((SELECT bf_add_all(bf_create_scalable(10, 0.01, 1), array_agg(x)) FROM generate_series(1, 500) AS x)) AS a,
     bf_info((SELECT bf_add_all(bf_create_scalable(10, 0.01, -2), array_agg(x)) FROM generate_series(1, 500) AS x)) AS b;

-- the aggregate: the same filter whatever the order, repetition and number of processes
CREATE TABLE many AS SELECT (i * 7919) % 40000 AS x, i FROM generate_series(1, 80000::bigint) AS i;
CREATE TABLE expected AS SELECT bf_agg_scalable(x, 100, 0.01) AS f FROM generate_series(0, 39999::bigint) AS x;
SELECT n, p, seed, key_type, layers, capacity, abs(count / 40000 - 1) < 0.01 AS count_near, fpp <= p AS rate_kept FROM expected, bf_info(f);
SELECT as_it_comes = f AS as_it_comes, backwards = f AS backwards, distinct_keys = f AS distinct_keys, without_0 <> f AS without_0
FROM (SELECT bf_agg_scalable(x, 100, 0.01 ORDER BY i) AS as_it_comes, bf_agg_scalable(x, 100, 0.01 ORDER BY i DESC) AS backwards,
             bf_agg_scalable(DISTINCT x, 100, 0.01) AS distinct_keys, bf_agg_scalable(NULLIF(x, -x), 100, 0.01) AS without_0 FROM many) AS s, expected;
SELECT count(*) AS lost FROM expected, generate_series(0, 39999) AS x WHERE NOT bf_contains(f, x);
SELECT count(*) <= 1000 + 4 * sqrt(1000) AS rate_kept FROM expected, generate_series(100000, 199999) AS x WHERE bf_contains(f, x);
-- also of the keys of one shard, which have something in common
SELECT count(*) FILTER (WHERE NOT bf_contains(f, x)) AS lost
FROM (SELECT bf_agg_scalable(x, 100, 0.01) AS f FROM many WHERE bf_shard(x, 4) = 2) AS s, generate_series(0, 39999) AS x WHERE bf_shard(x, 4) = 2;
SELECT count(*) FILTER (WHERE bf_contains(f, x)) <= count(*) * 0.01 + 4 * sqrt(count(*) * 0.01) AS rate_kept
FROM (SELECT bf_agg_scalable(x, 100, 0.01) AS f FROM many WHERE bf_shard(x, 4) = 2) AS s, generate_series(100000, 299999) AS x WHERE bf_shard(x, 4) = 2;
SET work_mem = '64kB';
SELECT (SELECT bf_agg_scalable(x, 100, 0.01) FROM many) = f AS spilled FROM expected;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 4;
ANALYZE many;
EXPLAIN (COSTS OFF) SELECT bf_agg_scalable(x, 100, 0.01) FROM many;
SELECT (SELECT bf_agg_scalable(x, 100, 0.01) FROM many) = f AS spilled FROM expected;
RESET work_mem;
SELECT (SELECT bf_agg_scalable(x, 100, 0.01) FROM many) = f AS in_memory FROM expected;
SELECT (SELECT bf_agg_scalable(x, 100, 0.01) FROM many WHERE x < 0) IS NULL AS no_rows, (SELECT bf_agg_scalable(NULLIF(x, x), 100, 0.01) FROM many) = bf_create_scalable(100) AS only_nulls,
       (SELECT round(bf_count(bf_agg_scalable(x, 100, 0.01))) FROM many WHERE x = 5) AS one;
-- from keys its state is the filter: all keys are in, whoever added them
SELECT count(*) AS lost FROM (SELECT bf_agg_scalable(bf_key(x), 100, 0.01) AS f FROM many) AS s, generate_series(0, 39999) AS x WHERE NOT bf_contains(f, x);
SELECT n, p, key_type FROM bf_info((SELECT bf_agg_scalable(bf_key(x), 100, 0.01) FROM many));
SET max_parallel_workers_per_gather = 0;
SELECT bf_agg_scalable(bf_key(x), 100, 0.01 ORDER BY x) = (SELECT bf_add_all(bf_create_scalable(100, 0.01), array_agg(y ORDER BY y)) FROM generate_series(0, 39999) AS y) AS as_added
FROM many;
SELECT bool_and(f = (SELECT bf_agg_scalable(y, 5, 0.01) FROM generate_series(1, x) AS y)) AS as_window FROM (SELECT x, bf_agg_scalable(x, 5, 0.01) OVER (ORDER BY x) AS f FROM generate_series(1, 200) AS x) AS s;
SELECT bf_agg_scalable(x, 100 + x, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_agg_scalable(x, 100, 0.01 * x) FROM generate_series(1, 3) AS x;
SELECT bf_agg_scalable(bf_key(x), 100 + x, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_agg_scalable(x, NULL, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_agg_scalable(x, 0, 0.01) FROM generate_series(1, 3) AS x;
SELECT bf_agg_scalable(x, 10, 'NaN') FROM generate_series(1, 3) AS x;
SELECT bf_agg_scalable(x, 10, 1e-10) FROM generate_series(1, 3) AS x;
SELECT bf_agg_scalable(point(x, x), 10, 0.1) FROM generate_series(1, 3) AS x;
SET work_mem = '64kB';
SELECT count(f) FROM (SELECT bf_agg_scalable(x, 100, 0.01) OVER (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS f FROM generate_series(1, 100000) AS x) AS s;
RESET work_mem;
DROP TABLE many;

-- union: the keys of both; the same for both orders; n, p and seed as before
CREATE FUNCTION filter(low int, high int, n int DEFAULT 100) RETURNS scalablefilter LANGUAGE sql AS 'SELECT bf_agg_scalable(x, $3, 0.01) FROM generate_series($1, $2) AS x';
CREATE TABLE parts AS SELECT g, filter(g * 1000, g * 1000 + 40 * g) AS f FROM generate_series(1, 12) AS g;
SELECT bool_and(a.f | b.f = b.f | a.f) AS commutative, bool_and((a.f | b.f) | b.f = a.f | b.f) AS nothing_new, bool_and(a.f | a.f = a.f) AS idempotent,
       bool_and(bf_contains_all(a.f | b.f, ARRAY(SELECT generate_series(a.g * 1000, a.g * 1000 + 40 * a.g)))) AS keys_of_a,
       bool_and(bf_contains_all(a.f | b.f, ARRAY(SELECT generate_series(b.g * 1000, b.g * 1000 + 40 * b.g)))) AS keys_of_b,
       bool_and(bf_fpp(a.f | b.f) <= 0.02) AS sum_of_rates
FROM parts AS a, parts AS b;
SELECT count(*) AS lost FROM (SELECT bf_union_agg(f) AS f FROM parts) AS u, generate_series(1, 12) AS g, generate_series(g * 1000, g * 1000 + 40 * g) AS x WHERE NOT bf_contains(u.f, x);
SELECT n, p, seed, key_type FROM bf_info((SELECT bf_union_agg(f) FROM parts));
SELECT layers, capacity FROM bf_info(filter(1, 40) | filter(1001, 1060));
SELECT layers, capacity FROM bf_info(filter(1, 41) | filter(1001, 1060));
SELECT layers, capacity FROM bf_info(filter(1, 90) | filter(1, 40));
SELECT layers, capacity FROM bf_info(filter(1, 500) | filter(1001, 1500));
SELECT bf_union(f, NULL) = f AS other_null, bf_union(NULL, f) = f AS one_null, bf_union(NULL::scalablefilter, NULL) IS NULL AS both,
       bf_union(f, bf_create_scalable(100)) = f AS empty, bf_contains(bf_union(bf_create_scalable(100), bf_add(bf_create_scalable(100), 'a'::text)), 'a') AS takes_over_the_type
FROM filter(1, 250) AS f;
SELECT bf_union_agg(f) = filter(1, 10) AS nulls_skipped FROM (VALUES (NULL), (filter(1, 10)), (filter(5, 9)), (NULL)) AS v (f);
SELECT bf_union_agg(f) IS NULL AS none FROM (VALUES (NULL::scalablefilter), (NULL)) AS v (f);
-- adding to a union goes on
SELECT bf_contains_all(f, ARRAY(SELECT generate_series(1, 700))) AS has_all, bf_fpp(f) <= 0.02 AS rate FROM bf_add_all(filter(1, 90) | filter(101, 190), ARRAY(SELECT generate_series(1, 700))) AS f;
SELECT bf_union(bf_create_scalable(100), bf_create_scalable(200));
SELECT bf_create_scalable(100, 0.01) | bf_create_scalable(100, 0.001);
SELECT bf_create_scalable(100, 0.01, 1) | bf_create_scalable(100, 0.01, 2);
SELECT bf_add(bf_create_scalable(100), 1) | bf_add(bf_create_scalable(100), '1'::text);
SELECT bf_union_agg(f) FROM (VALUES (bf_create_scalable(10)), (bf_create_scalable(100000))) AS v (f);
SELECT bf_union_trans(bf_create_scalable(1), bf_create_scalable(1));
SELECT bf_agg_scalable_key_trans(NULL, bf_key(1), 10, 0.1);
DROP TABLE parts;

-- equality: the bytes
SELECT bf_create_scalable(10) = bf_create_scalable(10) AS eq, bf_create_scalable(10) <> bf_add(bf_create_scalable(10), 1) AS ne, bf_create_scalable(10) = bf_create_scalable(11) AS other_n;
SELECT count(*) FROM (SELECT f FROM (VALUES (filter(1, 300)), (filter(1, 300)), (filter(1, 301))) AS v (f) GROUP BY f) AS s;
SET enable_nestloop = off; SET enable_mergejoin = off;
SELECT count(*) FROM (SELECT filter(1, x) AS f FROM generate_series(80, 120) AS x) AS a JOIN (SELECT filter(1, x) AS f FROM generate_series(101, 140) AS x) AS b USING (f);
RESET enable_nestloop; RESET enable_mergejoin;
SELECT bf_hash_extended(f, 0) & 4294967295 = bf_hash(f)::bigint & 4294967295 AS low_half, bf_hash_extended(f, 1) <> bf_hash_extended(f, 0) AS seeded FROM filter(1, 300) AS f;

-- text, binary, bytea: what is written is read back, also after growth
SELECT count(*), bool_and(f::text::scalablefilter = f) AS text, bool_and(f::bytea::scalablefilter = f) AS bytes, bool_and(f::bytea = bf_send(f)) AS send,
       bool_and(octet_length(f::bytea) = pg_column_size(f) + 4) AS length
FROM (SELECT filter(1, n, 10) AS f FROM unnest(ARRAY[1, 9, 10, 11, 30, 31, 1000]) AS n UNION ALL SELECT bf_create_scalable(10) UNION ALL SELECT filter(1, 90) | filter(101, 190)) AS s;
-- fixed values, which no version and no machine may change
SELECT encode(bf_create_scalable(8, 0.25, 5)::bytea, 'hex');
SELECT encode(bf_add_all(bf_create_scalable(1, 0.25), ARRAY[1, 2])::bytea, 'hex');
SELECT bf_contains_all(f, ARRAY[1, 2]) AS contains, f = bf_add_all(bf_create_scalable(1, 0.25), ARRAY[1, 2]) AS same
FROM (SELECT '\x0104010001000000000000000100000000000000000000000000d03f1800000000000000000000000000000002000000000000000000000000000000000000000101010300000000080000000100000000000000000000f8ffffbf3f0800000000000000000000000000000001000000000000000000000000000000000000000101010400000000100000000200000000000000000000f8ffffaf3f100000000000000000000000000000000100000000000000010000000000000081000000000000000822000000000000d707007e65ab93f8'::bytea::scalablefilter AS f) AS s;
SELECT md5(bf_agg_scalable(x, 10, 0.001)::bytea) FROM generate_series(1, 1000) AS x;
-- and nothing else is read
SELECT bf_create_scalable(10)::bytea::bloomfilter;
SELECT bf_create(10)::bytea::scalablefilter;
SELECT 'x'::scalablefilter;
SELECT ''::scalablefilter;
SELECT '\x00'::bytea::scalablefilter;
CREATE FUNCTION accepted(bytes bytea) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bytes::scalablefilter;
  RETURN true;
EXCEPTION WHEN invalid_binary_representation THEN RETURN false;
END $$;
SELECT bool_and(accepted(b)) AS whole, count(*) FILTER (WHERE accepted(set_bit(b, i, 1 - get_bit(b, i)))) AS damaged
FROM (SELECT filter(1, 35, 10)::bytea AS b) AS s, generate_series(0, 8 * octet_length(b) - 1) AS i;
DROP FUNCTION accepted;

-- stored: asked in slices, the answers are those in memory; few pages are read for one key
CREATE TABLE stored (id int, f scalablefilter);
INSERT INTO stored SELECT 1, bf_agg_scalable(x, 1000, 0.01) FROM generate_series(1, 200000) AS x;
INSERT INTO stored SELECT 2, bf_agg_scalable(x, 20, 0.01) FROM generate_series(1, 100) AS x;
INSERT INTO stored SELECT 3, bf_create_scalable(10);
ALTER TABLE stored ALTER f SET STORAGE extended;
INSERT INTO stored SELECT 4, bf_add_all(bf_create_scalable(100000), ARRAY(SELECT generate_series(1, 100)));
ALTER TABLE stored ALTER f SET STORAGE external;
VACUUM ANALYZE stored;
CREATE FUNCTION wrong(i int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  g scalablefilter;
  wrong int := 0;
BEGIN
  SELECT f::bytea::scalablefilter INTO g FROM stored WHERE id = i; -- in memory
  FOR k IN -200..200 LOOP
    -- a call site of its own each time, so that nothing is kept
    EXECUTE format('SELECT $1 + (bf_contains(f, %1$s) <> bf_contains($2, %1$s))::int FROM stored WHERE id = $3', k) INTO wrong USING wrong, g, i;
  END LOOP;
  RETURN wrong;
END $$;
SELECT id, wrong(id), layers FROM stored, bf_info(f) ORDER BY id;
SELECT id, count(*) FILTER (WHERE bf_contains(f, x)) >= least(5000, round(bf_count(f) * 0.9)) AS has_keys, count(*) FILTER (WHERE bf_contains(f, -x)) <= 50 + 4 * sqrt(50) AS rate
FROM stored, generate_series(1, 5000) AS x GROUP BY id, f ORDER BY id;
CREATE FUNCTION pages_read(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
  RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::int + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::int;
END $$;
-- the first use of a table in a session reads its catalog entries too
SELECT pages_read('SELECT bf_contains(f, 1) FROM stored WHERE id = 1') < 200 AS warm;
-- of 370 pages: those of the table, of header and directory, and of a block in each of 8 layers with their index pages
SELECT min(pg_column_size(f)) FILTER (WHERE id = 1) > 500000 AS large, max(pages_read(format('SELECT bf_contains(f, %s) FROM stored WHERE id = 1', -x))) <= 5 + 2 * 4 + 8 * 4 AS few
FROM stored, generate_series(1, 50) AS x;
-- a key that is in changes nothing: an UPDATE keeps the TOAST value; others are added
CREATE TEMP TABLE before AS SELECT pg_relation_size(reltoastrelid) AS bytes FROM pg_class WHERE oid = 'stored'::regclass;
UPDATE stored SET f = bf_add(f, 77) WHERE id = 1;
UPDATE stored SET f = bf_add_all(f, ARRAY[77, 78, NULL]) WHERE id = 1;
SELECT pg_relation_size(reltoastrelid) = bytes AS same_size FROM pg_class, before WHERE oid = 'stored'::regclass;
UPDATE stored SET f = bf_add_all(f, ARRAY(SELECT generate_series(1000001, 1000500)));
SELECT id, bf_contains_all(f, ARRAY(SELECT generate_series(1000001, 1000500))) AS added, bf_contains(f, 77) AS kept FROM stored ORDER BY id;
SELECT count(*) AS lost FROM stored, generate_series(1, 200000) AS x WHERE id = 1 AND NOT bf_contains(f, x);

DROP TABLE stored, before, expected;
DROP FUNCTION wrong, pages_read, filter;
