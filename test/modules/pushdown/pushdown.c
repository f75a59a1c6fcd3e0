/*
 * pushdown.c - calls aggregates as an engine does that spreads them over machines.
 *
 * A worker aggregates its rows and hands its state over as text, by the output function
 * of the state's type; the coordinator reads the texts, combines the states and
 * finishes.  All is looked up by the aggregate's OID, and every function is called
 * through an FmgrInfo made for that one call: without an expression tree, and with
 * nothing left in fn_extra from the row before.
 *
 *   partial_agg(aggregate oid, VARIADIC arguments) -> text of the state
 *   combine_agg(aggregate oid, text of a state, NULL of the result's type) -> the result
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(pushdown_partial_trans);
PG_FUNCTION_INFO_V1(pushdown_partial_final);
PG_FUNCTION_INFO_V1(pushdown_combine_trans);
PG_FUNCTION_INFO_V1(pushdown_combine_final);

typedef struct Running
{
	Oid transition;
	Oid combine;
	Oid final;
	Oid type;
	int16 length;
	bool by_value;
	Datum state;
	bool is_null;
} Running;

static Running *
begin(MemoryContext context, Oid aggregate)
{
	Running *running = MemoryContextAllocZero(context, sizeof(Running));
	HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;
	bool no_initial;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "%u is not an aggregate", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	(void) SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &no_initial);
	if (form->aggtranstype == INTERNALOID || form->aggcombinefn == InvalidOid || !no_initial ||
		form->aggkind != AGGKIND_NORMAL)
		elog(ERROR, "%s cannot be pushed down", format_procedure(aggregate));
	running->transition = form->aggtransfn;
	running->combine = form->aggcombinefn;
	running->final = form->aggfinalfn;
	running->type = form->aggtranstype;
	running->is_null = true;
	get_typlenbyval(running->type, &running->length, &running->by_value);
	ReleaseSysCache(tuple);
	return running;
}

/* One step: state = function(state, inputs), the new state kept in the aggregate's memory. */
static void
advance(FunctionCallInfo outer, MemoryContext context, Running *running, Oid function,
		const NullableDatum *inputs, int count)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	FmgrInfo once;
	Datum result;

	fmgr_info(function, &once);
	for (int i = 0; once.fn_strict && i < count; i++)
		if (inputs[i].isnull)
			return;
	if (once.fn_strict && running->is_null)
	{
		/* the first input is the first state */
		MemoryContext caller = MemoryContextSwitchTo(context);

		running->state = datumCopy(inputs[0].value, running->by_value, running->length);
		running->is_null = false;
		MemoryContextSwitchTo(caller);
		return;
	}

	InitFunctionCallInfoData(*call, &once, (short) (count + 1), outer->fncollation, outer->context,
							 NULL);
	call->args[0].value = running->state;
	call->args[0].isnull = running->is_null;
	for (int i = 0; i < count; i++)
		call->args[i + 1] = inputs[i];
	result = FunctionCallInvoke(call);

	if (!running->by_value && DatumGetPointer(result) != DatumGetPointer(running->state))
	{
		Datum before = running->state;

		if (!call->isnull)
		{
			MemoryContext caller = MemoryContextSwitchTo(context);

			result = datumCopy(result, false, running->length);
			MemoryContextSwitchTo(caller);
		}
		if (!running->is_null)
			pfree(DatumGetPointer(before));
	}
	running->state = result;
	running->is_null = call->isnull;
}

static Running *
getarg_running(FunctionCallInfo fcinfo, MemoryContext *context)
{
	if (!AggCheckCallContext(fcinfo, context))
		elog(ERROR, "not called as an aggregate");
	if (PG_ARGISNULL(0))
		return begin(*context, PG_GETARG_OID(1));
	return (Running *) PG_GETARG_POINTER(0);
}

/* (internal, aggregate oid, VARIADIC "any") -> internal */
Datum
pushdown_partial_trans(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	Running *running = getarg_running(fcinfo, &context);

	advance(fcinfo, context, running, running->transition, &fcinfo->args[2], PG_NARGS() - 2);
	PG_RETURN_POINTER(running);
}

/* (internal) -> text */
Datum
pushdown_partial_final(PG_FUNCTION_ARGS)
{
	Running *running = PG_ARGISNULL(0) ? NULL : (Running *) PG_GETARG_POINTER(0);
	Oid output;
	bool is_varlena;

	if (running == NULL || running->is_null)
		PG_RETURN_NULL();
	getTypeOutputInfo(running->type, &output, &is_varlena);
	PG_RETURN_TEXT_P(cstring_to_text(OidOutputFunctionCall(output, running->state)));
}

/* (internal, aggregate oid, state text, anyelement) -> internal */
Datum
pushdown_combine_trans(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	Running *running = getarg_running(fcinfo, &context);
	NullableDatum state = {.isnull = PG_ARGISNULL(2)};

	if (!state.isnull)
	{
		Oid input;
		Oid parameter;

		getTypeInputInfo(running->type, &input, &parameter);
		state.value =
			OidInputFunctionCall(input, text_to_cstring(PG_GETARG_TEXT_PP(2)), parameter, -1);
	}
	advance(fcinfo, context, running, running->combine, &state, 1);
	PG_RETURN_POINTER(running);
}

/* (internal, aggregate oid, state text, anyelement) -> anyelement; the last three are NULL */
Datum
pushdown_combine_final(PG_FUNCTION_ARGS)
{
	Running *running = PG_ARGISNULL(0) ? NULL : (Running *) PG_GETARG_POINTER(0);
	LOCAL_FCINFO(call, 1);
	FmgrInfo once;
	Datum result;

	if (running == NULL)
		PG_RETURN_NULL();
	if (running->final == InvalidOid)
	{
		fcinfo->isnull = running->is_null;
		return running->state;
	}
	fmgr_info(running->final, &once);
	if (once.fn_strict && running->is_null)
		PG_RETURN_NULL();
	InitFunctionCallInfoData(*call, &once, 1, fcinfo->fncollation, fcinfo->context, NULL);
	call->args[0].value = running->state;
	call->args[0].isnull = running->is_null;
	result = FunctionCallInvoke(call);
	fcinfo->isnull = call->isnull;
	return result;
}
