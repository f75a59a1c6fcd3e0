-- layeredfilter: keys that are forgotten.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
CREATE FUNCTION t(text) RETURNS timestamptz LANGUAGE sql AS $$ SELECT ('2024-01-01 ' || $1)::timestamptz $$;

-- six layers of an hour: in until five to six hours later, by the clock's full hours
SELECT hour, bf_contains(f, 7, t('00:10') + hour * interval '1 hour') AS at_10, bf_contains(f, 7, t('00:59:59.999999') + hour * interval '1 hour') AS at_59
FROM bf_add(bf_create_layered(100, 0.01, 6, '1 hour'), 7, t('00:10')) AS f, generate_series(-1, 6) AS hour;
-- the edges, over layers and spans: at least (layers - 1) and at most layers times the span
SELECT count(*) AS asked,
       count(*) FILTER (WHERE NOT bf_contains(f, 1, at + (layers - 1) * span)) AS too_early,
       count(*) FILTER (WHERE bf_contains(f, 1, at + layers * span)) AS too_late
FROM generate_series(1, 9) AS layers, unnest('{1 second,7 minutes,1 day,1 week}'::interval[]) AS span,
     generate_series(t('00:00'), t('00:10'), '97 seconds') AS at,
     bf_add(bf_create_layered(10, 1e-6, layers, span), 1, at) AS f;
-- before 2000 too
SELECT bf_contains(f, 1, '1999-12-31 23:59Z'), bf_contains(f, 1, '2000-01-01 00:00Z'), (bf_info(f)).oldest
FROM bf_add(bf_create_layered(10, 0.01, 1, '1 hour'), 1, '1999-12-31 23:01Z') AS f;

-- a late key goes where it belongs; one that has expired is not added
CREATE TABLE seen (f layeredfilter);
INSERT INTO seen SELECT bf_add(bf_create_layered(100, 0.001, 3, '1 hour'), 'new'::text, t('10:30'));
UPDATE seen SET f = bf_add(f, 'late', t('08:30'));
UPDATE seen SET f = bf_add(f, 'too late', t('07:59'));
SELECT bf_contains(f, 'new', t('10:59')) AS new, bf_contains(f, 'late', t('10:59')) AS late, bf_contains(f, 'late', t('11:00')) AS late_at_11,
       bf_contains(f, 'too late', t('10:59')) AS too_late, (bf_info(f)).present, (bf_info(f)).oldest, (bf_info(f)).newest, (bf_info(f)).span, (bf_info(f)).layers
FROM seen;
-- what was not added or has been dropped is no "no" at its own time
SELECT bf_contains(f, 'too late', t('07:59')) FROM seen;
SELECT bf_contains(f, 'other', t('09:59')) FROM seen;
SELECT bf_contains_any(f, '{other}'::text[], t('09:59')) FROM seen;
SELECT bf_contains(f, 'late', t('09:59')) AS but_yes_is_yes, bf_contains(f, 'other', t('10:00')) AS certain_from_10 FROM seen;
-- a newer key drops what has expired
UPDATE seen SET f = bf_add(f, 'newer', t('12:00'));
SELECT bf_contains(f, 'new', t('12:00')) AS new, (bf_info(f)).present, (bf_info(f)).oldest FROM seen;
-- so does bf_expire, and nothing else
SELECT bf_expire(f, t('12:59')) = f AS unchanged, (bf_info(bf_expire(f, t('13:00')))).present AS at_13,
       (bf_info(bf_expire(f, t('15:00')))).present AS at_15, (bf_info(bf_expire(f, t('15:00')))).oldest IS NULL AS empty,
       (bf_info(bf_expire(f))).present AS now, bf_expire(f, NULL) IS NULL AS of_null
FROM seen;

-- the same calls give the same bytes, in any order, and as a union
SELECT count(DISTINCT f::text) FROM (
  SELECT bf_agg_layered(x, t('00:00') + x * interval '7 minutes', 100, 0.01, 5, '1 hour' ORDER BY x) FROM generate_series(1, 300) AS x
  UNION ALL SELECT bf_agg_layered(x, t('00:00') + x * interval '7 minutes', 100, 0.01, 5, '1 hour' ORDER BY -x) FROM generate_series(1, 300) AS x
  UNION ALL SELECT bf_agg_layered(bf_key(x), t('00:00') + x * interval '7 minutes', 100, 0.01, 5, '1 hour' ORDER BY x % 17) FROM generate_series(1, 300) AS x
  UNION ALL SELECT bf_union_agg(f) FROM (
    SELECT bf_agg_layered(x, t('00:00') + x * interval '7 minutes', 100, 0.01, 5, '1 hour') AS f FROM generate_series(1, 300) AS x GROUP BY x % 7) AS s) AS v (f);

