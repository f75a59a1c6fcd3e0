/*
 * functions.c - making filters, adding keys and asking for them.
 */
#include "bloomset.h"

#include "fetch.h"
#include "key.h"
#include "layeredfilter.h"
#include "row.h"

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
	PG_RETURN_POINTER(
		bs_new_filter(&bs_bloom, PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), PG_GETARG_INT64(2)));
}

/* bf_size(n bigint, p float8) -> (m bigint, k int, bytes bigint) */
Datum
bs_size(PG_FUNCTION_ARGS)
{
	BsLayout layout = bs_layout(PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1));
	BsRow row = {0};

	bs_row_add(&row, Int64GetDatum((int64) layout.m));
	bs_row_add(&row, Int32GetDatum(layout.k));
	bs_row_add(&row, Int64GetDatum((int64) bs_filter_size(layout.m)));
	return bs_row_datum(&row, fcinfo);
}

/* ---- adding and asking, for every kind of filter ---- */

static inline int64
get_time(FunctionCallInfo fcinfo, const BsFilter *header, bool question)
{
	if (likely(header->structure != BS_STRUCTURE_LAYERED))
		return 0;
	return bs_layered_time(fcinfo, header, question);
}

/* The answer, unless a layered filter has forgotten too much to say no. */
static inline bool
answer(const BsFilter *header, const BsProbe *probe, bool found)
{
	if (unlikely(!found && header->structure == BS_STRUCTURE_LAYERED))
		bs_layered_require_memory(header, probe->at);
	return found;
}

/* bf_add(f, key "any" [, at timestamptz]) -> the same type */
Datum
bs_add(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyMaker *maker;
	BsReader reader;
	BsProbe probe;
	BsFilter *f;
	BsKey key;
	bool changed;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	maker = bs_arg_key_maker(site, fcinfo, 1);
	key = bs_make_key(maker, PG_GETARG_DATUM(1));
	bs_open(&reader, site, PG_GETARG_DATUM(0));
	probe.hash = key.hash;
	probe.at = get_time(fcinfo, reader.header, false);

	/* the argument itself where nothing changes: an UPDATE then keeps the stored value */
	if (bs_check_key_type(reader.header, &key, maker) && bs_structure_of(reader.header)->is_set &&
		bs_reader_contains(&reader, &probe))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	f = bs_reader_copy(&reader);
	bs_adopt_key_type(f, &key, maker);
	f = bs_add_probe(f, &probe, &changed);
	if (!changed)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_POINTER(f);
}

/* bf_add_all(f, keys anyarray [, at timestamptz]) -> the same type */
Datum
bs_add_all(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyArray keys;
	BsKey key;
	bool isnull;
	BsReader reader;
	BsProbe probe;
	BsFilter *f = NULL;
	bool changed = false;
	bool is_set;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	keys = bs_key_array(site, fcinfo);
	bs_open(&reader, site, PG_GETARG_DATUM(0));
	probe.at = get_time(fcinfo, reader.header, false);
	is_set = bs_structure_of(reader.header)->is_set;
	while (bs_next_key(&keys, &key, &isnull))
	{
		bool this_changed;

		if (isnull)
			continue;
		probe.hash = key.hash;
		if (f == NULL)
		{
			if (bs_check_key_type(reader.header, &key, keys.maker) && is_set &&
				bs_reader_contains(&reader, &probe))
				continue;
			f = bs_reader_copy(&reader);
		}
		bs_adopt_key_type(f, &key, keys.maker);
		f = bs_add_probe(f, &probe, &this_changed);
		changed = changed || this_changed;
	}
	if (!changed)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_POINTER(f);
}

/* A question about nothing: filter, key or time. */
static inline bool
any_null(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) || PG_ARGISNULL(1) || (PG_NARGS() > 2 && PG_ARGISNULL(2));
}

/* Apart, so that the usual case needs no room for a reader. */
static pg_noinline bool
contains_stored(FunctionCallInfo fcinfo, BsCallSite *site, const BsKey *key)
{
	BsReader reader;
	BsProbe probe;

	bs_open(&reader, site, PG_GETARG_DATUM(0));
	probe.hash = key->hash;
	probe.at = get_time(fcinfo, reader.header, true);
	return answer(reader.header, &probe,
				  bs_check_key_type(reader.header, key, site->maker) &&
					  bs_reader_contains(&reader, &probe));
}

/* bf_contains(f, key "any" [, at timestamptz]) -> boolean */
Datum
bs_contains(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyMaker *maker;
	const BsFilter *whole;
	BsKey key;

	if (any_null(fcinfo))
		PG_RETURN_NULL();
	maker = bs_arg_key_maker(site, fcinfo, 1);
	key = bs_make_key(maker, PG_GETARG_DATUM(1));
	whole = bs_whole_at_hand(site, PG_GETARG_DATUM(0));
	if (likely(whole != NULL))
	{
		BsProbe probe = {key.hash, get_time(fcinfo, whole, true)};

		PG_RETURN_BOOL(
			answer(whole, &probe,
				   bs_check_key_type(whole, &key, maker) && bs_whole_contains(whole, &probe)));
	}
	PG_RETURN_BOOL(contains_stored(fcinfo, site, &key));
}

/*
 * x = ANY (keys) and x = ALL (keys) for filters, with SQL's NULL rules: a key
 * that decides, decides; otherwise a NULL among the keys makes the answer NULL.
 */
static Datum
contains_some(FunctionCallInfo fcinfo, bool deciding)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyArray keys;
	BsKey key;
	bool isnull;
	bool saw_null = false;
	BsReader reader;
	BsProbe probe;

	if (any_null(fcinfo))
		PG_RETURN_NULL();
	keys = bs_key_array(site, fcinfo);
	bs_open(&reader, site, PG_GETARG_DATUM(0));
	probe.at = get_time(fcinfo, reader.header, true);
	while (bs_next_key(&keys, &key, &isnull))
	{
		if (isnull)
		{
			saw_null = true;
			continue;
		}
		probe.hash = key.hash;
		if (answer(reader.header, &probe,
				   bs_check_key_type(reader.header, &key, keys.maker) &&
					   bs_reader_contains(&reader, &probe)) == deciding)
			PG_RETURN_BOOL(deciding);
	}
	if (saw_null)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(!deciding);
}

/* bf_contains_any(f, keys anyarray [, at timestamptz]) -> boolean */
Datum
bs_contains_any(PG_FUNCTION_ARGS)
{
	return contains_some(fcinfo, true);
}

/* bf_contains_all(f, keys anyarray [, at timestamptz]) -> boolean */
Datum
bs_contains_all(PG_FUNCTION_ARGS)
{
	return contains_some(fcinfo, false);
}
