/*
 * bfkey.c - the SQL type bfkey: a key apart from any filter, and what is asked
 * of a key alone.
 */
#include "bloomset.h"

#include "common/hashfn.h"
#include "libpq/pqformat.h"

#include "fetch.h"
#include "key.h"

PG_FUNCTION_INFO_V1(bs_key);
PG_FUNCTION_INFO_V1(bs_shard_of);
PG_FUNCTION_INFO_V1(bs_key_in);
PG_FUNCTION_INFO_V1(bs_key_out);
PG_FUNCTION_INFO_V1(bs_key_recv);
PG_FUNCTION_INFO_V1(bs_key_send);
PG_FUNCTION_INFO_V1(bs_key_eq);
PG_FUNCTION_INFO_V1(bs_key_ne);
PG_FUNCTION_INFO_V1(bs_key_lt);
PG_FUNCTION_INFO_V1(bs_key_le);
PG_FUNCTION_INFO_V1(bs_key_ge);
PG_FUNCTION_INFO_V1(bs_key_gt);
PG_FUNCTION_INFO_V1(bs_key_cmp);
PG_FUNCTION_INFO_V1(bs_key_hash);
PG_FUNCTION_INFO_V1(bs_key_hash_extended);

#define GETARG_KEY(argno) ((const BsKey *) PG_GETARG_POINTER(argno))

/* "tttttttt:hhhhhhhhhhhhhhhh", key type and hash in hexadecimal */
#define KEY_TEXT_LENGTH (8 + 1 + 16)

/* bf_key(value "any") -> bfkey */
Datum
bs_key(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKey *key = palloc(sizeof(BsKey));

	*key = bs_make_key(bs_arg_key_maker(site, fcinfo, 0), PG_GETARG_DATUM(0));
	PG_RETURN_POINTER(key);
}

/* bf_shard(key "any", shards int) -> int */
Datum
bs_shard_of(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	int32 shards = PG_GETARG_INT32(1);
	BsKey key;

	if (shards < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("number of shards must be at least 1, not %d", shards)));
	key = bs_make_key(bs_arg_key_maker(site, fcinfo, 0), PG_GETARG_DATUM(0));
	PG_RETURN_INT32((int32) bs_shard(key.hash, (uint32) shards));
}

static bool
parse_hex(const char *text, int digits, uint64 *number)
{
	*number = 0;
	for (int i = 0; i < digits; i++)
	{
		char c = text[i];

		if (c >= '0' && c <= '9')
			*number = *number << 4 | (uint64) (c - '0');
		else if (c >= 'a' && c <= 'f')
			*number = *number << 4 | (uint64) (c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			*number = *number << 4 | (uint64) (c - 'A' + 10);
		else
			return false;
	}
	return true;
}

Datum
bs_key_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	uint64 type;
	uint64 hash;
	BsKey *key;

	if (strlen(text) != KEY_TEXT_LENGTH || text[8] != ':' || !parse_hex(text, 8, &type) ||
		!parse_hex(text + 9, 16, &hash) || !bs_key_type_valid((uint32) type))
		bs_input_error(fcinfo, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
								errmsg("invalid input syntax for type %s: \"%s\"", "bfkey", text)));
	key = palloc0(sizeof(BsKey));
	key->type = (uint32) type;
	key->hash = hash;
	PG_RETURN_POINTER(key);
}

Datum
bs_key_out(PG_FUNCTION_ARGS)
{
	const BsKey *key = GETARG_KEY(0);

	PG_RETURN_CSTRING(
		psprintf("%08x:%08x%08x", key->type, (uint32) (key->hash >> 32), (uint32) key->hash));
}

Datum
bs_key_recv(PG_FUNCTION_ARGS)
{
	StringInfo buffer = (StringInfo) PG_GETARG_POINTER(0);
	BsKey *key = palloc0(sizeof(BsKey));

	key->type = (uint32) pq_getmsgint(buffer, 4);
	key->hash = (uint64) pq_getmsgint64(buffer);
	if (!bs_key_type_valid(key->type))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid key type %u in external \"bfkey\" value", key->type)));
	PG_RETURN_POINTER(key);
}

Datum
bs_key_send(PG_FUNCTION_ARGS)
{
	const BsKey *key = GETARG_KEY(0);
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint32(&buffer, key->type);
	pq_sendint64(&buffer, key->hash);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

/* By type, then hash: an order without a meaning, for sorting and indexes. */
static int
compare(FunctionCallInfo fcinfo)
{
	const BsKey *a = GETARG_KEY(0);
	const BsKey *b = GETARG_KEY(1);

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return 0;
}

Datum
bs_key_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) == 0);
}

Datum
bs_key_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) != 0);
}

Datum
bs_key_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) < 0);
}

Datum
bs_key_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) <= 0);
}

Datum
bs_key_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) >= 0);
}

Datum
bs_key_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) > 0);
}

Datum
bs_key_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(fcinfo));
}

/* The hash is a good one already. */
Datum
bs_key_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((int32) GETARG_KEY(0)->hash);
}

Datum
bs_key_hash_extended(PG_FUNCTION_ARGS)
{
	uint64 hash = GETARG_KEY(0)->hash;
	uint64 seed = (uint64) PG_GETARG_INT64(1);

	/* without a seed the low half has to be the plain hash */
	PG_RETURN_INT64((int64) (seed ? hash_combine64(hash, seed) : hash));
}
