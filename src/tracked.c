/*
 * tracked.c - what maintained filters consist of: see tracked.h.
 */
#include "bloomset.h"

#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "tracked.h"

/* ---- triggers ---- */

static int32
parse_number(const char *text, int32 least)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || number < least || number > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" of bf_maintain is not a number from %d on", text, least)));
	return (int32) number;
}

BsTracked
bs_tracked(const Trigger *trigger)
{
	BsTracked tracked = {0};

	if (trigger->tgnargs != 4 && trigger->tgnargs != 6)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("trigger \"%s\" does not have the arguments of bf_maintain", trigger->tgname),
			 errdetail("They are column, table of filters, generation and number of shards"
					   " (and those of a generation that is being built)."),
			 errhint("bf_track creates such triggers.")));
	/* copies: looking into catalogs may bring news about the table, and other triggers */
	tracked.column = pstrdup(trigger->tgargs[0]);
	tracked.table = pstrdup(trigger->tgargs[1]);
	for (int i = 2; i < trigger->tgnargs; i += 2)
		tracked.generations[tracked.ngenerations++] = (BsGeneration){
			parse_number(trigger->tgargs[i], 0), parse_number(trigger->tgargs[i + 1], 1)};
	return tracked;
}

bool
bs_is_tracking(const Trigger *trigger, Oid maintain, const char *column)
{
	return trigger->tgfoid == maintain && trigger->tgnargs > 0 &&
		   strcmp(trigger->tgargs[0], column) == 0;
}

static BsTriggerKind
kind_of_trigger(const Trigger *trigger)
{
	if (TRIGGER_FOR_ROW(trigger->tgtype))
		return BS_HOLDS_TABLE;
	if (trigger->tgnattr > 0)
		return BS_HOLDS_COLUMN;
	if (TRIGGER_FOR_INSERT(trigger->tgtype))
		return BS_ON_INSERT;
	if (TRIGGER_FOR_UPDATE(trigger->tgtype))
		return BS_ON_UPDATE;
	return TRIGGER_FOR_DELETE(trigger->tgtype) ? BS_ON_DELETE : BS_ON_TRUNCATE;
}

const Trigger *
bs_find_trigger(Relation source, Oid maintain, const char *column, BsTriggerKind kind)
{
	const TriggerDesc *triggers = source->trigdesc;

	for (int i = 0; triggers && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (bs_is_tracking(trigger, maintain, column) &&
			(kind == BS_TRIGGER_KINDS || kind == kind_of_trigger(trigger)))
			return trigger;
	}
	return NULL;
}

void
bs_not_current(Relation source, const char *column, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("filters of column \"%s\" of table \"%s\" are not current", column,
					RelationGetRelationName(source)),
			 errdetail_internal("%s", detail),
			 errhint("CALL bf_rebuild, or bf_untrack where that is not possible any more.")));
}

/* The trigger goes with its column, and follows it when that is renamed. */
void
bs_require_same_column(Relation source, Oid maintain, const char *column)
{
	const Trigger *holds = bs_find_trigger(source, maintain, column, BS_HOLDS_COLUMN);

	if (holds == NULL || SPI_fnumber(RelationGetDescr(source), column) != holds->tgattr[0])
		bs_not_current(
			source, column,
			"The column of this name may be another one than that whose keys they have.");
}

BsKeyMaker *
bs_column_key_maker(Relation source, int attnum)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(source), attnum - 1);

	return bs_key_maker(attribute->atttypid, attribute->attcollation, CurrentMemoryContext);
}

uint32
bs_column_key_type(Relation source, int attnum)
{
	const BsKeyMaker *maker = bs_column_key_maker(source, attnum);

	return maker->has_records ? BS_KEY_NONE : maker->key_type;
}

BsTracked
bs_require_tracking(Relation source, Oid maintain, const char *column)
{
	const Trigger *trigger = bs_find_trigger(source, maintain, column, BS_TRIGGER_KINDS);

	if (trigger == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						errmsg("column \"%s\" of table \"%s\" is not tracked", column,
							   RelationGetRelationName(source)),
						errhint("CALL bf_track to have filters of it maintained.")));
	return bs_tracked(trigger);
}

