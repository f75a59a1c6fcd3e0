-- Text, binary and bytea forms; COPY; what is not a filter, or damaged.

CREATE TABLE samples (what text, f bloomfilter);
INSERT INTO samples VALUES ('empty', bf_create(10)), ('full', bf_add_all(bf_create(1, 0.9), ARRAY(SELECT generate_series(1, 1000)))),
  ('seeded', bf_add(bf_create(77, 0.02, -5), 'x')), ('null', NULL), ('other type', bf_add(bf_create(50), interval '1 day'));
INSERT INTO samples SELECT 'integers', bf_agg(x, 1000, 0.01) FROM generate_series(1, 1000) AS x;
INSERT INTO samples SELECT 'texts', bf_agg('k' || x, 20000, 0.001) FROM generate_series(1, 5000) AS x;
INSERT INTO samples SELECT 'n = ' || x, bf_add(bf_create(x, 0.2), x) FROM generate_series(1, 40) AS x;

-- round trips; the text form is the base64 of the bytea form, which is what bf_send gives
SELECT count(*), bool_and(f::text::bloomfilter = f) AS text_form, bool_and(f::bytea::bloomfilter = f) AS bytea_form,
       bool_and(f::text ~ '^[A-Za-z0-9+/]+=*$') AS plain_ascii, bool_and(decode(f::text, 'base64') = f::bytea) AS base64_of_bytea,
       bool_and(f::bytea = bf_send(f)) AS send, bool_and(octet_length(f::bytea) = (bf_info(f)).bytes - 4 + 8) AS length
FROM samples WHERE f IS NOT NULL;
-- more than one piece of base64: pieces are 3 MB
SELECT f::text::bloomfilter = f AS same, length(f::text) = (octet_length(f::bytea) + 2) / 3 * 4 AS length
FROM (SELECT bf_agg(x, 6000000, 0.01) AS f FROM generate_series(1, 1000) AS x) AS s;

-- COPY in both formats, through the client
CREATE TABLE copies (LIKE samples);
\copy samples TO 'results/io_copy.bin' (FORMAT binary)
\copy copies FROM 'results/io_copy.bin' (FORMAT binary)
\copy samples TO 'results/io_copy.txt'
\copy copies FROM 'results/io_copy.txt'
\copy samples TO 'results/io_copy.csv' (FORMAT csv)
\copy copies FROM 'results/io_copy.csv' (FORMAT csv)
SELECT what, count(*) FROM copies GROUP BY what, f HAVING count(*) <> 3;
SELECT count(*) FROM samples JOIN copies USING (what) WHERE samples.f = copies.f OR (samples.f IS NULL AND copies.f IS NULL);

-- filters as written by version 1.0 are read for ever
SELECT bf_contains(f, 'apple'), bf_contains(f, 'pear'), bf_contains(f, 'plum'), bf_contains(f, 'quince'), bf_contains(f, 'grape')
FROM (SELECT 'AQEBAwMAAAAwAAAACAAAAAAAAACamZmZmZm5PzAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADRggAAA47HIUOxJesBQ='::bloomfilter AS f) AS s;
SELECT bf_contains(f, 1), bf_contains(f, 2), seed FROM
  (SELECT 'AQEBAwEAAAAwAAAACAAAAAAAAACamZmZmZm5PzAAAAAAAAAAKgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAog0c8FKtFHKpc='::bloomfilter AS f) AS s,
  bf_info(f);

-- not base64
SELECT ''::bloomfilter;
SELECT '\x'::bloomfilter;
SELECT 'hello, world'::bloomfilter;
SELECT 'AQEB'::bloomfilter;
SELECT 'AQE'::bloomfilter;
SELECT ' AQEBAwEAAAAwAAAACAAAAAAAAACamZmZmZm5PzAAAAAAAAAAKgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAog0c8FKtFHKpc='::bloomfilter;
-- bytes of another library
SELECT '\x128b7f03a50af9a15d595156ea58575fd8a25d5af6fcf4119f7d2b'::bloomfilter;
SELECT '\x128b7f03a50af9a15d595156ea58575fd8a25d5af6fcf4119f7d2b'::bytea::bloomfilter;
SELECT '\x'::bytea::bloomfilter;
SELECT encode('\x128b7f03a50af9a15d595156ea58575fd8a25d5af6fcf4119f7d2b', 'base64')::bloomfilter;

-- Damage: each of these is refused with 22P03 and the reason.
CREATE FUNCTION refused(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE reason text;
BEGIN
  PERFORM bytes::bloomfilter;
  RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS reason = PG_EXCEPTION_DETAIL;
  RETURN SQLSTATE || ' ' || reason;
END $$;
CREATE FUNCTION refused_text(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM translate(encode(bytes, 'base64'), E'\n', '')::bloomfilter;
  RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;
END $$;
-- cut short: a header that claims 1.2 MB with nothing behind it, a header alone, all prefixes of a filter
SELECT refused(substr(bf_create(1000000)::bytea, 1, 60)), refused(substr(bf_create(1000000)::bytea, 1, 68)),
       refused(substr(bf_create(100)::bytea, 1, 44)), refused(substr(bf_create(100)::bytea, 1, 100));
SELECT DISTINCT refused_text(substr(f, 1, l)) FROM CAST(bf_create(10) AS bytea) AS f, generate_series(1, octet_length(f) - 1) AS l;
-- lengthened
SELECT refused(bf_create(10)::bytea || '\x00'), refused(bf_create(10)::bytea || bf_create(10)::bytea);
-- any one bit flipped, anywhere
SELECT DISTINCT refused_text(set_bit(f, b, 1 - get_bit(f, b)))
FROM CAST(bf_add_all(bf_create(10), ARRAY[1, 2, 3]) AS bytea) AS f, generate_series(0, octet_length(f) * 8 - 1) AS b;
-- any one byte replaced by any other
SELECT DISTINCT refused(set_byte(f, i, (get_byte(f, i) + d) % 256)) ~ '^22P03'
FROM CAST(bf_add_all(bf_create(10), ARRAY[1, 2, 3]) AS bytea) AS f, generate_series(0, octet_length(f) - 1) AS i, generate_series(1, 255, 7) AS d;
-- each field, by name
SELECT i, refused(set_byte(f, i, v)) FROM CAST(bf_add(bf_create(10), 1) AS bytea) AS f,
  (VALUES (0, 2), (1, 9), (2, 7), (3, 0), (3, 41), (4, 13), (4, 99), (8, 5), (10, 255), (12, 0), (19, 255), (27, 0), (27, 255), (28, 9), (35, 1), (44, 1), (59, 1), (60, 255), (36, 1)) AS v (i, v);
-- a bit of the bits set to 0 would turn a member into "certainly not"
SELECT refused(set_byte(f, octet_length(f) / 2, 0)) FROM CAST((SELECT bf_agg(x, 100, 0.01) FROM generate_series(1, 100) AS x) AS bytea) AS f;

-- the same through COPY, which leaves the table as it was
\copy copies FROM PROGRAM 'printf "bad\\tAQEBAwEA\\n"'
\copy copies FROM PROGRAM 'printf "bad\\tAQEBAwEAAAAwAAAACAAAAAAAAACamZmZmZm5PzAAAAAAAAAAKgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAog0c8FKtFHKqc=\\n"'
SELECT count(*) FROM copies;

DROP FUNCTION refused, refused_text;
DROP TABLE samples, copies;