-- without a time: now, and no function of the clock is immutable
BEGIN;
SELECT bf_contains(f, 1) AS is_in, bf_contains(f, 1, now()) AS now, bf_contains(f, 1, now() + '3 days') AS later, f = bf_add(bf_create_layered(10, 0.01, 2, '1 day'), 1, now()) AS as_if
FROM bf_add(bf_create_layered(10, 0.01, 2, '1 day'), 1) AS f;
-- asked behind the newest key's time, it is that time that counts
SELECT bf_contains(f, 1) AS is_in, bf_contains(f, 2) AS other FROM bf_add(bf_add(bf_create_layered(10, 0.01, 2, '1 day'), 1, now() + '10 days'), 3, now() + '11 days') AS f;
SELECT bf_contains_all(bf_add_all(bf_create_layered(10, 0.01, 2, '1 day'), ARRAY[1, 2]), ARRAY[1, 2]);
COMMIT;
SELECT count(*) FROM pg_proc WHERE proname IN ('bf_add', 'bf_add_all', 'bf_contains', 'bf_contains_any', 'bf_contains_all') AND proargtypes[0] = 'layeredfilter'::regtype
  AND (provolatile = 's') <> (pronargs = 2);

-- the rate with all layers full: 6000 keys, 20,000 questions at 1%, five standard deviations
SELECT count(*) <= 271 FROM (SELECT bf_agg_layered(x, t('00:00') + x * interval '1 second', 1000, 0.01, 6, '1000 seconds') AS f FROM generate_series(400, 6399) AS x) AS s,
  generate_series(10001, 30000) AS x WHERE bf_contains(f, x, t('01:46:39'));

-- a fixed value, checked by another implementation of doc/format.md
SELECT f = bf_add(bf_add(bf_create_layered(8, 0.1, 2, '1 hour', 7), 1, '2000-01-01 01:30Z'), 2, '2000-01-01 02:00Z') AS same,
       bf_contains(f, 1, '2000-01-01 02:59Z'), bf_contains(f, 2, '2000-01-01 03:59Z'), bf_contains(f, 1, '2000-01-01 03:00Z')
FROM (SELECT 'AQUBBAEAAAA4AAAACAAAAAAAAACamZmZmZm5PzgAAAAAAAAABwAAAAAAAAAApJPWAAAAAAIAAAACAAAAAAAAAAAAAAABAAAAAAAAAAIAAAAAAAAAAALAAACAAAAAYBAAIAAAAOSplH5MPWI7'::layeredfilter AS f) AS s;

-- NULL, infinity, and other things that are no time or span
SELECT bf_contains(f, 1, NULL) IS NULL, bf_add(f, NULL::int, NULL) = f FROM bf_create_layered(10, 0.01, 2, '1 day') AS f;
SELECT bf_add(bf_create_layered(10, 0.01, 2, '1 day'), 1, NULL);
SELECT bf_add(bf_create_layered(10, 0.01, 2, '1 day'), 1, 'infinity');
SELECT bf_contains(bf_create_layered(10, 0.01, 2, '1 day'), 1, '-infinity');
SELECT bf_create_layered(10, 0.01, 2, '0');
SELECT bf_create_layered(10, 0.01, 2, '-1 hour');
SELECT bf_create_layered(10, 0.01, 2, '1 month');
SELECT bf_create_layered(10, 0.01, 0, '1 day');
SELECT bf_create_layered(10, 0.01, 1001, '1 day');
SELECT bf_create_layered(10, 1e-9, 100, '1 day');
SELECT bf_create_layered(100000000, 0.01, 24, '1 hour');
SELECT bf_create_layered(10, 0.01, 2, '1 day') | bf_create_layered(10, 0.01, 3, '1 day');
SELECT bf_create_layered(10, 0.01, 2, '1 day') | bf_create_layered(10, 0.01, 2, '2 days');
SELECT bf_agg_layered(x, t('00:00'), 10, 0.01, x, '1 day') FROM generate_series(1, 2) AS x;
SELECT bf_agg_layered(x, NULL, 10, 0.01, 2, '1 day') FROM generate_series(1, 2) AS x;
SELECT bf_contains(bf_add(f, 1, '294276-12-31 23:59Z'), 1, '294276-12-31 23:59Z'), bf_contains(bf_add(f, 1, '4713-01-01 BC'), 1, '4713-01-01 BC')
FROM bf_create_layered(10, 0.01, 2, '1 day') AS f;
-- spans that began before the first timestamp there is, and others of odd lengths
SELECT oldest, newest, span, bf_contains(f, 1, '4714-11-24 BC') AS is_in
FROM bf_add(bf_create_layered(10, 0.01, 2, '1000000 days'), 1, '4714-11-24 BC'::timestamptz) AS f, bf_info(f);
SELECT extract(epoch FROM (bf_info(bf_create_layered(10, 0.01, 2, span))).span)::float8 AS seconds
FROM unnest('{1 day -23:59:59.999999,-1 day 25:00,106751991 days}'::interval[]) AS span;
SELECT bf_create_layered(10, 0.01, 2, '1 day -24:00');
SELECT bf_create_layered(10, 0.01, 2, '106751992 days');
-- days are of 24 hours, whatever the clocks do
SET timezone = 'America/New_York';
SELECT bf_contains(f, 1, '2024-03-10 19:59:59.999999') AS within, bf_contains(f, 1, '2024-03-10 20:00') AS after FROM bf_add(bf_create_layered(10, 0.01, 1, '1 day'), 1, '2024-03-10 00:00') AS f;
SET timezone = 'UTC';
-- rates too small: as such, or for so many layers
SELECT bf_create_layered(10, 5e-324, 1000, '1 day');
SELECT bf_create_layered(10, 0, 1000, '1 day');

DROP TABLE seen;
DROP FUNCTION t;
