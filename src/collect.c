/*
 * collect.c - the aggregates bf_agg(key) and bf_agg(key, p): the distinct keys
 * are collected first, then the filter is made for exactly so many.
 */
#include "bloomset.h"

#include "libpq/pqformat.h"
#include "utils/memutils.h"

#include "distinct.h"
#include "fetch.h"
#include "hash.h"
#include "key.h"

PG_FUNCTION_INFO_V1(bs_collect_trans);
PG_FUNCTION_INFO_V1(bs_collect_combine);
PG_FUNCTION_INFO_V1(bs_collect_serialize);
PG_FUNCTION_INFO_V1(bs_collect_deserialize);
PG_FUNCTION_INFO_V1(bs_collect_final);

typedef struct Collection
{
	BsFilter types; /* only its key type is used, so that keys are checked as in a filter */
	double p;
	BsDistinct *keys;
	bool closes; /* the files' closing is registered */

	/* a collection handed over by another process instead of keys: the bytes */
	const uint8 *handed;
	size_t nhanded;
} Collection;

static Collection *
new_collection(MemoryContext context, double p)
{
	Collection *collection = MemoryContextAllocZero(context, sizeof(Collection));

	collection->types.structure = BS_STRUCTURE_BLOOM;
	collection->p = p;
	return collection;
}

static void
close_files(Datum keys)
{
	bs_distinct_close((BsDistinct *) DatumGetPointer(keys));
}

/* To be called after keys were added or counted, which may have made files. */
static inline void
see_to_files(FunctionCallInfo fcinfo, Collection *collection)
{
	if (unlikely(bs_distinct_spilled(collection->keys)) && !collection->closes)
	{
		AggRegisterCallback(fcinfo, close_files, PointerGetDatum(collection->keys));
		collection->closes = true;
	}
}

/* The rate is an argument of every row, but a filter has only one. */
static double
get_rate(FunctionCallInfo fcinfo)
{
	double p;

	if (PG_NARGS() < 3)
		return BS_DEFAULT_RATE;
	if (PG_ARGISNULL(2))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("false-positive rate must not be null")));
	p = PG_GETARG_FLOAT8(2);
	if (p > 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("false-positive rate %g is not between 0 and 1", p),
						errhint("A number of keys comes before the rate: bf_agg(key, n, p).")));
	return p;
}

/* (internal, key "any" [, p float8]) -> internal */
Datum
bs_collect_trans(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	Collection *collection = PG_ARGISNULL(0) ? NULL : (Collection *) PG_GETARG_POINTER(0);
	double p = get_rate(fcinfo);
	BsKeyMaker *maker;
	BsKey key;

	if (collection == NULL)
	{
		/* a state that is there can only come from an aggregate */
		MemoryContext context = bs_aggregate_context(fcinfo);

		(void) bs_layout(1, p); /* for its errors */
		collection = new_collection(context, p);
		collection->keys =
			bs_distinct_create(context, AggCheckCallContext(fcinfo, NULL) == AGG_CONTEXT_AGGREGATE);
	}
	if (p != collection->p)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("false-positive rate must be the same for all rows of an aggregate"),
						errdetail("It was %g, and is %g.", collection->p, p)));
	if (!PG_ARGISNULL(1))
	{
		maker = bs_arg_key_maker(site, fcinfo, 1);
		key = bs_make_key(maker, PG_GETARG_DATUM(1));
		bs_adopt_key_type(&collection->types, &key, maker);
		bs_distinct_add(collection->keys, bs_mix(key.hash));
		see_to_files(fcinfo, collection);
	}
	PG_RETURN_POINTER(collection);
}

/* (internal, internal) -> internal; the second one is always handed over */
Datum
bs_collect_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = bs_aggregate_context(fcinfo);
	Collection *a = PG_ARGISNULL(0) ? NULL : (Collection *) PG_GETARG_POINTER(0);
	Collection *b = PG_ARGISNULL(1) ? NULL : (Collection *) PG_GETARG_POINTER(1);

	if (b == NULL)
	{
		if (a == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(a);
	}
	if (a == NULL)
	{
		a = new_collection(context, b->p);
		a->keys = bs_distinct_create(context, true);
	}
	if (a->p != b->p)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false-positive rate must be the same for all rows of an aggregate")));
	if (b->types.key_type != BS_KEY_NONE)
	{
		BsKey any = {0, b->types.key_type, 0};

		bs_adopt_key_type(&a->types, &any, NULL);
	}
	bs_distinct_add_many(a->keys, b->handed, b->nhanded);
	see_to_files(fcinfo, a);
	PG_RETURN_POINTER(a);
}

