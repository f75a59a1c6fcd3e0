-- Union, intersection, equality.

CREATE FUNCTION filter(low int, high int, n int DEFAULT 1000, p float8 DEFAULT 0.01) RETURNS bloomfilter
LANGUAGE sql AS 'SELECT bf_agg(x, $3, $4) FROM generate_series($1, $2) AS x';

-- the union is the filter of all keys, whatever the order or grouping
SELECT bf_union(a, b) = filter(1, 900) AS all_keys, a | b = b | a AS commutative,
       (a | b) | c = a | (b | c) AS associative, a | a = a AS idempotent, a | bf_create(1000) = a AS neutral
FROM (SELECT filter(1, 600) AS a, filter(300, 900) AS b, filter(5, 20) AS c) AS s;
-- n and p do not need to be the same if the layout is: the larger n stays, with its p
SELECT (bf_info(u)).n, (bf_info(u)).p, u = b | a AS commutative
FROM (SELECT bf_create(1, 0.99) AS a, bf_create(2, 0.985) AS b) AS s, LATERAL (SELECT a | b AS u) AS t
WHERE (bf_info(a)).m = (bf_info(b)).m;

-- the intersection holds every common key
SELECT bf_intersect(a, b) = a & b AS operator, a & b = b & a AS commutative, a & a = a AS idempotent,
       (SELECT count(*) FROM generate_series(300, 600) AS x WHERE NOT bf_contains(a & b, x)) AS lost,
       (bf_info(a & bf_create(1000))).bits_set AS with_empty
FROM (SELECT filter(1, 600) AS a, filter(300, 900) AS b) AS s;

-- NULL gives the other side
SELECT bf_union(f, NULL) = f, bf_union(NULL, f) = f, bf_union(NULL, NULL) IS NULL,
       bf_intersect(f, NULL) = f, bf_intersect(NULL, f) = f, bf_intersect(NULL, NULL) IS NULL,
       f | NULL = f, NULL & f = f
FROM (SELECT bf_add(bf_create(10), 1) AS f) AS s;

-- aggregates: of aggregates, with NULLs among them, of nothing
SELECT bf_union_agg(f) = filter(1, 900) AS union_agg
FROM (SELECT bf_agg(x, 1000, 0.01) AS f FROM generate_series(1, 900) AS x GROUP BY x % 9) AS s;
SELECT bf_union_agg(f) = filter(1, 20) AS union_agg, bf_intersect_agg(f) = (filter(1, 10) & filter(5, 20)) AS intersect_agg
FROM (VALUES (NULL), (filter(1, 10)), (filter(5, 20)), (NULL)) AS v (f);
SELECT bf_union_agg(f) IS NULL, bf_intersect_agg(f) IS NULL FROM (VALUES (NULL::bloomfilter), (NULL)) AS v (f);
SELECT bf_union_agg(f) IS NULL, bf_intersect_agg(f) IS NULL FROM (SELECT bf_create(1) WHERE false) AS v (f);

-- an empty filter fits any key type, and takes over the other one's
SELECT bf_contains(bf_union(bf_agg(x, 10, 0.01), bf_add(bf_create(10), 7)), 7),
       bf_contains(bf_union(bf_create(10), bf_add(bf_create(10), 'a'::text)), 'a'),
       (bf_info(bf_create(10) | bf_add(bf_create(10), 'a'))).key_type,
       (bf_info(bf_add(bf_create(10), 1) & bf_create(10))).key_type
FROM (VALUES (NULL::int), (NULL)) AS v (x);

-- what does not fit is an error that shows both sides
SELECT bf_union(bf_create(100, 0.01), bf_create(200, 0.01));
SELECT bf_create(1000, 0.01) | bf_create(1000, 0.001);
SELECT bf_union(bf_create(100, 0.01, 1), bf_create(100, 0.01, 2));
SELECT bf_intersect(bf_create(50, 0.05), bf_create(62500, 0.05));
SELECT bf_intersect_count(bf_create(50, 0.05), bf_create(62500, 0.05));
SELECT bf_union_agg(f) FROM (VALUES (bf_create(100000)), (bf_create(10))) AS v (f);
SELECT bf_intersect_agg(f) FROM (VALUES (bf_create(10)), (bf_create(100000))) AS v (f);
SELECT bf_union(bf_add(bf_create(100), 1), bf_add(bf_create(100), '1'::text));
SELECT bf_add(bf_create(100), interval '1 day') | bf_add(bf_create(100), ARRAY[1, 2]);
SELECT bf_intersect(bf_add(bf_create(100), now()), bf_add(bf_create(100), true));
\set VERBOSITY sqlstate
SELECT bf_union(bf_create(100, 0.01), bf_create(200, 0.01));
SELECT bf_union(bf_create(100, 0.01, 1), bf_create(100, 0.01, 2));
SELECT bf_union_agg(f) FROM (VALUES (bf_create(10)), (bf_create(100000))) AS v (f);
SELECT bf_union(bf_add(bf_create(100), 1), bf_add(bf_create(100), '1'::text));
SELECT bf_intersect_count(bf_add(bf_create(100), 1), bf_add(bf_create(100), '1'::text));
\set VERBOSITY default

-- equality is that of the bytes; GROUP BY, DISTINCT and hash joins work
SELECT bf_create(10) = bf_create(10) AS eq, bf_create(10) <> bf_add(bf_create(10), 1) AS ne,
       bf_create(10) = bf_create(11) AS other_n, bf_create(10) = bf_create(10, 0.01, 1) AS other_seed,
       bf_create(10) = bf_create(10) & bf_add(bf_create(10), 1) AS empty_but_typed;
SELECT count(*), (SELECT count(DISTINCT f::text) FROM (VALUES (bf_create(10)), (bf_create(10))) AS w (f)) AS texts
FROM (SELECT f FROM (VALUES (bf_create(10)), (bf_create(10)), (bf_add(bf_create(10), 1))) AS v (f) GROUP BY f) AS s;
SET enable_nestloop = off; SET enable_mergejoin = off;
SELECT count(*) FROM (SELECT filter(1, x) AS f FROM generate_series(1, 20) AS x) AS a
  JOIN (SELECT filter(1, x) AS f FROM generate_series(11, 30) AS x) AS b USING (f);
SELECT bf_hash_extended(f, 0) & 4294967295 = bf_hash(f)::bigint & 4294967295 AS low_half,
       bf_hash_extended(f, 1) <> bf_hash_extended(f, 0) AS seeded
FROM bf_create(10) AS f;

DROP FUNCTION filter;
