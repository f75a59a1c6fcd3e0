/*
 * aggregate.c - building filters from columns, and uniting stored ones.
 *
 * bf_agg("any", n, p) keeps a BuildState of type internal.  bf_agg(bfkey, n, p)
 * and the aggregates over filters have the filter itself as their state: engines
 * that ship states between machines as text need a real type, and call the
 * functions without a call site of their own, so nothing here relies on one.
 */
#include "bloomset.h"

#include "fetch.h"
#include "io.h"
#include "key.h"

PG_FUNCTION_INFO_V1(bs_agg_trans);
PG_FUNCTION_INFO_V1(bs_agg_combine);
PG_FUNCTION_INFO_V1(bs_agg_serialize);
PG_FUNCTION_INFO_V1(bs_agg_deserialize);
PG_FUNCTION_INFO_V1(bs_agg_final);
PG_FUNCTION_INFO_V1(bs_agg_key_trans);
PG_FUNCTION_INFO_V1(bs_union_trans);
PG_FUNCTION_INFO_V1(bs_intersect_trans);

#define PENDING_KEYS 512
#define PENDING_FROM_BYTES (256 * 1024) /* smaller filters stay in the CPU's cache */

typedef struct BuildState
{
	BsFilter *filter;
	uint64 *pending; /* hashes not yet in the filter; NULL for a small one */
	int npending;
} BuildState;

static inline void
require_same_parameters(const BsFilter *f, int64 n, double p)
{
	if (unlikely((int64) f->n != n || f->p != p))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("number of keys and false-positive rate must be the same for all"
							   " rows of an aggregate"),
						errdetail("They were " UINT64_FORMAT " and %.15g, and are " INT64_FORMAT
								  " and %.15g.",
								  f->n, f->p, n, p)));
}

/* n and p are arguments of every row, but one filter has one of each. */
static void
check_parameters(FunctionCallInfo fcinfo, const BsFilter *f)
{
	if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("number of keys and false-positive rate must not be null")));
	if (f)
		require_same_parameters(f, PG_GETARG_INT64(2), PG_GETARG_FLOAT8(3));
}

/* ---- bf_agg("any", n, p) ---- */

static BuildState *
new_state(MemoryContext context, BsFilter *filter)
{
	BuildState *state = MemoryContextAllocZero(context, sizeof(BuildState));

	state->filter = filter;
	if (VARSIZE(filter) >= PENDING_FROM_BYTES)
		state->pending = MemoryContextAlloc(context, PENDING_KEYS * sizeof(uint64));
	return state;
}

static void
flush(BuildState *state)
{
	bs_filter_add_many(state->filter, state->pending, state->npending);
	state->npending = 0;
}

static void
add(BuildState *state, uint64 hash)
{
	if (state->pending == NULL)
	{
		bs_filter_add(state->filter, hash);
		return;
	}
	state->pending[state->npending++] = hash;
	if (state->npending == PENDING_KEYS)
		flush(state);
}

static BuildState *
getarg_state(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? NULL : (BuildState *) PG_GETARG_POINTER(argno);
}

/* (internal, key "any", n bigint, p float8) -> internal */
Datum
bs_agg_trans(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BuildState *state = getarg_state(fcinfo, 0);
	BsKeyMaker *maker;
	BsKey key;

	check_parameters(fcinfo, state ? state->filter : NULL);
	if (state == NULL)
	{
		/* a state that is there can only come from an aggregate */
		MemoryContext context = bs_aggregate_context(fcinfo);
		MemoryContext caller = MemoryContextSwitchTo(context);

		state = new_state(context, bs_new_filter(PG_GETARG_INT64(2), PG_GETARG_FLOAT8(3), 0));
		MemoryContextSwitchTo(caller);
	}
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);

	maker = bs_arg_key_maker(site, fcinfo, 1);
	key = bs_make_key(maker, PG_GETARG_DATUM(1));
	bs_adopt_key_type(state->filter, &key, maker);
	add(state, key.hash);
	PG_RETURN_POINTER(state);
}

