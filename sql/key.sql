-- Keys: values that SQL calls equal are one key, values that it does not are not.

CREATE EXTENSION citext;
CREATE EXTENSION hstore;

-- the width of an integer does not matter, negative numbers included
SELECT bool_and(bf_contains(a, x::int2) AND bf_contains(a, x) AND bf_contains(a, x::int8) AND
                bf_contains(b, x::int2) AND bf_contains(b, x) AND bf_contains(b, x::numeric)) AS found
FROM (SELECT bf_agg(x::int2, 100, 0.01) AS a, bf_agg(x::int8, 100, 0.01) AS b FROM generate_series(-50, 49) AS x) AS f,
     generate_series(-50, 49) AS x;
SELECT (SELECT bf_agg(x::int4, 1000, 0.01) FROM generate_series(1, 500) AS x) =
       (SELECT bf_agg(x::int8, 1000, 0.01) FROM generate_series(1, 500) AS x) AS same_filter;

-- numeric: scale does not count, integral values are integers, others are not
SELECT bf_key(1.0) = bf_key(1), bf_key(1.50) = bf_key(1.5), bf_key(1.5) = bf_key(1), bf_key(-0.0) = bf_key(0),
       bf_key(9223372036854775807.00) = bf_key(9223372036854775807),
       bf_key('-9223372036854775808'::numeric) = bf_key((-9223372036854775808)::bigint),
       bf_key(9223372036854775808) = bf_key('-9223372036854775808'::bigint),
       bf_key('NaN'::numeric) = bf_key('NaN'::numeric), bf_key(1e30) = bf_key(1000000000000000000000000000000.000);
-- 8 characters are no integer
SELECT count(DISTINCT bf_key(x)::text) FROM (VALUES (0.123456), (1234.567), (12345678), (123456.7)) AS v (x);

-- floats: one zero, one NaN, exact widening only
SELECT bf_contains(f, -('NaN'::float8)), bf_contains(f, 'NaN'::float4), bf_contains(f, 'Infinity'::float8 - 'Infinity'::float8)
FROM bf_add(bf_create(10), 'NaN'::float8) AS f;
SELECT bf_key('-0'::float8) = bf_key(0::float4), bf_key('Infinity'::float4) = bf_key('Infinity'::float8),
       bf_key(0.5::float4) = bf_key(0.5::float8), bf_key(0.1::float4) = bf_key(0.1::float8);

-- text in all its types; trailing blanks do not count, as SQL ignores them in char(n), varchar and literals
SELECT bf_contains(f, 'ab'::text), bf_contains(f, 'ab'::varchar(9)), bf_contains(f, 'ab  '::char(4)),
       bf_contains(f, 'ab'::name), bf_contains(f, 'ab    '), bf_contains(f, 'ab '::varchar), bf_contains(f, ' ab'::text)
FROM (SELECT bf_agg(c, 10, 1e-9) AS f FROM (VALUES ('ab'::char(5))) AS v (c)) AS s;
SELECT 'ab  '::varchar = 'ab'::char(4) AS equal, bf_contains(bf_add(bf_create(10), 'ab  '::varchar), 'ab'::char(4)) AS found;
SELECT bf_key('') = bf_key('  '), bf_key('') = bf_key('a'), bf_key(''::text) = bf_key(''::varchar);
SELECT bf_contains(bf_create(10, 1e-9), 'abc'), bf_contains(bf_add(bf_create(10), 'abc'), 'abc');
-- long values, compressed and out of line
CREATE TABLE long (v text);
INSERT INTO long VALUES (repeat('x', 100000)), ((SELECT string_agg(md5(x::text), '') FROM generate_series(1, 3000) AS x));
SELECT bool_and(bf_contains(f, v)), bool_and(bf_contains(f, v || 'x')) FROM long, (SELECT bf_agg(v, 10, 1e-9) AS f FROM long) AS s;
SELECT bool_and(bf_key(v) = bf_key(v || '')) FROM long;
DROP TABLE long;

