-- cuckoofilter: removal, copies, room, union, forms, stored values, aggregates.

-- fixed values, as doc/format.md has them: one key, and five copies of it in two buckets
SELECT bf_send(bf_add(bf_create_cuckoo(8, 0.1), 1)) AS value, bf_add(bf_create_cuckoo(8, 0.1), 1) AS text;
SELECT substr(bf_send(bf_add_all(bf_create_cuckoo(20, 0.001, 7), ARRAY[1, 1, 1, 1, 1])), 61) AS buckets;
SELECT n, p, buckets, fingerprint_bits, seed, key_type, slots, used, round(fill::numeric, 3) AS fill, count, round(fpp::numeric, 5) AS fpp, bytes
FROM (VALUES (bf_create_cuckoo(1000)), ((SELECT bf_agg_cuckoo(x, 1000, 0.01) FROM generate_series(1, 1000) AS x)), (bf_add(bf_create_cuckoo(8, 0.1, -5), 'a'))) AS v(f), bf_info(f);

-- parameters
SELECT bf_create_cuckoo(0);
SELECT bf_create_cuckoo(10, 1);
SELECT bf_create_cuckoo(10, 'NaN');
SELECT bf_create_cuckoo(10, 1e-11);
SELECT bf_create_cuckoo(600000000, 0.01);

-- a key is in until all its copies are removed
SELECT bf_contains(bf_remove(bf_add(bf_add(f, 'a'), 'a'), 'a'), 'a') AS one_left, bf_contains(bf_remove(bf_remove(bf_add(bf_add(f, 'a'), 'a'), 'a'), 'a'), 'a') AS none_left
FROM (SELECT bf_create_cuckoo(100, 0.01) AS f) AS s;
SELECT bf_remove(bf_create_cuckoo(100), 1);
SELECT bf_remove(bf_add(bf_create_cuckoo(100), 2), 1, NULL);
SELECT bf_remove(f, 1, true) = f, bf_remove(f, 1, missing_ok => true) = f, bf_remove(bf_create_cuckoo(10), 1, true) = bf_create_cuckoo(10) FROM (SELECT bf_add(bf_create_cuckoo(100), 2) AS f) AS s;
SELECT bf_remove(bf_add(bf_create_cuckoo(100), 2), 'a'::text, true);
DO $$
DECLARE
  f cuckoofilter := (SELECT bf_agg_cuckoo(x, 1000, 0.01) FROM generate_series(1, 1000) AS x);
  missing int;
BEGIN
  FOR k IN 501..1000 LOOP f := bf_remove(f, k); END LOOP;
  SELECT count(*) INTO missing FROM generate_series(1, 500) AS x WHERE NOT bf_contains(f, x);
  RAISE NOTICE 'holds %, missing %, of the removed ones found: %', bf_count(f), missing, (SELECT count(*) < 15 FROM generate_series(501, 1000) AS x WHERE bf_contains(f, x));
  FOR k IN 1..500 LOOP f := bf_remove(f, k); END LOOP;
  RAISE NOTICE 'in the end %', bf_count(f);
END $$;
-- many at once: as one after the other
SELECT bf_remove_all(f, ARRAY[1, 2, NULL, 3]) = bf_remove(bf_remove(bf_remove(f, 1), 2), 3) AS as_one_by_one, bf_count(bf_remove_all(f, ARRAY[[1, 1], [2, 3]])) AS left,
       bf_remove_all(f, ARRAY[9, 1, 9], missing_ok => true) = bf_remove(f, 1) AS missing, bf_remove_all(f, ARRAY[9], true) = f AS nothing,
       bf_remove_all(f, ARRAY[]::int[]) = f AND bf_remove_all(f, NULL::int[]) = f AND bf_remove_all(f, ARRAY[NULL]::int[]) = f AS nulls,
       bf_remove_all(NULL::cuckoofilter, ARRAY[1]) IS NULL AS of_null, bf_remove_all(f, ARRAY[bf_key(1)]) = bf_remove(f, 1) AS of_keys
