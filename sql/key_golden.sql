-- One fixed key per type, and one fixed filter: they never change, or stored
-- filters would lose their keys.  The hashes can be had from xxhsum -H3 over the
-- bytes that doc/format.md describes, for example
--   printf '\x01\0\0\0\0\0\0\0' | xxhsum -H3
--   printf 'apple' | xxhsum -H3

CREATE EXTENSION citext;
CREATE TYPE fruit AS ENUM ('apple');

SELECT name, bf_key::text FROM (
  SELECT 1, 'smallint', bf_key(1::int2)
  UNION ALL SELECT 2, 'integer', bf_key(1::int4)
  UNION ALL SELECT 3, 'bigint', bf_key(1::int8)
  UNION ALL SELECT 4, 'bigint, negative', bf_key(-2::int8)
  UNION ALL SELECT 5, 'numeric, integral', bf_key(1.0)
  UNION ALL SELECT 6, 'numeric, 1.5', bf_key(1.50)
  UNION ALL SELECT 7, 'numeric, NaN', bf_key('NaN'::numeric)
  UNION ALL SELECT 8, 'real', bf_key(0.5::float4)
  UNION ALL SELECT 9, 'double precision', bf_key(0.5::float8)
  UNION ALL SELECT 10, 'double precision, -0', bf_key('-0'::float8)
  UNION ALL SELECT 11, 'double precision, NaN', bf_key('NaN'::float8)
  UNION ALL SELECT 12, 'text', bf_key('apple'::text)
  UNION ALL SELECT 13, 'varchar', bf_key('apple'::varchar)
  UNION ALL SELECT 14, 'char(n)', bf_key('apple'::char(10))
  UNION ALL SELECT 15, 'name', bf_key('apple'::name)
  UNION ALL SELECT 16, 'enum', bf_key('apple'::fruit)
  UNION ALL SELECT 17, 'literal', bf_key('apple')
  UNION ALL SELECT 18, 'text, not ASCII', bf_key(U&'caf\00e9'::text)
  UNION ALL SELECT 19, 'text, empty', bf_key(''::text)
  UNION ALL SELECT 20, 'text, long', bf_key(repeat('0123456789', 100))
  UNION ALL SELECT 21, 'bytea', bf_key('\xff00'::bytea)
  UNION ALL SELECT 22, 'boolean', bf_key(true)
  UNION ALL SELECT 23, 'uuid', bf_key('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid)
  UNION ALL SELECT 24, 'macaddr', bf_key('08:00:2b:01:02:03'::macaddr)
  UNION ALL SELECT 25, 'macaddr8', bf_key('08:00:2b:ff:fe:01:02:03'::macaddr8)
  UNION ALL SELECT 26, 'inet', bf_key('10.1.2.3'::inet)
  UNION ALL SELECT 27, 'cidr', bf_key('10.0.0.0/8'::cidr)
  UNION ALL SELECT 28, 'inet, IPv6', bf_key('::1'::inet)
  UNION ALL SELECT 29, 'date', bf_key(date '2024-01-02')
  UNION ALL SELECT 30, 'date past timestamp', bf_key(date '300000-01-01')
  UNION ALL SELECT 31, 'timestamp', bf_key(timestamp '2024-01-02 03:04:05.678')
  UNION ALL SELECT 32, 'timestamptz', bf_key(timestamptz '2024-01-02 03:04:05.678Z')
  UNION ALL SELECT 33, 'time', bf_key(time '03:04:05.678')
  UNION ALL SELECT 34, 'integer[]', bf_key(ARRAY[1, NULL, 3])
  UNION ALL SELECT 35, 'text[]', bf_key(ARRAY['a', 'b'])
  UNION ALL SELECT 36, 'record', bf_key(ROW(1, 'a'::text, NULL::int))
  UNION ALL SELECT 37, 'int4range', bf_key(int4range(1, 5))
  UNION ALL SELECT 38, 'daterange', bf_key('[2024-01-01,)'::daterange)
  UNION ALL SELECT 39, '"char"', bf_key('a'::"char")
  UNION ALL SELECT 40, 'record in a record', bf_key(ROW(ROW(1, 'a'::text), NULL::int))
  UNION ALL SELECT 41, 'record[]', bf_key(ARRAY[ROW(1, 'a'::text)])
) AS g (i, name, bf_key) ORDER BY i;

-- Types hashed by their own function: PostgreSQL's hashes of these types differ
-- between big-endian and little-endian machines, so these hold for the latter.
SELECT name, bf_key::text FROM (
  SELECT 1, 'jsonb', bf_key('{"a":1}'::jsonb)
  UNION ALL SELECT 2, 'interval', bf_key(interval '1 day')
  UNION ALL SELECT 3, 'timetz', bf_key(timetz '03:04:05+00')
  UNION ALL SELECT 4, 'oid', bf_key(1::oid)
  UNION ALL SELECT 5, 'citext', bf_key('Apple'::citext)
) AS g (i, name, bf_key) ORDER BY i;

-- shards of keys
SELECT bf_shard(1, 1000), bf_shard('apple', 1000), bf_shard(1, 2);

-- one fixed filter
SELECT bf_add_all(bf_create(8, 0.1), ARRAY['apple', 'pear', 'plum'])::text;
SELECT bf_add(bf_create(8, 0.1, 42), 1)::text;
SELECT encode(bf_send(bf_add(bf_create(8, 0.1), 1)), 'hex');
SELECT md5(bf_send(bf_agg(x, 1000, 0.01))) FROM generate_series(1, 1000) AS x;
SELECT md5(bf_send(bf_agg(x::text, 1000, 0.001))) FROM generate_series(1, 1000) AS x;
SELECT md5(bf_send(bf_agg(md5(x::text)::uuid, 100000, 1e-6))) FROM generate_series(1, 1000) AS x;

DROP TYPE fruit;
DROP EXTENSION citext;
