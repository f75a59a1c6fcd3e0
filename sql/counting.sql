-- countingfilter: removal, saturation, the standard filter of the same keys.

-- two copies added, one removed: still in; both removed: gone
SELECT bf_contains(once, 'a') AS once, bf_contains(twice, 'a') AS twice, twice = bf_add_all(bf_create_counting(100), '{b}'::text[]) AS as_never_there
FROM (SELECT bf_remove(f, 'a') AS once, bf_remove(bf_remove(f, 'a'), 'a') AS twice
      FROM (SELECT bf_add_all(bf_create_counting(100), '{a,b,a}'::text[]) AS f) AS s) AS t;
-- four copies, three removed
SELECT bf_contains(bf_remove(bf_remove(bf_remove(bf_agg_counting('a'::text, 100, 0.01), 'a'), 'a'), 'a'), 'a') FROM generate_series(1, 4);

-- a key that is certainly not in: an error, or nothing
SELECT bf_remove(bf_add(bf_create_counting(100), 1), 2);
SELECT bf_remove(bf_create_counting(100), 2);
SELECT bf_remove(f, 2, missing_ok => true) = f, bf_remove(f, NULL::int) = f, bf_remove(NULL::countingfilter, 2) IS NULL,
       bf_remove(f, 1, NULL) = bf_remove(f, 1), bf_remove(f, bf_key(1)) = bf_remove(f, 1)
FROM bf_add(bf_create_counting(100), 1) AS f;
SELECT bf_remove(f, 2, NULL) FROM bf_add(bf_create_counting(100), 1) AS f;
SELECT bf_remove(f, 'a'::text, true) FROM bf_add(bf_create_counting(100), 1) AS f;
-- all or nothing is the statement's: the row stays as it was
CREATE TABLE subscribers (f countingfilter);
INSERT INTO subscribers SELECT bf_agg_counting(x, 1000, 0.01) FROM generate_series(1, 1000) AS x;
UPDATE subscribers SET f = bf_remove(bf_remove(f, 1), -1);
SELECT bf_contains(f, 1) FROM subscribers;
UPDATE subscribers SET f = bf_remove(f, 1);
-- 999 others are in; the removed one is a false positive at most as often as p says (here it is not)
SELECT count(*) FILTER (WHERE bf_contains(f, x)) - bf_contains(f, 1)::int AS others FROM subscribers, generate_series(1, 1000) AS x GROUP BY f;

-- many at once: as one after the other
SELECT bf_remove_all(f, ARRAY[1, 2, NULL, 3]) = bf_remove(bf_remove(bf_remove(f, 1), 2), 3) AS as_one_by_one,
       bf_remove_all(f, ARRAY[[1, 1], [2, 3]]) = bf_create_counting(100) | bf_add(bf_add_all(bf_create_counting(100), ARRAY[2, 3]), 4) AS copies,
       bf_remove_all(f, ARRAY[9, 1, 9], missing_ok => true) = bf_remove(f, 1) AS missing, bf_remove_all(f, ARRAY[9], true) = f AS nothing,
       bf_remove_all(f, ARRAY[]::int[]) = f AND bf_remove_all(f, NULL::int[]) = f AND bf_remove_all(f, ARRAY[NULL]::int[]) = f AS nulls,
       bf_remove_all(NULL::countingfilter, ARRAY[1]) IS NULL AS of_null, bf_remove_all(f, ARRAY[bf_key(1)]) = bf_remove(f, 1) AS of_keys
FROM bf_add_all(bf_create_counting(100), ARRAY[1, 1, 2, 2, 3, 3, 4]) AS f;
SELECT bf_remove_all(bf_add_all(bf_create_counting(100), ARRAY[1, 2]), ARRAY[1, 2, 1]);
SELECT bf_remove_all(bf_add(bf_create_counting(100), 1), ARRAY[1, 9], NULL);
SELECT bf_remove_all(bf_add(bf_create_counting(100), 1), ARRAY['a'], true);
-- an error leaves every key in; what is missing leaves the stored value where it is
UPDATE subscribers SET f = bf_remove_all(f, ARRAY[2, 3, -1]);
SELECT bf_contains_all(f, ARRAY[2, 3]) FROM subscribers;
CREATE FUNCTION subscribers_chunk() RETURNS oid LANGUAGE plpgsql AS $$
DECLARE
  result oid;
