/*
 * stats.c - what a filter tells about itself: estimates, rate, parameters.
 */
#include "bloomset.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "fetch.h"
#include "key.h"

PG_FUNCTION_INFO_V1(bs_count);
PG_FUNCTION_INFO_V1(bs_intersect_count);
PG_FUNCTION_INFO_V1(bs_fpp);
PG_FUNCTION_INFO_V1(bs_info);

/* bf_count(f) of every kind of filter -> float8 */
Datum
bs_count(PG_FUNCTION_ARGS)
{
	const BsFilter *f = bs_fetch_once(PG_GETARG_DATUM(0));

	PG_RETURN_FLOAT8(bs_structure_of(f)->count(f));
}

/*
 * bf_intersect_count(a bloomfilter, b bloomfilter) -> float8
 *
 * By inclusion and exclusion: bits that both have set by chance would count as
 * common keys if the ANDed bits were counted.
 */
Datum
bs_intersect_count(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	const BsFilter *a = bs_fetch(site, PG_GETARG_DATUM(0));
	const BsFilter *b = bs_fetch(site, PG_GETARG_DATUM(1));
	double common;

	bs_require_compatible("bf_intersect_count", a, b);
	common = bs_filter_estimate(a, bs_filter_bits_set(a)) +
			 bs_filter_estimate(b, bs_filter_bits_set(b)) -
			 bs_filter_estimate(a, bs_filter_bits_set_union(a, b));
	PG_RETURN_FLOAT8(Max(common, 0));
}

/* bf_fpp(f) of every kind of filter -> float8 */
Datum
bs_fpp(PG_FUNCTION_ARGS)
{
	const BsFilter *f = bs_fetch_once(PG_GETARG_DATUM(0));

	PG_RETURN_FLOAT8(bs_structure_of(f)->rate(f));
}

/* bf_info(f bloomfilter) -> one row; the columns stand in the install script */
Datum
bs_info(PG_FUNCTION_ARGS)
{
	const BsFilter *f = bs_fetch_once(PG_GETARG_DATUM(0));
	uint64 bits_set = bs_filter_bits_set(f);
	const char *key_type;
	TupleDesc desc;
	Datum values[12];
	bool nulls[12] = {false};
	int i = 0;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("function returning record called in context that cannot accept"
							   " type record")));
	values[i++] = Int64GetDatum((int64) f->n);
	values[i++] = Float8GetDatum(f->p);
	values[i++] = Int64GetDatum((int64) f->m);
	values[i++] = Int32GetDatum(f->k);
	values[i++] = Int32GetDatum((int32) f->block_bits);
	values[i++] = Int64GetDatum((int64) f->seed);
	key_type = bs_key_type_short_name(f->key_type);
	nulls[i] = f->key_type == BS_KEY_NONE;
	values[i++] = CStringGetTextDatum(key_type ? key_type : "unknown");
	values[i++] = Int64GetDatum((int64) bits_set);
	values[i++] = Float8GetDatum((double) bits_set / (double) f->m);
	values[i++] = Float8GetDatum(bs_filter_estimate(f, bits_set));
	values[i++] = Float8GetDatum(bs_filter_rate(f));
	values[i++] = Int64GetDatum((int64) VARSIZE(f));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
