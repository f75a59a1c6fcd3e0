/*
 * collect.c - the aggregates bf_agg(key) and bf_agg(key, p): the distinct keys
 * are collected first, then the filter is made for exactly so many.  And
 * bf_agg_scalable(key, n, p), whose layers depend on the order of keys: in one that
 * depends on the keys alone.
 */
#include "collect.h"

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
	BsFilter header; /* of the filter to be made, so that keys are checked as in one */
	BsDistinct *keys;
	bool closes; /* the files' closing is registered */

	/* a collection handed over by another process instead of keys: the bytes */
	const uint8 *handed;
	size_t nhanded;
} Collection;

static Collection *
new_collection(MemoryContext context, const BsStructure *structure, const BsParameters *parameters)
{
	Collection *collection = MemoryContextAllocZero(context, sizeof(Collection));

	collection->header.structure = structure->number;
	collection->header.n = (uint64) parameters->n;
	collection->header.p = parameters->p;
	return collection;
}

static inline void
require_same_parameters(const Collection *collection, const BsParameters *given)
{
	if (likely(collection->header.p == given->p && (int64) collection->header.n == given->n))
		return;
	if (collection->header.structure != BS_STRUCTURE_BLOOM)
		bs_require_same_parameters(&collection->header, given);
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("false-positive rate must be the same for all rows"),
					errdetail("It was %g, and is %g.", collection->header.p, given->p)));
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

Datum
bs_collect(FunctionCallInfo fcinfo, const BsStructure *structure, const BsParameters *parameters)
{
	BsCallSite *site = bs_call_site(fcinfo);
	Collection *collection = PG_ARGISNULL(0) ? NULL : (Collection *) PG_GETARG_POINTER(0);
	BsKeyMaker *maker;
	BsKey key;

	if (collection == NULL)
	{
		/* a state that is there can only come from an aggregate */
		MemoryContext context = bs_aggregate_context(fcinfo);

		/* for its errors */
		pfree(bs_new_filter(structure, parameters->n, parameters->p, 0));
		collection = new_collection(context, structure, parameters);
		collection->keys =
			bs_distinct_create(context, AggCheckCallContext(fcinfo, NULL) == AGG_CONTEXT_AGGREGATE);
	}
	require_same_parameters(collection, parameters);
	if (!PG_ARGISNULL(1))
	{
		maker = bs_arg_key_maker(site, fcinfo, 1);
		key = bs_make_key(maker, PG_GETARG_DATUM(1));
		bs_adopt_key_type(&collection->header, &key, maker);
		bs_distinct_add(collection->keys,
						structure == &bs_bloom ? bs_mix(key.hash) : bs_scatter(key.hash));
		see_to_files(fcinfo, collection);
	}
	PG_RETURN_POINTER(collection);
}

/* (internal, key "any" [, p float8]) -> internal */
Datum
bs_collect_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = {.n = 1, .p = get_rate(fcinfo)};

	return bs_collect(fcinfo, &bs_bloom, &parameters);
}

/* (internal, internal) -> internal; the second one is always handed over */
Datum
bs_collect_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = bs_aggregate_context(fcinfo);
	Collection *a = PG_ARGISNULL(0) ? NULL : (Collection *) PG_GETARG_POINTER(0);
	Collection *b = PG_ARGISNULL(1) ? NULL : (Collection *) PG_GETARG_POINTER(1);
	BsParameters parameters;

	if (b == NULL)
	{
		if (a == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(a);
	}
	parameters = (BsParameters){.n = (int64) b->header.n, .p = b->header.p};
	if (a == NULL)
	{
		a = new_collection(context, bs_structure_of(&b->header), &parameters);
		a->keys = bs_distinct_create(context, true);
	}
	require_same_parameters(a, &parameters);
	if (b->header.key_type != BS_KEY_NONE)
	{
		BsKey any = {0, b->header.key_type, 0};

		bs_adopt_key_type(&a->header, &any, NULL);
	}
	bs_distinct_add_many(a->keys, b->handed, b->nhanded);
	see_to_files(fcinfo, a);
	PG_RETURN_POINTER(a);
}

