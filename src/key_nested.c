/*
 * key_nested.c - keys of arrays, records and ranges, made of the keys of what is
 * inside them.  A key inside is written as one byte 0 for NULL, or 1, its key
 * type (4 bytes) and its hash (8 bytes).
 */
#include "key.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"
#if PG_VERSION_NUM >= 140000
#include "utils/multirangetypes.h"
#endif

#include "hash.h"

static void
hash_number(XXH3_state_t *state, uint64 number, size_t bytes)
{
	uint8 buffer[8];

	bs_store_le(buffer, number, bytes);
	XXH3_64bits_update(state, buffer, bytes);
}

static uint32 present_key_type(BsKeyMaker *maker);

/* Returns the key's type, or the type that it would have if it were not NULL. */
static uint32
hash_value(XXH3_state_t *state, BsKeyMaker *maker, Datum value, bool isnull)
{
	BsKey key;

	hash_number(state, isnull ? 0 : 1, 1);
	if (isnull)
		return present_key_type(maker);
	key = bs_make_key(maker, value);
	hash_number(state, key.type, 4);
	hash_number(state, key.hash, 8);
	return key.type;
}

static BsKey
finish(XXH3_state_t *state, uint32 key_type)
{
	BsKey key = {XXH3_64bits_digest(state), key_type, 0};

	return key;
}

/* ---- arrays: dimensions (length and lower bound of each), then elements ---- */

static BsKey
key_of_array(BsKeyMaker *maker, Datum value)
{
	ArrayType *array = DatumGetArrayTypeP(value);
	ArrayIterator iterator = array_create_iterator(array, 0, NULL);
	uint32 key_type = maker->key_type;
	bool typed = !maker->has_records;
	XXH3_state_t state;
	Datum element;
	bool isnull;

	check_stack_depth();
	XXH3_64bits_reset(&state);
	hash_number(&state, (uint32) ARR_NDIM(array), 4);
	for (int i = 0; i < ARR_NDIM(array); i++)
	{
		hash_number(&state, (uint32) ARR_DIMS(array)[i], 4);
		hash_number(&state, (uint32) ARR_LBOUND(array)[i], 4);
	}
	while (array_iterate(iterator, &element, &isnull))
	{
		uint32 element_type = hash_value(&state, maker->element, element, isnull);

		/* the first one with a value tells what the records are made of */
		if (!typed && !isnull)
		{
			key_type = bs_key_type_with(BS_KEY_ARRAY, element_type);
			typed = true;
		}
		CHECK_FOR_INTERRUPTS();
	}
	if (!typed)
		key_type = present_key_type(maker);
	array_free_iterator(iterator);
	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
	return finish(&state, key_type);
}

void
bs_nested_array_maker(BsKeyMaker *maker, Oid element_type)
{
	maker->element = bs_key_maker(element_type, maker->collation, maker->context);
	maker->has_records = maker->element->has_records;
	maker->key_type = bs_key_type_with(BS_KEY_ARRAY, maker->element->key_type);
	maker->make = key_of_array;
}

/* ---- records: number of columns, then columns; dropped ones left out ---- */

static bool
same_columns(const BsKeyMaker *maker, TupleDesc desc)
{
	if (maker->ncolumns != desc->natts)
		return false;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		const BsKeyMaker *known = maker->columns[i];

		if (column->attisdropped ? known != NULL
								 : (known == NULL || known->sql_type != column->atttypid ||
									known->collation != column->attcollation))
			return false;
	}
	return true;
}

/* The makers for the columns, in a context of their own: anonymous records can
 * change their type from row to row. */
static void
prepare_columns(BsKeyMaker *maker, TupleDesc desc)
{
	if (same_columns(maker, desc))
		return;
	maker->ncolumns = -1; /* until all are there: a type may have no hash function */
	if (maker->column_context == NULL)
		maker->column_context =
			AllocSetContextCreate(maker->context, "bloomset record columns", ALLOCSET_SMALL_SIZES);
	MemoryContextReset(maker->column_context);
	maker->columns =
		MemoryContextAllocZero(maker->column_context, Max(desc->natts, 1) * sizeof(BsKeyMaker *));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (!column->attisdropped)
			maker->columns[i] =
				bs_key_maker(column->atttypid, column->attcollation, maker->column_context);
	}
	maker->ncolumns = desc->natts;
}

static uint32
live_columns(const BsKeyMaker *maker)
{
	uint32 live = 0;

	for (int i = 0; i < maker->ncolumns; i++)
		if (maker->columns[i] != NULL)
			live++;
	return live;
}

static uint32
record_key_type(XXH3_state_t *types)
{
	return BS_KEY_RECORD | ((uint32) (XXH3_64bits_digest(types) >> 40) << 8);
}

static BsKey
key_of_record(BsKeyMaker *maker, Datum value)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	TupleDesc desc =
		lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header), HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple;
	Datum *values = palloc(Max(desc->natts, 1) * sizeof(Datum));
	bool *nulls = palloc(Max(desc->natts, 1) * sizeof(bool));
	XXH3_state_t state;
	XXH3_state_t types;

	check_stack_depth();
	prepare_columns(maker, desc);
	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	heap_deform_tuple(&tuple, desc, values, nulls);

	XXH3_64bits_reset(&state);
	XXH3_64bits_reset(&types);
	hash_number(&state, live_columns(maker), 4);
	for (int i = 0; i < desc->natts; i++)
		if (maker->columns[i] != NULL)
			hash_number(&types, hash_value(&state, maker->columns[i], values[i], nulls[i]), 4);

	ReleaseTupleDesc(desc);
	pfree(values);
	pfree(nulls);
	if ((Pointer) header != DatumGetPointer(value))
		pfree(header);
	return finish(&state, record_key_type(&types));
}

