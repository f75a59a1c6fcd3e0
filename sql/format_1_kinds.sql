-- The other kinds of filters in format version 1, written by another implementation
-- (test/format/kinds_1.py): as sql/format_1.sql.

CREATE TABLE kinds (name text, sql text, sha256 text, literal text, keys int[], at timestamptz);
\copy kinds FROM 'test/format/kinds.tsv' (ENCODING 'UTF8')
-- not even the file changes
SELECT count(*), encode(sha256(string_agg(decode(literal, 'base64'), '' ORDER BY name COLLATE "C")), 'hex') FROM kinds;
ALTER TABLE kinds ADD type text;
UPDATE kinds SET type = (ARRAY['bloomfilter', 'countingfilter', 'cuckoofilter', 'scalablefilter', 'layeredfilter'])[get_byte(decode(literal, 'base64'), 1)];
SELECT type, count(*) FROM kinds GROUP BY type ORDER BY type COLLATE "C";

CREATE FUNCTION ask(question text, literal text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
  EXECUTE question INTO answer USING literal;
  RETURN answer;
END $$;
-- read, and written again
SELECT name FROM kinds WHERE ask(format('SELECT $1::%s', type), literal) IS DISTINCT FROM literal;
SELECT name FROM kinds WHERE encode(sha256(ask(format('SELECT $1::%s::bytea', type), literal)::bytea), 'hex') IS DISTINCT FROM sha256;
-- the same keys are in
SELECT name FROM kinds
WHERE ask(format('SELECT coalesce(array_agg(x ORDER BY x), ''{}'') FROM generate_series(1, 400) AS x WHERE bf_contains($1::%s, x%s)', type,
                 CASE type WHEN 'layeredfilter' THEN format(', %L::timestamptz', at) ELSE '' END), literal)::int[] IS DISTINCT FROM keys;
-- made today
SELECT name FROM kinds WHERE ask(format('SELECT f::text FROM (SELECT %s) AS s (f)', sql)) IS DISTINCT FROM literal;

DROP FUNCTION ask;
DROP TABLE kinds;
