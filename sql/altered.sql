-- Types that are nested very deeply, and types and collations that go or change while
-- values and plans that were made with them live on.

SET client_min_messages = warning;
CREATE SCHEMA altered;
SET search_path = altered, public;

-- ---- nested types: an error before the stack is used up ----

DO $$
BEGIN
	CREATE DOMAIN a0 AS int[];
	CREATE DOMAIN r0 AS int4range;
	FOR i IN 1..1500 LOOP
		EXECUTE format('CREATE DOMAIN a%s AS a%s[]', i, i - 1);
	END LOOP;
	FOR i IN 1..150 LOOP
		EXECUTE format('CREATE TYPE r%s AS RANGE (subtype = r%s)', i, i - 1);
	END LOOP;
END $$;

-- a value of so many levels
CREATE FUNCTION nested(kind text, levels int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	value text := CASE kind WHEN 'a' THEN '''{}''::a0' ELSE '''[1,2)''::r0' END;
BEGIN
	FOR i IN 1..levels LOOP
		value := format(CASE kind WHEN 'a' THEN 'ARRAY[%s]::a%s' ELSE 'r%2$s(%1$s, NULL)' END, value, i);
	END LOOP;
	DROP TABLE IF EXISTS made;
	EXECUTE 'CREATE TABLE made AS SELECT ' || value || ' AS v';
END $$;

-- the makers of the keys of a type: no value is as deep
SET max_stack_depth = '100kB';
SELECT bf_key('{}'::a30) IS NOT NULL AS fits;
SELECT bf_key('{}'::a1500);
RESET max_stack_depth;

-- the values
SELECT nested('a', 10);
SET max_stack_depth = '100kB';
SELECT bf_key(v) IS NOT NULL AS fits FROM made;
RESET max_stack_depth;
SELECT nested('a', 150);
SET max_stack_depth = '100kB';
SELECT bf_key(v) FROM made;
RESET max_stack_depth;
SELECT nested('r', 10);
SET max_stack_depth = '100kB';
SELECT bf_key(v) IS NOT NULL AS fits FROM made;
RESET max_stack_depth;
SELECT nested('r', 150);
SET max_stack_depth = '100kB';
SELECT bf_key(v) FROM made;
RESET max_stack_depth;

-- ---- a record that outlives what its columns are made of ----

CREATE TYPE gone AS ENUM ('a');
CREATE COLLATION gone (locale = 'C');
CREATE FUNCTION outlive(field text, drop_it text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	EXECUTE 'SELECT ' || field || ' AS x' INTO r;
	EXECUTE drop_it;
	RETURN bf_key(r);
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, '\d+', 'N');
END $$;
SELECT outlive($$'a'::gone$$, 'DROP TYPE gone');
SELECT outlive($$ARRAY['a'::gone]$$, 'DROP TYPE gone');
SELECT outlive($$'a' COLLATE gone$$, 'DROP COLLATION gone');

-- ---- plans and variables across changes: the same answers, or an error ----

-- (OIDs stand in some of the messages)
\set VERBOSITY sqlstate
-- another type of the same name
CREATE TYPE colour AS ENUM ('red', 'blue');
CREATE TABLE kept AS SELECT bf_agg(c) AS f FROM (VALUES ('red'::colour)) v (c);
PREPARE ask AS SELECT bf_contains(f, 'red'::colour), bf_contains(f, 'blue'::colour) FROM kept;
EXECUTE ask;
CREATE FUNCTION ask() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT bf_contains(f, 'red'::colour) FROM kept); END $$;
SELECT ask();
DROP TYPE colour;
CREATE TYPE colour AS ENUM ('green', 'blue', 'red');
EXECUTE ask;
SELECT ask();
DROP TYPE colour;
CREATE TYPE colour AS (red int, green int);
CREATE OR REPLACE FUNCTION ask() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT bf_contains(f, ROW(1, 2)::colour) FROM kept); END $$;
SELECT ask();
UPDATE kept SET f = bf_add(bf_create(10), ROW(1, 2)::colour);
SELECT ask();
ALTER TYPE colour ADD ATTRIBUTE blue int;
SELECT ask();
ALTER TYPE colour DROP ATTRIBUTE blue;
SELECT ask();

-- one call site of a function, in one transaction
CREATE FUNCTION ask_twice(change text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answers text := '';
	answer boolean;
	stored bloomfilter;
BEGIN
	FOR i IN 1..2 LOOP
		BEGIN
			SELECT f INTO stored FROM kept;
			answer := bf_contains(stored, ROW(1, 2)::colour);
			answers := answers || answer || ' ';
		EXCEPTION WHEN datatype_mismatch THEN
			answers := answers || SQLSTATE || ' ';
		END;
		IF i = 1 THEN
			EXECUTE change;
		END IF;
	END LOOP;
	RETURN answers;
END $$;
SELECT ask_twice('ALTER TYPE colour ADD ATTRIBUTE blue int');
SELECT ask_twice('ALTER TYPE colour DROP ATTRIBUTE blue');
SELECT ask_twice('TRUNCATE kept; INSERT INTO kept SELECT bf_agg(ROW(i, 2)::colour, 10000, 0.01) FROM generate_series(1, 1000) i');
SELECT ask_twice('TRUNCATE kept; INSERT INTO kept SELECT bf_agg(ROW(i, 3)::colour, 10000, 1e-9) FROM generate_series(1, 1000) i');

\set VERBOSITY default
DROP TABLE kept, made;
RESET search_path;
-- in pieces, since so many objects at once take too many locks
DO $$
BEGIN
	FOR i IN REVERSE 1500..0 LOOP
		EXECUTE format('DROP DOMAIN altered.a%s', i);
		IF i % 500 = 0 THEN
			COMMIT;
		END IF;
	END LOOP;
END $$;
DROP SCHEMA altered CASCADE;
