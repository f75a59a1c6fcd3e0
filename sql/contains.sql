-- Adding and asking: members, NULL rules, arrays, where the filter comes from.

-- every added key is found; NOT bf_contains is certain
SELECT count(*) FILTER (WHERE x <= 10000 AND NOT bf_contains(f, x)) AS lost,
       count(*) FILTER (WHERE x > 10000 AND bf_contains(f, x)) BETWEEN 50 AND 160 AS about_one_percent
FROM (SELECT bf_agg(x, 10000, 0.01) AS f FROM generate_series(1, 10000) AS x) AS s,
     generate_series(1, 20000) AS x;

-- adding twice changes nothing; an unchanged filter is the very value that came in
SELECT bf_add(bf_add(f, 7), 7) = bf_add(f, 7) AS same,
       bf_contains(bf_add(bf_add(bf_add(f, 7), 7), 7), 7) AS contained,
       bf_add(f, 7) <> f AS changed
FROM (SELECT bf_agg(x, 100, 0.01) AS f FROM generate_series(100, 150) AS x) AS s;

-- the order of adding does not matter
SELECT bf_add(bf_add(bf_add(f, 1), 2), 3) = bf_add(bf_add(bf_add(f, 3), 1), 2) FROM bf_create(10) AS f;

-- NULL: a NULL key leaves the filter as it is, a question about NULL is NULL
SELECT bf_add(f, NULL::int) = f AS add_null, bf_add_all(f, NULL::int[]) = f AS add_null_array,
       bf_add(NULL, 1) IS NULL AS null_add, bf_add_all(NULL, ARRAY[1]) IS NULL AS null_add_all,
       bf_add(NULL, NULL::int) IS NULL AS null_add_null
FROM (SELECT bf_add(bf_create(10), 1) AS f) AS s;
SELECT bf_contains(f, NULL::int) IS NULL, bf_contains(NULL::bloomfilter, 1) IS NULL,
       bf_contains(NULL::bloomfilter, NULL::text) IS NULL, bf_contains(f, NULL) IS NULL
FROM (SELECT bf_add(bf_create(10), 1) AS f) AS s;
CREATE TABLE stored (id int PRIMARY KEY, f bloomfilter);
INSERT INTO stored VALUES (1, bf_add(bf_create(100), 5));
UPDATE stored SET f = bf_add(f, NULL::int);
UPDATE stored SET f = bf_add_all(f, NULL::int[]);
UPDATE stored SET f = bf_union(f, NULL);
SELECT bf_contains(f, 5) FROM stored;

-- many at once
SELECT bf_add_all(f, ARRAY[1, 2, NULL, 3]) = bf_add(bf_add(bf_add(f, 1), 2), 3) AS same,
       bf_add_all(f, ARRAY[[1, 2], [3, 1]]) = bf_add_all(f, ARRAY[1, 2, 3]) AS flattened,
       bf_add_all(f, '{}'::int[]) = f AS none, bf_add_all(f, ARRAY[NULL::int]) = f AS only_null,
       bf_add_all(f, ARRAY['a', 'b']) = bf_add(bf_add(f, 'b'), 'a') AS texts
FROM bf_create(1000) AS f;
SELECT bf_add_all(f, (SELECT array_agg(x) FROM generate_series(1, 5000) AS x)) =
       (SELECT bf_agg(x, 5000, 0.01) FROM generate_series(1, 5000) AS x) AS same_as_aggregate
FROM bf_create(5000) AS f;
-- an array given to bf_add is one key
SELECT bf_contains(bf_add(f, ARRAY[1, 2]), ARRAY[1, 2]) AS as_one, bf_contains(bf_add(f, ARRAY[1, 2]), ARRAY[2, 1]) AS other
FROM bf_create(1000, 1e-9) AS f;

-- any and all, with SQL's NULL rules
SELECT keys, bf_contains_any(f, keys), bf_contains_all(f, keys)
FROM (SELECT bf_add_all(bf_create(10, 1e-9), ARRAY[1, 2, 3]) AS f) AS s,
     (VALUES (1, ARRAY[1, 2]), (2, ARRAY[1, 9]), (3, ARRAY[8, 9]), (4, ARRAY[1, NULL]), (5, ARRAY[9, NULL]),
             (6, ARRAY[NULL::int]), (7, '{}'), (8, NULL), (9, '{{1,2},{3,1}}')) AS v (i, keys)
