-- Maintained filters and what may befall their table: never a wrong no, rather an error.
SET client_min_messages = warning;

-- a trigger that is dropped, renamed, or of somebody else
CREATE TABLE src (k int, other int);
CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''own trigger''; RETURN NULL; END';
CREATE TRIGGER bf_k_insert AFTER INSERT ON src FOR EACH STATEMENT EXECUTE FUNCTION own();
CALL bf_track('src', 'k', 100);
INSERT INTO src VALUES (1, 10);
DROP TRIGGER bf_k_insert ON src;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'src'::regclass ORDER BY tgname COLLATE "C";
DROP TRIGGER bf_k_insert1 ON src;
INSERT INTO src VALUES (2, 20);
SELECT bf_maybe('src', 'k', 2);
CALL bf_rebuild('src', 'k');
SELECT k, bf_maybe('src', 'k', k) FROM src;
DROP TRIGGER bf_k_update ON src;
UPDATE src SET k = 3 WHERE k = 1;
SELECT bf_maybe('src', 'k', 3);
CALL bf_rebuild('src', 'k');
ALTER TRIGGER bf_k_insert ON src RENAME TO "Adds keys";
CALL bf_rebuild('src', 'k');
INSERT INTO src VALUES (4, 40);
SELECT k, bf_maybe('src', 'k', k) FROM src ORDER BY k;
-- (before PostgreSQL 14, which cannot replace a trigger, the new one has its usual name)
SELECT count(*), count(*) FILTER (WHERE tgname ~ '^(bf_k_|Adds keys)') AS ours FROM pg_trigger WHERE tgrelid = 'src'::regclass;

-- triggers that fire on replicas, too, go on to do so
DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT tgname FROM pg_trigger WHERE tgrelid = 'src'::regclass AND tgname ~ '^(bf_k_(insert|update)|Adds keys)$' LOOP
    EXECUTE format('ALTER TABLE src ENABLE ALWAYS TRIGGER %I', name);
  END LOOP;
END $$;
CALL bf_rebuild('src', 'k');
SET session_replication_role = replica;
INSERT INTO src VALUES (44, 40);
UPDATE src SET k = 55 WHERE k = 44;
RESET session_replication_role;
SELECT k, bf_maybe('src', 'k', k) FROM src WHERE k > 4;
DELETE FROM src WHERE k > 4;

-- two columns whose names are cut to one
ALTER TABLE src ADD a23456789_123456789_123456789_123456789_123456789_123456789_1 int DEFAULT 7, ADD a23456789_123456789_123456789_123456789_123456789_123456789_2 int DEFAULT 8;
CALL bf_track('src', 'a23456789_123456789_123456789_123456789_123456789_123456789_1', 100, filters => 'first');
CALL bf_track('src', 'a23456789_123456789_123456789_123456789_123456789_123456789_2', 100, filters => 'second');
INSERT INTO src VALUES (5, 50, 70, 80);
SELECT bf_maybe('src', 'a23456789_123456789_123456789_123456789_123456789_123456789_1', 70), bf_maybe('first', 70), bf_maybe('second', 70),
       bf_maybe('src', 'a23456789_123456789_123456789_123456789_123456789_123456789_2', 80), bf_maybe('first', 80), bf_maybe('second', 80);
CALL bf_untrack('src', 'a23456789_123456789_123456789_123456789_123456789_123456789_1');
INSERT INTO src VALUES (6, 60, 71, 81);
SELECT bf_maybe('second', 71), bf_maybe('second', 81);
ALTER TABLE src DROP a23456789_123456789_123456789_123456789_123456789_123456789_1, DROP a23456789_123456789_123456789_123456789_123456789_123456789_2 CASCADE;
CALL bf_untrack('src', 'a23456789_123456789_123456789_123456789_123456789_123456789_2');

