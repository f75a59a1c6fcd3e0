-- The first promise, tried on every pair: if a = b is true in SQL and a was added,
-- bf_contains(f, b) is true, or an error that says why not.  Never false.

CREATE EXTENSION citext;
CREATE TYPE mood AS ENUM ('sad', 'ok', '1');
CREATE DOMAIN whole AS numeric;
CREATE TABLE literals (id serial, v text);
INSERT INTO literals (v) VALUES
  ('1::int2'), ('1::int4'), ('1::int8'), ('1::numeric'), ('1.0::numeric'), ('1.000::whole'), ('1::float4'), ('1::float8'),
  ('1::oid'), ('true'), ('''1''::mood'), ('1::bigint::xid8'), ('0::int4'), ('0::numeric'), ('-0.0::numeric'), ('0::float8'),
  ('''-0''::float8'), ('''-0''::float4'), ('(-1)::int2'), ('(-1)::int8'), ('-1.00::numeric'),
  ('1.5::numeric'), ('1.50::numeric'), ('1.5::float4'), ('1.5::float8'), ('0.1::float4'), ('0.1::float8'), ('0.1::numeric'),
  ('''NaN''::numeric'), ('''NaN''::float4'), ('''NaN''::float8'), ('-(''NaN''::float8)'),
  ('''Infinity''::float4'), ('''Infinity''::float8'), ('9223372036854775807::int8'), ('9223372036854775807::numeric'),
  ('9223372036854775807.0::numeric'), ('9223372036854775807::float8'), ('9223372036854775808::numeric'), ('1259::oid'),
  ('''pg_class''::regclass'), ('1259::int8'),
  ('''1'''), ('''ab'''), ('''ab  '''), ('''ab''::text'), ('''ab  ''::text'), ('''ab''::varchar'), ('''ab  ''::varchar'),
  ('''ab''::varchar(2)'), ('''ab''::char(2)'), ('''ab''::char(6)'), ('''ab''::name'), ('''ab  ''::name'), ('''AB''::citext'),
  ('''ab''::citext'), ('''AB''::text'), ('''ok''::mood'), ('''ok'''), ('''ok''::text'), ('''a''::"char"'), ('''a''::text'),
  ('''a''::char(1)'), ('''a'''), (''''''), ('''''::text'), ('''   ''::char(3)'), ('''  ''::varchar'), ('''''::name'),
  ('''\x6162''::bytea'), ('''ab''::bytea'),
  ('date ''2024-01-02'''), ('timestamp ''2024-01-02 00:00'''), ('timestamptz ''2024-01-02 00:00'''), ('''2024-01-02'''),
  ('date ''infinity'''), ('timestamp ''infinity'''), ('timestamptz ''infinity'''), ('date ''294276-12-31'''),
  ('timestamp ''294276-12-31 00:00'''), ('date ''300000-01-01'''),
  ('time ''00:00'''), ('timetz ''00:00+00'''), ('interval ''0'''), ('time ''24:00'''), ('interval ''24 hours'''), ('interval ''1 day'''),
  ('interval ''30 days'''), ('interval ''1 month'''),
  ('''10.0.0.0/8''::inet'), ('''10.0.0.0/8''::cidr'), ('''10.1.2.3''::inet'), ('''10.1.2.3''::cidr'), ('''::1''::inet'),
  ('''08:00:2b:01:02:03''::macaddr'), ('''08:00:2b:ff:fe:01:02:03''::macaddr8'),
  ('''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11''::uuid'), ('''A0EEBC999C0B4EF8BB6D6BB9BD380A11''::uuid'),
  ('ARRAY[1,2]::int2[]'), ('ARRAY[1,2]::int4[]'), ('ARRAY[1,2]::int8[]'), ('ARRAY[1,2]::numeric[]'), ('ARRAY[1.0,2.00]::numeric[]'),
  ('''1 2''::int2vector'), ('''1 2''::oidvector'), ('ARRAY[1,2]::oid[]'), ('ARRAY[[1,2]]'), ('''[0:1]={1,2}''::int4[]'),
  ('ARRAY[''ab'']::text[]'), ('ARRAY[''ab'']::varchar[]'), ('ARRAY[''ab '']::varchar[]'), ('ARRAY[''ab'']::char(4)[]'), ('ARRAY[''ab'']::name[]'),
  ('ARRAY[NULL,1]'), ('ARRAY[''-0'']::float8[]'), ('ARRAY[''0'']::float8[]'), ('''{}''::int4[]'), ('''{}''::text[]'),
  ('ROW(1,''ab''::text)'), ('ROW(1::int8,''ab''::text)'), ('ROW(1,''ab  ''::char(4))'), ('ROW(1,''ab''::varchar)'), ('ROW(1,NULL::text)'),
  ('ROW(1.0,''x''::text)'), ('ROW(1.00,''x''::text)'), ('ROW(ARRAY[1])'), ('ROW(ROW(1))'),
  ('int4range(1,5)'), ('''[1,4]''::int4range'), ('int8range(1,5)'), ('numrange(1,5)'), ('numrange(1.0,5.00)'), ('''empty''::numrange'),
  ('''{"a":1}''::jsonb'), ('''{"a":1.0}''::jsonb'), ('''1''::jsonb'), ('''1.00''::jsonb'), ('''0/1''::pg_lsn'), ('''(0,1)''::tid'),
  ('bf_key(1)'), ('bf_key(1.0)'), ('bf_create(10)'), ('bf_create(10, 0.01, 0)');
-- an untyped literal stands only where the other side gives it a type, as with "="
CREATE FUNCTION try(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
  EXECUTE sql INTO result;
  RETURN result;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;
END $$;

CREATE TABLE tried AS
  SELECT a.v AS a, b.v AS b,
         try(format('SELECT bf_contains(bf_add(bf_create(10, 1e-9), %s), %s)', a.v, b.v)) AS contains
  FROM literals AS a, literals AS b
  WHERE try(format('SELECT (%s) = (%s)', a.v, b.v)) = 'true';

SELECT count(*) > 320 AS many_equal_pairs FROM tried;
-- the promise
SELECT a, b, contains FROM tried WHERE contains NOT IN ('true', '42804') OR contains IS NULL;
-- every value equals itself, and is found
SELECT a, contains FROM tried WHERE a = b AND contains <> 'true';
-- Backwards: values of one key type that are not equal are different keys.
CREATE TABLE distinct_values AS SELECT DISTINCT v FROM literals WHERE v ~ '^''?[0-9a-z].*(int4|int8|numeric|float8|uuid|inet)$';
SELECT a.v AS a, b.v AS b FROM distinct_values AS a, distinct_values AS b
WHERE try(format('SELECT (%s) = (%s)', a.v, b.v)) = 'false'
  AND try(format('SELECT bf_contains(bf_add(bf_create(10, 1e-9), %s), %s)', a.v, b.v)) = 'true';

DROP TABLE literals, tried, distinct_values;
DROP FUNCTION try;
DROP DOMAIN whole;
DROP TYPE mood;
DROP EXTENSION citext;
