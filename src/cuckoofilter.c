/*
 * cuckoofilter.c - what only the SQL type cuckoofilter has.
 */
#include "bloomset.h"

#include "aggregate.h"
#include "cuckoo.h"
#include "fetch.h"
#include "io.h"
#include "row.h"

PG_FUNCTION_INFO_V1(bs_cuckoo_in);
PG_FUNCTION_INFO_V1(bs_cuckoo_recv);
PG_FUNCTION_INFO_V1(bs_cuckoo_from_bytea);
PG_FUNCTION_INFO_V1(bs_cuckoo_create);
PG_FUNCTION_INFO_V1(bs_cuckoo_info);
PG_FUNCTION_INFO_V1(bs_cuckoo_agg_trans);
PG_FUNCTION_INFO_V1(bs_cuckoo_agg_key_trans);

Datum
bs_cuckoo_in(PG_FUNCTION_ARGS)
{
	return bs_read_text(fcinfo, &bs_cuckoo);
}

Datum
bs_cuckoo_recv(PG_FUNCTION_ARGS)
{
	return bs_read_binary(fcinfo, &bs_cuckoo);
}

Datum
bs_cuckoo_from_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bs_filter_from_external(&bs_cuckoo, PG_GETARG_BYTEA_PP(0)));
}

/* bf_create_cuckoo(n bigint, p float8, seed bigint) -> cuckoofilter */
Datum
bs_cuckoo_create(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(
		bs_new_filter(&bs_cuckoo, PG_GETARG_INT64(0), PG_GETARG_FLOAT8(1), PG_GETARG_INT64(2)));
}

/* bf_info(f cuckoofilter) -> one row; the columns stand in the install script */
Datum
bs_cuckoo_info(PG_FUNCTION_ARGS)
{
	const BsFilter *f = bs_of_kind(&bs_cuckoo, bs_fetch_once(PG_GETARG_DATUM(0)));
	uint64 slots = bs_cuckoo_slots(f);
	uint64 used = bs_cuckoo_used(f);
	BsRow row = {0};

	bs_row_add(&row, Int64GetDatum((int64) f->n));
	bs_row_add(&row, Float8GetDatum(f->p));
	bs_row_add(&row, Int64GetDatum((int64) (f->m / f->block_bits)));
	bs_row_add(&row, Int32GetDatum(f->k));
	bs_row_key_type(&row, f);
	bs_row_add(&row, Int64GetDatum((int64) slots));
	bs_row_add(&row, Int64GetDatum((int64) used));
	bs_row_add(&row, Float8GetDatum((double) used / (double) slots));
	bs_row_estimates(&row, f);
	return bs_row_datum(&row, fcinfo);
}

/* (internal, key "any", n bigint, p float8) -> internal */
Datum
bs_cuckoo_agg_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = bs_get_parameters(fcinfo, 2);

	return bs_build(fcinfo, &bs_cuckoo, &parameters, 0);
}

/* (cuckoofilter, key bfkey, n bigint, p float8) -> cuckoofilter */
Datum
bs_cuckoo_agg_key_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = bs_get_parameters(fcinfo, 2);

	return bs_build_from_keys(fcinfo, &bs_cuckoo, &parameters, 0);
}
