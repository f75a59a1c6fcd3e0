-- Maintained filters: bf_track, bf_maintain, bf_maybe, bf_rebuild, bf_untrack.
SET client_min_messages = warning;

CREATE TABLE users (id serial PRIMARY KEY, email text, note text);
INSERT INTO users (email) SELECT i || '@example.com' FROM generate_series(1, 3000) AS i;
CALL bf_track('users', 'email', n => 6000, p => 0.001);

-- the shards, of at most a kilobyte: complete, and what the aggregate makes of the column
SELECT min(shard) = 0 AND max(shard) = count(*) - 1 AND bool_and(shards = s.shards AND generation = 1) AS complete,
       max(pg_column_size(f)) <= 1024 AS small, sum((bf_info(f)).n) BETWEEN 6000 AND 6300 AS planned
FROM users_email_filter AS s GROUP BY s.shards;
CREATE FUNCTION as_built(filters regclass, source text, agg text DEFAULT 'bf_agg') RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
  EXECUTE format('SELECT count(*) || CASE WHEN bool_and(t.f = COALESCE(b.f, t.f)) AND count(b.f) >= count(*) FILTER (WHERE bf_count(t.f) > 0)
    THEN '' as built'' ELSE '' differ'' END FROM %1$s AS t LEFT JOIN (
      SELECT bf_shard(key, (SELECT min(shards) FROM %1$s)) AS shard, %3$s(key, (SELECT min((bf_info(f)).n) FROM %1$s), (SELECT min((bf_info(f)).p) FROM %1$s)) AS f
      FROM (%2$s) AS s (key) GROUP BY 1) AS b USING (shard)', filters, source, agg) INTO answer;
  RETURN answer;
END $$;
SELECT as_built('users_email_filter', 'SELECT email FROM users');

-- asking; keys of any kind; NULL
SELECT count(*) AS missed FROM users WHERE NOT bf_maybe('users', 'email', email);
SELECT count(*) < 10 AS rate FROM generate_series(1, 3000) AS i WHERE bf_maybe('users', 'email', 'other' || i);
SELECT bf_maybe('users', 'email', '1@example.com'), bf_maybe('users', 'email', 'nobody'), bf_maybe('users', 'email', bf_key('2@example.com')),
       bf_maybe('users', 'email', NULL), bf_maybe('users_email_filter', '3@example.com'), bf_maybe('users_email_filter', 'nobody');
SELECT bf_maybe('users', 'email', 5);

-- every way to write; what was rolled back leaves no trace
INSERT INTO users (email) VALUES ('insert'), ('insert'), (NULL);
UPDATE users SET email = 'update' WHERE email = '1@example.com';
INSERT INTO users (id, email) VALUES (2, 'upsert'), (-1, 'upsert too') ON CONFLICT (id) DO UPDATE SET email = excluded.email;
COPY users (email) FROM stdin;
copy
\N
\.
WITH w AS (INSERT INTO users (email) VALUES ('with') RETURNING id) UPDATE users SET email = 'with too' WHERE id = 3;
BEGIN;
SAVEPOINT s;
INSERT INTO users (email) VALUES ('never');
ROLLBACK TO s;
INSERT INTO users (email) VALUES ('after savepoint');
COMMIT;
BEGIN;
INSERT INTO users (email) VALUES ('never again');
SELECT bf_maybe('users', 'email', 'never again') AS own_change;
ROLLBACK;
SELECT key, bf_maybe('users', 'email', key) FROM unnest('{insert,update,upsert,upsert too,copy,with,with too,after savepoint,never,never again}'::text[]) AS key;
SELECT as_built('users_email_filter', $$SELECT email FROM users UNION ALL SELECT i || '@example.com' FROM generate_series(1, 3) AS i$$);

-- what brings no new key writes no filter
CREATE TEMP TABLE versions AS SELECT shard, ctid AS version FROM users_email_filter;
UPDATE users SET note = 'x', email = email;
UPDATE users SET email = CASE id WHEN 10 THEN '11@example.com' ELSE '10@example.com' END WHERE id IN (10, 11);
INSERT INTO users (email) SELECT email FROM users WHERE id BETWEEN 20 AND 40;
DELETE FROM users WHERE id > 2000;
SELECT count(*) AS written FROM users_email_filter JOIN versions USING (shard) WHERE users_email_filter.ctid <> version;
-- one new key: one row
INSERT INTO users (email) VALUES ('one more');
SELECT count(*) AS written FROM users_email_filter JOIN versions USING (shard) WHERE users_email_filter.ctid <> version;

-- a look-up reads one shard: two descents of an index of two levels with their rows are six blocks,
-- looking into catalogs takes some more; all rows are hundreds
CREATE FUNCTION blocks(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  FOR i IN 1 .. 3 LOOP
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
  END LOOP;
  RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END $$;
CALL bf_rebuild('users', 'email', n => 1000000);
VACUUM ANALYZE users_email_filter;
SELECT count(*) > 1000 AS many_shards FROM users_email_filter;
SELECT blocks($$SELECT bf_maybe('users', 'email', i::text) FROM generate_series(1, 100) AS i$$) <= 100 * 20 AS few_blocks;
DROP FUNCTION blocks;

-- rebuilding: only keys that are there; n as planned before or twice of what is there
CREATE FUNCTION planned(filters regclass, OUT generations text, OUT n bigint, OUT p float8) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT string_agg(DISTINCT generation::text, '',''), round(sum((bf_info(f)).n), -3), min((bf_info(f)).p) FROM %s', filters) INTO generations, n, p;
END $$;
SELECT * FROM planned('users_email_filter');
CALL bf_rebuild('users', 'email', p => 0.01, n => 100);
SELECT as_built('users_email_filter', 'SELECT email FROM users');
CALL bf_rebuild('users', 'email');
SELECT * FROM planned('users_email_filter');
CALL bf_rebuild('users', 'email', shards => 3);
SELECT as_built('users_email_filter', 'SELECT email FROM users');
BEGIN;
CALL bf_rebuild('users', 'email', n => 5000, shards => 1);
SELECT as_built('users_email_filter', 'SELECT email FROM users');
ROLLBACK;
SELECT count(*) FROM users_email_filter;
INSERT INTO users (email) VALUES ('after rebuild');
SELECT as_built('users_email_filter', 'SELECT email FROM users');

-- TRUNCATE
TRUNCATE users;
SELECT sum(bf_count(f)), bf_maybe('users', 'email', 'after rebuild') FROM users_email_filter;
INSERT INTO users (email) VALUES ('after truncate');
SELECT bf_maybe('users', 'email', 'after truncate');

-- statements of more keys than maintenance_work_mem has room for
SET maintenance_work_mem = '1MB';
INSERT INTO users (email) SELECT i::text FROM generate_series(1, 100000) AS i;
CALL bf_rebuild('users', 'email', n => 150000, shards => 5);
INSERT INTO users (email) SELECT (-i)::text FROM generate_series(1, 50000) AS i;
SELECT as_built('users_email_filter', 'SELECT email FROM users');
CALL bf_rebuild('users', 'email', n => 300000, shards => 1);
INSERT INTO users (email) SELECT 'x' || i FROM generate_series(1, 100000) AS i;
SELECT as_built('users_email_filter', 'SELECT email FROM users');
RESET maintenance_work_mem;

-- undone without a trace
CALL bf_untrack('users', 'email');
SELECT (SELECT count(*) FROM pg_trigger WHERE tgrelid = 'users'::regclass) AS triggers, to_regclass('users_email_filter') AS filters;
SELECT bf_maybe('users', 'email', 'x');
CALL bf_untrack('users', 'email');
CALL bf_rebuild('users', 'email');
DROP TABLE users;

-- types that can remove: the filters are those of the rows that are there, byte for byte
CREATE TABLE carts (id int PRIMARY KEY, customer bigint);
CALL bf_track('carts', 'customer', 1000, 0.01, type => 'countingfilter', filters => 'carts_c');
CREATE TABLE coupons (id int PRIMARY KEY, code bigint);
CALL bf_track('coupons', 'code', 1000, 0.001, shards => 4, type => 'cuckoofilter');
SELECT setseed(0.5);
DO $$
BEGIN
  FOR i IN 1 .. 300 LOOP
    INSERT INTO carts SELECT 10 * i + j, random() * 2000 FROM generate_series(0, 4) AS j;
    INSERT INTO coupons SELECT 10 * i + j, 1000 * i + j FROM generate_series(0, 2) AS j;
    UPDATE carts SET customer = customer + round(random()) WHERE id % 7 = i % 7;
    UPDATE coupons SET code = code - 500 WHERE id / 10 = i AND id % 2 = 1;
    DELETE FROM carts WHERE id / 10 = (random() * i)::int;
    DELETE FROM coupons WHERE id / 10 = (random() * i)::int;
  END LOOP;
END $$;
SELECT count(*) > 300 AS many FROM carts;
SELECT as_built('carts_c', 'SELECT customer FROM carts', 'bf_agg_counting');
SELECT count(*) AS missed FROM coupons WHERE NOT bf_maybe('coupons', 'code', code);
SELECT sum(bf_count(f)) = (SELECT count(*) FROM coupons) AS as_many_fingerprints FROM coupons_code_filter;
DELETE FROM coupons;
SELECT sum(bf_count(f)) FROM coupons_code_filter;
INSERT INTO carts VALUES (-1, 77777), (-2, 77777);
DELETE FROM carts WHERE id = -1;
SELECT bf_maybe('carts', 'customer', 77777) AS one_left;
DELETE FROM carts WHERE id = -2;
SELECT bf_maybe('carts', 'customer', 77777) AS none_left;
CALL bf_rebuild('carts', 'customer', n => 5000);
SELECT as_built('carts_c', 'SELECT customer FROM carts', 'bf_agg_counting');
-- a key that no trigger has seen come cannot go
ALTER TABLE carts DISABLE TRIGGER USER;
INSERT INTO carts VALUES (-3, 88888);
ALTER TABLE carts ENABLE TRIGGER USER;
DELETE FROM carts WHERE id = -3;
CALL bf_rebuild('carts', 'customer');
DELETE FROM carts WHERE id = -3;
-- the growing type
CREATE TABLE log (line int);
CALL bf_track('log', 'line', 100, 0.01, type => 'scalablefilter', shards => 2);
INSERT INTO log SELECT generate_series(1, 5000);
SELECT count(*) AS missed FROM log WHERE NOT bf_maybe('log', 'line', line);
SELECT bool_and(bf_fpp(f) < 0.01 AND (bf_info(f)).layers > 4) AS grown FROM log_line_filter;
TRUNCATE log;
SELECT bf_maybe('log', 'line', 1), sum(bf_count(f)), max((bf_info(f)).layers) FROM log_line_filter;
INSERT INTO log VALUES (1);
SELECT bf_maybe('log', 'line', 1);
DROP TABLE carts, carts_c, coupons, coupons_code_filter, log, log_line_filter;

-- names of all kinds, and a search_path that leads elsewhere
CREATE SCHEMA "Odd; schema";
CREATE TABLE "Odd; schema"."Table ""of"" 'users'" ("E-mail, ""primary""" text, "select" int);
INSERT INTO "Odd; schema"."Table ""of"" 'users'" VALUES ('a', 1), ('b', 2);
CALL bf_track('"Odd; schema"."Table ""of"" ''users''"', 'E-mail, "primary"', 10);
CALL bf_track('"Odd; schema"."Table ""of"" ''users''"', 'select', 10, filters => 'Where "it" is');
CREATE SCHEMA evil;
CREATE FUNCTION evil.bf_add_all(bloomfilter, anyarray) RETURNS bloomfilter LANGUAGE sql AS 'SELECT NULL::bloomfilter';
CREATE FUNCTION evil.eq(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.eq);
CREATE TABLE evil."Where ""it"" is" (f int);
SET search_path = evil, pg_catalog, public;
INSERT INTO "Odd; schema"."Table ""of"" 'users'" VALUES ('c', 3);
SELECT bf_maybe('"Odd; schema"."Table ""of"" ''users''"', 'E-mail, "primary"', 'c'), bf_maybe('"Odd; schema"."Table ""of"" ''users''"', 'select', 3),
       bf_maybe('"Odd; schema"."Table ""of"" ''users''"', 'select', 4);
CALL bf_rebuild('"Odd; schema"."Table ""of"" ''users''"', 'select', n => 1000);
CALL bf_rebuild('"Odd; schema"."Table ""of"" ''users''"', 'E-mail, "primary"');
BEGIN;
TRUNCATE "Odd; schema"."Table ""of"" 'users'";
SELECT bf_maybe('"Odd; schema"."Table ""of"" ''users''"', 'select', 3);
ROLLBACK;
RESET search_path;
SELECT relname FROM pg_class WHERE relnamespace = '"Odd; schema"'::regnamespace AND relkind = 'r' ORDER BY relname COLLATE "C";
-- schema and table get other names, and the extension another place
ALTER SCHEMA "Odd; schema" RENAME TO even;
ALTER TABLE even."Table ""of"" 'users'" RENAME TO users;
CREATE SCHEMA elsewhere;
ALTER EXTENSION bloomset SET SCHEMA elsewhere;
INSERT INTO even.users VALUES ('d', 5);
SELECT elsewhere.bf_maybe('even.users', 'select', 5), elsewhere.bf_maybe('even.users', 'select', 6);
CALL elsewhere.bf_rebuild('even.users', 'select', n => 10);
ALTER EXTENSION bloomset SET SCHEMA public;
INSERT INTO even.users VALUES ('e', 7);
SELECT bf_maybe('even.users', 'select', 5), bf_maybe('even.users', 'select', 7);
-- what is not found any more is an error
ALTER TABLE even.users RENAME "select" TO number;
INSERT INTO even.users VALUES ('f', 8);
CALL bf_untrack('even.users', 'select');
INSERT INTO even.users VALUES ('f', 8);
ALTER TABLE even."Table ""of"" 'users'_E-mail, ""primary""_filter" RENAME TO moved;
INSERT INTO even.users VALUES ('g', 9);
SELECT bf_maybe('even.users', 'E-mail, "primary"', 'a'), 1;
CALL bf_untrack('even.users', 'E-mail, "primary"');
SET client_min_messages = error;
DROP SCHEMA even, evil, elsewhere CASCADE;
SET client_min_messages = warning;

-- keys of any type; temporary and unlogged tables
CREATE TYPE pair AS (a int, b text);
CREATE TEMP TABLE pairs (p pair, ts timestamptz, arr int[], k bfkey);
INSERT INTO pairs VALUES (ROW(1, NULL), '2026-01-01', '{1,2}', bf_key(1)), (ROW(NULL, NULL), NULL, NULL, NULL);
CALL bf_track('pairs', 'p', 100);
CALL bf_track('pairs', 'ts', 100);
CALL bf_track('pairs', 'arr', 100);
CALL bf_track('pairs', 'k', 100);
INSERT INTO pairs VALUES (ROW(NULL, 'x'), 'infinity', '{}', bf_key(2));
SELECT bf_maybe('pairs', 'p', ROW(1, NULL)::pair), bf_maybe('pairs', 'p', ROW(NULL, NULL)::pair), bf_maybe('pairs', 'p', ROW(NULL, 'x')::pair),
       bf_maybe('pairs', 'ts', '2026-01-01'::timestamptz), bf_maybe('pairs', 'ts', 'infinity'::timestamptz), bf_maybe('pairs', 'arr', '{1,2}'::int[]);
SELECT relpersistence FROM pg_class WHERE oid = 'pairs_p_filter'::regclass;
-- keys of two types in one column, as a bfkey may be, are an error as everywhere
\set VERBOSITY terse
INSERT INTO pairs (k) VALUES (bf_key(1)), (bf_key('z'));
\set VERBOSITY default
DROP TABLE pairs_p_filter, pairs_ts_filter, pairs_arr_filter, pairs_k_filter, pairs;
CREATE UNLOGGED TABLE u (x int);
CALL bf_track('u', 'x', 10);
SELECT relpersistence FROM pg_class WHERE oid = 'u_x_filter'::regclass;
DROP TABLE u, u_x_filter;

-- privileges: the caller's, for each step
CREATE ROLE regress_bf_owner;
CREATE ROLE regress_bf_reader;
CREATE ROLE regress_bf_writer;
CREATE ROLE regress_bf_other;
CREATE SCHEMA shop AUTHORIZATION regress_bf_owner;
GRANT USAGE ON SCHEMA shop TO PUBLIC;
SET ROLE regress_bf_owner;
CREATE TABLE shop.goods (id int, name text);
GRANT SELECT ON shop.goods TO regress_bf_reader;
GRANT INSERT ON shop.goods TO regress_bf_writer;
SET ROLE regress_bf_other;
CALL bf_track('shop.goods', 'name', 100);
RESET ROLE;
CALL bf_track('shop.goods', 'name', 100);
SELECT tableowner FROM pg_tables WHERE tablename = 'goods_name_filter';
SELECT grantee, string_agg(privilege_type || COALESCE(' ' || column_name, ''), ', ' ORDER BY privilege_type COLLATE "C") FROM (
  SELECT grantee, privilege_type, NULL AS column_name FROM information_schema.table_privileges WHERE table_name = 'goods_name_filter'
  UNION SELECT grantee, privilege_type, column_name FROM information_schema.column_privileges WHERE table_name = 'goods_name_filter' AND privilege_type = 'UPDATE') AS g
WHERE grantee <> 'regress_bf_owner' GROUP BY grantee ORDER BY grantee;
SET ROLE regress_bf_writer;
INSERT INTO shop.goods VALUES (1, 'pen');
SET ROLE regress_bf_reader;
SELECT bf_maybe('shop.goods', 'name', 'pen'), bf_maybe('shop.goods', 'name', 'ink');
UPDATE shop.goods_name_filter SET f = bf_create(1);
SET ROLE regress_bf_other;
SELECT bf_maybe('shop.goods', 'name', 'pen');
CALL bf_rebuild('shop.goods', 'name');
CALL bf_untrack('shop.goods', 'name');
RESET ROLE;
REVOKE UPDATE (f) ON shop.goods_name_filter FROM regress_bf_writer;
SET ROLE regress_bf_writer;
INSERT INTO shop.goods VALUES (2, 'ink');
SET ROLE regress_bf_owner;
CALL bf_rebuild('shop.goods', 'name', 1000);
CALL bf_untrack('shop.goods', 'name');
-- with row-level security nothing is granted
ALTER TABLE shop.goods ENABLE ROW LEVEL SECURITY;
CALL bf_track('shop.goods', 'name', 100);
SELECT count(*) FROM information_schema.table_privileges WHERE table_name = 'goods_name_filter' AND grantee <> 'regress_bf_owner';
CALL bf_untrack('shop.goods', 'name');
-- and not what the owner himself cannot see
ALTER TABLE shop.goods FORCE ROW LEVEL SECURITY;
CALL bf_track('shop.goods', 'name', 100);
RESET ROLE;
DROP SCHEMA shop CASCADE;
DROP ROLE regress_bf_owner, regress_bf_reader, regress_bf_writer, regress_bf_other;

-- tables whose writes their statement triggers would not all see
CREATE TABLE parts (x int) PARTITION BY LIST (x);
CREATE TABLE part PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parent (x int);
CREATE TABLE child () INHERITS (parent);
CREATE VIEW some_view AS SELECT 1 AS x;
CREATE MATERIALIZED VIEW kept_view AS SELECT 1 AS x;
CALL bf_track('parts', 'x', 10);
CALL bf_track('part', 'x', 10);
CALL bf_track('parent', 'x', 10);
CALL bf_track('child', 'x', 10);
CALL bf_track('some_view', 'x', 10);
CALL bf_track('kept_view', 'x', 10);
CALL bf_track('pg_class', 'relname', 10);
CALL bf_track('part_x_nowhere', 'x', 10);
CALL bf_track(0::regclass, 'x', 10);
CREATE TABLE later (x int);
CALL bf_track('later', 'x', 10);
INSERT INTO later VALUES (2);
-- a trigger that is off
ALTER TABLE later DISABLE TRIGGER bf_x_update;
SELECT bf_maybe('later', 'x', 2);
UPDATE later SET x = 3;
CALL bf_rebuild('later', 'x');
SELECT bf_maybe('later', 'x', 2), bf_maybe('later', 'x', 3);
-- a table that is damaged
DELETE FROM later_x_filter;
SELECT bf_maybe('later', 'x', 3);
INSERT INTO later VALUES (4);
CALL bf_rebuild('later', 'x');
CALL bf_rebuild('later', 'x', 10, 0.01);
SELECT bf_maybe('later', 'x', 2), bf_maybe('later', 'x', 3);
ALTER TABLE later_x_filter ALTER f DROP NOT NULL;
UPDATE later_x_filter SET f = NULL;
SELECT bf_maybe('later', 'x', 3);
TRUNCATE later;
DROP TABLE later_x_filter;
CREATE TABLE later_x_filter (generation int, shards int, shard int, f int);
INSERT INTO later_x_filter VALUES (3, 1, 0, 12345);
SELECT bf_maybe('later', 'x', 3);
SELECT bf_maybe('later_x_filter', 3);
INSERT INTO later VALUES (4);
TRUNCATE later;
CALL bf_rebuild('later', 'x');
CALL bf_untrack('later', 'x');
DROP TABLE part, parts, child, parent;
DROP VIEW some_view;
DROP MATERIALIZED VIEW kept_view;

-- arguments
CALL bf_track('later', 'y', 10);
CALL bf_track('later', 'ctid', 10);
CALL bf_track('later', 'x', NULL);
CALL bf_track(NULL, 'x', 10);
CALL bf_track('later', 'x', 0);
CALL bf_track('later', 'x', 10, 1);
CALL bf_track('later', 'x', 10, 'NaN');
CALL bf_track('later', 'x', 10, shards => 0);
CALL bf_track('later', 'x', 10, shards => -1);
CALL bf_track('later', 'x', 9223372036854775807);
CALL bf_track('later', 'x', 1000000000000, 0.01, shards => 1);
CALL bf_track('later', 'x', 10, type => 'int');
CALL bf_track('later', 'x', 10, type => 'layeredfilter');
CALL bf_track('later', 'x', 10, filters => 'later');
ALTER TABLE later ADD j json;
CALL bf_track('later', 'j', 10);
ALTER TABLE later DROP j;
CALL bf_track('later', 'x', 10);
CALL bf_track('later', 'x', 10);
SELECT bf_maybe('later', 'y', 1);
SELECT bf_maybe('pg_class', 1);
SELECT bf_maybe(0::regclass, 1);
SELECT bf_maybe(0::regclass, 'x', 1);
CALL bf_rebuild('later', 'x', shards => 0);
CALL bf_rebuild('later', 'x', p => 2);
CALL bf_rebuild('later', 'x', n => 0);
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL bf_rebuild('later', 'x');
ROLLBACK;
CALL bf_untrack('later', 'x');
BEGIN ISOLATION LEVEL SERIALIZABLE;
CALL bf_track('later', 'x', 10);
ROLLBACK;

-- triggers made by hand
SELECT bf_maintain();
CREATE TABLE shards (generation int, shards int, shard int, f bloomfilter, PRIMARY KEY (generation, shard));
INSERT INTO shards VALUES (7, 1, 0, bf_create(10));
CREATE TRIGGER t AFTER INSERT ON later REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION bf_maintain('x', 'shards', 7, 1);
INSERT INTO later (x) VALUES (5);
SELECT bf_maybe('shards', 5), bf_maybe('shards', 6);
-- which may not be all that are needed
SELECT bf_maybe('later', 'x', 5);
DROP TRIGGER t ON later;
CREATE TRIGGER t AFTER INSERT ON later FOR EACH ROW EXECUTE FUNCTION bf_maintain('x', 'shards', 7, 1);
INSERT INTO later (x) VALUES (5);
DROP TRIGGER t ON later;
CREATE TRIGGER t BEFORE INSERT ON later FOR EACH STATEMENT EXECUTE FUNCTION bf_maintain('x', 'shards', 7, 1);
INSERT INTO later (x) VALUES (5);
DROP TRIGGER t ON later;
CREATE TRIGGER t AFTER INSERT ON later FOR EACH STATEMENT EXECUTE FUNCTION bf_maintain('x', 'shards', 7, 1);
INSERT INTO later (x) VALUES (5);
DROP TRIGGER t ON later;
CREATE TRIGGER t AFTER UPDATE ON later REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION bf_maintain('x', 'shards', 7, 1);
UPDATE later SET x = 6;
DROP TRIGGER t ON later;
CREATE TRIGGER t AFTER INSERT ON later REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION bf_maintain('x', 'shards');
INSERT INTO later (x) VALUES (5);
SELECT bf_maybe('later', 'x', 5);
DROP TRIGGER t ON later;
CREATE TRIGGER t AFTER INSERT ON later REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION bf_maintain('x', 'shards', 7, 'one');
INSERT INTO later (x) VALUES (5);
DROP TRIGGER t ON later;
CREATE TRIGGER t AFTER INSERT ON later REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION bf_maintain('x', 'shards', 7, 0);
INSERT INTO later (x) VALUES (5);
DROP TRIGGER t ON later;
CREATE TRIGGER t AFTER INSERT ON later REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION bf_maintain();
INSERT INTO later (x) VALUES (5);
DROP TABLE later, shards;
DROP FUNCTION as_built, planned;
DROP TYPE pair;
