-- Aggregates: NULLs and no rows, serial and parallel alike, with every clause.

-- NULL keys are skipped; only NULLs give an empty filter; no rows give NULL
SELECT (SELECT bf_agg(x, 100, 0.01) FROM (VALUES (1), (NULL), (2)) AS v (x)) =
       (SELECT bf_agg(x, 100, 0.01) FROM (VALUES (1), (2)) AS v (x)) AS nulls_skipped,
       (SELECT bf_agg(x, 100, 0.01) FROM (VALUES (NULL::int), (NULL)) AS v (x)) = bf_create(100, 0.01) AS only_nulls,
       (SELECT bf_agg(x, 100, 0.01) FROM (SELECT 1 WHERE false) AS v (x)) IS NULL AS no_rows;
SELECT (SELECT bf_agg(bf_key(x), 100, 0.01) FROM (VALUES (1), (NULL), (2)) AS v (x)) =
       (SELECT bf_agg(x, 100, 0.01) FROM (VALUES (1), (2)) AS v (x)) AS nulls_skipped,
       (SELECT bf_agg(bf_key(x), 100, 0.01) FROM (VALUES (NULL::int), (NULL)) AS v (x)) = bf_create(100, 0.01) AS only_nulls,
       (SELECT bf_agg(bf_key(x), 100, 0.01) FROM (SELECT 1 WHERE false) AS v (x)) IS NULL AS no_rows;
SELECT coalesce(bf_contains(bf_agg(x, 10, 0.01), NULL::int)::text, 'null') FROM (VALUES (1), (NULL)) AS v (x);

-- one key at a time, in bulk, by key: the same bytes; 300,000 keys make a filter large enough to be built in batches
SELECT bf_agg(x, 300000, 0.01) = bf_add_all(bf_create(300000, 0.01), array_agg(x)) AS bulk,
       bf_agg(x, 300000, 0.01) = bf_agg(bf_key(x), 300000, 0.01) AS by_key,
       bf_agg(x, 300000, 0.01) = bf_agg(x, 300000, 0.01 ORDER BY -x) AS by_order
FROM generate_series(1, 20001) AS x;

-- FILTER, DISTINCT, ORDER BY, GROUPING SETS, HAVING
SELECT bf_contains(bf_agg(x, 100, 0.001) FILTER (WHERE x > 5), 3), bf_agg(DISTINCT x, 100, 0.001) = bf_agg(x, 100, 0.001),
       bf_agg(x, 100, 0.001 ORDER BY -x) = bf_agg(x, 100, 0.001)
FROM (SELECT y % 10 AS x FROM generate_series(1, 40) AS y) AS s;
SELECT count(*) FROM (SELECT x % 2, x % 3, bf_agg(x, 100, 0.01) FROM generate_series(1, 20) AS x GROUP BY GROUPING SETS ((1), (2), ())) AS q;
SELECT x % 3 AS g FROM generate_series(1, 20) AS x GROUP BY 1 HAVING bf_contains(bf_agg(x, 100, 1e-9), 7);

-- many groups of large filters with little memory
SET work_mem = '64kB';
SELECT count(*), bool_and(bf_contains(f, g)) FROM
  (SELECT g, bf_agg(x, 20000, 0.05) AS f FROM (SELECT x % 20 AS g, x FROM generate_series(0, 19999) AS x) AS s GROUP BY g ORDER BY g) AS t;
RESET work_mem;

-- parallel: the plan is parallel, and the result is the serial one byte for byte
CREATE TABLE events AS
  SELECT x AS id, x % 1000 AS grp, 'user' || x AS name, md5(x::text)::uuid AS uid, x / 7.0 AS amount, (ARRAY[x, x + 1]) AS pair
  FROM generate_series(1, 100000) AS x;
CREATE TABLE daily AS SELECT grp, bf_agg(id, 5000, 0.01) AS f FROM events GROUP BY grp;
INSERT INTO daily VALUES (-1, NULL);
ANALYZE events, daily;
CREATE TABLE serial AS
  SELECT bf_agg(id, 100000, 0.01) AS ids, bf_agg(name, 300000, 0.01) AS names, bf_agg(uid, 100000, 0.001) AS uids,
         bf_agg(amount, 100000, 0.01) AS amounts, bf_agg(pair, 100000, 0.01) AS pairs, bf_agg(bf_key(id), 100000, 0.01) AS keys
  FROM events;