FROM (SELECT bf_add_all(bf_create_cuckoo(100), ARRAY[1, 1, 2, 2, 3, 3, 4]) AS f) AS s;
SELECT bf_remove_all(bf_add_all(bf_create_cuckoo(100), ARRAY[1, 2]), ARRAY[1, 2, 1]);
SELECT bf_remove_all(bf_create_cuckoo(100), ARRAY[1]);
SELECT bf_remove_all(bf_add(bf_create_cuckoo(100), 1), ARRAY['a'], true);
-- of a filter of 1000 keys those of one half, then of the other
SELECT bf_count(half), count(*) FILTER (WHERE x <= 500 AND NOT bf_contains(half, x)) AS missing, bf_count(bf_remove_all(half, ARRAY(SELECT generate_series(1, 500)))) AS in_the_end
FROM (SELECT bf_remove_all(bf_agg_cuckoo(x, 1000, 0.01), ARRAY(SELECT generate_series(501, 1000))) AS half FROM generate_series(1, 1000) AS x) AS s, generate_series(1, 1000) AS x GROUP BY half;

-- eight copies of a key fit, a ninth does not, however it comes
SELECT bf_count(bf_agg_cuckoo(1, 1, 0.01)) FROM generate_series(1, 8);
SELECT bf_contains(bf_agg_cuckoo(1, 100, 0.01), 1) FROM generate_series(1, 10000);
SELECT bf_add(bf_agg_cuckoo(1, 100, 0.01), 1) FROM generate_series(1, 8);
SELECT bf_add_all(bf_create_cuckoo(100, 0.01), array_fill(7, ARRAY[9]));
SELECT f | f | f FROM (SELECT bf_add_all(bf_create_cuckoo(100, 0.01), ARRAY[1, 1, 1]) AS f) AS s;
SELECT bf_count(bf_agg_cuckoo(DISTINCT x % 10, 10, 0.01)) FROM generate_series(1, 10000) AS x;
-- more keys than there is room for
SELECT bf_agg_cuckoo(x, 1000, 0.01) FROM generate_series(1, 1200) AS x;
SELECT f | f FROM (SELECT bf_agg_cuckoo(x, 1000, 0.01) AS f FROM generate_series(1, 1000) AS x) AS s;
-- all or nothing
CREATE TABLE c (id int PRIMARY KEY, f cuckoofilter);
INSERT INTO c SELECT 1, bf_agg_cuckoo(x, 1000, 0.01) FROM generate_series(1, 1000) AS x;
UPDATE c SET f = bf_add_all(f, ARRAY(SELECT generate_series(1001, 1200)));
SELECT bf_count(f), f = (SELECT bf_agg_cuckoo(x, 1000, 0.01) FROM generate_series(1, 1000) AS x) FROM c;
TRUNCATE c;

-- every number of keys has room
SELECT count(*), sum(bf_count(f)) = sum(n) AS all_in
FROM (SELECT n, (SELECT bf_agg_cuckoo(x * n, n, 0.3) FROM generate_series(1, n) AS x) AS f FROM generate_series(1, 400) AS n) AS s;

-- rate: 3 sigma of the binomial around what is asked for and told
WITH filters AS MATERIALIZED (
  SELECT p, bf_fpp(f) AS told, f
  FROM (SELECT p, bf_agg_cuckoo(x, 20000, p) AS f FROM generate_series(1, 20000) AS x, (VALUES (0.05), (0.01), (0.001), (0.0001)) AS v(p) GROUP BY p) AS s
), answers AS (
  SELECT p, told, count(*) FILTER (WHERE x <= 20000 AND NOT bf_contains(f, x)) AS missing, count(*) FILTER (WHERE x > 20000 AND bf_contains(f, x)) AS hits
  FROM filters, generate_series(1, 100000) AS x GROUP BY p, told
)
SELECT p, missing, hits <= 80000 * p + 3 * sqrt(80000 * p) AS at_most, abs(hits - 80000 * told) <= 3 * sqrt(80000 * told) + 1 AS as_told FROM answers ORDER BY p;

-- union: a sum; with another n of the same layout, never of another layout or seed
SELECT bf_count(a | b), bf_contains_all(a | b, ARRAY[1, 5, 10]), bf_contains(bf_remove(a | b, 5), 5) AS twice, (bf_info(a | bf_create_cuckoo(100))).key_type
FROM (SELECT bf_add_all(bf_create_cuckoo(100), ARRAY[1, 5]) AS a, bf_add_all(bf_create_cuckoo(100), ARRAY[5, 10]) AS b) AS s;
SELECT (bf_info(bf_create_cuckoo(997) | bf_create_cuckoo(1000))).n, (bf_info(bf_create_cuckoo(1000) | bf_create_cuckoo(997))).n;
SELECT bf_create_cuckoo(10) | bf_create_cuckoo(1000);
SELECT bf_create_cuckoo(10) | bf_create_cuckoo(10, 0.01, 1);
SELECT bf_count(bf_union_agg(f)), bf_union_agg(f) IS NULL FROM (SELECT bf_agg_cuckoo(x, 1000, 0.01) AS f FROM generate_series(1, 900) AS x GROUP BY x % 9 UNION ALL SELECT NULL) AS s;
SELECT bf_union_agg(f) IS NULL FROM (SELECT NULL::cuckoofilter AS f) AS s;

