/*
 * scalablefilter.c - the SQL type scalablefilter: what only it has.
 */
#include "bloomset.h"

#include "aggregate.h"
#include "collect.h"
#include "fetch.h"
#include "io.h"
#include "row.h"
#include "scalable.h"

PG_FUNCTION_INFO_V1(bs_scalable_in);
PG_FUNCTION_INFO_V1(bs_scalable_recv);
PG_FUNCTION_INFO_V1(bs_scalable_from_bytea);
PG_FUNCTION_INFO_V1(bs_scalable_create);
PG_FUNCTION_INFO_V1(bs_scalable_info);
PG_FUNCTION_INFO_V1(bs_scalable_agg_trans);
PG_FUNCTION_INFO_V1(bs_scalable_agg_key_trans);

Datum
bs_scalable_in(PG_FUNCTION_ARGS)
{
	return bs_read_text(fcinfo, &bs_scalable);
}

Datum
bs_scalable_recv(PG_FUNCTION_ARGS)
{
	return bs_read_binary(fcinfo, &bs_scalable);
}

Datum
bs_scalable_from_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bs_filter_from_external(&bs_scalable, PG_GETARG_BYTEA_PP(0)));
}

/* bf_create_scalable(n bigint, p float8, seed bigint) -> scalablefilter */
Datum
bs_scalable_create(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(
		bs_new_filter(&bs_scalable, PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), PG_GETARG_INT64(2)));
}

/* bf_info(f scalablefilter) -> one row; the columns stand in the install script */
Datum
bs_scalable_info(PG_FUNCTION_ARGS)
{
	const BsFilter *f = bs_of_kind(&bs_scalable, bs_fetch_once(PG_GETARG_DATUM(0)));
	uint64 bits_set = bs_scalable_bits_set(f);
	BsRow row = {0};

	bs_row_add(&row, Int64GetDatum((int64) f->n));
	bs_row_add(&row, Float8GetDatum(f->p));
	bs_row_key_type(&row, f);
	bs_row_add(&row, Int64GetDatum((int64) bs_scalable_layers(f)));
	bs_row_add(&row, Int64GetDatum((int64) bs_scalable_capacity(f)));
	bs_row_add(&row, Int64GetDatum((int64) f->m));
	bs_row_add(&row, Int64GetDatum((int64) bits_set));
	bs_row_add(&row, Float8GetDatum(f->m > 0 ? (double) bits_set / (double) f->m : 0));
	bs_row_estimates(&row, f);
	return bs_row_datum(&row, fcinfo);
}

/* (internal, key "any", n bigint, p float8) -> internal */
Datum
bs_scalable_agg_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = bs_get_parameters(fcinfo, 2);

	return bs_collect(fcinfo, &bs_scalable, &parameters);
}

/* (scalablefilter, key bfkey, n bigint, p float8) -> scalablefilter */
Datum
bs_scalable_agg_key_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = bs_get_parameters(fcinfo, 2);

	return bs_build_from_keys(fcinfo, &bs_scalable, &parameters, 0);
}