CREATE TABLE serial_sets AS SELECT bf_union_agg(f) AS u, bf_intersect_agg(f) AS i FROM daily;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 4;
EXPLAIN (COSTS OFF)
  SELECT bf_agg(id, 100000, 0.01) FROM events;
EXPLAIN (COSTS OFF)
  SELECT bf_agg(bf_key(id), 100000, 0.01) FROM events;
EXPLAIN (COSTS OFF)
  SELECT bf_union_agg(f), bf_intersect_agg(f) FROM daily;
SELECT bf_agg(id, 100000, 0.01) = (SELECT ids FROM serial) AS ids, bf_agg(name, 300000, 0.01) = (SELECT names FROM serial) AS names,
       bf_agg(uid, 100000, 0.001) = (SELECT uids FROM serial) AS uids, bf_agg(amount, 100000, 0.01) = (SELECT amounts FROM serial) AS amounts,
       bf_agg(pair, 100000, 0.01) = (SELECT pairs FROM serial) AS pairs, bf_agg(bf_key(id), 100000, 0.01) = (SELECT keys FROM serial) AS keys
FROM events;
SELECT bf_union_agg(f) = (SELECT u FROM serial_sets) AS u, bf_intersect_agg(f) = (SELECT i FROM serial_sets) AS i FROM daily;
-- grouped, and many runs: always the same
SELECT count(*) AS runs, bool_and(same) AS always FROM generate_series(1, 10) AS run,
  LATERAL (SELECT bf_union_agg(f) = (SELECT u FROM serial_sets) AS same FROM daily WHERE run > 0) AS r;
SELECT count(*) FROM (SELECT grp, bf_agg(id, 5000, 0.01) AS f FROM events GROUP BY grp) AS p JOIN daily AS d USING (grp) WHERE p.f = d.f;
-- workers that see no row, or only one of them one, or only NULLs
SELECT bf_agg(id, 10, 0.01) IS NULL, bf_agg(bf_key(id), 10, 0.01) IS NULL FROM events WHERE (id * 2) % 2 = 1;
SELECT bf_contains(bf_agg(id, 10, 0.01), 50000), bf_contains(bf_agg(bf_key(id), 10, 0.01), 50000) FROM events WHERE id * 2 = 100000;
SELECT bf_agg(NULLIF(id, id), 10, 0.01) = bf_create(10, 0.01) AS empty FROM events;
SELECT bf_union_agg(f) IS NULL FROM daily WHERE grp * 2 = -2;
-- probing in workers
SELECT count(*) FROM events WHERE NOT bf_contains((SELECT ids FROM serial), id);
-- errors in workers arrive, and the session goes on
\set VERBOSITY terse
SELECT bf_agg(id, 1000 + id % 2, 0.01) FROM events;
SELECT count(*) FROM events WHERE bf_contains((SELECT ids FROM serial), name);
\set VERBOSITY default
SELECT count(*) FROM events WHERE bf_contains((SELECT ids FROM serial), id);
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;

-- a serial function that gets NULL is not called
SELECT proname, proisstrict FROM pg_proc WHERE proname IN ('bf_agg_serialize', 'bf_agg_deserialize') ORDER BY 1;

-- detoasted inputs do not pile up: 2,000 filters of 24 kB are united in little memory
CREATE TABLE pile AS SELECT bf_agg(x, 20000, 0.01) AS f FROM generate_series(1, 100) AS x;
INSERT INTO pile SELECT f FROM pile, generate_series(1, 2000);
SELECT bf_contains(bf_union_agg(f), 1) FROM pile;
DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 140000 THEN
    ASSERT (SELECT sum(total_bytes) < 50000000 FROM pg_backend_memory_contexts), 'memory has grown';
  END IF;
END $$;

DROP TABLE events, daily, serial, serial_sets, pile;
