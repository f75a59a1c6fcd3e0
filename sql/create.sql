-- Making filters: sizes, limits, parameters.

-- what bf_size promises is what bf_create makes, for every size and rate
SELECT count(*) AS sizes, bool_and(s.bytes = pg_column_size(f)) AS same_bytes,
       bool_and(s.m = i.m AND s.k = i.k AND i.bytes = s.bytes) AS same_info,
       bool_and(octet_length(bf_send(f)) = s.bytes - 4 + 8) AS portable_adds_checksum
FROM (SELECT n, p, bf_create(n, p) AS f
      FROM unnest(ARRAY[1, 2, 3, 10, 77, 1000, 16384, 65536, 1000000]) AS n,
           unnest(ARRAY[0.99, 0.5, 0.1, 0.01, 0.001, 1e-6, 1e-10]::float8[]) AS p) AS c,
     LATERAL bf_size(n, p) AS s, LATERAL bf_info(f) AS i;

-- within 3% of the textbook's -n ln p / ln^2 2 from 10,000 keys on
SELECT p, bool_and(m BETWEEN -n * ln(p) / ln(2) ^ 2 AND -n * ln(p) / ln(2) ^ 2 * 1.03) AS near_textbook
FROM unnest(ARRAY[10000, 100000, 1000000, 10000000]) AS n,
     unnest(ARRAY[0.05, 0.01, 0.001, 1e-4, 1e-6]::float8[]) AS p,
     LATERAL bf_size(n, p) AS s
GROUP BY p ORDER BY p DESC;

-- no size is cut to fewer bits on the way: 1000, 16384 and 65536 are not 232, 0 and 0
SELECT n, m / n AS bits_per_key FROM unnest(ARRAY[1000, 16384, 65536, 100000000]) AS n, bf_size(n);

-- defaults: p is 0.01, seed is 0
SELECT bf_create(100) = bf_create(100, 0.01, 0) AS defaults, bf_size(100) = bf_size(100, 0.01) AS size_defaults;
SELECT n, p, m, k, seed, key_type, bits_set, fill, count, fpp FROM bf_info(bf_create(100, 0.05, 7));

-- an empty filter contains nothing, whatever its size and rate; the smallest work
SELECT bool_or(bf_contains(bf_create(n, p), 'a')) AS any_false_positive,
       bool_and(bf_contains(bf_add(bf_create(n, p), 'a'), 'a')) AS no_false_negative,
       bool_and(bf_contains(bf_add(bf_create(n, p), n), n)) AS no_false_negative,
       min((bf_info(bf_create(n, p))).m) >= 1 AS has_bits,
       min((bf_info(bf_create(n, p))).k) >= 1 AS has_k
FROM generate_series(1, 20) AS n,
     unnest(ARRAY[0.999999, 0.99, 0.9, 0.5, 0.37, 0.01, 1e-10]::float8[]) AS p;

-- every number of bits modulo 64: reads and writes stay inside
SELECT count(*) FROM generate_series(1, 300) AS n WHERE NOT bf_contains(bf_add(bf_create(n, 0.37), n), n);

-- NULL in, NULL out
SELECT bf_create(NULL) IS NULL, bf_create(1, NULL) IS NULL, bf_create(1, 0.1, NULL) IS NULL,
       bf_size(NULL) IS NULL;

-- a large one: 115 MB, in bf_create, aggregates, union and text
SELECT bf_contains(bf_agg(x, 100000000, 0.01), 1) FROM generate_series(1, 10) AS x;
SELECT bf_fpp(f) BETWEEN 0 AND 1, bf_contains(f | f, 1), length(f::text) > 0
FROM (SELECT bf_add(bf_create(100000000, 0.01), 1) AS f) AS s;

-- up to 2^32 bits, and not beyond
SELECT (bf_size(439000000, 0.01)).m <= 4294967296 AS fits;
SELECT bf_size(441000000, 0.01);
SELECT bf_create(100000000000, 0.001);
SELECT bf_create(9223372036854775807, 0.001);
-- the number of shards named is enough, and one less is not
SELECT (bf_size((441000000 + 1) / 2, 0.01)).m <= 4294967296 AS two_fit;
SELECT (bf_size((100000000000 + 341) / 342, 0.001)).m <= 4294967296 AS fit;
SELECT bf_size((100000000000 + 340) / 341, 0.001);

-- wrong parameters
SELECT bf_create(0);
SELECT bf_create(-1);
SELECT bf_create(-9223372036854775808);
SELECT bf_create(100, 0);
SELECT bf_create(100, 1);
SELECT bf_create(100, 5);
SELECT bf_create(100, -0.01);
SELECT bf_create(100, 'NaN');
SELECT bf_create(100, 'Infinity');
SELECT bf_create(100, '-Infinity');
SELECT bf_create(100, 1e-11);
SELECT bf_create(100, 1e-300);
SELECT bf_size(0), bf_size(10, 2);
\set VERBOSITY sqlstate
SELECT bf_create(0);
SELECT bf_create(100, 'NaN');
SELECT bf_create(100, 1e-11);
SELECT bf_create(441000000, 0.01);
