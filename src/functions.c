/*
 * functions.c - making filters, adding keys and asking for them.
 */
#include "bloomset.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "fetch.h"
#include "key.h"

PG_FUNCTION_INFO_V1(bs_create);
PG_FUNCTION_INFO_V1(bs_size);
PG_FUNCTION_INFO_V1(bs_add);
PG_FUNCTION_INFO_V1(bs_add_all);
PG_FUNCTION_INFO_V1(bs_contains);
PG_FUNCTION_INFO_V1(bs_contains_any);
PG_FUNCTION_INFO_V1(bs_contains_all);

/* bf_create(n bigint, p float8, seed bigint) -> bloomfilter */
Datum
bs_create(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bs_new_filter(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), PG_GETARG_INT64(2)));
}

/* bf_size(n bigint, p float8) -> (m bigint, k int, bytes bigint) */
Datum
bs_size(PG_FUNCTION_ARGS)
{
	BsLayout layout = bs_layout(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1));
	TupleDesc desc;
	Datum values[3];
	bool nulls[3] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("function returning record called in context that cannot accept"
							   " type record")));
	values[0] = Int64GetDatum((int64) layout.m);
	values[1] = Int32GetDatum(layout.k);
	values[2] = Int64GetDatum((int64) bs_filter_size(layout.m));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/* bf_add(f bloomfilter, key "any") -> bloomfilter */
Datum
bs_add(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyMaker *maker;
	BsReader reader;
	BsFilter *changed;
	BsKey key;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	maker = bs_arg_key_maker(site, fcinfo, 1);
	key = bs_make_key(maker, PG_GETARG_DATUM(1));
	bs_open(&reader, site, PG_GETARG_DATUM(0));

	/* the argument itself where nothing changes: an UPDATE then keeps the stored value */
	if (bs_check_key_type(reader.header, &key, maker) && bs_reader_contains(&reader, key.hash))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	changed = bs_reader_copy(&reader);
	bs_adopt_key_type(changed, &key, maker);
	bs_filter_add(changed, key.hash);
	PG_RETURN_POINTER(changed);
}

/* bf_add_all(f bloomfilter, keys anyarray) -> bloomfilter */
Datum
bs_add_all(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyMaker *maker;
	ArrayType *array;
	ArrayIterator keys;
	Datum value;
	bool isnull;
	BsReader reader;
	BsFilter *changed = NULL;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	array = PG_GETARG_ARRAYTYPE_P(1);
	maker = bs_element_key_maker(site, fcinfo, array);
	keys = array_create_iterator(array, 0, NULL);
	bs_open(&reader, site, PG_GETARG_DATUM(0));
	while (array_iterate(keys, &value, &isnull))
	{
		BsKey key;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		key = bs_make_key(maker, value);
		if (changed == NULL)
		{
			if (bs_check_key_type(reader.header, &key, maker) &&
				bs_reader_contains(&reader, key.hash))
				continue;
			changed = bs_reader_copy(&reader);
		}
		bs_adopt_key_type(changed, &key, maker);
		bs_filter_add(changed, key.hash);
	}
	if (changed == NULL)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_POINTER(changed);
}

/* Apart, so that the usual case needs no room for a reader. */
static pg_noinline bool
contains_stored(BsCallSite *site, Datum filter, const BsKey *key)
{
	BsReader reader;

	bs_open(&reader, site, filter);
	return bs_check_key_type(reader.header, key, site->maker) &&
		   bs_reader_contains(&reader, key->hash);
}

/* bf_contains(f bloomfilter, key "any") -> boolean */
Datum
bs_contains(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyMaker *maker;
	const BsFilter *whole;
	BsKey key;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	maker = bs_arg_key_maker(site, fcinfo, 1);
	key = bs_make_key(maker, PG_GETARG_DATUM(1));
	whole = bs_whole_at_hand(site, PG_GETARG_DATUM(0));
	if (likely(whole != NULL))
		PG_RETURN_BOOL(bs_check_key_type(whole, &key, maker) &&
					   bs_filter_contains(whole, key.hash));
	PG_RETURN_BOOL(contains_stored(site, PG_GETARG_DATUM(0), &key));
}

/*
 * x = ANY (keys) and x = ALL (keys) for filters, with SQL's NULL rules: a key
 * that decides, decides; otherwise a NULL among the keys makes the answer NULL.
 */
static Datum
contains_some(FunctionCallInfo fcinfo, bool deciding)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyMaker *maker;
	ArrayType *array;
	ArrayIterator keys;
	Datum value;
	bool isnull;
	bool saw_null = false;
	BsReader reader;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	array = PG_GETARG_ARRAYTYPE_P(1);
	maker = bs_element_key_maker(site, fcinfo, array);
	keys = array_create_iterator(array, 0, NULL);
	bs_open(&reader, site, PG_GETARG_DATUM(0));
	while (array_iterate(keys, &value, &isnull))
	{
		BsKey key;

		CHECK_FOR_INTERRUPTS();
		if (isnull)
		{
			saw_null = true;
			continue;
		}
		key = bs_make_key(maker, value);
		if ((bs_check_key_type(reader.header, &key, maker) &&
			 bs_reader_contains(&reader, key.hash)) == deciding)
			PG_RETURN_BOOL(deciding);
	}
	if (saw_null)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(!deciding);
}

/* bf_contains_any(f bloomfilter, keys anyarray) -> boolean */
Datum
bs_contains_any(PG_FUNCTION_ARGS)
{
	return contains_some(fcinfo, true);
}

/* bf_contains_all(f bloomfilter, keys anyarray) -> boolean */
Datum
bs_contains_all(PG_FUNCTION_ARGS)
{
	return contains_some(fcinfo, false);
}
