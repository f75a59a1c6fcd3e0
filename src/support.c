/*
 * support.c - what the planner is told about bf_contains: its selectivity.
 *
 * Where the filter is a constant, or is built by an InitPlan whose estimates are
 * known, the share of rows that pass follows from the number of its keys and the
 * column's number of distinct values.  Two cases are special:
 *
 * - A join that is pre-screened: the filter is built from a table that the query
 *   joins.  The join's own selectivity says already that few rows match; counted
 *   twice it would make the planner believe in too few rows above the join.  So the
 *   filter is taken to pass everything, and the plan is the one without it.
 * - Nothing is known of the filter (it comes from a table): one half, so that
 *   neither bf_contains nor NOT bf_contains is thought to leave next to nothing.
 */
#include "bloomset.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "fetch.h"

PG_FUNCTION_INFO_V1(bs_contains_support);

#define UNKNOWN_SELECTIVITY 0.5

/* What is known of a filter. */
typedef struct Known
{
	double keys; /* distinct ones */
	double rate; /* of false positives */
} Known;

/* PostgreSQL 14 added the planner's data as an argument. */
static Relids
varnos_of(PlannerInfo *root, Node *node)
{
#if PG_VERSION_NUM >= 140000
	return pull_varnos(root, node);
#else
	(void) root;
	return pull_varnos(node);
#endif
}

/* ---- the number of distinct values of an expression ---- */

static double
distinct_values(PlannerInfo *root, Node *node, int varRelid, double *nullfrac)
{
	VariableStatData vardata;
	bool isdefault;
	double distinct;

	examine_variable(root, node, varRelid, &vardata);
	distinct = get_variable_numdistinct(&vardata, &isdefault);
	*nullfrac = HeapTupleIsValid(vardata.statsTuple)
					? ((Form_pg_statistic) GETSTRUCT(vardata.statsTuple))->stanullfrac
					: 0;
	ReleaseVariableStats(vardata);
	return isdefault ? 0 : distinct;
}

/* ---- constant filters ---- */

static void
know_constant(Const *constant, Known *known)
{
	const BsFilter *f;

	known->keys = known->rate = 0;
	if (constant->constisnull)
		return;
	f = bs_fetch_once(constant->constvalue);
	known->keys = bs_structure_of(f)->count(f);
	known->rate = bs_structure_of(f)->rate(f);
}

/* ---- filters that an InitPlan builds ---- */

/* The planner's data of the subquery that sets the parameter, NULL if none does. */
static PlannerInfo *
find_initplan(PlannerInfo *root, int paramid)
{
	for (PlannerInfo *level = root; level != NULL; level = level->parent_root)
	{
		ListCell *lc;

		foreach (lc, level->init_plans)
		{
			SubPlan *subplan = (SubPlan *) lfirst(lc);

			if (list_member_int(subplan->setParam, paramid))
				return list_nth(root->glob->subroots, subplan->plan_id - 1);
		}
	}
	return NULL;
}

static bool
constant_argument(Aggref *aggref, int argno, Oid type, Datum *value)
{
	TargetEntry *entry = list_nth(aggref->args, argno);
	Const *constant = (Const *) entry->expr;

	if (!IsA(constant, Const) || constant->constisnull || constant->consttype != type)
		return false;
	*value = constant->constvalue;
	return true;
}

/* An aggregate of this extension that builds a filter from keys. */
static bool
is_bf_agg(Node *node)
{
	Aggref *aggref = (Aggref *) node;
	Oid extension = get_extension_oid("bloomset", true);
	char *name;

	if (!IsA(aggref, Aggref) || !OidIsValid(extension) ||
		getExtensionOfObject(ProcedureRelationId, aggref->aggfnoid) != extension)
		return false;
	name = get_func_name(aggref->aggfnoid);
	return name != NULL && strcmp(name, "bf_agg") == 0;
}

