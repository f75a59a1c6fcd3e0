/*
 * row.c - functions that return one row.
 */
#include "row.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "key.h"

void
bs_row_add(BsRow *row, Datum value)
{
	Assert(row->ncolumns < BS_ROW_COLUMNS);
	row->values[row->ncolumns++] = value;
}

void
bs_row_key_type(BsRow *row, const BsFilter *f)
{
	const char *key_type = bs_key_type_short_name(f->key_type);

	bs_row_add(row, Int64GetDatum((int64) f->seed));
	row->nulls[row->ncolumns] = f->key_type == BS_KEY_NONE;
	bs_row_add(row, CStringGetTextDatum(key_type ? key_type : "unknown"));
}

void
bs_row_parameters(BsRow *row, const BsFilter *f)
{
	bs_row_add(row, Int64GetDatum((int64) f->n));
	bs_row_add(row, Float8GetDatum(f->p));
	bs_row_add(row, Int64GetDatum((int64) f->m));
	bs_row_add(row, Int32GetDatum(f->k));
	bs_row_add(row, Int32GetDatum((int32) f->block_bits));
	bs_row_key_type(row, f);
}

void
bs_row_estimates(BsRow *row, const BsFilter *f)
{
	bs_row_add(row, Float8GetDatum(bs_structure_of(f)->count(f)));
	bs_row_add(row, Float8GetDatum(bs_structure_of(f)->rate(f)));
	bs_row_add(row, Int64GetDatum((int64) VARSIZE(f)));
}

Datum
bs_row_datum(const BsRow *row, FunctionCallInfo fcinfo)
{
	TupleDesc desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != row->ncolumns)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("function returning record called in context that cannot accept"
							   " type record")));
	return HeapTupleGetDatum(
		heap_form_tuple(BlessTupleDesc(desc), (Datum *) row->values, (bool *) row->nulls));
}