/*
 * The key type as of now, without a value: a composite type may have got another
 * column since the maker was made; what an anonymous record is made of only its
 * values tell.
 */
static uint32
present_key_type(BsKeyMaker *maker)
{
	BsKeyClass key_class = BS_KEY_CLASS(maker->key_type);
	Oid type;
	TupleDesc desc;
	XXH3_state_t types;

	if (!maker->has_records)
		return maker->key_type;
	check_stack_depth();
	if (key_class != BS_KEY_RECORD)
		return bs_key_type_with(key_class, present_key_type(maker->element));
	type = getBaseType(maker->sql_type);
	if (type == RECORDOID)
		return BS_KEY_RECORD;

	desc = lookup_rowtype_tupdesc(type, -1);
	prepare_columns(maker, desc);
	ReleaseTupleDesc(desc);
	XXH3_64bits_reset(&types);
	for (int i = 0; i < maker->ncolumns; i++)
		if (maker->columns[i] != NULL)
			hash_number(&types, present_key_type(maker->columns[i]), 4);
	return record_key_type(&types);
}

void
bs_nested_record_maker(BsKeyMaker *maker)
{
	maker->has_records = true;
	maker->key_type = BS_KEY_RECORD;
	maker->ncolumns = -1;
	maker->make = key_of_record;
}

/* ---- ranges: flags, then the finite bounds ---- */

static BsKey
key_of_range_in(BsKeyMaker *maker, TypeCacheEntry *range_type, const RangeType *range)
{
	RangeBound lower;
	RangeBound upper;
	bool empty;
	uint32 inner;
	XXH3_state_t state;

	check_stack_depth();
	range_deserialize(range_type, range, &lower, &upper, &empty);
	XXH3_64bits_reset(&state);
	hash_number(&state,
				empty ? 1
					  : (lower.inclusive ? 2 : 0) | (upper.inclusive ? 4 : 0) |
							(lower.infinite ? 8 : 0) | (upper.infinite ? 16 : 0),
				1);
	if (empty)
		return finish(&state, present_key_type(maker));
	inner = hash_value(&state, maker->element, lower.val, lower.infinite);
	if (lower.infinite)
		inner = hash_value(&state, maker->element, upper.val, upper.infinite);
	else
		hash_value(&state, maker->element, upper.val, upper.infinite);
	return finish(&state, bs_key_type_with(BS_KEY_CLASS(maker->key_type), inner));
}

static BsKey
key_of_range(BsKeyMaker *maker, Datum value)
{
	RangeType *range = DatumGetRangeTypeP(value);
	BsKey key = key_of_range_in(maker, maker->range, range);

	if ((Pointer) range != DatumGetPointer(value))
		pfree(range);
	return key;
}

#if PG_VERSION_NUM >= 140000
/* ---- multiranges: number of ranges, then the hash of each ---- */

static BsKey
key_of_multirange(BsKeyMaker *maker, Datum value)
{
	MultirangeType *multirange = DatumGetMultirangeTypeP(value);
	RangeType **ranges;
	int32 count;
	XXH3_state_t state;

	multirange_deserialize(maker->range->rngtype, multirange, &count, &ranges);
	XXH3_64bits_reset(&state);
	hash_number(&state, (uint32) count, 4);
	for (int32 i = 0; i < count; i++)
	{
		hash_number(&state, key_of_range_in(maker, maker->range->rngtype, ranges[i]).hash, 8);
		pfree(ranges[i]);
	}
	if (count > 0)
		pfree(ranges);
	if ((Pointer) multirange != DatumGetPointer(value))
		pfree(multirange);
	return finish(&state, present_key_type(maker));
}
#endif

/* A range is equal to another one by its own operator class, so the keys of the
 * bounds may only be used if that is the bounds' ordinary one. */
static void
check_range_ordering(TypeCacheEntry *range_type)
{
	TypeCacheEntry *element =
		lookup_type_cache(range_type->rngelemtype->type_id, TYPECACHE_CMP_PROC);

	if (range_type->rng_cmp_proc_finfo.fn_oid != element->cmp_proc)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("range type %s cannot be a key of a filter",
							   format_type_be(range_type->type_id)),
						errdetail("Its operator class is not the default one of type %s.",
								  format_type_be(element->type_id))));
}

void
bs_nested_range_maker(BsKeyMaker *maker, Oid range_type, bool multirange)
{
	TypeCacheEntry *range;

#if PG_VERSION_NUM >= 140000
	if (multirange)
	{
		maker->range = lookup_type_cache(range_type, TYPECACHE_MULTIRANGE_INFO);
		range = maker->range->rngtype;
		maker->make = key_of_multirange;
	}
	else
#endif
	{
		maker->range = range = lookup_type_cache(range_type, TYPECACHE_RANGE_INFO);
		maker->make = key_of_range;
	}
	check_range_ordering(range);
	maker->element =
		bs_key_maker(range->rngelemtype->type_id, range->rng_collation, maker->context);
	maker->has_records = maker->element->has_records;
	maker->key_type =
		bs_key_type_with(multirange ? BS_KEY_MULTIRANGE : BS_KEY_RANGE, maker->element->key_type);
}
