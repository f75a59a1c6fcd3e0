-- The extension as the catalog sees it.

CREATE VIEW members AS
  SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, 0) AS object
  FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid AND d.refclassid = 'pg_extension'::regclass
  WHERE e.extname = 'bloomset' AND d.deptype = 'e';

-- everything has a comment (array types excepted, as everywhere)
SELECT object FROM members WHERE obj_description(objid, classid::regclass::name) IS NULL AND object !~ '\[\]$';
SELECT object FROM members WHERE object ~ '^(type|cast|operator [^cf]|function.*_agg[_(])' AND object !~ '\[\]$' ORDER BY object COLLATE "C";

-- functions: names, volatility, parallel safety; nothing is leakproof or runs as its owner
-- (what looks up a type's name, takes the time from the clock, or reads a table, is stable)
SELECT proname, proparallel, provolatile FROM pg_proc JOIN members ON objid = pg_proc.oid AND classid = 'pg_proc'::regclass
WHERE proname ~ '^bf_(track|untrack|rebuild|maintain|maybe)$' ORDER BY proname, pronargs;
SELECT proname FROM pg_proc JOIN members ON objid = pg_proc.oid AND classid = 'pg_proc'::regclass
WHERE proname !~ '^bf_' OR proleakproof OR prosecdef;
SELECT proname FROM pg_proc JOIN members ON objid = pg_proc.oid AND classid = 'pg_proc'::regclass
WHERE proname !~ '^bf_(track|untrack|rebuild|maintain|maybe)$'
  AND (proparallel <> 's' OR provolatile <> CASE WHEN proname = 'bf_info' OR proargtypes[0] = 'layeredfilter'::regtype AND pronargs = 2 AND proname ~ '^bf_(add|contains)' THEN 's' ELSE 'i' END);

-- types: storage that can be read in slices, alignment, forms
SELECT typname, typlen, typalign, typstorage, typsend <> 0 AND typreceive <> 0 AS binary_form
FROM pg_type JOIN members ON objid = pg_type.oid AND classid = 'pg_type'::regclass WHERE typname !~ '^_' ORDER BY 1;

-- operator classes are complete
SELECT opcname, amname, amvalidate(o.oid) FROM pg_opclass AS o JOIN pg_am AS a ON a.oid = opcmethod
WHERE opcname ~ '^bfkey_ops|filter_ops$' ORDER BY 1, 2;

-- aggregates: combinable; the ones over filters and keys have a state that any engine can ship
SELECT aggfnoid::regprocedure, aggtranstype::regtype, aggcombinefn <> 0 AS combines, aggtransspace > 0 AS has_space
FROM pg_aggregate JOIN members ON objid = aggfnoid AND classid = 'pg_proc'::regclass ORDER BY aggfnoid::regprocedure::text COLLATE "C";

DROP VIEW members;

-- relocatable (that it is trusted shows below)
SELECT extrelocatable FROM pg_extension WHERE extname = 'bloomset';
CREATE SCHEMA elsewhere;
ALTER EXTENSION bloomset SET SCHEMA elsewhere;
SELECT elsewhere.bf_contains(elsewhere.bf_add(elsewhere.bf_create(10), 1), 1),
       elsewhere.bf_contains(elsewhere.bf_add(elsewhere.bf_create(10), 1), elsewhere.bf_key(1));
ALTER EXTENSION bloomset SET SCHEMA public;
DROP SCHEMA elsewhere;

-- works as the first statement of a session, without any preload
\c
SELECT bf_contains(bf_add(bf_create(10, 0.01), 1), 1);

-- an ordinary user with CREATE on the database can install it, and is not asked for more
CREATE ROLE regress_bloomset_user;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_bloomset_user', current_database()); END $$;
DROP EXTENSION bloomset;
SET ROLE regress_bloomset_user;
CREATE SCHEMA own;
CREATE EXTENSION bloomset SCHEMA own;
SELECT own.bf_contains(own.bf_agg(x, 10, 0.01), 5) FROM generate_series(1, 10) AS x;
DROP EXTENSION bloomset;
DROP SCHEMA own;
RESET ROLE;
DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM regress_bloomset_user', current_database()); END $$;
DROP ROLE regress_bloomset_user;
CREATE EXTENSION bloomset;