/* ---- tables of filters ---- */

void
bs_no_such_table(Oid table)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("table with OID %u does not exist", table)));
}

Oid
bs_table_of_filters(Relation source, const BsTracked *tracked)
{
	Oid table = get_relname_relid(tracked->table, RelationGetNamespace(source));

	if (!OidIsValid(table))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
						errmsg("table \"%s\" of the filters of column \"%s\" does not exist in the"
							   " schema of table \"%s\"",
							   tracked->table, tracked->column, RelationGetRelationName(source)),
						errhint("CALL bf_untrack to do without the filters.")));
	return table;
}

const BsStructure *
bs_kind_of_type(Oid type, Oid own_namespace)
{
	const BsStructure *structure;

	/* numbered from 1 */
	for (uint8 i = 1; OidIsValid(type) && (structure = bs_structure(i)) != NULL; i++)
		if (type == bs_own_type(own_namespace, structure->type_name))
			return structure;
	return NULL;
}

const BsStructure *
bs_kind_of_filters(Oid table, Oid own_namespace)
{
	AttrNumber column = get_attnum(table, "f");
	Oid type = column == InvalidAttrNumber ? InvalidOid : get_atttype(table, column);
	const BsStructure *structure = bs_kind_of_type(type, own_namespace);

	if (structure == NULL || !bs_can_be_maintained(structure))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("table \"%s\" has no column \"f\" of filters that can be maintained",
							   get_rel_name(table))));
	return structure;
}

/* ---- names ---- */

Oid
bs_own_namespace(FunctionCallInfo fcinfo)
{
	return get_func_namespace(fcinfo->flinfo->fn_oid);
}

const char *
bs_own_name(Oid own_namespace, const char *name)
{
	return quote_qualified_identifier(get_namespace_name(own_namespace), name);
}

Oid
bs_own_type(Oid own_namespace, const char *name)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(name),
						   ObjectIdGetDatum(own_namespace));
}

Oid
bs_maintain_function(Oid own_namespace)
{
	oidvector *none = buildoidvector(NULL, 0);
	Oid function =
		GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, PointerGetDatum("bf_maintain"),
						PointerGetDatum(none), ObjectIdGetDatum(own_namespace));

	pfree(none);
	return function;
}

const char *
bs_beside(Relation source, const char *table)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(source)), table);
}

/* ---- statements ---- */

typedef struct KeptKey
{
	Oid table;
	BsStatement statement;
} KeptKey;

typedef struct KeptPlan
{
	KeptKey key;
	char *sql;
	SPIPlanPtr plan;
} KeptPlan;

static HTAB *kept_plans;
static List *forgotten; /* plans, freed at the end of the transaction */

#define EQUALS " OPERATOR(pg_catalog.=) "
#define OF_SHARD " WHERE generation" EQUALS "$1 AND shard" EQUALS "$2"

static char *
statement_sql(BsStatement statement, const char *table, Oid own_namespace)
{
	const char *add = bs_own_name(own_namespace, "bf_add_all");

	switch (statement)
	{
		case BS_ADD_KEYS:
			return psprintf("UPDATE %s SET f = %s(f, $3)" OF_SHARD " AND NOT %s(f, $3)", table, add,
							bs_own_name(own_namespace, "bf_contains_all"));
		case BS_CHANGE_KEYS:
			return psprintf("UPDATE %s SET f = %s(%s(f, $4), $3)" OF_SHARD, table, add,
							bs_own_name(own_namespace, "bf_remove_all"));
		case BS_FIND_KEYS:
			return psprintf("SELECT FROM %s" OF_SHARD " AND %s(f, $3)", table,
							bs_own_name(own_namespace, "bf_contains_all"));
		case BS_READ_SHARD:
			return psprintf("SELECT t.f FROM (SELECT generation, shards FROM %s"
							" ORDER BY generation LIMIT 1) AS g, %s AS t"
							" WHERE t.generation" EQUALS "g.generation"
							" AND t.shard" EQUALS "%s($1, g.shards)",
							table, table, bs_own_name(own_namespace, "bf_shard"));
	}
	pg_unreachable();
}

