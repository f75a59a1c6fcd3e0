/*
 * maybe.c - bf_maybe, which asks maintained filters.
 */
#include "bloomset.h"

#include "access/relation.h"
#include "catalog/pg_inherits.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "fetch.h"
#include "tracked.h"

PG_FUNCTION_INFO_V1(bs_maybe);
PG_FUNCTION_INFO_V1(bs_maybe_in);

/* Writes that no trigger of the table sees would be missed: rather an error. */
static void
require_current(Relation source, Oid maintain, const char *column)
{
	static const struct
	{
		BsTriggerKind kind;
		const char *detail;
	} needed[] = {
		{BS_ON_INSERT, "No trigger adds the keys that INSERT brings."},
		{BS_ON_UPDATE, "No trigger adds the keys that UPDATE brings."},
		{BS_HOLDS_TABLE, "No trigger keeps the table from being written as a partition."}};
	const TriggerDesc *triggers = source->trigdesc;

	for (size_t i = 0; i < lengthof(needed); i++)
		if (bs_find_trigger(source, maintain, column, needed[i].kind) == NULL)
			bs_not_current(source, column, needed[i].detail);
	bs_require_same_column(source, maintain, column);
	for (int i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (bs_is_tracking(trigger, maintain, column) &&
			(trigger->tgenabled == TRIGGER_DISABLED ||
			 trigger->tgenabled == TRIGGER_FIRES_ON_REPLICA))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("trigger \"%s\" of table \"%s\" is disabled, so the filters of column"
							" \"%s\" are not current",
							trigger->tgname, RelationGetRelationName(source), column),
					 errhint("CALL bf_rebuild, which enables it.")));
	}
	if (has_subclass(RelationGetRelid(source)) &&
		find_inheritance_children(RelationGetRelid(source), NoLock) != NIL)
		bs_not_current(source, column,
					   "The table is inherited, and rows of its children are not in them.");
}

static Oid
find_filters(Oid relation, const char *column, Oid own_namespace)
{
	Relation source = try_relation_open(relation, AccessShareLock);
	Oid maintain = bs_maintain_function(own_namespace);
	BsTracked tracked;
	Oid table;

	if (source == NULL)
		bs_no_such_table(relation);
	tracked = bs_require_tracking(source, maintain, column);
	table = bs_table_of_filters(source, &tracked);
	require_current(source, maintain, column);
	relation_close(source, AccessShareLock);
	return table;
}

/* By the snapshot of the query, which agrees with what it sees of the source. */
static bool
ask(FunctionCallInfo fcinfo, int key_argument, Oid table, Oid own_namespace)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyMaker *maker = bs_arg_key_maker(site, fcinfo, key_argument);
	BsKey key = bs_make_key(maker, PG_GETARG_DATUM(key_argument));
	Datum value = PointerGetDatum(&key);
	BsProbe probe = {key.hash, 0};
	const BsStructure *kind;
	BsReader reader;
	bool isnull;
	bool result;

	SPI_connect();
	if (SPI_execute_plan(bs_statement(BS_READ_SHARD, table, own_namespace), &value, NULL, true, 1) <
		0)
		elog(ERROR, "could not read maintained filters");
	if (SPI_processed == 0)
		bs_missing_shard(table);
	kind = bs_kind_of_type(SPI_gettypeid(SPI_tuptable->tupdesc, 1), own_namespace);
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	if (kind == NULL || !bs_can_be_maintained(kind) || isnull)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table \"%s\" is not one of maintained filters", get_rel_name(table))));
	bs_open(&reader, site, value);
	result = bs_check_key_type(reader.header, &key, maker) && bs_reader_contains(&reader, &probe);
	SPI_finish();
	return result;
}

/* bf_maybe(source regclass, column_name name, key "any") -> boolean */
Datum
bs_maybe(PG_FUNCTION_ARGS)
{
	Oid own_namespace = bs_own_namespace(fcinfo);
	Oid table = find_filters(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), own_namespace);

	PG_RETURN_BOOL(ask(fcinfo, 2, table, own_namespace));
}

/* bf_maybe(filters regclass, key "any") -> boolean */
Datum
bs_maybe_in(PG_FUNCTION_ARGS)
{
	Oid own_namespace = bs_own_namespace(fcinfo);
	Oid table = PG_GETARG_OID(0);

	if (get_rel_name(table) == NULL)
		bs_no_such_table(table);
	(void) bs_kind_of_filters(table, own_namespace);
	PG_RETURN_BOOL(ask(fcinfo, 1, table, own_namespace));
}
