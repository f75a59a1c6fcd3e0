-- Filters of every kind and keys of every key type, and what may depend on them, for
-- tests that carry a database elsewhere: they are asked with missing(), and made
-- anew with filters_of().  ASCII only, so that any encoding can read it.

CREATE EXTENSION bloomset;
CREATE EXTENSION citext;
CREATE EXTENSION hstore;
CREATE TYPE mood AS ENUM ('sad', 'ok', U&'tr\00e8s bien');
CREATE DOMAIN small AS int CHECK (VALUE < 1000);
CREATE TYPE pair AS (i int, t text);
CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");

-- one set of rows for each SQL type, in text
CREATE TABLE sets (name text PRIMARY KEY, type text NOT NULL, rows text[] NOT NULL);
INSERT INTO sets
  WITH integers AS (SELECT array_agg(x::text) AS rows FROM generate_series(-100, 100) AS x),
       fractions AS (SELECT array_agg((x / 8.0)::text) || ARRAY['NaN', '-0', '1e30', '0.1'] AS rows FROM generate_series(-100, 100) AS x),
       words AS (SELECT array_agg(w || x) || ARRAY['', 'a', 'a ', repeat('0123456789', 100)] AS rows
                 FROM unnest(ARRAY['plain', U&'caf\00e9', U&'na\00efve ', U&'\00df\00ff']) AS w, generate_series(1, 50) AS x)
  SELECT type, type, rows FROM integers, unnest(ARRAY['smallint', 'integer', 'bigint', 'small']) AS type
  UNION ALL SELECT type, type, rows FROM fractions, unnest(ARRAY['numeric', 'real', 'double precision']) AS type
  UNION ALL SELECT type, type, rows FROM words, unnest(ARRAY['text', 'varchar', 'char(10)', 'name', 'citext']) AS type
  UNION ALL SELECT 'many', 'bigint', array_agg((x::bigint << 30)::text) FROM generate_series(1, 3000) AS x
  UNION ALL SELECT type, type, rows FROM (VALUES
    ('mood', ARRAY['sad', 'ok', U&'tr\00e8s bien']),
    ('bytea', ARRAY['\x', '\x00', '\xff00']),
    ('boolean', ARRAY['t', 'f']),
    ('uuid', ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '00000000-0000-0000-0000-000000000000']),
    ('macaddr', ARRAY['08:00:2b:01:02:03', '00:00:00:00:00:00']),
    ('macaddr8', ARRAY['08:00:2b:ff:fe:01:02:03', '00:00:00:00:00:00:00:00']),
    ('inet', ARRAY['10.1.2.3', '10.1.2.3/8', '::1', '2001:db8::/32']),
    ('cidr', ARRAY['10.0.0.0/8', '10.1.2.3/32', '::/0']),
    ('date', ARRAY['2024-01-02', 'infinity', '300000-01-01', '4714-11-24 BC']),
    ('timestamp', ARRAY['2024-01-02 00:00', '2024-01-02 03:04:05.678', '-infinity', '294276-12-31']),
    ('timestamptz', ARRAY['2024-01-02 00:00Z', '2024-01-02 03:04:05.678+09', 'infinity']),
    ('time', ARRAY['00:00', '24:00', '03:04:05.678']),
    ('"char"', ARRAY['a', 'b', '']),
    ('integer[]', ARRAY['{}', '{1,2}', '{1,NULL,3}', '{{1,2},{3,4}}', '[0:1]={1,2}']),
    ('numeric[]', ARRAY['{1.50}', '{1}']),
    ('text[]', ARRAY['{}', U&'{a,"caf\00e9 ",NULL}']),
    ('mood[]', ARRAY['{sad,ok}', U&'{"tr\00e8s bien"}']),
    ('pair', ARRAY['(1,one)', '(2,)', '(,)', U&'(3,caf\00e9)']),
    ('pair[]', ARRAY['{"(1,one)",NULL}', '{}']),
    ('int4range', ARRAY['empty', '[1,5)', '(,5]', '(,)']),
    ('int8range', ARRAY['[1,5)', '[4294967296,)']),
    ('numrange', ARRAY['[1.0,2.50]', '(1,2)']),
    ('daterange', ARRAY['[2024-01-01,)', '[2024-01-01,2024-02-01)']),
    ('tsrange', ARRAY['[2024-01-01 00:00,2024-01-02 03:04)']),
    ('tstzrange', ARRAY['[2024-01-01 00:00Z,2024-01-02 03:04Z)']),
    ('textrange', ARRAY['[a,b)', U&'[caf\00e9,z]']),
    ('int4multirange', ARRAY['{}', '{[1,3),[5,9)}']),
    ('nummultirange', ARRAY['{[1.0,2.50)}']),
    ('textmultirange', ARRAY[U&'{[a,b),[caf\00e9,z]}']),
    ('jsonb', ARRAY['{"a": 1, "b": [2.0, null]}', '"text"', '1']),
    ('interval', ARRAY['1 day', '1 mon', '-3 hours']),
    ('timetz', ARRAY['03:04:05+00', '10:00-08']),
    ('hstore', ARRAY['a=>1,b=>2', '']),
    ('pg_lsn', ARRAY['0/16B3748', '0/0']),
    ('oid', ARRAY['1', '4294967295'])) AS v (type, rows);
-- before 14
DELETE FROM sets WHERE to_regtype(type) IS NULL;

-- and as values: a column for each set, NULL in the rows of the others
DO $$
DECLARE s sets;
BEGIN
  EXECUTE format('CREATE TABLE rows (of_set text, id int, %s, PRIMARY KEY (of_set, id))',
                 (SELECT string_agg(format('%I %s', name, type), ', ') FROM sets));
  FOR s IN SELECT * FROM sets LOOP
    EXECUTE format('INSERT INTO rows (of_set, id, %1$I) SELECT %1$L, id, v::%2$s FROM unnest(%3$L::text[]) WITH ORDINALITY AS r (v, id)',
                   s.name, s.type, s.rows);
  END LOOP;