/* (internal, internal) -> internal */
Datum
bs_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = bs_aggregate_context(fcinfo);
	BuildState *a = getarg_state(fcinfo, 0);
	BuildState *b = getarg_state(fcinfo, 1);

	if (b == NULL)
	{
		if (a == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(a);
	}
	flush(b);
	if (a == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(context);

		a = new_state(context, bs_copy_filter(b->filter));
		MemoryContextSwitchTo(caller);
	}
	else
	{
		require_same_parameters(a->filter, (int64) b->filter->n, b->filter->p);
		bs_require_compatible("bf_agg", a->filter, b->filter);
		bs_filter_unite(a->filter, b->filter);
	}
	PG_RETURN_POINTER(a);
}

/* (internal) -> bytea: the portable form, so that the one checker reads it */
Datum
bs_agg_serialize(PG_FUNCTION_ARGS)
{
	BuildState *state = (BuildState *) PG_GETARG_POINTER(0);

	(void) bs_aggregate_context(fcinfo);
	flush(state);
	PG_RETURN_BYTEA_P(bs_filter_to_external(state->filter));
}

/* (bytea, internal) -> internal */
Datum
bs_agg_deserialize(PG_FUNCTION_ARGS)
{
	BsFilter *filter;

	(void) bs_aggregate_context(fcinfo);
	filter = bs_filter_from_external(PG_GETARG_BYTEA_PP(0));
	PG_RETURN_POINTER(new_state(CurrentMemoryContext, filter));
}

/* (internal) -> bloomfilter */
Datum
bs_agg_final(PG_FUNCTION_ARGS)
{
	BuildState *state = getarg_state(fcinfo, 0);
	MemoryContext context;

	(void) bs_aggregate_context(fcinfo);
	if (state == NULL)
		PG_RETURN_NULL();
	flush(state);

	/* a window goes on adding to the state, so it gets a copy */
	if (AggCheckCallContext(fcinfo, &context) == AGG_CONTEXT_WINDOW)
		PG_RETURN_POINTER(bs_copy_filter(state->filter));
	PG_RETURN_POINTER(state->filter);
}

/* ---- aggregates whose state is the filter ---- */

/* The state, to change in place: it belongs to the aggregate. */
static BsFilter *
getarg_filter_state(FunctionCallInfo fcinfo)
{
	(void) bs_aggregate_context(fcinfo);
	return PG_ARGISNULL(0) ? NULL : (BsFilter *) bs_fetch_once(PG_GETARG_DATUM(0));
}

/* (bloomfilter, key bfkey, n bigint, p float8) -> bloomfilter */
Datum
bs_agg_key_trans(PG_FUNCTION_ARGS)
{
	BsFilter *state = getarg_filter_state(fcinfo);

	check_parameters(fcinfo, state);
	if (state == NULL)
		state = bs_new_filter(PG_GETARG_INT64(2), PG_GETARG_FLOAT8(3), 0);
	if (!PG_ARGISNULL(1))
	{
		const BsKey *key = (const BsKey *) PG_GETARG_POINTER(1);

		bs_adopt_key_type(state, key, NULL);
		bs_filter_add(state, key->hash);
	}
	PG_RETURN_POINTER(state);
}

static Datum
fold(FunctionCallInfo fcinfo, const char *who,
	 void (*operation)(BsFilter *dst, const BsFilter *src))
{
	BsFilter *state = getarg_filter_state(fcinfo);
	const BsFilter *f;

	if (PG_ARGISNULL(1))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	f = bs_fetch_once(PG_GETARG_DATUM(1));
	if (state == NULL)
		PG_RETURN_POINTER(f); /* the executor copies it into the aggregate's memory */
	bs_require_compatible(who, state, f);
	operation(state, f);
	PG_RETURN_POINTER(state);
}

/* (bloomfilter, bloomfilter) -> bloomfilter; also combines states of bf_agg(bfkey) */
Datum
bs_union_trans(PG_FUNCTION_ARGS)
{
	return fold(fcinfo, "bf_union_agg", bs_filter_unite);
}

/* (bloomfilter, bloomfilter) -> bloomfilter */
Datum
bs_intersect_trans(PG_FUNCTION_ARGS)
{
	return fold(fcinfo, "bf_intersect_agg", bs_filter_intersect);
}
