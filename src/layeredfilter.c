/*
 * layeredfilter.c - what only the SQL type layeredfilter has: spans and times.
 */
#include "layeredfilter.h"

#include "access/xact.h"
#include "common/int.h"
#include "datatype/timestamp.h"
#include "utils/timestamp.h"

#include "aggregate.h"
#include "fetch.h"
#include "io.h"
#include "layered.h"
#include "row.h"

PG_FUNCTION_INFO_V1(bs_layered_in);
PG_FUNCTION_INFO_V1(bs_layered_recv);
PG_FUNCTION_INFO_V1(bs_layered_from_bytea);
PG_FUNCTION_INFO_V1(bs_layered_create);
PG_FUNCTION_INFO_V1(bs_layered_drop);
PG_FUNCTION_INFO_V1(bs_layered_info);
PG_FUNCTION_INFO_V1(bs_layered_agg_trans);
PG_FUNCTION_INFO_V1(bs_layered_agg_key_trans);

Datum
bs_layered_in(PG_FUNCTION_ARGS)
{
	return bs_read_text(fcinfo, &bs_layered);
}

Datum
bs_layered_recv(PG_FUNCTION_ARGS)
{
	return bs_read_binary(fcinfo, &bs_layered);
}

Datum
bs_layered_from_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bs_filter_from_external(&bs_layered, PG_GETARG_BYTEA_PP(0)));
}

/* ---- times ---- */

static int64
get_at(FunctionCallInfo fcinfo, int argno)
{
	TimestampTz at;

	if (PG_ARGISNULL(argno))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("time must not be null")));
	at = PG_GETARG_TIMESTAMPTZ(argno);
	if (TIMESTAMP_NOT_FINITE(at))
		ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
						errmsg("time of a key must be finite")));
	return at;
}

int64
bs_layered_time(FunctionCallInfo fcinfo, const BsFilter *header, bool question)
{
	uint32 present = bs_layered_present(header);
	int64 now;

	if (PG_NARGS() > 2)
		return get_at(fcinfo, 2);
	now = GetCurrentTransactionStartTimestamp();
	return question && present > 0 ? Max(now, bs_layered_start(header, present - 1)) : now;
}

void
bs_layered_require_memory(const BsFilter *header, int64 at)
{
	if (bs_layered_forgot(header, at))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("layeredfilter has forgotten keys that were alive at %s",
							   timestamptz_to_str(at)),
						errdetail("Keys that came later, or bf_expire, have made it drop them."),
						errhint("Ask about the time of the newest keys or later.")));
}

/* ---- making, and forgetting ---- */

/* Microseconds of an interval without months, whose length varies. */
static int64
get_span(const Interval *interval)
{
	int64 days;
	int64 span;

	if (interval->month != 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("span must not be in months or years, whose length varies"),
						errhint("Use days or hours.")));
	if (pg_mul_s64_overflow(interval->day, USECS_PER_DAY, &days) ||
		pg_add_s64_overflow(days, interval->time, &span))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("span is out of range")));
	if (span < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("span must be longer than zero")));
	return span;
}

static void
get_own(uint64 own[2], int32 layers, const Interval *interval)
{
	if (layers < 1 || layers > BS_MAX_LAYERS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("number of layers must be between 1 and %d, not %d", BS_MAX_LAYERS,
							   layers)));
	bs_layered_own(own, (uint32) layers, get_span(interval));
}

/* bf_create_layered(n bigint, p float8, layers int, span interval, seed bigint) */
Datum
bs_layered_create(PG_FUNCTION_ARGS)
{
	BsFilter header = {.n = (uint64) PG_GETARG_INT64(0),
					   .p = PG_GETARG_FLOAT8(1),
					   .seed = (uint64) PG_GETARG_INT64(4)};

	get_own(header.own, PG_GETARG_INT32(2), PG_GETARG_INTERVAL_P(3));
	PG_RETURN_POINTER(bs_new_from(&bs_layered, &header));
}

/* bf_expire(f layeredfilter, at timestamptz) -> layeredfilter */
Datum
bs_layered_drop(PG_FUNCTION_ARGS)
{
	const BsFilter *f = bs_of_kind(&bs_layered, bs_fetch_once(PG_GETARG_DATUM(0)));
	int64 at = get_at(fcinfo, 1);
	uint64 size = bs_layered_expired_size(f, at);
	BsFilter *result;

	if (size == VARSIZE(f))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	result = palloc(size);
	bs_layered_expire(result, f, at);
	SET_VARSIZE(result, size);
	PG_RETURN_POINTER(result);
}

/* Where a layer begins; its span may have begun before the first timestamp there is. */
static TimestampTz
start_of(const BsFilter *f, uint32 i)
{
	int64 start = bs_layered_start(f, i);

	if (IS_VALID_TIMESTAMP(start))
		return start;
	return start < 0 ? DT_NOBEGIN : DT_NOEND;
}

/* bf_info(f layeredfilter) -> one row; the columns stand in the install script */
Datum
bs_layered_info(PG_FUNCTION_ARGS)
{
	const BsFilter *f = bs_of_kind(&bs_layered, bs_fetch_once(PG_GETARG_DATUM(0)));
	uint32 present = bs_layered_present(f);
	Interval *span = palloc0(sizeof(Interval));
	BsRow row = {0};

	span->time = bs_layered_span(f);
	bs_row_parameters(&row, f);
	bs_row_add(&row, Int32GetDatum((int32) bs_layered_layers(f)));
	bs_row_add(&row, IntervalPGetDatum(span));
	bs_row_add(&row, Int32GetDatum((int32) present));
	for (int end = 0; end < 2; end++)
	{
		row.nulls[row.ncolumns] = present == 0;
		bs_row_add(&row, TimestampTzGetDatum(present > 0 ? start_of(f, end ? present - 1 : 0) : 0));
	}
	bs_row_estimates(&row, f);
	return bs_row_datum(&row, fcinfo);
}

/* The arguments of the aggregates after state, key and time. */
static BsParameters
get_parameters(FunctionCallInfo fcinfo)
{
	BsParameters parameters;

	(void) bs_aggregate_context(fcinfo);
	parameters = bs_get_parameters(fcinfo, 3);
	if (PG_ARGISNULL(5) || PG_ARGISNULL(6))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("number of layers and span must not be null")));
	get_own(parameters.own, PG_GETARG_INT32(5), PG_GETARG_INTERVAL_P(6));
	return parameters;
}

/* (internal, key "any", at timestamptz, n bigint, p float8, layers int, span interval)
 * -> internal */
Datum
bs_layered_agg_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = get_parameters(fcinfo);

	return bs_build(fcinfo, &bs_layered, &parameters, PG_ARGISNULL(1) ? 0 : get_at(fcinfo, 2));
}

/* The same with a layeredfilter as state and a bfkey as key. */
Datum
bs_layered_agg_key_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = get_parameters(fcinfo);

	return bs_build_from_keys(fcinfo, &bs_layered, &parameters,
							  PG_ARGISNULL(1) ? 0 : get_at(fcinfo, 2));
}
