/*
 * setops.c - union, intersection, equality and hash of filters.
 */
#include "bloomset.h"

#include "bytes.h"
#include "fetch.h"

PG_FUNCTION_INFO_V1(bs_union);
PG_FUNCTION_INFO_V1(bs_intersect);
PG_FUNCTION_INFO_V1(bs_eq);
PG_FUNCTION_INFO_V1(bs_ne);
PG_FUNCTION_INFO_V1(bs_hash);
PG_FUNCTION_INFO_V1(bs_hash_extended);

/* A NULL side gives the other one; NULL only where both are.  False: no sides. */
static bool
has_both(FunctionCallInfo fcinfo, Datum *other)
{
	if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1))
		return true;
	fcinfo->isnull = PG_ARGISNULL(0) && PG_ARGISNULL(1);
	*other = PG_GETARG_DATUM(PG_ARGISNULL(0) ? 1 : 0);
	return false;
}

/* bf_union(a, b) of one kind of filter -> the same */
Datum
bs_union(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	const BsFilter *a;
	const BsFilter *b;
	Datum other;

	if (!has_both(fcinfo, &other))
		return other;
	a = bs_fetch(site, PG_GETARG_DATUM(0));
	b = bs_fetch(site, PG_GETARG_DATUM(1));
	PG_RETURN_POINTER(bs_united("bf_union", a, b));
}

/* bf_intersect(a bloomfilter, b bloomfilter) -> bloomfilter */
Datum
bs_intersect(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	const BsFilter *a;
	const BsFilter *b;
	BsFilter *result;
	Datum other;

	if (!has_both(fcinfo, &other))
		return other;
	a = bs_of_kind(&bs_bloom, bs_fetch(site, PG_GETARG_DATUM(0)));
	b = bs_fetch(site, PG_GETARG_DATUM(1));
	bs_require_compatible("bf_intersect", a, b);
	result = bs_copy_filter(a);
	bs_filter_intersect(result, b);
	PG_RETURN_POINTER(result);
}

/* Header and bits, all padding being zero, are the value. */
static bool
filters_equal(FunctionCallInfo fcinfo)
{
	const BsFilter *a = bs_fetch_once(PG_GETARG_DATUM(0));
	const BsFilter *b = bs_fetch_once(PG_GETARG_DATUM(1));
	bool result = VARSIZE(a) == VARSIZE(b) &&
				  bs_bytes_equal((const uint8 *) VARDATA(a), (const uint8 *) VARDATA(b),
								 VARSIZE(a) - VARHDRSZ);

	bs_release(a, PG_GETARG_DATUM(0));
	bs_release(b, PG_GETARG_DATUM(1));
	return result;
}

Datum
bs_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(filters_equal(fcinfo));
}

Datum
bs_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!filters_equal(fcinfo));
}

static uint64
hash_of(FunctionCallInfo fcinfo, uint64 seed)
{
	const BsFilter *f = bs_fetch_once(PG_GETARG_DATUM(0));
	uint64 result = bs_bytes_hash((const uint8 *) VARDATA(f), VARSIZE(f) - VARHDRSZ, seed);

	bs_release(f, PG_GETARG_DATUM(0));
	return result;
}

Datum
bs_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((int32) hash_of(fcinfo, 0));
}

Datum
bs_hash_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) hash_of(fcinfo, (uint64) PG_GETARG_INT64(1)));
}