/* ---- what one process hands to another: rate, key type, 0, keys ---- */

#define HANDED_HEADER (8 + 4 + 4)

static void
append_keys(void *target, const uint64 *keys, size_t count)
{
	StringInfo to = target;

	if (to->len + count * 8 > MaxAllocSize - 1)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("too many keys for a parallel bf_agg without a number of keys"),
						errhint("Pass the number of keys: bf_agg(key, n, p);"
								" or set max_parallel_workers_per_gather to 0.")));
	enlargeStringInfo(to, (int) (count * 8));
	for (size_t i = 0; i < count; i++, to->len += 8)
		bs_store_le((uint8 *) to->data + to->len, keys[i], 8);
}

/* (internal) -> bytea */
Datum
bs_collect_serialize(PG_FUNCTION_ARGS)
{
	Collection *collection = (Collection *) PG_GETARG_POINTER(0);
	StringInfoData result;
	uint8 header[HANDED_HEADER] = {0};

	(void) bs_aggregate_context(fcinfo);
	bs_store_le(header, bs_double_bits(collection->p), 8);
	bs_store_le(header + 8, collection->types.key_type, 4);
	pq_begintypsend(&result);
	pq_sendbytes(&result, (const char *) header, HANDED_HEADER);
	bs_distinct_each_once(collection->keys, append_keys, &result);
	see_to_files(fcinfo, collection);
	PG_RETURN_BYTEA_P(pq_endtypsend(&result));
}

/* (bytea, internal) -> internal: points into the bytes, which outlive the
 * combining that follows */
Datum
bs_collect_deserialize(PG_FUNCTION_ARGS)
{
	bytea *bytes = PG_GETARG_BYTEA_PP(0);
	size_t length = VARSIZE_ANY_EXHDR(bytes);
	const uint8 *from = (const uint8 *) VARDATA_ANY(bytes);
	Collection *collection;
	BsLayout layout;
	uint64 p_bits;
	double p;
	uint32 key_type;

	(void) bs_aggregate_context(fcinfo);
	if (length < HANDED_HEADER || (length - HANDED_HEADER) % 8 != 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid state of bf_agg")));
	p_bits = bs_load_le(from, 8);
	memcpy(&p, &p_bits, sizeof(p));
	key_type = (uint32) bs_load_le(from + 8, 4);
	if (bs_sizing(1, p, &layout) != BS_SIZING_OK ||
		(key_type != BS_KEY_NONE && !bs_key_type_valid(key_type)))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid state of bf_agg")));

	collection = new_collection(CurrentMemoryContext, p);
	collection->types.key_type = key_type;
	collection->handed = from + HANDED_HEADER;
	collection->nhanded = (length - HANDED_HEADER) / 8;
	PG_RETURN_POINTER(collection);
}

static void
add_to_filter(void *target, const uint64 *keys, size_t count)
{
	bs_filter_add_mixed(target, keys, count);
}

/* (internal) -> bloomfilter */
Datum
bs_collect_final(PG_FUNCTION_ARGS)
{
	Collection *collection = PG_ARGISNULL(0) ? NULL : (Collection *) PG_GETARG_POINTER(0);
	BsFilter *filter;
	uint64 n;

	(void) bs_aggregate_context(fcinfo);
	if (collection == NULL)
		PG_RETURN_NULL();
	n = bs_distinct_each_once(collection->keys, NULL, NULL);
	see_to_files(fcinfo, collection);
	filter = bs_new_filter(&bs_bloom, Max((int64) n, 1), collection->p, 0);
	filter->key_type = collection->types.key_type;
	bs_distinct_each(collection->keys, add_to_filter, filter);
	PG_RETURN_POINTER(filter);
}
