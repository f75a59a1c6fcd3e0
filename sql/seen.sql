-- bf_seen: which rows have a key that came before.

-- every first occurrence is kept but for false positives, every other one goes
CREATE TABLE stream AS SELECT i AS id, i * 7919 % 10007 AS key FROM generate_series(1, 100000) AS i;
SELECT count(*) FILTER (WHERE id <= 10007 AND NOT seen) > 10007 - 30 AS firsts_are_kept,
       count(*) FILTER (WHERE id > 10007 AND NOT seen) AS repetitions_kept
FROM (SELECT id, bf_seen(key, 11000, 0.001) OVER (ORDER BY id) AS seen FROM stream) AS s;
-- new keys taken for seen: at x of n keys about (1 - 2^-x)^7, in all 128 of 10^5 (five standard
-- deviations are 57), fewer than p = 1% of them
SELECT abs(count(*) FILTER (WHERE seen) - 128) < 57 AS as_computed
FROM (SELECT bf_seen(i, 100000, 0.01) OVER (ORDER BY i) AS seen FROM generate_series(1, 100000) AS i) AS s;

-- the same answers as a filter of the rows before
SELECT bool_and(seen IS NOT DISTINCT FROM coalesce(bf_contains(f, key), false)) AS as_the_filter, count(*) FILTER (WHERE seen)
FROM (SELECT key, bf_seen(key, 20, 0.2) OVER (ORDER BY id) AS seen,
             bf_agg(key, 20, 0.2) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS f
      FROM (SELECT id, id * id % 97 AS key FROM stream WHERE id <= 200) AS t) AS s;

-- partitions begin anew; without ORDER BY as the rows come; p has a default; any frame
SELECT g, string_agg(seen::text, ' ' ORDER BY id) FROM (
  SELECT id, id % 2 AS g, bf_seen(id / 4, 100) OVER (PARTITION BY id % 2 ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE CURRENT ROW) AS seen
  FROM stream WHERE id BETWEEN 4 AND 15) AS s GROUP BY g ORDER BY g;
SELECT count(*) FILTER (WHERE NOT seen) FROM (SELECT bf_seen(key, 20000, 1e-9) OVER () AS seen FROM stream) AS s;
-- beside other window functions of the same window, which need the rows before
SELECT bool_and(n = id AND before IS NOT DISTINCT FROM nullif(id, 1) - 1 AND seen = (id > 5000) AND total = id) FROM (
  SELECT id, bf_seen(id % 5000, 5000, 1e-9) OVER w AS seen, count(*) OVER w AS n, lag(id) OVER w AS before,
         row_number() OVER w AS total FROM stream WINDOW w AS (ORDER BY id)) AS s;

-- keys as everywhere: of any type, NULL is none, equal values of the type's class are one key
SELECT v, bf_seen(v, 100) OVER (ORDER BY v) FROM (VALUES ('a'), ('a '), ('b'), (NULL), (NULL)) AS t(v);
SELECT bf_seen(bf_key(i / 2), 100, 1e-9) OVER (ORDER BY i) FROM generate_series(2, 5) AS i;
SELECT bf_seen(ARRAY[i / 2], 100, 1e-9) OVER (ORDER BY i), bf_seen(r, 100, 1e-9) OVER (ORDER BY i)
FROM (SELECT i, ROW(i / 3, 'x'::text) AS r FROM generate_series(2, 5) AS i) AS s;
SELECT bf_seen('literal', 100) OVER () FROM generate_series(1, 2);

-- many rows take no more memory: without ORDER BY the rows need no sort and the window keeps none
SET work_mem = '64kB';
CREATE FUNCTION temporary_blocks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Temp Written Blocks';
END $$;
SELECT temporary_blocks('SELECT bf_seen(key, 10007) OVER () FROM stream') AS seen,
       temporary_blocks('SELECT bf_seen(key, 10007) OVER (PARTITION BY true) FROM stream') AS in_a_partition,
       temporary_blocks('SELECT count(key) OVER () FROM stream') > 100 AS the_whole_partition;
RESET work_mem;

-- the filter is of the partition's memory: a thousand partitions of 1.2 MB
SELECT count(*) FILTER (WHERE seen) FROM (
  SELECT bf_seen(id, 1000000) OVER (PARTITION BY id % 1000) AS seen FROM stream WHERE id <= 2000) AS s;

-- errors
SELECT bf_seen(id, 100) FROM stream;
SELECT bf_seen(id, 0) OVER () FROM stream;
SELECT bf_seen(id, 100, 1) OVER () FROM stream;
SELECT bf_seen(id, NULL) OVER () FROM stream;
SELECT bf_seen(id, 100, NULL) OVER () FROM stream;
SELECT bf_seen(id, id) OVER () FROM stream;
SELECT bf_seen(id, 100, 0.5 / id) OVER () FROM stream;
SELECT bf_seen(id, 10000000000, 0.01) OVER () FROM stream;
SELECT bf_seen('{}'::json, 100) OVER () FROM stream;
SELECT bf_seen(CASE WHEN id > 1 THEN bf_key('a') ELSE bf_key(1) END, 100) OVER () FROM stream;
DROP FUNCTION temporary_blocks;
DROP TABLE stream;
