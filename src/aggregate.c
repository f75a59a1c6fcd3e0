/*
 * aggregate.c - building filters from columns, and uniting stored ones.
 *
 * bf_agg("any", n, p) keeps a BuildState of type internal.  bf_agg(bfkey, n, p)
 * and the aggregates over filters have the filter itself as their state: engines
 * that ship states between machines as text need a real type, and call the
 * functions without a call site of their own, so nothing here relies on one.
 */
#include "bloomset.h"

#include "utils/memutils.h"

#include "aggregate.h"
#include "fetch.h"
#include "io.h"
#include "key.h"
#include "layered.h"

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

static pg_noinline void
other_parameters(const BsFilter *f, const BsParameters *given)
{
	if (f->structure == BS_STRUCTURE_LAYERED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of keys, false-positive rate, layers and span must be the same"
						" for all rows")));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("number of keys and false-positive rate must be the same for all rows"),
			 errdetail("They were " UINT64_FORMAT " and %.15g, and are " INT64_FORMAT " and %.15g.",
					   f->n, f->p, given->n, given->p)));
}

void
bs_require_same_parameters(const BsFilter *f, const BsParameters *given)
{
	if (unlikely((int64) f->n != given->n || f->p != given->p))
		other_parameters(f, given);
	if (unlikely(f->structure == BS_STRUCTURE_LAYERED) && !bs_layered_has_own(f, given->own))
		other_parameters(f, given);
}

void
bs_null_parameters(void)
{
	ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					errmsg("number of keys and false-positive rate must not be null")));
}

/* n and p are arguments of every row, but one filter has one of each. */
BsParameters
bs_get_parameters(FunctionCallInfo fcinfo, int argno)
{
	if (PG_ARGISNULL(argno) || PG_ARGISNULL(argno + 1))
		bs_null_parameters();
	return (BsParameters){.n = PG_GETARG_INT64(argno), .p = PG_GETARG_FLOAT8(argno + 1)};
}

static BsFilter *
new_filter(const BsStructure *structure, const BsParameters *parameters)
{
	BsFilter header = {.n = (uint64) parameters->n, .p = parameters->p};

	memcpy(header.own, parameters->own, sizeof(header.own));
	return bs_new_from(structure, &header);
}

/* ---- from values ---- */

static BuildState *
new_state(MemoryContext context, BsFilter *filter)
{
	BuildState *state = MemoryContextAllocZero(context, sizeof(BuildState));

	state->filter = filter;
	if (filter->structure == BS_STRUCTURE_BLOOM && VARSIZE(filter) >= PENDING_FROM_BYTES)
		state->pending = MemoryContextAlloc(context, PENDING_KEYS * sizeof(uint64));
	return state;
}

static void
flush(BuildState *state)
{
	bs_filter_add_many(state->filter, state->pending, state->npending);
	state->npending = 0;
}

void
bs_add_growing(BsFilter **f, const BsProbe *probe)
{
	BsFilter *before = *f;
	bool changed;

	*f = bs_add_probe(before, probe, &changed);
	if (*f != before)
		pfree(before);
}

static void
add_otherwise(BuildState *state, MemoryContext context, const BsProbe *probe)
{
	MemoryContext caller = MemoryContextSwitchTo(context);

	bs_add_growing(&state->filter, probe);
	MemoryContextSwitchTo(caller);
}

static inline void
add(BuildState *state, const BsProbe *probe)
{
	if (state->pending)
	{
		state->pending[state->npending++] = probe->hash;
		if (state->npending == PENDING_KEYS)
			flush(state);
	}
	else if (state->filter->structure == BS_STRUCTURE_BLOOM)
		bs_filter_add(state->filter, probe->hash);
	else
		add_otherwise(state, GetMemoryChunkContext(state), probe);
}

static BuildState *
getarg_state(FunctionCallInfo fcinfo, int argno)
{
	return PG_ARGISNULL(argno) ? NULL : (BuildState *) PG_GETARG_POINTER(argno);
}