/* ---- what one process hands to another: rate, n, key type, structure, keys ---- */

#define HANDED_HEADER (8 + 8 + 4 + 4)

static void
append_keys(void *target, const uint64 *keys, size_t count)
{
	StringInfo to = target;

	if (to->len + count * 8 > MaxAllocSize - 1)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("too many keys to be collected in parallel"),
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
	bs_store_le(header, bs_double_bits(collection->header.p), 8);
	bs_store_le(header + 8, collection->header.n, 8);
	bs_store_le(header + 16, collection->header.key_type, 4);
	bs_store_le(header + 20, collection->header.structure, 4);
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
	BsFilter header = {0};
	BsParameters parameters;
	uint32 structure;
	uint64 p_bits;
	uint64_t size;

	(void) bs_aggregate_context(fcinfo);
	if (length < HANDED_HEADER || (length - HANDED_HEADER) % 8 != 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid state of bf_agg")));
	p_bits = bs_load_le(from, 8);
	memcpy(&header.p, &p_bits, sizeof(p_bits));
	header.n = bs_load_le(from + 8, 8);
	header.key_type = (uint32) bs_load_le(from + 16, 4);
	structure = (uint32) bs_load_le(from + 20, 4);
	if ((structure != BS_STRUCTURE_BLOOM && structure != BS_STRUCTURE_SCALABLE) ||
		bs_structure((uint8) structure)->plan(&header, &size) != BS_SIZING_OK ||
		(header.key_type != BS_KEY_NONE && !bs_key_type_valid(header.key_type)))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid state of bf_agg")));

	parameters = (BsParameters){.n = (int64) header.n, .p = header.p};
	collection = new_collection(CurrentMemoryContext, bs_structure((uint8) structure), &parameters);
	collection->header.key_type = header.key_type;
	collection->handed = from + HANDED_HEADER;
	collection->nhanded = (length - HANDED_HEADER) / 8;
	PG_RETURN_POINTER(collection);
}

static void
add_to_filter(void *target, const uint64 *keys, size_t count)
{
	bs_filter_add_mixed(target, keys, count);
}

static BsFilter *
make_standard(FunctionCallInfo fcinfo, Collection *collection)
{
	uint64 n = bs_distinct_each_once(collection->keys, NULL, NULL);
	BsFilter *filter;

	see_to_files(fcinfo, collection);
	filter = bs_new_filter(&bs_bloom, Max((int64) n, 1), collection->header.p, 0);
	filter->key_type = collection->header.key_type;
	bs_distinct_each(collection->keys, add_to_filter, filter);
	return filter;
}

static void
add_to_growing(void *target, const uint64 *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		BsProbe probe = {.hash = bs_unscatter(keys[i])};

		bs_add_growing(target, &probe);
	}
}

static BsFilter *
make_growing(FunctionCallInfo fcinfo, Collection *collection)
{
	BsFilter *filter = bs_new_from(bs_structure_of(&collection->header), &collection->header);

	bs_distinct_each_in_order(collection->keys, add_to_growing, &filter);
	see_to_files(fcinfo, collection);
	return filter;
}

/* (internal) -> bloomfilter or scalablefilter */
Datum
bs_collect_final(PG_FUNCTION_ARGS)
{
	Collection *collection = PG_ARGISNULL(0) ? NULL : (Collection *) PG_GETARG_POINTER(0);

	(void) bs_aggregate_context(fcinfo);
	if (collection == NULL)
		PG_RETURN_NULL();
	if (collection->header.structure == BS_STRUCTURE_BLOOM)
		PG_RETURN_POINTER(make_standard(fcinfo, collection));
	PG_RETURN_POINTER(make_growing(fcinfo, collection));
}