/* bf_agg over one table: not more keys than rows, distinct values, or n. */
static bool
know_built(PlannerInfo *subroot, Known *known)
{
	Query *query = subroot->parse;
	Aggref *aggref = (Aggref *) linitial_node(TargetEntry, query->targetList)->expr;
	RelOptInfo *rel;
	double nullfrac;
	double distinct;
	int nargs;
	Datum value;

	if (!is_bf_agg((Node *) aggref) || query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || aggref->aggfilter != NULL ||
		subroot->simple_rel_array_size != 2 || (rel = subroot->simple_rel_array[1]) == NULL)
		return false;

	/* args may have more, to sort by */
	nargs = list_length(aggref->aggargtypes);
	known->rate = BS_DEFAULT_RATE;
	if (nargs >= 2 && constant_argument(aggref, nargs - 1, FLOAT8OID, &value))
		known->rate = DatumGetFloat8(value);
	known->keys = rel->rows;
	if (nargs == 3 && constant_argument(aggref, 1, INT8OID, &value))
		known->keys = Min(known->keys, (double) DatumGetInt64(value));
	distinct = distinct_values(subroot, (Node *) linitial_node(TargetEntry, aggref->args)->expr, 0,
							   &nullfrac);
	if (distinct > 0)
		known->keys = Min(known->keys, distinct);
	return true;
}

static bool
reads_table(PlannerInfo *subroot, Oid table)
{
	ListCell *lc;

	foreach (lc, subroot->parse->rtable)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, lc);

		if (entry->rtekind == RTE_RELATION && entry->relid == table)
			return true;
	}
	return false;
}

/* Whether one of the subquery's tables is joined to the one whose rows are asked
 * for, in the query or in one around it. */
static bool
is_prescreen(PlannerInfo *root, PlannerInfo *subroot, Node *key)
{
	Relids asked = varnos_of(root, key);

	for (PlannerInfo *level = root; level != NULL; level = level->parent_root)
	{
		int varno = 0;
		ListCell *lc;

		foreach (lc, level->parse->rtable)
		{
			RangeTblEntry *entry = lfirst_node(RangeTblEntry, lc);

			varno++;
			if (entry->rtekind == RTE_RELATION && reads_table(subroot, entry->relid) &&
				!(level == root && bms_is_member(varno, asked)))
				return true;
		}
	}
	return false;
}

/* ---- the selectivity ---- */

static double
selectivity(SupportRequestSelectivity *request)
{
	PlannerInfo *root = request->root;
	Node *filter = estimate_expression_value(root, linitial(request->args));
	Node *key = lsecond(request->args);
	Known known;
	double nullfrac;
	double distinct;
	double members;

	if (IsA(filter, Const))
		know_constant((Const *) filter, &known);
	else if (IsA(filter, Param) && ((Param *) filter)->paramkind == PARAM_EXEC)
	{
		PlannerInfo *subroot = find_initplan(root, ((Param *) filter)->paramid);

		if (subroot == NULL || subroot->parse->targetList == NIL)
			return UNKNOWN_SELECTIVITY;
		if (is_prescreen(root, subroot, key))
			return 1;
		if (!know_built(subroot, &known))
			return UNKNOWN_SELECTIVITY;
	}
	else
		return UNKNOWN_SELECTIVITY;

	distinct = distinct_values(root, key, request->varRelid, &nullfrac);
	if (known.keys <= 0)
		members = 0;
	else if (distinct <= 0)
		return UNKNOWN_SELECTIVITY;
	else
		members = Min(1, known.keys / distinct);
	return (1 - nullfrac) * (members + (1 - members) * Min(known.rate, 1));
}

/* Planner support function of bf_contains. */
Datum
bs_contains_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *selectivity_request = (SupportRequestSelectivity *) request;

		selectivity_request->selectivity = selectivity(selectivity_request);
		CLAMP_PROBABILITY(selectivity_request->selectivity);
		PG_RETURN_POINTER(request);
	}
	PG_RETURN_POINTER(NULL);
}