Datum
bs_build(FunctionCallInfo fcinfo, const BsStructure *structure, const BsParameters *parameters,
		 int64 at)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BuildState *state = getarg_state(fcinfo, 0);
	BsKeyMaker *maker;
	BsProbe probe;
	BsKey key;

	if (state)
		bs_require_same_parameters(state->filter, parameters);
	else
	{
		/* a state that is there can only come from an aggregate */
		MemoryContext context = bs_aggregate_context(fcinfo);
		MemoryContext caller = MemoryContextSwitchTo(context);

		state = new_state(context, new_filter(structure, parameters));
		MemoryContextSwitchTo(caller);
	}
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);

	maker = bs_arg_key_maker(site, fcinfo, 1);
	key = bs_make_key(maker, PG_GETARG_DATUM(1));
	bs_adopt_key_type(state->filter, &key, maker);
	probe.hash = key.hash;
	probe.at = at;
	add(state, &probe);
	PG_RETURN_POINTER(state);
}

/* (internal, key "any", n bigint, p float8) -> internal */
Datum
bs_agg_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = bs_get_parameters(fcinfo, 2);

	return bs_build(fcinfo, &bs_bloom, &parameters, 0);
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
		BsParameters parameters = {
			(int64) b->filter->n, b->filter->p, {b->filter->own[0], b->filter->own[1]}};
		MemoryContext caller = MemoryContextSwitchTo(context);
		BsFilter *united;

		bs_require_same_parameters(a->filter, &parameters);
		united = bs_unite_into("aggregate", a->filter, b->filter);
		if (united != a->filter)
			pfree(a->filter);
		a->filter = united;
		MemoryContextSwitchTo(caller);
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
	filter = bs_filter_from_external(NULL, PG_GETARG_BYTEA_PP(0));
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

Datum
bs_build_from_keys(FunctionCallInfo fcinfo, const BsStructure *structure,
				   const BsParameters *parameters, int64 at)
{
	BsFilter *state = getarg_filter_state(fcinfo);
	bool changed;

	if (state)
		bs_require_same_parameters(state, parameters);
	else
		state = new_filter(structure, parameters);
	if (!PG_ARGISNULL(1))
	{
		const BsKey *key = (const BsKey *) PG_GETARG_POINTER(1);
		BsProbe probe = {key->hash, at};

		bs_adopt_key_type(state, key, NULL);
		state = bs_add_probe(state, &probe, &changed);
	}
	PG_RETURN_POINTER(state);
}

/* (bloomfilter, key bfkey, n bigint, p float8) -> bloomfilter */
Datum
bs_agg_key_trans(PG_FUNCTION_ARGS)
{
	BsParameters parameters = bs_get_parameters(fcinfo, 2);

	return bs_build_from_keys(fcinfo, &bs_bloom, &parameters, 0);
}

/* The filter to be combined with the state; NULL and the result where there are not two. */
static const BsFilter *
getarg_filter(FunctionCallInfo fcinfo, BsFilter *state, Datum *result)
{
	const BsFilter *f;

	if (PG_ARGISNULL(1))
	{
		fcinfo->isnull = state == NULL;
		*result = PointerGetDatum(state);
		return NULL;
	}
	f = bs_fetch_once(PG_GETARG_DATUM(1));
	/* the executor copies it into the aggregate's memory */
	*result = PointerGetDatum(f);
	return state ? f : NULL;
}

/* Of one kind of filter; also combines states of aggregates over bfkey. */
Datum
bs_union_trans(PG_FUNCTION_ARGS)
{
	BsFilter *state = getarg_filter_state(fcinfo);
	Datum result;
	const BsFilter *f = getarg_filter(fcinfo, state, &result);

	if (f == NULL)
		return result;
	PG_RETURN_POINTER(bs_unite_into("bf_union_agg", state, f));
}

/* (bloomfilter, bloomfilter) -> bloomfilter */
Datum
bs_intersect_trans(PG_FUNCTION_ARGS)
{
	BsFilter *state = getarg_filter_state(fcinfo);
	Datum result;
	const BsFilter *f = getarg_filter(fcinfo, state, &result);

	if (f == NULL)
		return result;
	bs_require_compatible("bf_intersect_agg", bs_of_kind(&bs_bloom, state), f);
	bs_filter_intersect(state, f);
	PG_RETURN_POINTER(state);
}
