/* bloomset--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION bloomset" to load this file. \quit

-- ---- the type bloomfilter ----

CREATE TYPE bloomfilter;

CREATE FUNCTION bf_in(cstring) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_in(cstring) IS
'text input: base64 of the portable form; errors 22P02 (not base64) and 22P03 (not a filter, or damaged)';

CREATE FUNCTION bf_out(bloomfilter) RETURNS cstring
AS 'MODULE_PATHNAME', 'bs_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_out(bloomfilter) IS 'text output: base64 of the portable form';

CREATE FUNCTION bf_recv(internal) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_recv(internal) IS
'binary input: the portable form; error 22P03 (not a filter, or damaged)';

CREATE FUNCTION bf_send(bloomfilter) RETURNS bytea
AS 'MODULE_PATHNAME', 'bs_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_send(bloomfilter) IS
'binary output: the portable form, 60 bytes of header, the bits, 8 bytes of checksum';

-- A filled filter does not compress, and uncompressed it can be read in slices.
-- Preferred, so that an untyped NULL is taken for one.
CREATE TYPE bloomfilter (
    INPUT = bf_in,
    OUTPUT = bf_out,
    RECEIVE = bf_recv,
    SEND = bf_send,
    INTERNALLENGTH = variable,
    ALIGNMENT = double,
    STORAGE = external,
    CATEGORY = 'f',
    PREFERRED = true
);
COMMENT ON TYPE bloomfilter IS
'set of keys that can be asked for membership: "no" is certain, "yes" is wrong at about the rate it was created for';

CREATE FUNCTION bf_from_bytea(bytea) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_from_bytea(bytea) IS
'cast from bytea: the portable form; error 22P03 (not a filter, or damaged)';

CREATE CAST (bloomfilter AS bytea) WITH FUNCTION bf_send(bloomfilter);
COMMENT ON CAST (bloomfilter AS bytea) IS 'the portable form';
CREATE CAST (bytea AS bloomfilter) WITH FUNCTION bf_from_bytea(bytea);
COMMENT ON CAST (bytea AS bloomfilter) IS 'reads and checks the portable form';

-- ---- the type bfkey ----

CREATE TYPE bfkey;

CREATE FUNCTION bf_key_in(cstring) RETURNS bfkey
AS 'MODULE_PATHNAME', 'bs_key_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_in(cstring) IS
'text input: key type and hash in hexadecimal, with a colon between; error 22P02';

CREATE FUNCTION bf_key_out(bfkey) RETURNS cstring
AS 'MODULE_PATHNAME', 'bs_key_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_out(bfkey) IS
'text output: key type and hash in hexadecimal, with a colon between';

CREATE FUNCTION bf_key_recv(internal) RETURNS bfkey
AS 'MODULE_PATHNAME', 'bs_key_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_recv(internal) IS
'binary input: key type (4 bytes) and hash (8 bytes), big-endian; error 22P03';

CREATE FUNCTION bf_key_send(bfkey) RETURNS bytea
AS 'MODULE_PATHNAME', 'bs_key_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_send(bfkey) IS
'binary output: key type (4 bytes) and hash (8 bytes), big-endian';

CREATE TYPE bfkey (
    INPUT = bf_key_in,
    OUTPUT = bf_key_out,
    RECEIVE = bf_key_recv,
    SEND = bf_key_send,
    INTERNALLENGTH = 16,
    ALIGNMENT = double
);
COMMENT ON TYPE bfkey IS
'a key as filters see it: key type and 64-bit hash (XXH3) of a value; every function that takes a key takes a bfkey too';

CREATE FUNCTION bf_key_eq(bfkey, bfkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_key_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_eq(bfkey, bfkey) IS 'implementation of = operator';

CREATE FUNCTION bf_key_ne(bfkey, bfkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_key_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_ne(bfkey, bfkey) IS 'implementation of <> operator';

CREATE FUNCTION bf_key_lt(bfkey, bfkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_key_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_lt(bfkey, bfkey) IS 'implementation of < operator';

CREATE FUNCTION bf_key_le(bfkey, bfkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_key_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_le(bfkey, bfkey) IS 'implementation of <= operator';

CREATE FUNCTION bf_key_ge(bfkey, bfkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_key_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_ge(bfkey, bfkey) IS 'implementation of >= operator';

CREATE FUNCTION bf_key_gt(bfkey, bfkey) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_key_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_gt(bfkey, bfkey) IS 'implementation of > operator';

CREATE FUNCTION bf_key_cmp(bfkey, bfkey) RETURNS integer
AS 'MODULE_PATHNAME', 'bs_key_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_cmp(bfkey, bfkey) IS 'less-equal-greater';

CREATE FUNCTION bf_key_hash(bfkey) RETURNS integer
AS 'MODULE_PATHNAME', 'bs_key_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_hash(bfkey) IS 'hash';

CREATE FUNCTION bf_key_hash_extended(bfkey, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'bs_key_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key_hash_extended(bfkey, bigint) IS 'hash, with a seed';

CREATE OPERATOR = (
    LEFTARG = bfkey, RIGHTARG = bfkey, FUNCTION = bf_key_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (bfkey, bfkey) IS 'equal';
CREATE OPERATOR <> (
    LEFTARG = bfkey, RIGHTARG = bfkey, FUNCTION = bf_key_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (bfkey, bfkey) IS 'not equal';

CREATE OPERATOR < (
    LEFTARG = bfkey, RIGHTARG = bfkey, FUNCTION = bf_key_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (bfkey, bfkey) IS 'less than';
CREATE OPERATOR <= (
    LEFTARG = bfkey, RIGHTARG = bfkey, FUNCTION = bf_key_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (bfkey, bfkey) IS 'less than or equal';
CREATE OPERATOR >= (
    LEFTARG = bfkey, RIGHTARG = bfkey, FUNCTION = bf_key_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (bfkey, bfkey) IS 'greater than or equal';
CREATE OPERATOR > (
    LEFTARG = bfkey, RIGHTARG = bfkey, FUNCTION = bf_key_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (bfkey, bfkey) IS 'greater than';

CREATE OPERATOR FAMILY bfkey_ops USING btree;
COMMENT ON OPERATOR FAMILY bfkey_ops USING btree IS 'sorting of bfkey';
CREATE OPERATOR CLASS bfkey_ops DEFAULT FOR TYPE bfkey USING btree FAMILY bfkey_ops AS
    OPERATOR 1 <,
    OPERATOR 2 <=,
    OPERATOR 3 =,
    OPERATOR 4 >=,
    OPERATOR 5 >,
    FUNCTION 1 bf_key_cmp(bfkey, bfkey);
COMMENT ON OPERATOR CLASS bfkey_ops USING btree IS
'sorting of bfkey, by key type and hash: an order without a meaning';

CREATE OPERATOR FAMILY bfkey_ops USING hash;
COMMENT ON OPERATOR FAMILY bfkey_ops USING hash IS 'hashing of bfkey';
CREATE OPERATOR CLASS bfkey_ops DEFAULT FOR TYPE bfkey USING hash FAMILY bfkey_ops AS
    OPERATOR 1 =,
    FUNCTION 1 bf_key_hash(bfkey),
    FUNCTION 2 bf_key_hash_extended(bfkey, bigint);
COMMENT ON OPERATOR CLASS bfkey_ops USING hash IS 'hashing of bfkey';

CREATE FUNCTION bf_key(value "any") RETURNS bfkey
AS 'MODULE_PATHNAME', 'bs_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_key("any") IS
'the key of a value; NULL for NULL; errors 42883 (type without a hash function) and 0A000 (nondeterministic collation)';

CREATE FUNCTION bf_shard(key "any", shards integer) RETURNS integer
AS 'MODULE_PATHNAME', 'bs_shard_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_shard("any", integer) IS
'which of this many filters a key belongs to, from 0 to shards - 1; independent of the bits it takes inside a filter; NULL for NULL; error 22023 for less than one shard';

-- ---- making filters ----

CREATE FUNCTION bf_create(n bigint, p double precision DEFAULT 0.01, seed bigint DEFAULT 0)
RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_create' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_create(bigint, double precision, bigint) IS
'an empty filter for n distinct keys at false-positive rate p (at least 1e-10); NULL for NULL; errors 22023 (n < 1, p outside) and 54000 (more than 2^32 bits). Blocked Bloom filter: Putze, Sanders, Singler 2007';

CREATE FUNCTION bf_size(n bigint, p double precision DEFAULT 0.01,
    OUT m bigint, OUT k integer, OUT bytes bigint)
AS 'MODULE_PATHNAME', 'bs_size' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_size(bigint, double precision) IS
'what bf_create would make: m bits in all, k bits per key, bytes of the value (as pg_column_size); NULL and errors as bf_create';

-- ---- adding and asking ----

CREATE FUNCTION bf_add(f bloomfilter, key "any") RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_add' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_add(bloomfilter, "any") IS
'the filter with the key; f unchanged for a NULL key, NULL for a NULL filter; error 42804 (filter holds keys of another type), and those of bf_key';

CREATE FUNCTION bf_add_all(f bloomfilter, keys anyarray) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_add_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bf_add_all(bloomfilter, anyarray) IS
'the filter with all elements of the array as keys, NULLs skipped; f unchanged for a NULL array, NULL for a NULL filter; errors as bf_add';

CREATE FUNCTION bf_contains_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_contains_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_contains_support(internal) IS 'planner support for bf_contains: selectivity';

CREATE FUNCTION bf_contains(f bloomfilter, key "any") RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 2 SUPPORT bf_contains_support;
COMMENT ON FUNCTION bf_contains(bloomfilter, "any") IS
'false: the key was certainly not added; true: it probably was; NULL for a NULL filter or key; errors as bf_add';

CREATE FUNCTION bf_contains_any(f bloomfilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_any' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_any(bloomfilter, anyarray) IS
'true if bf_contains is for an element; otherwise NULL if an element is; otherwise false (also for no elements); NULL for a NULL filter or array; errors as bf_add';

CREATE FUNCTION bf_contains_all(f bloomfilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_all(bloomfilter, anyarray) IS
'false if bf_contains is for an element; otherwise NULL if an element is; otherwise true (also for no elements); NULL for a NULL filter or array; errors as bf_add';

-- ---- union, intersection, equality ----

CREATE FUNCTION bf_union(a bloomfilter, b bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_union' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union(bloomfilter, bloomfilter) IS
'the filter of the keys of both; the other one for a NULL side; error 22023 (m, k, block or seed differ) and 42804 (key types differ)';

CREATE FUNCTION bf_intersect(a bloomfilter, b bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_intersect' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_intersect(bloomfilter, bloomfilter) IS
'a filter that holds every common key, and others at a rate above that of a filter built from the common keys; NULL and errors as bf_union';

CREATE OPERATOR | (
    LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bf_union, COMMUTATOR = |
);
COMMENT ON OPERATOR | (bloomfilter, bloomfilter) IS 'union';
CREATE OPERATOR & (
    LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bf_intersect, COMMUTATOR = &
);
COMMENT ON OPERATOR & (bloomfilter, bloomfilter) IS 'intersection';

CREATE FUNCTION bf_eq(bloomfilter, bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_eq(bloomfilter, bloomfilter) IS 'implementation of = operator';

CREATE FUNCTION bf_ne(bloomfilter, bloomfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_ne(bloomfilter, bloomfilter) IS 'implementation of <> operator';

CREATE FUNCTION bf_hash(bloomfilter) RETURNS integer
AS 'MODULE_PATHNAME', 'bs_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash(bloomfilter) IS 'hash';

CREATE FUNCTION bf_hash_extended(bloomfilter, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'bs_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash_extended(bloomfilter, bigint) IS 'hash, with a seed';

CREATE OPERATOR = (
    LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bf_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (bloomfilter, bloomfilter) IS 'equal, byte for byte';
CREATE OPERATOR <> (
    LEFTARG = bloomfilter, RIGHTARG = bloomfilter, FUNCTION = bf_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (bloomfilter, bloomfilter) IS 'not equal, byte for byte';

CREATE OPERATOR FAMILY bloomfilter_ops USING hash;
COMMENT ON OPERATOR FAMILY bloomfilter_ops USING hash IS 'hashing of bloomfilter';
CREATE OPERATOR CLASS bloomfilter_ops DEFAULT FOR TYPE bloomfilter USING hash FAMILY bloomfilter_ops AS
    OPERATOR 1 =,
    FUNCTION 1 bf_hash(bloomfilter),
    FUNCTION 2 bf_hash_extended(bloomfilter, bigint);
COMMENT ON OPERATOR CLASS bloomfilter_ops USING hash IS
'hashing of bloomfilter: GROUP BY, DISTINCT, hash joins';

-- ---- estimates ----

CREATE FUNCTION bf_count(f bloomfilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_count(bloomfilter) IS
'estimated number of distinct keys, from the bits set (Swamidass, Baldi 2007); always finite, for a full filter a lower bound; NULL for NULL';

CREATE FUNCTION bf_intersect_count(a bloomfilter, b bloomfilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_intersect_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION bf_intersect_count(bloomfilter, bloomfilter) IS
'estimated number of distinct keys that both hold, by inclusion and exclusion, at least 0; NULL for NULL; errors as bf_union';

CREATE FUNCTION bf_fpp(f bloomfilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_fpp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_fpp(bloomfilter) IS
'the false-positive rate at the present fill, from 0 to 1; above the asked-for rate the filter holds more keys than it was made for; NULL for NULL';

-- STABLE: the name of a key type that has no number of its own is looked up.
CREATE FUNCTION bf_info(f bloomfilter,
    OUT n bigint, OUT p double precision, OUT m bigint, OUT k integer, OUT block_bits integer,
    OUT seed bigint, OUT key_type text, OUT bits_set bigint, OUT fill double precision,
    OUT count double precision, OUT fpp double precision, OUT bytes bigint)
AS 'MODULE_PATHNAME', 'bs_info' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION bf_info(bloomfilter) IS
'parameters (n, p, m bits, k bits per key, bits per block, seed, key type or NULL before the first key), bits set and their share, estimated count, present false-positive rate, bytes of the value; NULL for NULL';

-- ---- aggregates ----

CREATE FUNCTION bf_agg_trans(internal, "any", bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bf_agg_trans(internal, "any", bigint, double precision) IS 'aggregate transition function';

CREATE FUNCTION bf_agg_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_agg_combine(internal, internal) IS 'aggregate combine function';

CREATE FUNCTION bf_agg_serialize(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'bs_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_agg_serialize(internal) IS 'aggregate serial function';

CREATE FUNCTION bf_agg_deserialize(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_agg_deserialize(bytea, internal) IS 'aggregate deserial function';

CREATE FUNCTION bf_agg_final(internal) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_agg_final(internal) IS 'aggregate final function';

CREATE AGGREGATE bf_agg(key "any", n bigint, p double precision) (
    SFUNC = bf_agg_trans,
    STYPE = internal,
    SSPACE = 16384,
    FINALFUNC = bf_agg_final,
    COMBINEFUNC = bf_agg_combine,
    SERIALFUNC = bf_agg_serialize,
    DESERIALFUNC = bf_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg("any", bigint, double precision) IS
'a filter for n distinct keys at rate p, of all keys that are not NULL; NULL for no rows; errors of bf_create and bf_add, and 22023 where n or p change from row to row';

CREATE FUNCTION bf_collect_trans(internal, "any") RETURNS internal
AS 'MODULE_PATHNAME', 'bs_collect_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION bf_collect_trans(internal, "any") IS 'aggregate transition function';

CREATE FUNCTION bf_collect_trans(internal, "any", double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_collect_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION bf_collect_trans(internal, "any", double precision) IS 'aggregate transition function';

CREATE FUNCTION bf_collect_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_collect_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_collect_combine(internal, internal) IS 'aggregate combine function';

CREATE FUNCTION bf_collect_serialize(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'bs_collect_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_collect_serialize(internal) IS 'aggregate serial function';

CREATE FUNCTION bf_collect_deserialize(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_collect_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_collect_deserialize(bytea, internal) IS 'aggregate deserial function';

CREATE FUNCTION bf_collect_final(internal) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_collect_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_collect_final(internal) IS 'aggregate final function';

CREATE AGGREGATE bf_agg(key "any", p double precision) (
    SFUNC = bf_collect_trans,
    STYPE = internal,
    SSPACE = 16384,
    FINALFUNC = bf_collect_final,
    COMBINEFUNC = bf_collect_combine,
    SERIALFUNC = bf_collect_serialize,
    DESERIALFUNC = bf_collect_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg("any", double precision) IS
'a filter at rate p for exactly as many distinct keys as there are, of all keys that are not NULL; past work_mem the keys go to temporary files; NULL for no rows; errors of bf_create and bf_add, and 22023 where p changes from row to row';

CREATE AGGREGATE bf_agg(key "any") (
    SFUNC = bf_collect_trans,
    STYPE = internal,
    SSPACE = 16384,
    FINALFUNC = bf_collect_final,
    COMBINEFUNC = bf_collect_combine,
    SERIALFUNC = bf_collect_serialize,
    DESERIALFUNC = bf_collect_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg("any") IS 'as bf_agg(key, p) with p = 0.01';

CREATE FUNCTION bf_agg_key_trans(bloomfilter, bfkey, bigint, double precision) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_agg_key_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bf_agg_key_trans(bloomfilter, bfkey, bigint, double precision) IS 'aggregate transition function';

CREATE FUNCTION bf_union_trans(bloomfilter, bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_union_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union_trans(bloomfilter, bloomfilter) IS 'aggregate transition and combine function';

CREATE FUNCTION bf_intersect_trans(bloomfilter, bloomfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_intersect_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_intersect_trans(bloomfilter, bloomfilter) IS 'aggregate transition and combine function';

CREATE AGGREGATE bf_agg(key bfkey, n bigint, p double precision) (
    SFUNC = bf_agg_key_trans,
    STYPE = bloomfilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg(bfkey, bigint, double precision) IS
'as bf_agg over values, from their keys; its state is a bloomfilter, so that a distributed engine can push it down';

CREATE AGGREGATE bf_union_agg(f bloomfilter) (
    SFUNC = bf_union_trans,
    STYPE = bloomfilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_union_agg(bloomfilter) IS
'the union of all filters that are not NULL; NULL for none; errors as bf_union';

CREATE AGGREGATE bf_intersect_agg(f bloomfilter) (
    SFUNC = bf_intersect_trans,
    STYPE = bloomfilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_intersect_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_intersect_agg(bloomfilter) IS
'the intersection of all filters that are not NULL; NULL for none; errors as bf_union';

-- ---- streams ----

CREATE FUNCTION bf_seen(key "any", n bigint, p double precision DEFAULT 0.01) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_seen' LANGUAGE C IMMUTABLE WINDOW PARALLEL SAFE;
COMMENT ON FUNCTION bf_seen("any", bigint, double precision) IS
'window function: false if the key certainly did not come earlier in the partition, true if it probably did, in memory for n distinct keys at rate p whatever the number of rows; false for a NULL key; errors 22023 (n or p not the same for all rows of a partition, and as bf_create), 22004 (n or p NULL), 42804 (keys of several types), 54000';

-- ---- the type countingfilter ----

CREATE TYPE countingfilter;

CREATE FUNCTION bf_counting_in(cstring) RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_counting_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_counting_in(cstring) IS 'text input; as that of bloomfilter';

CREATE FUNCTION bf_out(countingfilter) RETURNS cstring
AS 'MODULE_PATHNAME', 'bs_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_out(countingfilter) IS 'text output: base64 of the portable form';

CREATE FUNCTION bf_counting_recv(internal) RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_counting_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_counting_recv(internal) IS 'binary input; as that of bloomfilter';

CREATE FUNCTION bf_send(countingfilter) RETURNS bytea
AS 'MODULE_PATHNAME', 'bs_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_send(countingfilter) IS 'binary output: the portable form';

CREATE TYPE countingfilter (
    INPUT = bf_counting_in,
    OUTPUT = bf_out,
    RECEIVE = bf_counting_recv,
    SEND = bf_send,
    INTERNALLENGTH = variable,
    ALIGNMENT = double,
    STORAGE = external,
    CATEGORY = 'f'
);
COMMENT ON TYPE countingfilter IS
'as bloomfilter, with 4-bit counters instead of bits, so that keys can be removed: four times its size';

CREATE FUNCTION bf_counting_from_bytea(bytea) RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_counting_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_counting_from_bytea(bytea) IS
'cast from bytea: the portable form; error 22P03 (not such a filter, or damaged)';

CREATE CAST (countingfilter AS bytea) WITH FUNCTION bf_send(countingfilter);
COMMENT ON CAST (countingfilter AS bytea) IS 'the portable form';
CREATE CAST (bytea AS countingfilter) WITH FUNCTION bf_counting_from_bytea(bytea);
COMMENT ON CAST (bytea AS countingfilter) IS 'reads and checks the portable form';

CREATE FUNCTION bf_bloomfilter(countingfilter) RETURNS bloomfilter
AS 'MODULE_PATHNAME', 'bs_counting_to_bloomfilter' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_bloomfilter(countingfilter) IS
'cast to bloomfilter: the one that holds the same keys, of the same n, p, m, k and seed';
CREATE CAST (countingfilter AS bloomfilter) WITH FUNCTION bf_bloomfilter(countingfilter);
COMMENT ON CAST (countingfilter AS bloomfilter) IS 'the standard filter of the same keys';

CREATE FUNCTION bf_create_counting(n bigint, p double precision DEFAULT 0.01, seed bigint DEFAULT 0)
RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_counting_create' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_create_counting(bigint, double precision, bigint) IS
'an empty counting filter for n distinct keys at false-positive rate p; NULL and errors as bf_create, 54000 from 2^30 counters on. Counting Bloom filter: Fan, Cao, Almeida, Broder 2000, in blocks';

CREATE FUNCTION bf_add(f countingfilter, key "any") RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_add' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_add(countingfilter, "any") IS
'the filter with one more copy of the key; NULL and errors as for a bloomfilter. A counter that reaches 15 stays there: no key is lost, but those it counts can no longer be removed';

CREATE FUNCTION bf_add_all(f countingfilter, keys anyarray) RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_add_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bf_add_all(countingfilter, anyarray) IS
'the filter with one more copy of each element of the array; NULL and errors as for a bloomfilter';

CREATE FUNCTION bf_remove(f countingfilter, key "any", missing_ok boolean DEFAULT false) RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_remove' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_remove(countingfilter, "any", boolean) IS
'the filter with one copy of the key less; f unchanged for a NULL key, NULL for a NULL filter; error 22023 if the key is certainly not in, unless missing_ok. To remove a key that was never added and is a false positive takes other keys out: remove only what was added';

CREATE FUNCTION bf_remove_all(f countingfilter, keys anyarray, missing_ok boolean DEFAULT false) RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_remove_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bf_remove_all(countingfilter, anyarray, boolean) IS
'the filter with one copy of each element of the array less, NULLs skipped, all or nothing; f unchanged for a NULL array, NULL for a NULL filter; errors as bf_remove';

CREATE FUNCTION bf_contains(f countingfilter, key "any") RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 2;
COMMENT ON FUNCTION bf_contains(countingfilter, "any") IS
'false: the key is certainly not in; true: it probably is; NULL and errors as for a bloomfilter';

CREATE FUNCTION bf_contains_any(f countingfilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_any' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_any(countingfilter, anyarray) IS 'as for a bloomfilter';

CREATE FUNCTION bf_contains_all(f countingfilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_all(countingfilter, anyarray) IS 'as for a bloomfilter';

CREATE FUNCTION bf_union(a countingfilter, b countingfilter) RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_union' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union(countingfilter, countingfilter) IS
'the filter of the keys of both, as many copies as both have together; NULL and errors as for bloomfilters';

CREATE OPERATOR | (
    LEFTARG = countingfilter, RIGHTARG = countingfilter, FUNCTION = bf_union, COMMUTATOR = |
);
COMMENT ON OPERATOR | (countingfilter, countingfilter) IS 'union';

CREATE FUNCTION bf_eq(countingfilter, countingfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_eq(countingfilter, countingfilter) IS 'implementation of = operator';

CREATE FUNCTION bf_ne(countingfilter, countingfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_ne(countingfilter, countingfilter) IS 'implementation of <> operator';

CREATE FUNCTION bf_hash(countingfilter) RETURNS integer
AS 'MODULE_PATHNAME', 'bs_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash(countingfilter) IS 'hash';

CREATE FUNCTION bf_hash_extended(countingfilter, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'bs_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash_extended(countingfilter, bigint) IS 'hash, with a seed';

CREATE OPERATOR = (
    LEFTARG = countingfilter, RIGHTARG = countingfilter, FUNCTION = bf_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (countingfilter, countingfilter) IS 'equal, byte for byte';
CREATE OPERATOR <> (
    LEFTARG = countingfilter, RIGHTARG = countingfilter, FUNCTION = bf_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (countingfilter, countingfilter) IS 'not equal, byte for byte';

CREATE OPERATOR FAMILY countingfilter_ops USING hash;
COMMENT ON OPERATOR FAMILY countingfilter_ops USING hash IS 'hashing of countingfilter';
CREATE OPERATOR CLASS countingfilter_ops DEFAULT FOR TYPE countingfilter USING hash FAMILY countingfilter_ops AS
    OPERATOR 1 =,
    FUNCTION 1 bf_hash(countingfilter),
    FUNCTION 2 bf_hash_extended(countingfilter, bigint);
COMMENT ON OPERATOR CLASS countingfilter_ops USING hash IS 'hashing of countingfilter';

CREATE FUNCTION bf_count(f countingfilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_count(countingfilter) IS
'estimated number of distinct keys, as of the bloomfilter of the same keys; NULL for NULL';

CREATE FUNCTION bf_fpp(f countingfilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_fpp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_fpp(countingfilter) IS
'the false-positive rate at the present fill, from 0 to 1; NULL for NULL';

-- STABLE: as bf_info(bloomfilter).
CREATE FUNCTION bf_info(f countingfilter,
    OUT n bigint, OUT p double precision, OUT m bigint, OUT k integer, OUT block_bits integer,
    OUT seed bigint, OUT key_type text, OUT counters_set bigint, OUT saturated bigint,
    OUT fill double precision, OUT count double precision, OUT fpp double precision, OUT bytes bigint)
AS 'MODULE_PATHNAME', 'bs_counting_info' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION bf_info(countingfilter) IS
'parameters (n, p, m counters, k counters per key, counters per block, seed, key type or NULL before the first key), counters above 0, those at 15, which stay for ever, share of counters above 0, estimated count, present false-positive rate, bytes of the value; NULL for NULL';

CREATE FUNCTION bf_agg_counting_trans(internal, "any", bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_counting_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bf_agg_counting_trans(internal, "any", bigint, double precision) IS
'aggregate transition function';

CREATE FUNCTION bf_agg_counting_final(internal) RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_agg_counting_final(internal) IS 'aggregate final function';

CREATE AGGREGATE bf_agg_counting(key "any", n bigint, p double precision) (
    SFUNC = bf_agg_counting_trans,
    STYPE = internal,
    SSPACE = 16384,
    FINALFUNC = bf_agg_counting_final,
    COMBINEFUNC = bf_agg_combine,
    SERIALFUNC = bf_agg_serialize,
    DESERIALFUNC = bf_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_counting("any", bigint, double precision) IS
'a counting filter for n distinct keys at rate p, of all keys that are not NULL, each as often as it comes; NULL for no rows; errors as bf_agg(key, n, p)';

CREATE FUNCTION bf_agg_counting_key_trans(countingfilter, bfkey, bigint, double precision)
RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_counting_agg_key_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bf_agg_counting_key_trans(countingfilter, bfkey, bigint, double precision) IS
'aggregate transition function';

CREATE FUNCTION bf_union_trans(countingfilter, countingfilter) RETURNS countingfilter
AS 'MODULE_PATHNAME', 'bs_union_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union_trans(countingfilter, countingfilter) IS
'aggregate transition and combine function';

CREATE AGGREGATE bf_agg_counting(key bfkey, n bigint, p double precision) (
    SFUNC = bf_agg_counting_key_trans,
    STYPE = countingfilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_counting(bfkey, bigint, double precision) IS
'as bf_agg_counting over values, from their keys; its state is a countingfilter, so that a distributed engine can push it down';

CREATE AGGREGATE bf_union_agg(f countingfilter) (
    SFUNC = bf_union_trans,
    STYPE = countingfilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_union_agg(countingfilter) IS
'the union of all filters that are not NULL; NULL for none; errors as bf_union';

-- ---- the type cuckoofilter ----

CREATE TYPE cuckoofilter;

CREATE FUNCTION bf_cuckoo_in(cstring) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_cuckoo_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_cuckoo_in(cstring) IS 'text input; as that of bloomfilter';

CREATE FUNCTION bf_out(cuckoofilter) RETURNS cstring
AS 'MODULE_PATHNAME', 'bs_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_out(cuckoofilter) IS 'text output: base64 of the portable form';

CREATE FUNCTION bf_cuckoo_recv(internal) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_cuckoo_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_cuckoo_recv(internal) IS 'binary input; as that of bloomfilter';

CREATE FUNCTION bf_send(cuckoofilter) RETURNS bytea
AS 'MODULE_PATHNAME', 'bs_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_send(cuckoofilter) IS 'binary output: the portable form';

CREATE TYPE cuckoofilter (
    INPUT = bf_cuckoo_in,
    OUTPUT = bf_out,
    RECEIVE = bf_cuckoo_recv,
    SEND = bf_send,
    INTERNALLENGTH = variable,
    ALIGNMENT = double,
    STORAGE = external,
    CATEGORY = 'f'
);
COMMENT ON TYPE cuckoofilter IS
'multiset of keys, held as fingerprints, so that keys can be removed; smaller than a bloomfilter for rates of about 0.001 and below. It has room for n different keys and at most 8 copies of one; where most keys come more than once, take a countingfilter';

CREATE FUNCTION bf_cuckoo_from_bytea(bytea) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_cuckoo_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_cuckoo_from_bytea(bytea) IS
'cast from bytea: the portable form; error 22P03 (not such a filter, or damaged)';

CREATE CAST (cuckoofilter AS bytea) WITH FUNCTION bf_send(cuckoofilter);
COMMENT ON CAST (cuckoofilter AS bytea) IS 'the portable form';
CREATE CAST (bytea AS cuckoofilter) WITH FUNCTION bf_cuckoo_from_bytea(bytea);
COMMENT ON CAST (bytea AS cuckoofilter) IS 'reads and checks the portable form';

CREATE FUNCTION bf_create_cuckoo(n bigint, p double precision DEFAULT 0.01, seed bigint DEFAULT 0)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_cuckoo_create' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_create_cuckoo(bigint, double precision, bigint) IS
'an empty cuckoo filter for n different keys at false-positive rate p; NULL and errors as bf_create. Cuckoo filter: Fan, Andersen, Kaminsky, Mitzenmacher 2014, with any even number of buckets of four, and fingerprints of at least 8 bits';

CREATE FUNCTION bf_add(f cuckoofilter, key "any") RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_add' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_add(cuckoofilter, "any") IS
'the filter with one more copy of the key; NULL and errors as for a bloomfilter, and 54000 where there is no room: for n different keys there is, for more than 8 copies of one there is not, and many copies of many keys need more room than n keys';

CREATE FUNCTION bf_add_all(f cuckoofilter, keys anyarray) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_add_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bf_add_all(cuckoofilter, anyarray) IS
'the filter with one more copy of each element of the array; NULL as for a bloomfilter, errors as bf_add';

CREATE FUNCTION bf_remove(f cuckoofilter, key "any", missing_ok boolean DEFAULT false) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_remove' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_remove(cuckoofilter, "any", boolean) IS
'the filter with one copy of the key less; f unchanged for a NULL key, NULL for a NULL filter; error 22023 if the key is certainly not in, unless missing_ok. To remove a key that was never added and is a false positive takes another key out, which is then no longer found: remove only what was added';

CREATE FUNCTION bf_remove_all(f cuckoofilter, keys anyarray, missing_ok boolean DEFAULT false) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_remove_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bf_remove_all(cuckoofilter, anyarray, boolean) IS
'the filter with one copy of each element of the array less, NULLs skipped, all or nothing; f unchanged for a NULL array, NULL for a NULL filter; errors as bf_remove';

CREATE FUNCTION bf_contains(f cuckoofilter, key "any") RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 2;
COMMENT ON FUNCTION bf_contains(cuckoofilter, "any") IS
'false: the key is certainly not in; true: it probably is; NULL and errors as for a bloomfilter';

CREATE FUNCTION bf_contains_any(f cuckoofilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_any' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_any(cuckoofilter, anyarray) IS 'as for a bloomfilter';

CREATE FUNCTION bf_contains_all(f cuckoofilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_all(cuckoofilter, anyarray) IS 'as for a bloomfilter';

CREATE FUNCTION bf_union(a cuckoofilter, b cuckoofilter) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_union' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union(cuckoofilter, cuckoofilter) IS
'the filter of the keys of both, as many copies as both have together; NULL and errors as for bloomfilters, and 54000 where there is no room for them';

-- No commutator: a | b and b | a hold the same keys, in other places.
CREATE OPERATOR | (
    LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = bf_union
);
COMMENT ON OPERATOR | (cuckoofilter, cuckoofilter) IS 'union';

CREATE FUNCTION bf_eq(cuckoofilter, cuckoofilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_eq(cuckoofilter, cuckoofilter) IS 'implementation of = operator';

CREATE FUNCTION bf_ne(cuckoofilter, cuckoofilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_ne(cuckoofilter, cuckoofilter) IS 'implementation of <> operator';

CREATE FUNCTION bf_hash(cuckoofilter) RETURNS integer
AS 'MODULE_PATHNAME', 'bs_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash(cuckoofilter) IS 'hash';

CREATE FUNCTION bf_hash_extended(cuckoofilter, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'bs_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash_extended(cuckoofilter, bigint) IS 'hash, with a seed';

CREATE OPERATOR = (
    LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = bf_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (cuckoofilter, cuckoofilter) IS 'equal, byte for byte: filters of the same keys added in another order may differ';
CREATE OPERATOR <> (
    LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter, FUNCTION = bf_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (cuckoofilter, cuckoofilter) IS 'not equal, byte for byte';

CREATE OPERATOR FAMILY cuckoofilter_ops USING hash;
COMMENT ON OPERATOR FAMILY cuckoofilter_ops USING hash IS 'hashing of cuckoofilter';
CREATE OPERATOR CLASS cuckoofilter_ops DEFAULT FOR TYPE cuckoofilter USING hash FAMILY cuckoofilter_ops AS
    OPERATOR 1 =,
    FUNCTION 1 bf_hash(cuckoofilter),
    FUNCTION 2 bf_hash_extended(cuckoofilter, bigint);
COMMENT ON OPERATOR CLASS cuckoofilter_ops USING hash IS 'hashing of cuckoofilter';

CREATE FUNCTION bf_count(f cuckoofilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_count(cuckoofilter) IS
'number of keys that are in, each copy counted, exact; NULL for NULL';

CREATE FUNCTION bf_fpp(f cuckoofilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_fpp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_fpp(cuckoofilter) IS
'the false-positive rate at the present fill, from 0 to 1, as if all keys were different; NULL for NULL';

-- STABLE: as bf_info(bloomfilter).
CREATE FUNCTION bf_info(f cuckoofilter,
    OUT n bigint, OUT p double precision, OUT buckets bigint, OUT fingerprint_bits integer,
    OUT seed bigint, OUT key_type text, OUT slots bigint, OUT used bigint,
    OUT fill double precision, OUT count double precision, OUT fpp double precision, OUT bytes bigint)
AS 'MODULE_PATHNAME', 'bs_cuckoo_info' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION bf_info(cuckoofilter) IS
'parameters (n, p, buckets, bits per fingerprint, seed, key type or NULL before the first key), slots (four per bucket), those used and their share, number of keys, present false-positive rate, bytes of the value; NULL for NULL';

CREATE FUNCTION bf_agg_cuckoo_trans(internal, "any", bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_cuckoo_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bf_agg_cuckoo_trans(internal, "any", bigint, double precision) IS
'aggregate transition function';

CREATE FUNCTION bf_agg_cuckoo_final(internal) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_agg_cuckoo_final(internal) IS 'aggregate final function';

CREATE AGGREGATE bf_agg_cuckoo(key "any", n bigint, p double precision) (
    SFUNC = bf_agg_cuckoo_trans,
    STYPE = internal,
    SSPACE = 16384,
    FINALFUNC = bf_agg_cuckoo_final,
    COMBINEFUNC = bf_agg_combine,
    SERIALFUNC = bf_agg_serialize,
    DESERIALFUNC = bf_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_cuckoo("any", bigint, double precision) IS
'a cuckoo filter for n different keys at rate p, of all keys that are not NULL, each as often as it comes (at most 8 times: DISTINCT takes each once); NULL for no rows; errors as bf_agg(key, n, p), and 54000 where there is no room';

CREATE FUNCTION bf_agg_cuckoo_key_trans(cuckoofilter, bfkey, bigint, double precision)
RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_cuckoo_agg_key_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bf_agg_cuckoo_key_trans(cuckoofilter, bfkey, bigint, double precision) IS
'aggregate transition function';

CREATE FUNCTION bf_union_trans(cuckoofilter, cuckoofilter) RETURNS cuckoofilter
AS 'MODULE_PATHNAME', 'bs_union_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union_trans(cuckoofilter, cuckoofilter) IS
'aggregate transition and combine function';

CREATE AGGREGATE bf_agg_cuckoo(key bfkey, n bigint, p double precision) (
    SFUNC = bf_agg_cuckoo_key_trans,
    STYPE = cuckoofilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_cuckoo(bfkey, bigint, double precision) IS
'as bf_agg_cuckoo over values, from their keys; its state is a cuckoofilter, so that a distributed engine can push it down';

CREATE AGGREGATE bf_union_agg(f cuckoofilter) (
    SFUNC = bf_union_trans,
    STYPE = cuckoofilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_union_agg(cuckoofilter) IS
'the union of all filters that are not NULL; NULL for none; errors as bf_union';

-- ---- the type layeredfilter ----

CREATE TYPE layeredfilter;

CREATE FUNCTION bf_layered_in(cstring) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_layered_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_layered_in(cstring) IS 'text input; as that of bloomfilter';

CREATE FUNCTION bf_out(layeredfilter) RETURNS cstring
AS 'MODULE_PATHNAME', 'bs_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_out(layeredfilter) IS 'text output: base64 of the portable form';

CREATE FUNCTION bf_layered_recv(internal) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_layered_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_layered_recv(internal) IS 'binary input; as that of bloomfilter';

CREATE FUNCTION bf_send(layeredfilter) RETURNS bytea
AS 'MODULE_PATHNAME', 'bs_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_send(layeredfilter) IS 'binary output: the portable form';

CREATE TYPE layeredfilter (
    INPUT = bf_layered_in,
    OUTPUT = bf_out,
    RECEIVE = bf_layered_recv,
    SEND = bf_send,
    INTERNALLENGTH = variable,
    ALIGNMENT = double,
    STORAGE = external,
    CATEGORY = 'f'
);
COMMENT ON TYPE layeredfilter IS
'keys that are forgotten: one bloomfilter for each span of time, of which the oldest are dropped; a key lives from (layers - 1) to layers times the span';

CREATE FUNCTION bf_layered_from_bytea(bytea) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_layered_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_layered_from_bytea(bytea) IS
'cast from bytea: the portable form; error 22P03 (not such a filter, or damaged)';

CREATE CAST (layeredfilter AS bytea) WITH FUNCTION bf_send(layeredfilter);
COMMENT ON CAST (layeredfilter AS bytea) IS 'the portable form';
CREATE CAST (bytea AS layeredfilter) WITH FUNCTION bf_layered_from_bytea(bytea);
COMMENT ON CAST (bytea AS layeredfilter) IS 'reads and checks the portable form';

CREATE FUNCTION bf_create_layered(n bigint, p double precision, layers integer, span interval, seed bigint DEFAULT 0)
RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_layered_create' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_create_layered(bigint, double precision, integer, interval, bigint) IS
'an empty layered filter for n distinct keys in each span, at rate p with all layers full (each has p / layers); NULL for NULL; errors of bf_create, 22023 for layers outside 1 to 1000, a span of zero or less, or one in months';

CREATE FUNCTION bf_add(f layeredfilter, key "any", at timestamptz) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_add' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_add(layeredfilter, "any", timestamptz) IS
'the filter with the key in the span of that time, without the layers that have expired then; a key that has expired itself is not added; f unchanged for a NULL key, NULL for a NULL filter; errors of bf_add, 22004 for a NULL time, 22008 for an infinite one';

CREATE FUNCTION bf_add(f layeredfilter, key "any") RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_add' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_add(layeredfilter, "any") IS 'the same at now()';

CREATE FUNCTION bf_add_all(f layeredfilter, keys anyarray, at timestamptz) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_add_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bf_add_all(layeredfilter, anyarray, timestamptz) IS
'the filter with all elements of the array as keys of that time; NULL and errors as bf_add';

CREATE FUNCTION bf_add_all(f layeredfilter, keys anyarray) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_add_all' LANGUAGE C STABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bf_add_all(layeredfilter, anyarray) IS 'the same at now()';

CREATE FUNCTION bf_contains(f layeredfilter, key "any", at timestamptz) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 2;
COMMENT ON FUNCTION bf_contains(layeredfilter, "any", timestamptz) IS
'false: the key was certainly not added in a span that is alive at that time; true: it probably was; NULL for a NULL filter, key or time; errors as for a bloomfilter, 22008 for an infinite time, and 55000 instead of false where spans that were alive then have been dropped since';

CREATE FUNCTION bf_contains(f layeredfilter, key "any") RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains' LANGUAGE C STABLE PARALLEL SAFE COST 2;
COMMENT ON FUNCTION bf_contains(layeredfilter, "any") IS
'the same at now(), or at the newest span of the filter if that is later';

CREATE FUNCTION bf_contains_any(f layeredfilter, keys anyarray, at timestamptz) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_any' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_any(layeredfilter, anyarray, timestamptz) IS
'as for a bloomfilter, of keys alive at that time; NULL for a NULL time; errors as bf_contains';

CREATE FUNCTION bf_contains_any(f layeredfilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_any' LANGUAGE C STABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_any(layeredfilter, anyarray) IS 'the same at now(); see bf_contains';

CREATE FUNCTION bf_contains_all(f layeredfilter, keys anyarray, at timestamptz) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_all(layeredfilter, anyarray, timestamptz) IS
'as for a bloomfilter, of keys alive at that time; NULL for a NULL time; errors as bf_contains';

CREATE FUNCTION bf_contains_all(f layeredfilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_all' LANGUAGE C STABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION bf_contains_all(layeredfilter, anyarray) IS 'the same at now(); see bf_contains';

CREATE FUNCTION bf_expire(f layeredfilter, at timestamptz DEFAULT now()) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_layered_drop' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_expire(layeredfilter, timestamptz) IS
'the filter without the layers that have expired at that time; NULL for NULL; error 22008 for an infinite time';

CREATE FUNCTION bf_union(a layeredfilter, b layeredfilter) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_union' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union(layeredfilter, layeredfilter) IS
'the filter of the keys of both, span by span, without the layers that have expired at the newest span of both; NULL as for bloomfilters; errors 22023 (n, p, layers, span or seed differ) and 42804 (key types differ)';

CREATE OPERATOR | (
    LEFTARG = layeredfilter, RIGHTARG = layeredfilter, FUNCTION = bf_union, COMMUTATOR = |
);
COMMENT ON OPERATOR | (layeredfilter, layeredfilter) IS 'union';

CREATE FUNCTION bf_eq(layeredfilter, layeredfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_eq(layeredfilter, layeredfilter) IS 'implementation of = operator';

CREATE FUNCTION bf_ne(layeredfilter, layeredfilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_ne(layeredfilter, layeredfilter) IS 'implementation of <> operator';

CREATE FUNCTION bf_hash(layeredfilter) RETURNS integer
AS 'MODULE_PATHNAME', 'bs_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash(layeredfilter) IS 'hash';

CREATE FUNCTION bf_hash_extended(layeredfilter, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'bs_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash_extended(layeredfilter, bigint) IS 'hash, with a seed';

CREATE OPERATOR = (
    LEFTARG = layeredfilter, RIGHTARG = layeredfilter, FUNCTION = bf_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (layeredfilter, layeredfilter) IS 'equal, byte for byte';
CREATE OPERATOR <> (
    LEFTARG = layeredfilter, RIGHTARG = layeredfilter, FUNCTION = bf_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (layeredfilter, layeredfilter) IS 'not equal, byte for byte';

CREATE OPERATOR FAMILY layeredfilter_ops USING hash;
COMMENT ON OPERATOR FAMILY layeredfilter_ops USING hash IS 'hashing of layeredfilter';
CREATE OPERATOR CLASS layeredfilter_ops DEFAULT FOR TYPE layeredfilter USING hash FAMILY layeredfilter_ops AS
    OPERATOR 1 =,
    FUNCTION 1 bf_hash(layeredfilter),
    FUNCTION 2 bf_hash_extended(layeredfilter, bigint);
COMMENT ON OPERATOR CLASS layeredfilter_ops USING hash IS 'hashing of layeredfilter';

CREATE FUNCTION bf_count(f layeredfilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_count(layeredfilter) IS
'estimated number of keys, distinct in each span: a key counts once for each span it came in; NULL for NULL';

CREATE FUNCTION bf_fpp(f layeredfilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_fpp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_fpp(layeredfilter) IS
'the false-positive rate of a question to all layers at their present fill, from 0 to 1; NULL for NULL';

-- STABLE: as bf_info(bloomfilter).
CREATE FUNCTION bf_info(f layeredfilter,
    OUT n bigint, OUT p double precision, OUT m bigint, OUT k integer, OUT block_bits integer,
    OUT seed bigint, OUT key_type text, OUT layers integer, OUT span interval,
    OUT present integer, OUT oldest timestamptz, OUT newest timestamptz,
    OUT count double precision, OUT fpp double precision, OUT bytes bigint)
AS 'MODULE_PATHNAME', 'bs_layered_info' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION bf_info(layeredfilter) IS
'parameters (n keys per span, p, m bits of a layer, k bits per key, bits per block, seed, key type or NULL before the first key, layers, span), layers that are there, beginning of the oldest and the newest of them, estimated count, present false-positive rate, bytes of the value; NULL for NULL';

CREATE FUNCTION bf_agg_layered_trans(internal, "any", timestamptz, bigint, double precision, integer, interval) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_layered_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bf_agg_layered_trans(internal, "any", timestamptz, bigint, double precision, integer, interval) IS
'aggregate transition function';

CREATE FUNCTION bf_agg_layered_final(internal) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_agg_layered_final(internal) IS 'aggregate final function';

CREATE AGGREGATE bf_agg_layered(key "any", at timestamptz, n bigint, p double precision, layers integer, span interval) (
    SFUNC = bf_agg_layered_trans,
    STYPE = internal,
    SSPACE = 16384,
    FINALFUNC = bf_agg_layered_final,
    COMBINEFUNC = bf_agg_combine,
    SERIALFUNC = bf_agg_serialize,
    DESERIALFUNC = bf_agg_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_layered("any", timestamptz, bigint, double precision, integer, interval) IS
'the layered filter that bf_add of each key that is not NULL, at its time, would give in any order; NULL for no rows; errors of bf_create_layered and bf_add, and 22023 where the parameters change from row to row';

CREATE FUNCTION bf_agg_layered_key_trans(layeredfilter, bfkey, timestamptz, bigint, double precision, integer, interval)
RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_layered_agg_key_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 3;
COMMENT ON FUNCTION bf_agg_layered_key_trans(layeredfilter, bfkey, timestamptz, bigint, double precision, integer, interval) IS
'aggregate transition function';

CREATE FUNCTION bf_union_trans(layeredfilter, layeredfilter) RETURNS layeredfilter
AS 'MODULE_PATHNAME', 'bs_union_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union_trans(layeredfilter, layeredfilter) IS
'aggregate transition and combine function';

CREATE AGGREGATE bf_agg_layered(key bfkey, at timestamptz, n bigint, p double precision, layers integer, span interval) (
    SFUNC = bf_agg_layered_key_trans,
    STYPE = layeredfilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_layered(bfkey, timestamptz, bigint, double precision, integer, interval) IS
'as bf_agg_layered over values, from their keys; its state is a layeredfilter, so that a distributed engine can push it down';

CREATE AGGREGATE bf_union_agg(f layeredfilter) (
    SFUNC = bf_union_trans,
    STYPE = layeredfilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_union_agg(layeredfilter) IS
'the union of all filters that are not NULL; NULL for none; errors as bf_union';

-- ---- the type scalablefilter ----

CREATE TYPE scalablefilter;

CREATE FUNCTION bf_scalable_in(cstring) RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_scalable_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_scalable_in(cstring) IS
'text input: base64 of the portable form; errors 22P02 (not base64) and 22P03 (not a scalablefilter, or damaged)';

CREATE FUNCTION bf_out(scalablefilter) RETURNS cstring
AS 'MODULE_PATHNAME', 'bs_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_out(scalablefilter) IS 'text output: base64 of the portable form';

CREATE FUNCTION bf_scalable_recv(internal) RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_scalable_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_scalable_recv(internal) IS
'binary input: the portable form; error 22P03 (not a scalablefilter, or damaged)';

CREATE FUNCTION bf_send(scalablefilter) RETURNS bytea
AS 'MODULE_PATHNAME', 'bs_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_send(scalablefilter) IS
'binary output: the portable form, 60 bytes of header, 64 for each layer, the bits, 8 bytes of checksum';

CREATE TYPE scalablefilter (
    INPUT = bf_scalable_in,
    OUTPUT = bf_out,
    RECEIVE = bf_scalable_recv,
    SEND = bf_send,
    INTERNALLENGTH = variable,
    ALIGNMENT = double,
    STORAGE = external,
    CATEGORY = 'f'
);
COMMENT ON TYPE scalablefilter IS
'set of keys of unknown number that can be asked for membership: it grows, and keeps its false-positive rate';

CREATE FUNCTION bf_scalable_from_bytea(bytea) RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_scalable_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_scalable_from_bytea(bytea) IS
'cast from bytea: the portable form; error 22P03 (not a scalablefilter, or damaged)';

CREATE CAST (scalablefilter AS bytea) WITH FUNCTION bf_send(scalablefilter);
COMMENT ON CAST (scalablefilter AS bytea) IS 'the portable form';
CREATE CAST (bytea AS scalablefilter) WITH FUNCTION bf_scalable_from_bytea(bytea);
COMMENT ON CAST (bytea AS scalablefilter) IS 'reads and checks the portable form';

CREATE FUNCTION bf_create_scalable(n bigint, p double precision DEFAULT 0.01, seed bigint DEFAULT 0)
RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_scalable_create' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_create_scalable(bigint, double precision, bigint) IS
'an empty filter that starts with room for n distinct keys, doubles it whenever it is full, and keeps the false-positive rate p (at least 3e-10); NULL for NULL; errors 22023 (n < 1, p outside) and 54000 (more than 512 MB). Scalable Bloom filter: Almeida, Baquero, Preguica, Hutchison 2007';

CREATE FUNCTION bf_add(f scalablefilter, key "any") RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_add' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_add(scalablefilter, "any") IS
'the filter with the key, one layer larger where it was full; f unchanged for a NULL key, NULL for a NULL filter; errors 42804 (filter holds keys of another type), 54000 (past 512 MB, or no layer left within p), and those of bf_key';

CREATE FUNCTION bf_add_all(f scalablefilter, keys anyarray) RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_add_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION bf_add_all(scalablefilter, anyarray) IS
'the filter with all elements of the array as keys, NULLs skipped, all or nothing; f unchanged for a NULL array, NULL for a NULL filter; errors as bf_add';

CREATE FUNCTION bf_contains(f scalablefilter, key "any") RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bf_contains(scalablefilter, "any") IS
'false: the key was certainly not added; true: it probably was; NULL for a NULL filter or key; errors as bf_add';

CREATE FUNCTION bf_contains_any(f scalablefilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_any' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_contains_any(scalablefilter, anyarray) IS
'true if bf_contains is for an element; otherwise NULL if an element is; otherwise false (also for no elements); NULL for a NULL filter or array; errors as bf_add';

CREATE FUNCTION bf_contains_all(f scalablefilter, keys anyarray) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_contains_all' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION bf_contains_all(scalablefilter, anyarray) IS
'false if bf_contains is for an element; otherwise NULL if an element is; otherwise true (also for no elements); NULL for a NULL filter or array; errors as bf_add';

CREATE FUNCTION bf_union(a scalablefilter, b scalablefilter) RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_union' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union(scalablefilter, scalablefilter) IS
'a filter of the keys of both, with the n and p of both; its rate may be up to the sum of their rates (bf_fpp tells it); the other one for a NULL side; errors 22023 (n, p or seed differ), 42804 (key types differ) and 54000 (past 512 MB)';

CREATE OPERATOR | (
    LEFTARG = scalablefilter, RIGHTARG = scalablefilter, FUNCTION = bf_union, COMMUTATOR = |
);
COMMENT ON OPERATOR | (scalablefilter, scalablefilter) IS 'union';

CREATE FUNCTION bf_eq(scalablefilter, scalablefilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_eq(scalablefilter, scalablefilter) IS 'implementation of = operator';

CREATE FUNCTION bf_ne(scalablefilter, scalablefilter) RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_ne(scalablefilter, scalablefilter) IS 'implementation of <> operator';

CREATE FUNCTION bf_hash(scalablefilter) RETURNS integer
AS 'MODULE_PATHNAME', 'bs_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash(scalablefilter) IS 'hash';

CREATE FUNCTION bf_hash_extended(scalablefilter, bigint) RETURNS bigint
AS 'MODULE_PATHNAME', 'bs_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION bf_hash_extended(scalablefilter, bigint) IS 'hash, with a seed';

CREATE OPERATOR = (
    LEFTARG = scalablefilter, RIGHTARG = scalablefilter, FUNCTION = bf_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (scalablefilter, scalablefilter) IS 'equal, byte for byte';
CREATE OPERATOR <> (
    LEFTARG = scalablefilter, RIGHTARG = scalablefilter, FUNCTION = bf_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (scalablefilter, scalablefilter) IS 'not equal, byte for byte';

CREATE OPERATOR FAMILY scalablefilter_ops USING hash;
COMMENT ON OPERATOR FAMILY scalablefilter_ops USING hash IS 'hashing of scalablefilter';
CREATE OPERATOR CLASS scalablefilter_ops DEFAULT FOR TYPE scalablefilter USING hash FAMILY scalablefilter_ops AS
    OPERATOR 1 =,
    FUNCTION 1 bf_hash(scalablefilter),
    FUNCTION 2 bf_hash_extended(scalablefilter, bigint);
COMMENT ON OPERATOR CLASS scalablefilter_ops USING hash IS
'hashing of scalablefilter: GROUP BY, DISTINCT, hash joins';

CREATE FUNCTION bf_count(f scalablefilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_count(scalablefilter) IS
'estimated number of distinct keys, from the bits set in each layer; of a union an upper estimate, keys of both being counted twice where they lie in two layers; NULL for NULL';

CREATE FUNCTION bf_fpp(f scalablefilter) RETURNS double precision
AS 'MODULE_PATHNAME', 'bs_fpp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_fpp(scalablefilter) IS
'the false-positive rate at the present fill of all layers, from 0 to 1; at most p unless the filter is a union; NULL for NULL';

-- STABLE: the name of a key type that has no number of its own is looked up.
CREATE FUNCTION bf_info(f scalablefilter,
    OUT n bigint, OUT p double precision, OUT seed bigint, OUT key_type text, OUT layers bigint,
    OUT capacity bigint, OUT bits bigint, OUT bits_set bigint, OUT fill double precision,
    OUT count double precision, OUT fpp double precision, OUT bytes bigint)
AS 'MODULE_PATHNAME', 'bs_scalable_info' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 3000;
COMMENT ON FUNCTION bf_info(scalablefilter) IS
'parameters (n, p, seed, key type or NULL before the first key), layers, keys that they have room for, their bits, bits set and their share, estimated count, present false-positive rate, bytes of the value; NULL for NULL';

CREATE FUNCTION bf_agg_scalable_trans(internal, "any", bigint, double precision) RETURNS internal
AS 'MODULE_PATHNAME', 'bs_scalable_agg_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION bf_agg_scalable_trans(internal, "any", bigint, double precision) IS 'aggregate transition function';

CREATE FUNCTION bf_agg_scalable_final(internal) RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_collect_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_agg_scalable_final(internal) IS 'aggregate final function';

CREATE AGGREGATE bf_agg_scalable(key "any", n bigint, p double precision) (
    SFUNC = bf_agg_scalable_trans,
    STYPE = internal,
    SSPACE = 16384,
    FINALFUNC = bf_agg_scalable_final,
    COMBINEFUNC = bf_collect_combine,
    SERIALFUNC = bf_collect_serialize,
    DESERIALFUNC = bf_collect_deserialize,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_scalable("any", bigint, double precision) IS
'a scalablefilter of all keys that are not NULL, the same whatever their order; the distinct keys are collected first, past work_mem in temporary files; NULL for no rows; errors of bf_create_scalable and bf_add, and 22023 where n or p change from row to row';

CREATE FUNCTION bf_agg_scalable_key_trans(scalablefilter, bfkey, bigint, double precision) RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_scalable_agg_key_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bf_agg_scalable_key_trans(scalablefilter, bfkey, bigint, double precision) IS 'aggregate transition function';

CREATE FUNCTION bf_union_trans(scalablefilter, scalablefilter) RETURNS scalablefilter
AS 'MODULE_PATHNAME', 'bs_union_trans' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bf_union_trans(scalablefilter, scalablefilter) IS 'aggregate transition and combine function';

CREATE AGGREGATE bf_agg_scalable(key bfkey, n bigint, p double precision) (
    SFUNC = bf_agg_scalable_key_trans,
    STYPE = scalablefilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg_scalable(bfkey, bigint, double precision) IS
'a scalablefilter of all keys, in the order of the rows; its state is the filter, so that a distributed engine can push it down: then it is a union, whose rate may be that of all parts together';

CREATE AGGREGATE bf_union_agg(f scalablefilter) (
    SFUNC = bf_union_trans,
    STYPE = scalablefilter,
    SSPACE = 16384,
    COMBINEFUNC = bf_union_trans,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_union_agg(scalablefilter) IS
'the union of all filters that are not NULL; NULL for none; errors as bf_union';

-- ---- maintained filters ----

CREATE FUNCTION bf_maintain() RETURNS trigger
AS 'MODULE_PATHNAME', 'bs_maintain' LANGUAGE C;
COMMENT ON FUNCTION bf_maintain() IS
'trigger function, AFTER ... FOR EACH STATEMENT with transition tables, that keeps a table of filters current; arguments: column, table of filters, generation, shards (bf_track creates such triggers); errors 39P01 (called otherwise), 42P01, 42703, 40001 and 55000 (a shard is not visible), and those of bf_add_all and bf_remove_all';

CREATE PROCEDURE bf_track(source regclass, column_name name, n bigint, p double precision DEFAULT 0.01,
    shards integer DEFAULT NULL, type regtype DEFAULT 'bloomfilter', filters name DEFAULT NULL)
AS 'MODULE_PATHNAME', 'bs_track' LANGUAGE C;
COMMENT ON PROCEDURE bf_track(regclass, name, bigint, double precision, integer, regtype, name) IS
'creates a table of filters (source_column_filter, or as filters tells) for n distinct keys in all at rate p, fills it from the column and has triggers keep it current; shards of about 1 kB unless their number is given; errors 22004, 22023, 42710 (tracked already), 42501 (not the owner), 0A000 (partitioned, inherited, subscribed tables and such), 25001 (isolation level), 55006 (in use by the session)';

CREATE PROCEDURE bf_untrack(source regclass, column_name name)
AS 'MODULE_PATHNAME', 'bs_untrack' LANGUAGE C;
COMMENT ON PROCEDURE bf_untrack(regclass, name) IS
'undoes bf_track: drops the triggers and the table of filters; errors 42704 (not tracked), 42501 (not the owner, or not that of the filters)';

CREATE PROCEDURE bf_rebuild(source regclass, column_name name, n bigint DEFAULT NULL, p double precision DEFAULT NULL,
    shards integer DEFAULT NULL)
AS 'MODULE_PATHNAME', 'bs_rebuild' LANGUAGE C;
COMMENT ON PROCEDURE bf_rebuild(regclass, name, bigint, double precision, integer) IS
'builds new shards beside those of a tracked column and swaps; n: twice the keys that are there, or as before if that is more, p: as before, unless given; others read and write meanwhile (writers wait for types that can remove, and in a transaction block); errors as bf_track, 42704 (not tracked)';

CREATE FUNCTION bf_maybe(source regclass, column_name name, key "any") RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_maybe' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100;
COMMENT ON FUNCTION bf_maybe(regclass, name, "any") IS
'asks the maintained filters of a column: false: no row that the query can see has the key; true: one probably does; NULL for NULL; errors 42704 (not tracked), 55000 (not current), 40001 (filters newer than the snapshot), and those of bf_contains';

CREATE FUNCTION bf_maybe(filters regclass, key "any") RETURNS boolean
AS 'MODULE_PATHNAME', 'bs_maybe_in' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100;
COMMENT ON FUNCTION bf_maybe(regclass, "any") IS
'asks a table of maintained filters itself, where their source is not at hand; as bf_maybe of a column';