-- another column, or other values, under the name
ALTER TABLE src RENAME k TO former;
SELECT bf_maybe('src', 'k', 3);
ALTER TABLE src RENAME other TO k;
SELECT bf_maybe('src', 'k', 10);
CALL bf_rebuild('src', 'k');
SELECT bool_and(bf_maybe('src', 'k', k)), bf_maybe('src', 'k', 3) FROM src;
ALTER TABLE src ALTER k TYPE numeric USING k + 1;
ALTER TABLE src DROP k;
ALTER TABLE src DROP k CASCADE, ADD k int DEFAULT 9;
SELECT bf_maybe('src', 'k', 9);
CALL bf_rebuild('src', 'k');
SELECT bf_maybe('src', 'k', 9), bf_maybe('src', 'k', 10);

-- it cannot become a partition or a child, through whose parent it would be written
CREATE TABLE parent (former int, k int);
\set VERBOSITY sqlstate
ALTER TABLE src INHERIT parent;
DROP TABLE parent;
CREATE TABLE parent (former int, k int) PARTITION BY LIST (k);
ALTER TABLE parent ATTACH PARTITION src FOR VALUES IN (9);
\set VERBOSITY default
DROP TRIGGER bf_k_table ON src;
-- (some majors refuse this because of the other triggers, too)
DO $$
BEGIN
  ALTER TABLE parent ATTACH PARTITION src FOR VALUES IN (9);
  ALTER TABLE parent DETACH PARTITION src;
EXCEPTION WHEN feature_not_supported OR object_not_in_prerequisite_state THEN NULL;
END $$;
DROP TABLE parent;
SELECT bf_maybe('src', 'k', 9);
CALL bf_rebuild('src', 'k');
SELECT bf_maybe('src', 'k', 9);

-- rows of children
CREATE TABLE child () INHERITS (src);
INSERT INTO child (k) VALUES (11);
SELECT bf_maybe('src', 'k', 11);
CALL bf_rebuild('src', 'k');
DROP TABLE child;
SELECT bf_maybe('src', 'k', 11);
DROP TABLE src, src_k_filter;

-- a key of another type is an error in whichever shard it would be, also one without keys
CREATE TABLE src (k float8);
CALL bf_track('src', 'k', 100, shards => 100);
CREATE FUNCTION errors() RETURNS TABLE (code text, shards bigint) LANGUAGE plpgsql AS $$
BEGIN
  CREATE TEMP TABLE codes (code text);
  FOR i IN 1 .. 300 LOOP
    BEGIN
      PERFORM bf_maybe('src', 'k', i);
      INSERT INTO codes VALUES ('none');
    EXCEPTION WHEN OTHERS THEN
      INSERT INTO codes VALUES (SQLSTATE);
    END;
  END LOOP;
  RETURN QUERY SELECT c.code, count(*) FROM codes AS c GROUP BY 1;
  DROP TABLE codes;
END $$;
SELECT * FROM errors();
INSERT INTO src VALUES (5);
TRUNCATE src;
SELECT * FROM errors();
CALL bf_rebuild('src', 'k', shards => 10);
SELECT * FROM errors();
SELECT bf_maybe('src', 'k', 5::float8);
DROP FUNCTION errors;
DROP TABLE src, src_k_filter;

