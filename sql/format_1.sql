-- Values of format version 1, written by another implementation (test/format): they
-- are read for ever, give the same answers for ever, and are what is written today.

CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE filters (name text, least_version int, n bigint, p float8, seed bigint, sha256 text, literal text);
CREATE TABLE keys (name text, sql text, bfkey text, member boolean, answer boolean);
\copy filters FROM 'test/format/filters.tsv' (ENCODING 'UTF8')
\copy keys FROM 'test/format/keys.tsv' (ENCODING 'UTF8')

-- not even the files change: this hash is of all filters' bytes
SELECT count(*), encode(sha256(string_agg(decode(literal, 'base64'), '' ORDER BY name COLLATE "C")), 'hex') FROM filters;
SELECT count(*), count(*) FILTER (WHERE member) AS members, count(*) FILTER (WHERE answer AND NOT member) AS false_positives,
       md5(string_agg(concat_ws('|', name, sql, bfkey, member, answer), '|' ORDER BY (name, sql)::text COLLATE "C")) FROM keys;
-- every class of keys is there, each number and each composition
SELECT get_byte(decode(literal, 'base64'), 4) AS class, count(*) FROM filters GROUP BY class ORDER BY class;
-- multiranges and infinite numerics came with PostgreSQL 14
DELETE FROM keys USING filters WHERE keys.name = filters.name AND least_version > current_setting('server_version_num')::int / 10000;
DELETE FROM filters WHERE least_version > current_setting('server_version_num')::int / 10000;
ALTER TABLE filters ADD f bloomfilter;
UPDATE filters SET f = literal::bloomfilter;

-- read, and written again: each line would be a change
SELECT name FROM filters WHERE f::text <> literal OR encode(sha256(f::bytea), 'hex') <> sha256 OR f::bytea::bloomfilter <> f OR bf_send(f) <> f::bytea;
SELECT name FROM filters, bf_info(f) AS i WHERE (i.n, i.p, i.seed) <> (filters.n, filters.p, filters.seed);

-- the keys in SQL, asked in every way
CREATE FUNCTION ask(question text, f bloomfilter DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
  EXECUTE 'SELECT ' || question INTO answer USING f;
  RETURN answer;
END $$;
SELECT name, sql, bfkey, ask(sql_key) FROM keys, LATERAL (SELECT format('bf_key(%s)', sql) AS sql_key) AS s WHERE ask(sql_key) <> bfkey;
SELECT name, sql FROM keys JOIN filters USING (name)
WHERE ask(format('bf_contains($1, %s)', sql), f)::boolean <> answer OR bf_contains(f, bfkey::bfkey) <> answer
   OR (sql !~ '^ARRAY|\[]' AND ask(format('bf_contains_any($1, ARRAY[%s])', sql), f)::boolean <> answer);
SELECT count(*) FILTER (WHERE member AND NOT answer) AS lost FROM keys;

-- built today from the same keys
CREATE FUNCTION build(filter filters) RETURNS bloomfilter LANGUAGE plpgsql AS $$
DECLARE
  result bloomfilter := bf_create(filter.n, filter.p, filter.seed);
  key text;
BEGIN
  FOR key IN SELECT sql FROM keys WHERE name = filter.name AND member LOOP
    EXECUTE format('SELECT bf_add($1, %s)', key) INTO result USING result;
  END LOOP;
  RETURN result;
END $$;
SELECT name FROM filters WHERE build(filters) <> f OR build(filters)::text <> literal;
-- by the aggregates, which know no seed: over bfkeys, and over the values where those have a type in common
CREATE FUNCTION aggregate(filter filters, key_sql text) RETURNS bloomfilter LANGUAGE plpgsql AS $$
DECLARE
  result bloomfilter;
BEGIN
  EXECUTE format('SELECT bf_agg(k, $1, $2) FROM (%s) AS s (k)',
    (SELECT string_agg(format('SELECT ' || key_sql, sql), ' UNION ALL ') FROM keys WHERE name = filter.name AND member)) INTO result USING filter.n, filter.p;
  RETURN result;
END $$;
SELECT count(*) > 20 AS many, count(*) FILTER (WHERE aggregate(filters, 'bf_key(%s)') <> f) AS other FROM filters WHERE seed = 0 AND name <> 'empty';
SELECT count(*) > 20 AS many, count(*) FILTER (WHERE aggregate(filters, '%s') <> f) AS other FROM filters WHERE seed = 0 AND name !~ '^(empty|text|array|array of text|(multi)?range.*)$';

-- filters too large for a file: the checksum, which covers all of their bytes
SELECT encode(substr(f, length(f) - 7), 'hex') FROM CAST((SELECT bf_agg(x, 100000, 0.01) FROM generate_series(1, 100000) AS x) AS bytea) AS f;
SELECT encode(substr(f, length(f) - 7), 'hex') FROM CAST((SELECT bf_agg(x, 100000, 0.0001) FROM generate_series(1, 50000) AS x) AS bytea) AS f;

DROP FUNCTION ask, build, aggregate;
DROP TABLE filters, keys;
DROP TYPE mood;