-- aggregates: keys, windows, FILTER
SELECT bf_agg_cuckoo(bf_key(x), 1000, 0.01) = bf_agg_cuckoo(x, 1000, 0.01), bf_count(bf_agg_cuckoo(x, 1000, 0.01) FILTER (WHERE x <= 10)) FROM generate_series(1, 1000) AS x;
SELECT x, bf_count(bf_agg_cuckoo(x, 10, 0.01) OVER (ORDER BY x)) FROM generate_series(1, 4) AS x;
SELECT bf_agg_cuckoo(x, 10 + x, 0.01) FROM generate_series(1, 2) AS x;

-- parallel: the keys of a serial run
CREATE TABLE keys AS SELECT x FROM generate_series(1, 30000) AS x;
ALTER TABLE keys SET (parallel_workers = 2);
ANALYZE keys;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT bf_agg_cuckoo(x, 30000, 0.01) FROM keys;
SELECT bf_count(f), (SELECT count(*) FROM keys WHERE NOT bf_contains(f, x)) AS missing,
       (SELECT count(*) FROM generate_series(30001, 130000) AS y WHERE bf_contains(f, y)) < 1000 * 1.1 AS rate
FROM (SELECT bf_agg_cuckoo(x, 30000, 0.01) AS f FROM keys) AS s;
SELECT bf_count(bf_agg_cuckoo(bf_key(x), 30000, 0.01)) FROM keys;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;

-- forms: text, binary, bytea; after keys have been moved and removed
CREATE TABLE forms AS SELECT p, bf_remove(bf_agg_cuckoo(x, 500, p), 17) AS f FROM generate_series(1, 500) AS x, (VALUES (0.3), (0.003), (1e-6), (1e-9)) AS v(p) GROUP BY p;
SELECT p, f::text::cuckoofilter = f, bf_cuckoo_from_bytea(bf_send(f)) = f, f::bytea::cuckoofilter = f, octet_length(bf_send(f)) = (bf_info(f)).bytes + 4 AS length FROM forms ORDER BY p;
SELECT count(*) FROM (SELECT f FROM forms UNION SELECT f FROM forms) AS s;
SELECT (f::bytea)::bloomfilter FROM forms LIMIT 1;
SELECT (bf_create(10)::bytea)::cuckoofilter;
SELECT 'abc'::cuckoofilter;
SELECT set_byte(f::bytea, 70, get_byte(f::bytea, 70) # 1)::cuckoofilter FROM forms WHERE p = 0.003;

-- stored: places read in slices, and the whole kept, tell what the value in memory tells
INSERT INTO c SELECT row_number() OVER (), bf_agg_cuckoo(x, 100000, p) FROM generate_series(1, 100000) AS x, (VALUES (0.3), (0.01), (0.002), (1e-5), (1e-9)) AS v(p) GROUP BY p;
WITH m AS MATERIALIZED (SELECT id, bf_add(f, NULL::int) AS stored, f::text::cuckoofilter AS f FROM c)
SELECT id, count(*) FILTER (WHERE bf_contains(stored, x) <> bf_contains(f, x)) AS differ, count(*) FILTER (WHERE x <= 100000 AND NOT bf_contains(stored, x)) AS missing
FROM m, generate_series(99900, 100099) AS x GROUP BY id ORDER BY id;
SELECT id, bf_contains(f, 5), bf_contains(f, -7 * id), bf_count(bf_remove(f, 5)), bf_count(bf_add(f, 5)) FROM c ORDER BY id;
UPDATE c SET f = bf_remove(bf_remove(f, 77), 78);
SELECT id, bf_count(f), bf_contains_all(f, ARRAY[1, 79, 100000]) FROM c ORDER BY id;
DROP TABLE c, keys, forms;