static SPIPlanPtr
prepare(BsStatement statement, const char *sql, Oid own_namespace)
{
	Oid key = bs_own_type(own_namespace, "bfkey");
	Oid keys = get_array_type(key);
	Oid of_shard[] = {INT4OID, INT4OID, keys, keys};
	bool by_key = statement == BS_READ_SHARD;
	int narguments = by_key ? 1 : statement == BS_CHANGE_KEYS ? 4 : 3;
	SPIPlanPtr plan =
		SPI_prepare_cursor(sql, narguments, by_key ? &key : of_shard, CURSOR_OPT_GENERIC_PLAN);

	if (plan == NULL || SPI_keepplan(plan) != 0)
		elog(ERROR, "could not prepare \"%s\": %s", sql, SPI_result_code_string(SPI_result));
	return plan;
}

/* A trigger of a table of filters may have it renamed while a plan of it runs. */
static void
free_forgotten(XactEvent event, void *argument)
{
	ListCell *cell;

	(void) argument;
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	foreach (cell, forgotten)
		SPI_freeplan(lfirst(cell));
	list_free(forgotten);
	forgotten = NIL;
}

static void
forget(KeptPlan *kept)
{
	MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);

	forgotten = lappend(forgotten, kept->plan);
	MemoryContextSwitchTo(caller);
	pfree(kept->sql);
	hash_search(kept_plans, &kept->key, HASH_REMOVE, NULL);
}

/* Those of tables that have been dropped. */
static void
forget_dropped(void)
{
	HASH_SEQ_STATUS scan;
	KeptPlan *kept;

	hash_seq_init(&scan, kept_plans);
	while ((kept = hash_seq_search(&scan)) != NULL)
		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(kept->key.table)))
			forget(kept);
}

/* Nothing need be locked yet: the table may have been dropped just now. */
static const char *
name_of_filters(Oid table)
{
	char *name = get_rel_name(table);
	char *schema = get_namespace_name(get_rel_namespace(table));

	if (name == NULL || schema == NULL)
		bs_no_such_table(table);
	return quote_qualified_identifier(schema, name);
}

/* The text tells whether a table or schema has another name by now. */
SPIPlanPtr
bs_statement(BsStatement statement, Oid table, Oid own_namespace)
{
	char *sql = statement_sql(statement, name_of_filters(table), own_namespace);
	KeptKey key = {table, statement};
	KeptPlan *kept;
	SPIPlanPtr plan;

	if (kept_plans == NULL)
	{
		HASHCTL control = {.keysize = sizeof(KeptKey), .entrysize = sizeof(KeptPlan)};

		RegisterXactCallback(free_forgotten, NULL);
		kept_plans = hash_create("bloomset statements", 16, &control, HASH_ELEM | HASH_BLOBS);
	}
	kept = hash_search(kept_plans, &key, HASH_FIND, NULL);
	if (kept && strcmp(kept->sql, sql) == 0)
		return kept->plan;

	if (kept)
		forget(kept);
	forget_dropped();
	plan = prepare(statement, sql, own_namespace);
	sql = MemoryContextStrdup(CacheMemoryContext, sql);
	kept = hash_search(kept_plans, &key, HASH_ENTER, NULL);
	kept->sql = sql;
	kept->plan = plan;
	return plan;
}

void
bs_run(const char *sql)
{
	int result = SPI_execute(sql, false, 0);

	if (result < 0)
		elog(ERROR, "could not run \"%s\": %s", sql, SPI_result_code_string(result));
}

void
bs_missing_shard(Oid table)
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						errmsg("could not serialize access due to filters that were built since"),
						errdetail("The snapshot of this transaction is older than the filters in"
								  " table \"%s\".",
								  get_rel_name(table)),
						errhint("The transaction might succeed if retried.")));
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("a shard is missing in table \"%s\" of maintained filters",
						   get_rel_name(table)),
					errhint("CALL bf_rebuild to build its filters again.")));
}