BEGIN
  EXECUTE format('SELECT max(chunk_id) FROM %s', (SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'subscribers')) INTO result;
  RETURN result;
END
$$;
SELECT subscribers_chunk() AS before \gset
UPDATE subscribers SET f = bf_remove(bf_remove_all(f, ARRAY[-1, -2], true), -3, true);
SELECT subscribers_chunk() = :before AS kept;
UPDATE subscribers SET f = bf_remove_all(f, ARRAY(SELECT generate_series(2, 500)));
SELECT subscribers_chunk() = :before AS kept, count(*) FILTER (WHERE x > 500 AND bf_contains(f, x)) AS others,
       count(*) FILTER (WHERE x <= 500 AND bf_contains(f, x)) <= 500 * 0.01 + 3 * sqrt(500 * 0.01) AS rate
FROM subscribers, generate_series(1, 1000) AS x;

-- removing true members takes no other out (half of 1000 keys)
SELECT count(*) FROM (
  WITH RECURSIVE r (i, f) AS (
    SELECT 501, bf_agg_counting(x, 1000, 0.01) FROM generate_series(1, 1000) AS x
    UNION ALL SELECT i + 1, bf_remove(f, i) FROM r WHERE i <= 1000)
  SELECT f FROM r WHERE i = 1001) AS s, generate_series(1, 500) AS x
WHERE NOT bf_contains(f, x);

-- a thousand copies: counters stick at 15, which no removal changes
SELECT bf_contains(f, 'a') AS is_in, f = bf_remove(f, 'a') AS stuck, (bf_info(f)).saturated = (bf_info(f)).counters_set AS saturated,
       bf_contains(f | f, 'a') AS united
FROM (SELECT bf_agg_counting('a'::text, 10, 0.01) AS f FROM generate_series(1, 1000)) AS s;
SELECT (bf_info(bf_agg_counting('a'::text, 10, 0.01))).saturated FROM generate_series(1, 14);

-- the standard filter of the same keys: the same bits, asked and united with others of that kind
SELECT f::bloomfilter = b AS same, f::bloomfilter | bf_create(1000) = b AS united, bf_contains(f::bloomfilter, 7) AS asked,
       bf_count(f) = bf_count(b) AS count, bf_fpp(f) = bf_fpp(b) AS fpp, pg_column_size(f) - 64 = 4 * (pg_column_size(b) - 64) AS size
FROM (SELECT bf_agg_counting(x % 500, 1000, 0.01) AS f, bf_agg(x, 1000, 0.01) AS b FROM generate_series(0, 499) AS x) AS s;
SELECT bf_create_counting(100, 0.01, 5)::bloomfilter = bf_create(100, 0.01, 5);

-- a union has the copies of both
SELECT bf_contains(bf_remove(a | b, 1), 1), bf_contains(bf_remove(bf_remove(a | b, 1), 1), 1), a | b = b | a
FROM (SELECT bf_add(bf_create_counting(100), 1) AS a, bf_add_all(bf_create_counting(100), ARRAY[1, 2]) AS b) AS s;

-- a fixed value, checked by another implementation of doc/format.md
SELECT f = bf_add_all(bf_create_counting(8, 0.1), ARRAY[1, 1, 2]) AS same, bf_contains(f, 1), bf_contains(f, 2), bf_contains(f, 3)
FROM (SELECT 'AQIBAwEAAAAwAAAACAAAAAAAAACamZmZmZm5PzAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAARAAAAAAAAAAAAAAAAAAABICAAhG8mEIE1DkM='::countingfilter AS f) AS s;

-- limits
SELECT bf_create_counting(0);
SELECT bf_create_counting(10, 1);
SELECT bf_create_counting(1000000000);
SELECT bf_create_counting(10) | bf_create_counting(100);
SELECT bf_agg_counting(x, x, 0.01) FROM generate_series(1, 2) AS x;

DROP TABLE subscribers;
DROP FUNCTION subscribers_chunk;
