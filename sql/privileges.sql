-- What a user may see through filters: no more than without them.

CREATE ROLE regress_bloomset_reader;
-- Rows of someone else betray themselves if they are asked: their filter holds keys of
-- another type, which is an error.  The owner test costs so much that the planner would
-- like to ask bf_contains first.
CREATE FUNCTION is_mine(owner text) RETURNS boolean LANGUAGE plpgsql STABLE COST 100000 AS 'BEGIN RETURN owner = current_user; END';
CREATE TABLE secrets (owner text, id int, f bloomfilter);
INSERT INTO secrets SELECT 'regress_bloomset_reader', x, bf_add(bf_create(10), x) FROM generate_series(1, 10) AS x;
INSERT INTO secrets SELECT 'other', x, bf_add(bf_create(10), 'secret') FROM generate_series(1, 90) AS x;
ANALYZE secrets;
CREATE VIEW plain AS SELECT * FROM secrets WHERE is_mine(owner);
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM secrets WHERE is_mine(owner);
CREATE TABLE guarded (LIKE secrets);
INSERT INTO guarded SELECT * FROM secrets;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON guarded USING (is_mine(owner));
GRANT SELECT ON plain, barrier, guarded TO regress_bloomset_reader;

SET ROLE regress_bloomset_reader;
-- without a barrier the planner may ask in any order, and does: the other cases are a test
SELECT count(*) FROM plain WHERE bf_contains(f, id);
EXPLAIN (COSTS OFF) SELECT count(*) FROM barrier WHERE bf_contains(f, id);
EXPLAIN (COSTS OFF) SELECT count(*) FROM guarded WHERE bf_contains(f, id);
SELECT count(*) FROM barrier WHERE bf_contains(f, id);
SELECT count(*) FROM guarded WHERE bf_contains(f, id);
SELECT count(*) FROM barrier WHERE bf_contains_any(f, ARRAY[id]) AND bf_contains_all(f, ARRAY[id]) AND bf_add(f, id) = f AND bf_contains(f | f, id);
SELECT count(*) FROM guarded WHERE bf_contains_any(f, ARRAY[id]) AND bf_contains_all(f, ARRAY[id]) AND bf_add(f, id) = f AND bf_contains(f | f, id);
-- a table without any privilege: neither rows nor their number as the planner knows it
EXPLAIN SELECT FROM secrets WHERE bf_contains(bf_create(10), id);
SELECT FROM secrets WHERE bf_contains(bf_create(10), id);
SELECT bf_agg(id) FROM secrets;
RESET ROLE;

-- the planner believes no value of a column, only how many there are: functions of the
-- user's would otherwise be shown the most common ones
CREATE FUNCTION shown(int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 1 AS 'BEGIN RAISE NOTICE ''shown %'', $1; RETURN $1; END';
EXPLAIN (COSTS OFF) SELECT FROM secrets WHERE bf_contains(bf_create(10), shown(id));
DROP FUNCTION shown;

-- no function is marked as leakproof, none runs as its owner, all may be called by all
SELECT proname FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE extname = 'bloomset' AND (proleakproof OR prosecdef OR proacl IS NOT NULL OR proconfig IS NOT NULL);

DROP TABLE secrets, guarded CASCADE;
DROP FUNCTION is_mine;
DROP ROLE regress_bloomset_reader;