-- enums are their labels, so that they survive a dump
CREATE TYPE colour AS ENUM ('r', 'g');
CREATE TABLE kept (f bloomfilter);
INSERT INTO kept SELECT bf_add(bf_create(10, 1e-9), 'r'::colour);
DROP TYPE colour;
CREATE TYPE padding AS ENUM ('q');
CREATE TYPE colour AS ENUM ('r', 'g');
SELECT bf_contains(f, 'r'::colour), bf_contains(f, 'g'::colour), bf_contains(f, 'r') FROM kept;
DROP TYPE colour, padding;
DROP TABLE kept;

-- domains are what they are made of, also inside arrays and rows
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN smaller AS positive CHECK (VALUE < 1000);
CREATE DOMAIN numbers AS int[];
SELECT bf_key(5::positive) = bf_key(5), bf_key(5::smaller) = bf_key(5), bf_key(ARRAY[5::smaller]) = bf_key(ARRAY[5]),
       bf_key(ROW(5::smaller)) = bf_key(ROW(5)), bf_key('{1,2}'::numbers) = bf_key(ARRAY[1, 2]);
SELECT bf_contains(bf_add_all(bf_create(10), ARRAY[5, 6]::positive[]), 6);
DROP DOMAIN smaller, positive, numbers;

-- bytes are bytes, whatever the display
SET bytea_output = 'escape';
SELECT bf_contains(f, '\xff00'::bytea), bf_contains(f, '\377\000'::bytea), bf_contains(f, E'\\377'::bytea)
FROM bf_add(bf_create(10, 1e-9), '\xff00'::bytea) AS f;
RESET bytea_output;
-- text of a bytea is text
SELECT bf_contains(bf_add(bf_create(10), '\xff00'::bytea), '\377\000');

-- dates, timestamps, times
SELECT bf_contains(bf_add(bf_create(10), date '2024-01-02'), timestamp '2024-01-02 00:00'),
       bf_contains(bf_add(bf_create(10), timestamp '2024-01-02 00:00'), date '2024-01-02'),
       bf_key(date '2024-01-02') = bf_key(timestamp '2024-01-02 00:01'),
       bf_key(date 'infinity') = bf_key(timestamp 'infinity'), bf_key(date '-infinity') = bf_key(timestamp '-infinity'),
       bf_key(date 'infinity') = bf_key(date '-infinity');
-- dates that no timestamp reaches
SELECT count(DISTINCT bf_key(d)::text) FROM (VALUES (date '294276-12-31'), ('294277-01-01'), ('294277-01-02'), ('5874897-12-31'), ('infinity')) AS v (d);
SELECT bf_key(date '4714-11-24 BC') = bf_key(timestamp '4714-11-24 00:00 BC');
SELECT bf_key(timestamptz '2024-01-01 12:00+02') = bf_key(timestamptz '2024-01-01 10:00Z'),
       bf_key(time '24:00') = bf_key(time '00:00'), bf_key(time '10:00') = bf_key(time '10:00:00.000');

