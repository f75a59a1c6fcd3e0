-- Rates and estimates, within bounds that follow from the binomial.

-- the asked-for rate at n keys: 200 of 20,000 expected, 4 sigma is 56
WITH f AS (SELECT bf_agg(x, 20000, 0.01) AS b FROM generate_series(1, 20000) AS x)
SELECT count(*) FILTER (WHERE x <= 20000 AND NOT bf_contains(b, x)) AS lost,
       count(*) FILTER (WHERE x > 20000 AND bf_contains(b, x)) BETWEEN 144 AND 256 AS rate
FROM f, generate_series(1, 40000) AS x;
-- no floor from a short hash: 0.2 of 200,000 expected at one in a million, a 32-bit hash would give 19
SELECT count(*) <= 4 AS rate
FROM (SELECT bf_agg(x, 400000, 1e-6) AS b FROM generate_series(1, 400000) AS x) AS f, generate_series(1000001, 1200000) AS x
WHERE bf_contains(b, x);
-- nor from positions that collapse, in 2,000 small filters: 1 of a million expected
SELECT count(*) <= 6 AS rate
FROM generate_series(1, 2000) AS i, LATERAL (SELECT bf_agg(i * 1000 + j, 20, 1e-6) AS b FROM generate_series(1, 20) AS j) AS f,
     generate_series(1, 500) AS q
WHERE bf_contains(b, -(i * 1000 + q));
-- the rate told by the filter is the one that is measured, at and beyond n: 4 sigma
SELECT keys, round(fpp::numeric, 2) AS fpp, abs(hits - 20000 * fpp) < 4 * sqrt(20000 * fpp) AS as_told
FROM (SELECT keys, bf_fpp(f) AS fpp, (SELECT count(*) FROM generate_series(100001, 120000) AS x WHERE bf_contains(f, x)) AS hits
      FROM unnest(ARRAY[1000, 2000, 4000, 20000]) AS keys,
           LATERAL (SELECT bf_agg(x, 1000, 0.01) AS f FROM generate_series(1, keys) AS x) AS b) AS s;

-- the estimate, from a few keys to 20 times too many
SELECT keys, abs(bf_count(f) - keys) <= 1 + 0.05 * keys AS near FROM unnest(ARRAY[0, 1, 10, 100, 1000, 3000]) AS keys,
  LATERAL (SELECT bf_add_all(bf_create(1000), ARRAY(SELECT generate_series(1, keys))) AS f) AS b;
SELECT bf_fpp(f) > 0.9 AS overfull, bf_count(f) > 5000 AS count_tells FROM (SELECT bf_agg(x, 1000, 0.01) AS f FROM generate_series(1, 20000) AS x) AS s;
-- duplicates count once, NULL not at all, the empty string does
SELECT round(bf_count(f)), bf_contains(f, '') FROM (SELECT bf_agg(x, 100, 0.001) AS f FROM (VALUES (NULL::text), (''), ('')) AS v (x)) AS s;
SELECT round(bf_count(bf_agg(x % 50, 1000, 0.001))) BETWEEN 48 AND 52 FROM generate_series(1, 5000) AS x;

-- full filters: finite, at most 1, not negative
SELECT bf_count(f) > 0 AND bf_count(f) < 'Infinity' AS finite, bf_fpp(f) AS fpp, bf_intersect_count(f, f) >= 0 AND bf_intersect_count(f, f) < 'Infinity' AS common,
       (bf_info(f)).fill AS fill
FROM (SELECT bf_agg(x, 1, 0.5) AS f FROM generate_series(1, 5000) AS x) AS s;
SELECT bf_count(f) AS count, bf_fpp(f) AS fpp, bf_intersect_count(f, f) AS common FROM bf_create(100) AS f;
SELECT bf_count(NULL) IS NULL, bf_fpp(NULL) IS NULL, bf_info(NULL) IS NULL, bf_intersect_count(NULL, bf_create(1)) IS NULL;
SELECT bf_fpp(f) BETWEEN 0 AND 1, round(bf_count(f)) FROM (SELECT bf_add(bf_create(100000000, 0.0001), 1) AS f) AS s;

-- common keys: by inclusion and exclusion; the bits of the intersection would tell 2.5 times as many
SELECT bf_intersect_count(a, b) BETWEEN 900 AND 1100 AS near_1000, bf_count(bf_intersect(a, b)) > 2000 AS bits_mislead,
       bf_intersect_count(a, b) = bf_intersect_count(b, a) AS commutative
FROM (SELECT bf_agg(x, 20000, 0.0001) AS a FROM generate_series(1, 15000) AS x) AS p,
     (SELECT bf_agg(x, 20000, 0.0001) AS b FROM generate_series(14001, 20000) AS x) AS q;
-- a union holds more than each side was made for, and says so: about 0.16
SELECT bf_fpp(u) > 0.12 AND bf_fpp(u) < 0.2 AS risen, round((bf_count(u) / 2000)::numeric, 1) AS share
FROM (SELECT bf_union(a, b) AS u FROM (SELECT bf_agg(x, 1000, 0.01) AS a FROM generate_series(1, 1000) AS x) AS p,
  (SELECT bf_agg(x, 1000, 0.01) AS b FROM generate_series(1001, 2000) AS x) AS q) AS s;

-- bf_info agrees with the others
SELECT n, p, seed, key_type, bits_set, fill = bits_set::float8 / m AS fill, count = bf_count(f) AS count, fpp = bf_fpp(f) AS fpp,
       bytes = (bf_size(n, p)).bytes AS bytes
FROM (SELECT bf_add(bf_create(500, 0.02, 9), 'x') AS f) AS s, bf_info(f);
SELECT v, (bf_info(f)).key_type FROM (VALUES
  (1, bf_add(bf_create(1), 1)), (2, bf_add(bf_create(1), 1.5)), (3, bf_add(bf_create(1), 1::float4)), (4, bf_add(bf_create(1), 'a')),
  (5, bf_add(bf_create(1), '\x00'::bytea)), (6, bf_add(bf_create(1), true)), (7, bf_add(bf_create(1), md5('')::uuid)),
  (8, bf_add(bf_create(1), '10.0.0.1'::inet)), (9, bf_add(bf_create(1), date '2024-01-01')), (10, bf_add(bf_create(1), now())),
  (11, bf_add(bf_create(1), time '10:00')), (12, bf_add(bf_create(1), ARRAY[1])), (13, bf_add(bf_create(1), ARRAY['a'])),
  (14, bf_add(bf_create(1), ROW(1, 2))), (15, bf_add(bf_create(1), int4range(1, 2))), (16, bf_add(bf_create(1), interval '1 day')),
  (17, bf_add(bf_create(1), '{}'::jsonb)), (18, bf_add(bf_create(1), ARRAY[interval '1 day'])), (19, bf_create(1)),
  (20, bf_add(bf_create(1), ARRAY[ROW(1)]))) AS s (v, f) ORDER BY v;