-- in the middle of a statement that writes; in a subtransaction; over and over
CREATE TABLE src (k int);
CREATE FUNCTION track(i int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF i = 2 THEN CALL bf_track('src', 'k', 100); END IF;
  RETURN i;
END $$;
\set VERBOSITY terse
INSERT INTO src SELECT track(i) FROM generate_series(1, 3) AS i;
\set VERBOSITY default
CALL bf_track('src', 'k', 100);
DO $$
BEGIN
  BEGIN
    CALL bf_rebuild('src', 'k');
    INSERT INTO src VALUES (1);
    RAISE division_by_zero;
  EXCEPTION WHEN division_by_zero THEN
    INSERT INTO src VALUES (2);
  END;
  BEGIN
    CALL bf_rebuild('src', 'k');
    INSERT INTO src VALUES (3);
  EXCEPTION WHEN division_by_zero THEN NULL;
  END;
  CALL bf_rebuild('src', 'k');
  INSERT INTO src VALUES (4);
END $$;
SELECT k, bf_maybe('src', 'k', k) FROM src ORDER BY k;
SELECT DISTINCT generation FROM src_k_filter;
DROP TABLE src, src_k_filter;
DROP FUNCTION track;

-- a plan that is out of date while it runs: the name of its schema changes
CREATE SCHEMA here;
CREATE TABLE here.src (k int);
CALL bf_track('here.src', 'k', 100);
CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF pg_trigger_depth() < 3 THEN
    ALTER SCHEMA here RENAME TO there;
    INSERT INTO there.src VALUES (100);
    ALTER SCHEMA there RENAME TO here;
    INSERT INTO here.src VALUES (200);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER move AFTER UPDATE ON here.src_k_filter FOR EACH STATEMENT EXECUTE FUNCTION move();
INSERT INTO here.src VALUES (1);
INSERT INTO here.src VALUES (2), (3);
SELECT count(*), count(*) FILTER (WHERE NOT bf_maybe('here.src', 'k', k)) AS missed FROM here.src;
DROP SCHEMA here CASCADE;
DROP FUNCTION move;

-- arguments of a trigger name a table of somebody else: a superuser does not drop that
CREATE ROLE regress_bf_mallory;
CREATE SCHEMA common;
GRANT ALL ON SCHEMA common TO regress_bf_mallory;
CREATE TABLE common.victim (generation int, f bloomfilter);
SET ROLE regress_bf_mallory;
CREATE TABLE common.bait (x int);
CREATE TRIGGER t AFTER INSERT ON common.bait REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION bf_maintain('x', 'victim', 1, 1);
RESET ROLE;
CALL bf_untrack('common.bait', 'x');
CALL bf_rebuild('common.bait', 'x', 10, 0.01);
SELECT count(*) FROM common.victim;
DROP SCHEMA common CASCADE;
DROP ROLE regress_bf_mallory;

-- all ways to write at once, by type that removes: cascades, MERGE-like statements, triggers that write to their table
CREATE TABLE src (id int PRIMARY KEY, k int REFERENCES src ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
                  g int GENERATED ALWAYS AS (coalesce(k, 0) * 10) STORED);
CALL bf_track('src', 'k', 100, type => 'countingfilter', shards => 3);
CALL bf_track('src', 'g', 100, type => 'cuckoofilter', shards => 3);
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
  SELECT count(*) FROM src_k_filter AS t LEFT JOIN (
    SELECT bf_shard(k, 3) AS shard, bf_agg_counting(k, (SELECT min((bf_info(f)).n) FROM src_k_filter), 0.01) AS f FROM src GROUP BY 1) AS b USING (shard)
  WHERE CASE WHEN b.f IS NULL THEN bf_count(t.f) > 0 ELSE t.f <> b.f END
$$;
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.id < 1000 THEN INSERT INTO src VALUES (NEW.id + 1000, NEW.id); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER again AFTER INSERT ON src FOR EACH ROW EXECUTE FUNCTION again();
INSERT INTO src VALUES (1, NULL), (2, 1), (3, 1), (4, 2), (5, 4);
SELECT differences();
UPDATE src SET id = id + 100;
SELECT differences();
DELETE FROM src WHERE id = 102;
SELECT differences();
WITH d AS (DELETE FROM src WHERE id = 103 RETURNING *), i AS (INSERT INTO src SELECT id + 50, NULL FROM d), u AS (UPDATE src SET k = 101 WHERE k IS NULL)
INSERT INTO src VALUES (7, 101) ON CONFLICT (id) DO UPDATE SET k = 7;
SELECT differences(), (SELECT sum(bf_count(f)) FROM src_g_filter) = (SELECT count(*) FROM src) AS as_many_fingerprints;
DROP FUNCTION differences;
DROP TABLE src, src_k_filter, src_g_filter;
DROP FUNCTION own, again;