ORDER BY i;
SELECT bf_contains_any(NULL, ARRAY[1]) IS NULL, bf_contains_all(NULL, ARRAY[1]) IS NULL;

-- a column of type anyarray holds arrays of another type in every row
ALTER TABLE stored ADD words text[], ADD seven int DEFAULT 7;
UPDATE stored SET words = ARRAY['a'];
INSERT INTO stored SELECT i, NULL, ARRAY['a'], 7 FROM generate_series(2, 20) AS i;
ANALYZE stored;
SELECT attname, bf_contains(bf_add_all(bf_create(10, 1e-9), most_common_vals), 7) AS seven FROM pg_stats WHERE tablename = 'stored' AND attname = 'seven';
SELECT count(*), bool_and(bf_contains_all(bf_add_all(bf_create(10), v), v)) FROM
  (SELECT most_common_vals AS v FROM pg_stats WHERE tablename = 'stored' AND most_common_vals IS NOT NULL
   UNION ALL SELECT most_common_elems FROM pg_stats WHERE tablename = 'stored' AND most_common_elems IS NOT NULL) AS s;
DELETE FROM stored WHERE id > 1;

-- the filter may come from anywhere: a column, a CTE, a join, a subquery
CREATE TABLE parts AS
  SELECT g, bf_agg(x, 100, 0.001) AS f FROM generate_series(0, 3) AS g, generate_series(1, 100) AS x
  WHERE x % 4 = g GROUP BY g;
WITH vip AS (SELECT bf_agg(x, 100, 0.001) AS f FROM generate_series(1, 10) AS x)
SELECT (SELECT count(*) FROM generate_series(1, 10) AS o, vip WHERE bf_contains(vip.f, o)) AS cte,
       (SELECT count(*) FROM parts JOIN generate_series(1, 100) AS x ON bf_contains(f, x) WHERE x % 4 = g) AS joined,
       (SELECT count(*) FROM generate_series(1, 100) AS x
        WHERE bf_contains((SELECT f FROM parts WHERE g = 1), x) AND x % 4 = 1) AS initplan,
       (SELECT count(*) FROM generate_series(1, 10) AS x
        WHERE bf_contains((SELECT bf_agg(y, 10, 0.01) FROM (SELECT 1 WHERE false) AS e (y)), x)) AS from_no_rows;

-- a stored filter is as good as a fresh one, in every way PostgreSQL may store it
CREATE TABLE forms (how text, keys int, f bloomfilter);
INSERT INTO forms SELECT 'out of line', 20000, bf_agg(x, 20000, 0.01) FROM generate_series(1, 20000) AS x;
INSERT INTO forms SELECT 'inline', 100, bf_agg(x, 100, 0.01) FROM generate_series(1, 100) AS x;
INSERT INTO forms SELECT 'short header', 10, bf_agg(x, 10, 0.01) FROM generate_series(1, 10) AS x;
ALTER TABLE forms ALTER f SET STORAGE extended;
INSERT INTO forms SELECT 'compressed', 100, bf_agg(x, 100000, 0.01) FROM generate_series(1, 100) AS x;
INSERT INTO forms SELECT 'compressed inline', 10, bf_agg(x, 5000, 0.01) FROM generate_series(1, 10) AS x;
SELECT how, pg_column_size(f) < (bf_info(f)).bytes / 2 AS compressed,
       (SELECT count(*) FROM generate_series(1, keys) AS x WHERE NOT bf_contains(f, x)) AS lost
FROM forms ORDER BY how;

-- errors leave what was there
UPDATE stored SET f = bf_add(f, 'text'::text);
UPDATE stored SET f = bf_add_all(f, ARRAY['a', 'b']);
SELECT bf_contains(f, 5), (bf_info(f)).key_type, (bf_info(f)).bits_set FROM stored;

-- filters survive the session
INSERT INTO stored SELECT 2, bf_agg('k' || x, 1000, 0.001) FROM generate_series(1, 1000) AS x;
\c
SELECT count(*) AS lost FROM stored, generate_series(1, 1000) AS x WHERE id = 2 AND NOT bf_contains(f, 'k' || x);

DROP TABLE stored, parts, forms;
