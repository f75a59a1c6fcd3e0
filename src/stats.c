/*
 * stats.c - what a filter tells about itself: estimates, rate, parameters.
 */
#include "bloomset.h"

#include "fetch.h"
#include "row.h"

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
	const BsFilter *a = bs_of_kind(&bs_bloom, bs_fetch(site, PG_GETARG_DATUM(0)));
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
	const BsFilter *f = bs_of_kind(&bs_bloom, bs_fetch_once(PG_GETARG_DATUM(0)));
	uint64 bits_set = bs_filter_bits_set(f);
	BsRow row = {0};

	bs_row_parameters(&row, f);
	bs_row_add(&row, Int64GetDatum((int64) bits_set));
	bs_row_add(&row, Float8GetDatum((double) bits_set / (double) f->m));
	bs_row_estimates(&row, f);
	return bs_row_datum(&row, fcinfo);
}
