-- Aggregates as window functions: each frame right, the state neither freed nor altered.

SELECT bool_and(bf_contains(f, x)) AS last_key, bool_and(bf_contains(u, 1)) AS first_key, bool_and(bf_contains(k, x)) AS keys,
       bool_and(abs(bf_count(f) - x) < 4) AS counts
FROM (SELECT x, bf_agg(x, 1000, 0.001) OVER (ORDER BY x) AS f,
             bf_agg(bf_key(x), 1000, 0.001) OVER (ORDER BY x) AS k,
             bf_union_agg(bf_add(bf_create(1000, 0.01), x)) OVER (ORDER BY x ROWS UNBOUNDED PRECEDING) AS u
      FROM generate_series(1, 200) AS x) AS s;

-- rows kept for later show that a frame's filter is not changed by the next frame
SELECT bool_and(f = (SELECT bf_agg(y, 1000, 0.001) FROM generate_series(1, x) AS y)) AS same_as_built_alone,
       bool_and(u = (SELECT bf_agg(y, 1000, 0.001) FROM generate_series(1, x) AS y)) AS union_too
FROM (SELECT x, f, u FROM (
        SELECT x, bf_agg(x, 1000, 0.001) OVER w AS f,
               bf_union_agg(bf_add(bf_create(1000, 0.001), x)) OVER w AS u
        FROM generate_series(1, 100) AS x WINDOW w AS (ORDER BY x ROWS UNBOUNDED PRECEDING)) AS t
      ORDER BY -x) AS s;
-- a large filter, built in batches
SELECT bool_and(f = (SELECT bf_agg(y, 300000, 0.01) FROM generate_series(1, x) AS y)) AS same_as_built_alone
FROM (SELECT x, f FROM (SELECT x, bf_agg(x, 300000, 0.01) OVER (ORDER BY x) AS f FROM generate_series(1, 5) AS x) AS t ORDER BY -x) AS s;

-- moving frames, partitions, whole-partition frames, peers, empty frames, FILTER
SELECT x, bf_contains(f, x), bf_contains(f, x - 2), bf_contains(f, x - 3), bf_contains(f, x + 1)
FROM (SELECT x, bf_agg(x, 100, 1e-9) OVER (ORDER BY x ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS f FROM generate_series(1, 5) AS x) AS s;
SELECT bool_and(f = (SELECT bf_agg(y, 100, 0.01) FROM generate_series(0, 99) AS y WHERE y % 3 = g)) AS partitions
FROM (SELECT x % 3 AS g, bf_agg(x, 100, 0.01) OVER (PARTITION BY x % 3) AS f FROM generate_series(0, 99) AS x) AS s;
SELECT x, bf_contains(f, 3), f IS NULL AS empty_frame
FROM (SELECT x, bf_agg(x, 100, 1e-9) OVER (ORDER BY x ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING) AS f FROM generate_series(1, 4) AS x) AS s;
SELECT bool_and(bf_contains(f, 10)), bool_or(bf_contains(f, 9))
FROM (SELECT bf_agg(x, 100, 1e-9) FILTER (WHERE x % 2 = 0) OVER () AS f FROM generate_series(1, 10) AS x) AS s;
SELECT bool_and(i = bf_intersect(f, f)) FROM (
  SELECT f, bf_intersect_agg(f) OVER (PARTITION BY g) AS i FROM (SELECT x % 2 AS g, bf_add(bf_create(10), x % 2) AS f FROM generate_series(1, 10) AS x) AS s) AS t;