END $$;
CREATE INDEX rows_text ON rows (bf_key(text));
CREATE INDEX rows_many ON rows (bf_shard(many, 1000));

-- filters in all places where values can be
CREATE DOMAIN usable AS bloomfilter CHECK (bf_fpp(VALUE) < 0.5);
CREATE TYPE named AS (name text, f bloomfilter);
CREATE TABLE filters (
  name text PRIMARY KEY, exact bloomfilter, f usable DEFAULT bf_create(10), of_keys bloomfilter, rare bloomfilter[],
  seeded named, all_of_it named[], compressed bloomfilter,
  counting countingfilter DEFAULT bf_create_counting(10), cuckoo cuckoofilter DEFAULT bf_create_cuckoo(10),
  scalable scalablefilter DEFAULT bf_create_scalable(10), layered layeredfilter DEFAULT bf_create_layered(10, 0.01, 2, '1 day'));
ALTER TABLE filters ALTER compressed SET STORAGE extended;
CREATE INDEX ON filters (round(bf_count(f)::numeric));
CREATE INDEX filters_exact ON filters USING hash (exact);
CREATE INDEX ON filters USING hash (counting);
CREATE INDEX ON filters (bf_count(cuckoo));

-- keys in indexes, and as what decides the partition
CREATE TABLE keys (name text, id int, k bfkey, h bfkey) PARTITION BY HASH (k);
CREATE TABLE keys_0 PARTITION OF keys FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE keys_1 PARTITION OF keys FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE keys_2 PARTITION OF keys FOR VALUES WITH (MODULUS 3, REMAINDER 2);
CREATE INDEX ON keys (k);
CREATE INDEX ON keys USING hash (h);

-- the filters of a set's rows as they are now
CREATE FUNCTION filters_of(set_name text) RETURNS filters LANGUAGE plpgsql AS $$
DECLARE r filters;
BEGIN
  EXECUTE format('
    SELECT %1$L, bf_agg(v), bf_agg(v, 5000, 1e-3), bf_agg(bf_key(v), 5000, 1e-3), ARRAY[bf_agg(v, 1e-6), bf_create(1)],
      ROW(''seeded'', bf_add(bf_create(10, 1e-6, 42), (SELECT %1$I FROM rows WHERE of_set = %1$L AND id = 1))),
      ARRAY[ROW(''exact'', bf_agg(v)), ROW(''even'', bf_agg(v) FILTER (WHERE id %% 2 = 0))]::named[],
      bf_agg(v, 20000, 0.01),
      -- every third row taken out again, two spans of time of which one has expired
      bf_remove_all(bf_agg_counting(v, 5000, 1e-6), array_agg(bf_key(v)) FILTER (WHERE id %% 3 = 0)),
      bf_remove_all(bf_agg_cuckoo(v, 5000, 1e-9), array_agg(bf_key(v)) FILTER (WHERE id %% 3 = 0)),
      bf_agg_scalable(v, 10, 1e-6),
      bf_agg_layered(v, timestamptz ''2026-01-01 00:00Z'' + id %% 3 * interval ''1 day'', 5000, 1e-6, 2, ''1 day'')
    FROM (SELECT id, %1$I FROM rows WHERE of_set = %1$L) AS r (id, v)', set_name) INTO r;
  RETURN r;
END $$;

-- how many of a set's rows a stored filter or key has lost
CREATE FUNCTION missing(set_name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
  EXECUTE format('
    SELECT count(*) FROM filters AS f, (SELECT id, %1$I FROM rows WHERE of_set = %1$L) AS r (id, v)
    WHERE f.name = %1$L AND
          (bf_contains(exact, v) AND bf_contains(f, v) AND bf_contains(of_keys, v) AND bf_contains(rare[1], v) AND
           bf_contains(compressed, v) AND bf_contains(f, bf_key(v)) AND bf_contains((all_of_it[1]).f, v) AND
           bf_contains(scalable, v) AND
           (id %% 3 = 0 OR bf_contains(counting, v) AND bf_contains(cuckoo, v) AND bf_contains(layered, v, timestamptz ''2026-01-03 00:00Z'')) AND
           (id %% 2 = 1 OR bf_contains((all_of_it[2]).f, v)) AND (id > 1 OR bf_contains((seeded).f, v)) AND
           EXISTS (SELECT FROM keys AS k WHERE k.k = bf_key(v) AND k.name = f.name AND k.id = r.id) AND
           EXISTS (SELECT FROM keys AS k WHERE k.h = bf_key(v) AND k.name = f.name AND k.id = r.id)) IS NOT TRUE', set_name) INTO n;
  RETURN n;
END $$;

DO $$
DECLARE s sets;
BEGIN
  FOR s IN SELECT * FROM sets ORDER BY name LOOP
    EXECUTE format('INSERT INTO keys SELECT of_set, id, bf_key(%1$I), bf_key(%1$I) FROM rows WHERE of_set = %1$L', s.name);
    INSERT INTO filters SELECT * FROM filters_of(s.name);
  END LOOP;
END $$;
INSERT INTO filters (name) VALUES ('default');

CREATE MATERIALIZED VIEW summary AS SELECT bf_union_agg(f) AS u, bf_union_agg(counting) AS counting, bf_union_agg(scalable) AS scalable
FROM filters WHERE name IN ('smallint', 'bigint');
CREATE VIEW questions AS SELECT bf_contains(f, 5) FROM filters WHERE name = 'integer';
ANALYZE;
