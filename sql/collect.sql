-- bf_agg without a number of keys: the filter is made for exactly as many distinct
-- keys as there are, in bounded memory.

-- the same filter as with the number given, duplicates and NULLs not counted
SELECT n, bf_agg(x) = bf_agg(x, n, 0.01) AS one_percent, bf_agg(x, 0.001) = bf_agg(x, n, 0.001) AS one_permille
FROM (SELECT n, i % n AS x FROM unnest(ARRAY[1, 2, 3, 100, 5000, 100000]) AS n, generate_series(0, 199999) AS i) AS s
GROUP BY n ORDER BY n;
SELECT bf_agg(x) = bf_agg(x, 2, 0.01) AS nulls_skipped FROM (VALUES ('a'), (NULL), ('b'), ('a')) AS v (x);
SELECT bf_agg(x) = bf_create(1) AS only_nulls, (bf_info(bf_agg(x, 0.5))).p FROM (VALUES (NULL::int), (NULL)) AS v (x);
SELECT bf_agg(x) IS NULL AS no_rows, bf_agg(x, 0.1) IS NULL FROM (SELECT 1 WHERE false) AS v (x);
SELECT bf_agg(bf_key(x)) = bf_agg(x) AS by_key, bf_agg(x ORDER BY -x) = bf_agg(x) AS by_order, bf_agg(DISTINCT x) = bf_agg(x) AS distinct_keys,
       bf_agg(x) FILTER (WHERE x > 50) = bf_agg(NULLIF(greatest(x, 50), 50)) AS filtered
FROM generate_series(1, 100) AS x;
SELECT bool_and(f = (SELECT bf_agg(y) FROM generate_series(1, x) AS y)) AS as_window FROM (SELECT x, bf_agg(x) OVER (ORDER BY x) AS f FROM generate_series(1, 200) AS x) AS s;
SELECT g, (bf_info(bf_agg(x))).n FROM (SELECT x % 3 AS g, x % 1000 AS x FROM generate_series(1, 30000) AS x) AS s GROUP BY GROUPING SETS ((g), ()) ORDER BY g;

-- past the limit for hash memory: the same, from files; many duplicates too
CREATE TABLE many AS SELECT (i * 7919) % 400000 AS x FROM generate_series(1, 800000::bigint) AS i;
CREATE TABLE expected AS SELECT bf_agg(x, 400000, 0.01) AS f FROM many;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '64kB';
SELECT bf_agg(x) = (SELECT f FROM expected) AS spilled, (bf_info(bf_agg(x))).n FROM many;
SELECT bf_agg(bf_key(x)) = (SELECT f FROM expected) AS by_key FROM many;
-- several at once, and again after an error in the middle of one
SELECT count(*), bool_and(n = 40000) AS exact FROM (SELECT (bf_info(bf_agg(x))).n FROM many GROUP BY x % 10) AS s;
SELECT bf_agg(CASE WHEN x = 399999 THEN x / (x - 399999) ELSE x END) FROM many;
SELECT bf_agg(x) = (SELECT f FROM expected) AS after_an_error FROM many;
-- a query that is left before its end
BEGIN;
DECLARE c CURSOR FOR SELECT (bf_info(bf_agg(x))).n FROM many GROUP BY x % 2;
FETCH 1 FROM c;
SAVEPOINT s;
ROLLBACK TO s;
CLOSE c;
COMMIT;
DO $$
BEGIN
  FOR i IN 1..3 LOOP
    BEGIN
      PERFORM bf_agg(x) = bf_create(1) FROM many HAVING count(*) / 0 > 0;
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
  END LOOP;
END $$;
-- memory does not grow with the keys: a table of two million would take 32 MB, the filter takes 2.4;
-- the subquery is evaluated when the aggregate is done and its memory still there
CREATE FUNCTION memory() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE bytes bigint := 0;
BEGIN
  IF current_setting('server_version_num')::int >= 140000 THEN
    EXECUTE 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts' INTO bytes;
  END IF;
  RETURN bytes;
END $$;
SELECT (bf_info(bf_agg(x))).n, (SELECT memory()) < 16000000 AS bounded FROM generate_series(1, 2000000) AS x;
DROP FUNCTION memory;
RESET work_mem;

-- parallel: the same bytes, from memory and from files
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 4;
ANALYZE many;
EXPLAIN (COSTS OFF) SELECT bf_agg(x) FROM many;
SELECT bf_agg(x) = (SELECT f FROM expected) AS in_memory FROM many;
SET work_mem = '64kB';
SELECT bf_agg(x) = (SELECT f FROM expected) AS spilled FROM many;
SELECT (SELECT bf_agg(x) FROM many) = f AS spilled, (SELECT bf_agg(x, 0.001) FROM many) = (SELECT bf_agg(x, 400000, 0.001) FROM many) AS rate FROM expected;
SET work_mem = '1GB';
SELECT (SELECT bf_agg(x) FROM many) = f AS in_memory FROM expected;
RESET work_mem;
SELECT (SELECT bf_agg(x) FROM many WHERE x < 0) IS NULL AS none, (SELECT (bf_info(bf_agg(x))).n FROM many WHERE x = 5) AS one,
       (SELECT bf_agg(NULLIF(x, x)) FROM many) = bf_create(1) AS only_nulls;
-- a worker whose last keys make the first files; what it hands over has no duplicates
CREATE TABLE edge AS SELECT g AS x FROM generate_series(1, 20000) AS g UNION ALL SELECT 20000 UNION ALL SELECT g FROM generate_series(20001, 24577) AS g;
ALTER TABLE edge SET (parallel_workers = 2);
ANALYZE edge;
SET parallel_leader_participation = off;
SET work_mem = '200kB';
SELECT bf_agg(x) = (SELECT bf_agg(x, 24577, 0.01) FROM edge) AS same FROM edge;
SET work_mem = '400kB';
SELECT bf_agg(x) = (SELECT bf_agg(x, 24577, 0.01) FROM edge) AS same FROM edge;
SET work_mem = '64kB';
SELECT bf_agg(x % 5000) = (SELECT bf_agg(y, 5000, 0.01) FROM generate_series(0, 4999) AS y) AS duplicates FROM many;
RESET parallel_leader_participation;
RESET work_mem;
DROP TABLE edge;
SET max_parallel_workers_per_gather = 0;

-- errors
SELECT bf_agg(x, 1000) FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, 0) FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, 'NaN') FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, NULL::float8) FROM generate_series(1, 3) AS x;
SELECT bf_agg(x, 0.1 / x) FROM generate_series(1, 3) AS x;
SELECT bf_agg(point(x, x)) FROM generate_series(1, 3) AS x;
SELECT bf_agg(k) FROM (VALUES (bf_key(1)), (bf_key('a'))) AS v (k);
SET work_mem = '64kB';
SELECT count(f) FROM (SELECT bf_agg(x) OVER (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS f FROM many) AS s;
-- hashes that were made up
CREATE TABLE crafted AS SELECT ('00000001:' || lpad(to_hex(x), 16, '0'))::bfkey AS k FROM generate_series(0, 60000) AS x;
SELECT (bf_info(bf_agg(k))).n FROM crafted;
RESET work_mem;

DROP TABLE many, expected, crafted;
