/*
 * countingfilter.c - what only the SQL type countingfilter has.
 */
#include "bloomset.h"

#include "aggregate.h"
#include "counting.h"
#include "fetch.h"
#include "io.h"
#include "row.h"

PG_FUNCTION_INFO_V1(bs_counting_in);
PG_FUNCTION_INFO_V1(bs_counting_recv);
PG_FUNCTION_INFO_V1(bs_counting_from_bytea);
PG_FUNCTION_INFO_V1(bs_counting_create);
PG_FUNCTION_INFO_V1(bs_counting_to_bloomfilter);
PG_FUNCTION_INFO_V1(bs_counting_info);
PG_FUNCTION_INFO_V1(bs_counting_agg_trans);
PG_FUNCTION_INFO_V1(bs_counting_agg_key_trans);

Datum
bs_counting_in(PG_FUNCTION_ARGS)
{
	return bs_read_text(fcinfo, &bs_counting);
}

Datum
bs_counting_recv(PG_FUNCTION_ARGS)
{
	return bs_read_binary(fcinfo, &bs_counting);
}

Datum
bs_counting_from_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bs_filter_from_external(&bs_counting, PG_GETARG_BYTEA_PP(0)));
}

/* bf_create_counting(n bigint, p float8, seed bigint) -> countingfilter */
Datum
bs_counting_create(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(
		bs_new_filter(&bs_counting, PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), PG_GETARG_INT64(2)));
}

/* cast to bloomfilter */
Datum
bs_counting_to_bloomfilter(PG_FUNCTION_ARGS)
{
	const BsFilter *f = bs_of_kind(&bs_counting, bs_fetch_once(PG_GETARG_DATUM(0)));
	BsFilter *result = palloc(bs_filter_size(f->m));

	bs_counting_to_standard(result, f);
	SET_VARSIZE(result, bs_filter_size(f->m));
	PG_RETURN_POINTER(result);
}

/* bf_info(f countingfilter) -> one row; the columns stand in the install script */
Datum
bs_counting_info(PG_FUNCTION_ARGS)
{
	const BsFilter *f = bs_of_kind(&bs_counting, bs_fetch_once(PG_GETARG_DATUM(0)));
	uint64 set = bs_counting_set(f);
	BsRow row = {0};

	bs_row_parameters(&row, f);
	bs_row_add(&row, Int64GetDatum((int64) set));
	bs_row_add(&row, Int64GetDatum((int64) bs_counting_saturated(f)));
	bs_row_add(&row, Float8GetDatum((double) set / (double) f->m));
	bs_row_estimates(&row, f);
	return bs_row_datum(&row, fcinfo);
}

/* (internal, key "any", n bigint, p float8) -> internal */
Datum
bs_counting_agg_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = bs_get_parameters(fcinfo, 2);

	return bs_build(fcinfo, &bs_counting, &parameters, 0);
}

/* (countingfilter, key bfkey, n bigint, p float8) -> countingfilter */
Datum
bs_counting_agg_key_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = bs_get_parameters(fcinfo, 2);

	return bs_build_from_keys(fcinfo, &bs_counting, &parameters, 0);
}