-- addresses and uuids
SELECT bf_key('10.1.2.3/32'::cidr) = bf_key('10.1.2.3'::inet), bf_key('10.0.0.0/8'::cidr) = bf_key('10.0.0.0/8'::inet),
       bf_key('10.0.0.0/8'::inet) = bf_key('10.0.0.0'::inet), bf_key('::1'::inet) = bf_key('0:0::1/128'::cidr),
       bf_key('::'::inet) = bf_key('0.0.0.0'::inet),
       bf_key('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid) = bf_key('a0eebc999c0b4ef8bb6d6bb9bd380a11'::uuid),
       bf_key('08:00:2b:01:02:03'::macaddr) = bf_key('08002b-010203'::macaddr);

-- arrays: elements, NULLs, shape and lower bounds count, widths do not
SELECT bf_key(ARRAY[1, 2]::int2[]) = bf_key(ARRAY[1, 2]::int8[]), bf_key(ARRAY[1, 2]) = bf_key(ARRAY[2, 1]),
       bf_key(ARRAY[1, NULL]) = bf_key(ARRAY[1]), bf_key(ARRAY[[1, 2]]) = bf_key(ARRAY[1, 2]),
       bf_key('[0:1]={1,2}'::int[]) = bf_key(ARRAY[1, 2]), bf_key('{}'::int[]) = bf_key('{}'::int8[]),
       bf_key(ARRAY[1.0, 2.50]) = bf_key(ARRAY[1, 2.5]), bf_key(ARRAY['a ']::varchar[]) = bf_key(ARRAY['a']::text[]);
SELECT bf_key(ARRAY[NULL, 1]) = bf_key(ARRAY[1, NULL]), bf_key(ARRAY[ROW(1, 'a'::text)]) = bf_key(ARRAY[ROW(1::int8, 'a'::name)]);

-- records: columns in order, NULLs count, dropped columns do not
CREATE TYPE pair AS (a int, b text);
CREATE TABLE pairs (x int, a int, y text, b text);
ALTER TABLE pairs DROP x, DROP y;
INSERT INTO pairs VALUES (1, 'one'), (2, NULL), (NULL, NULL);
SELECT bf_key(ROW(1, 'one')::pair) = bf_key(ROW(1::int8, 'one'::varchar)), bf_key(ROW(1, 2)) = bf_key(ROW(2, 1)),
       bf_key(ROW(NULL::int, 1)) = bf_key(ROW(1, NULL::int)), bf_key(ROW(1)) = bf_key(ROW(1, NULL::int));
SELECT p, bf_contains(f, p), bf_contains(f, ROW(a, b)), bf_contains(f, ROW(a, b)::pair), bf_contains(f, ROW(a, b || '!'))
FROM pairs AS p, (SELECT bf_agg(p, 10, 1e-9) AS f FROM pairs AS p) AS s ORDER BY a;
-- one call site, records of different types
SELECT count(DISTINCT bf_key(r)::text) FROM (VALUES (ROW(1, 'a'::text)), (ROW(1::int8, 'a'::name)), (ROW(2, 'a'::text))) AS v (r);
SELECT bf_add(f, r) IS NULL FROM bf_create(10) AS f, (VALUES (1, ROW(1, 'a'::text)), (2, ROW(1, 'a'::text, 2))) AS v (i, r) ORDER BY i;
DROP TABLE pairs;
DROP TYPE pair;
-- a composite type that changed: all its values are other values now, so asking is an error, never "no",
-- wherever the values stand inside others, and also where they are NULL or missing
CREATE TYPE changing AS (a int, b text);
CREATE TYPE of_changing AS RANGE (subtype = changing);
CREATE TABLE old (n int, v changing, vs changing[], r of_changing, nothing changing, none changing[]);
INSERT INTO old VALUES (1, (1, 'x'), ARRAY[(1, 'x'), NULL]::changing[], of_changing((1, 'x'), (2, 'x')), NULL, '{}');
CREATE TABLE filters AS
  SELECT bf_agg(v, 10, 1e-9) AS v, bf_agg(vs, 10, 1e-9) AS vs, bf_agg(r, 10, 1e-9) AS r, bf_agg(ROW(n, v), 10, 1e-9) AS row_v,
         bf_agg(ROW(n, vs), 10, 1e-9) AS row_vs, bf_agg(ROW(n, nothing), 10, 1e-9) AS row_nothing, bf_agg(none, 10, 1e-9) AS none,
         bf_agg(ARRAY[ROW(n, v)], 10, 1e-9) AS array_row, bf_agg(o, 10, 1e-9) AS whole FROM old AS o;
CREATE FUNCTION questions() RETURNS TABLE (question text, answer text) LANGUAGE plpgsql AS $$
DECLARE q text;
BEGIN
  FOREACH q IN ARRAY ARRAY['f.v, o.v', 'f.vs, o.vs', 'f.r, o.r', 'f.row_v, ROW(o.n, o.v)', 'f.row_vs, ROW(o.n, o.vs)', 'f.row_nothing, ROW(o.n, o.nothing)',
                           'f.none, o.none', 'f.array_row, ARRAY[ROW(o.n, o.v)]', 'f.whole, o'] LOOP
    question := q;
    BEGIN
      EXECUTE format('SELECT bf_contains(%s) FROM filters AS f, old AS o', q) INTO answer;
    EXCEPTION WHEN datatype_mismatch THEN answer := 'datatype_mismatch';
    END;
    RETURN NEXT;
  END LOOP;
END $$;
SELECT answer, count(*) FROM questions() GROUP BY answer;
ALTER TYPE changing ADD ATTRIBUTE c int;
SELECT answer, count(*) FROM questions() GROUP BY answer;
ALTER TYPE changing DROP ATTRIBUTE c;
SELECT answer, count(*) FROM questions() GROUP BY answer;
ALTER TYPE changing RENAME ATTRIBUTE b TO d;
SELECT answer, count(*) FROM questions() GROUP BY answer;
DROP FUNCTION questions();
DROP TABLE old, filters;
DROP TYPE of_changing, changing;

-- ranges: as equal as their bounds
SELECT bf_key(int4range(1, 5)) = bf_key('[1,4]'::int4range), bf_key(int4range(1, 5)) = bf_key(int8range(1, 5)),
       bf_key(numrange(1.0, 2.50)) = bf_key(numrange(1, 2.5)), bf_key(numrange(1, 2, '[]')) = bf_key(numrange(1, 2)),
       bf_key('empty'::int4range) = bf_key(int4range(1, 1)), bf_key('(,)'::int4range) = bf_key('empty'::int4range),
       bf_key('(,5)'::int4range) = bf_key('(5,)'::int4range), bf_key('[2024-01-01,2024-02-01)'::daterange) = bf_key('[2024-01-01,2024-01-31]'::daterange);
CREATE TYPE textual AS RANGE (subtype = text, collation = "C");
SELECT bf_key('[a,b)'::textual) = bf_key('["a","b")'::textual), bf_key('[a,b)'::textual) = bf_key('[a,b]'::textual);
CREATE TYPE patterned AS RANGE (subtype = text, subtype_opclass = text_pattern_ops);
SELECT bf_key('[a,b)'::patterned);
DROP TYPE textual, patterned;

-- types with a hash function of their own, equal values written in different ways
SELECT bf_contains(bf_add(f, interval '1 day'), interval '24 hours'), bf_contains(bf_add(f, interval '1 mon'), interval '30 days'),
       bf_contains(bf_add(f, '{"a":1,"b":[2]}'::jsonb), '{"b":[2.0], "a":1.00}'::jsonb),
       bf_contains(bf_add(f, 'Abc'::citext), 'aBC'::citext), bf_contains(bf_add(f, 'a=>1,b=>2'::hstore), 'b=>2,a=>1'::hstore),
       bf_contains(bf_add(f, '0/16B3748'::pg_lsn), '0/016B3748'::pg_lsn),
       bf_contains(bf_add(f, timetz '10:00+00'), timetz '10:00-00')
FROM bf_create(10, 1e-9) AS f;
SELECT bf_contains(bf_add(f, 'a'::"char"), 'a'::"char"), bf_contains(bf_add(f, 'a'::"char"), 'b'::"char"),
       bf_contains(bf_add(f, 5::oid), 5::oid), bf_contains(bf_add(f, 'pg_class'::regclass), 'pg_class'::regclass),
       bf_contains(bf_add(f, '(1,2)'::tid), '(1,2)'::tid)
FROM bf_create(10, 1e-9) AS f;

-- keys that differ in the high half only, or by a multiple of 2^32, are different keys
SELECT bf_contains(bf_add(bf_create(100, 1e-6), 1::bigint), 4294967296::bigint);
SELECT count(DISTINCT bf_key((hi::bigint << 32) | lo)::text) FROM generate_series(0, 299) AS hi, generate_series(0, 299) AS lo;
SELECT count(*) < 60 AS at_most_4_sigma
FROM (SELECT bf_agg((hi::bigint << 32) | lo, 90000, 0.001) AS f FROM generate_series(0, 299) AS hi, generate_series(0, 299) AS lo) AS s,
     generate_series(300, 349) AS hi, generate_series(0, 299) AS lo
WHERE bf_contains(f, (hi::bigint << 32) | lo);

-- a bfkey stands for its value everywhere
SELECT bf_add(f, bf_key(1)) = bf_add(f, 1), bf_contains(bf_add(f, 'a'), bf_key('a'::varchar)), bf_contains(bf_add(f, 'a'), bf_key('b')),
       bf_add_all(f, ARRAY[bf_key(1), NULL, bf_key(2)]) = bf_add_all(f, ARRAY[1, 2]),
       bf_contains_all(bf_add_all(f, ARRAY[1, 2]), ARRAY[bf_key(1), bf_key(2)]), bf_key(bf_key(7)) = bf_key(7),
       bf_shard(bf_key(7), 100) = bf_shard(7, 100)
FROM bf_create(10, 1e-9) AS f;
SELECT bf_key(NULL::int) IS NULL, bf_key(NULL) IS NULL;
-- its text and binary forms, equality, hash
SELECT bf_key(x)::text::bfkey = bf_key(x) AS text_form, bf_key(x) <> bf_key(x + 1) AS differs,
       octet_length(bf_key_send(bf_key(x))) AS binary_length, pg_column_size(bf_key(x)) AS size FROM (VALUES (42)) AS v (x);
CREATE TABLE keys AS SELECT bf_key(x) AS k, x FROM generate_series(1, 1000) AS x;
SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT count(*) FROM keys AS a JOIN keys AS b USING (k) WHERE a.x = b.x;
SELECT count(DISTINCT k), count(*) FROM (SELECT k FROM keys UNION ALL SELECT k FROM keys) AS u;
-- and order, so that keys can be sorted and indexed
SET enable_hashjoin = off; SET enable_mergejoin = on;
SELECT count(*) FROM keys AS a JOIN keys AS b USING (k) WHERE a.x = b.x;
RESET enable_hashjoin; SET enable_mergejoin = off;
SELECT bool_and(before <= k AND NOT k < before AND (before < k) = (before <> k) AND (k > before) = (k >= before AND k <> before)) AS ordered,
       bf_agg(DISTINCT k, 1000, 0.01) = bf_agg(x, 1000, 0.01) AS distinct_keys
FROM (SELECT x, k, lag(k) OVER (ORDER BY k) AS before FROM keys) AS s;
CREATE UNIQUE INDEX ON keys (k);
INSERT INTO keys VALUES (bf_key(5), 5);
SELECT bf_key(5) < bf_key('a'), bf_key_hash_extended(bf_key(5), 0) & 4294967295 = bf_key_hash(bf_key(5))::bigint & 4294967295,
       bf_key_hash_extended(bf_key(5), 1) <> bf_key_hash_extended(bf_key(5), 2);
SELECT count(*) FROM (SELECT k FROM keys UNION SELECT k FROM keys) AS u;
CREATE INDEX ON keys USING hash (k);
SELECT x FROM keys WHERE k = bf_key(77);
DROP TABLE keys;
SELECT ''::bfkey;
SELECT '00000001:0123456789abcdeg'::bfkey;
SELECT '00000001:0123456789abcdef '::bfkey;
SELECT '00000000:0123456789abcdef'::bfkey;
SELECT '00000101:0123456789abcdef'::bfkey;
SELECT '00000012:0123456789abcdef'::bfkey;
SELECT '00000001:0123456789ABCDEF'::bfkey;

-- shards: even, in range, the same for equal values
SELECT count(*) AS shards, min(shard), max(shard), min(keys) > 850 AND max(keys) < 1150 AS even
FROM (SELECT bf_shard(x, 100) AS shard, count(*) AS keys FROM generate_series(1, 100000) AS x GROUP BY 1) AS s;
SELECT bf_shard(5::int2, 64) = bf_shard(5.0, 64), bf_shard('a', 1), bf_shard(NULL::int, 4) IS NULL, bf_shard(1, NULL) IS NULL,
       bf_shard(1, 2147483647) BETWEEN 0 AND 2147483646;
SELECT bf_shard(1, 0);
SELECT bf_shard(1, -1);

DROP EXTENSION citext, hstore;
