/*
 * track.c - bf_track, bf_untrack and bf_rebuild: setting up maintained filters.
 *
 * All is done in SQL, with the privileges of the caller; names are qualified and
 * quoted, so that no search_path leads elsewhere.
 */
#include "bloomset.h"

#include <math.h>

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "tracked.h"

PG_FUNCTION_INFO_V1(bs_track);
PG_FUNCTION_INFO_V1(bs_untrack);
PG_FUNCTION_INFO_V1(bs_rebuild);

/* Such a filter stays inside its row, and four to six of them fit into a page. */
#define USUAL_FILTER_BYTES 1024
#define MAX_SHARDS (1 << 24)

/* CREATE OR REPLACE TRIGGER lets readers pass; before PostgreSQL 14 there is none. */
#if PG_VERSION_NUM >= 140000
#define REPLACE_LOCK ShareRowExclusiveLock
#else
#define REPLACE_LOCK AccessExclusiveLock
#endif

/* What all statements are about. */
typedef struct Source
{
	Oid own_namespace;
	Oid maintain; /* the function bf_maintain */
	Oid relid;
	const char *name; /* fit for SQL, as the other two */
	const char *column;
	const char *table;		 /* of filters */
	const char *column_name; /* as they are */
	const char *table_name;
} Source;

/* The filters of a generation. */
typedef struct ShardPlan
{
	const BsStructure *structure;
	int64 n; /* keys of each filter */
	double p;
	BsGeneration generation;
	BsFilter *empty;
} ShardPlan;

/* ---- sizes ---- */

/*
 * More keys than the average a shard is made for.  The keys of a shard are about
 * Poisson distributed, and the rate grows faster than their number: its mean is made
 * up for by e / 2 - ln 2 keys, e = -ln p (doc/shards.md).  Half the binary logarithm
 * is more than that.
 */
static int64
margin(double p, int64 shards)
{
	int exponent;

	(void) frexp(p, &exponent);
	return shards > 1 ? (1 - exponent) / 2 : 0;
}

static bool
fits_row(const BsStructure *structure, int64 n, double p)
{
	BsFilter header = {.n = (uint64) n, .p = p};
	uint64 size;

	return structure->plan(&header, &size) == BS_SIZING_OK && size <= USUAL_FILTER_BYTES;
}

/* The most keys of a filter of the usual size. */
static int64
keys_of_row(const BsStructure *structure, double p)
{
	int64 least = 1;
	int64 most = USUAL_FILTER_BYTES * 8;

	while (least < most)
	{
		int64 middle = (least + most + 1) / 2;

		if (fits_row(structure, middle, p))
			least = middle;
		else
			most = middle - 1;
	}
	return least;
}

static int64
divide_up(int64 a, int64 b)
{
	return a / b + (a % b != 0);
}

static int64
usual_shards(const BsStructure *structure, int64 n, double p)
{
	int64 keys = keys_of_row(structure, p);

	return n <= keys ? 1 : divide_up(n, Max(keys - margin(p, 2), 1));
}

/* For n keys in all, in shards of the usual size where their number is not given. */
static ShardPlan
make_plan(const BsStructure *structure, int64 n, double p, const int32 *given_shards,
		  uint32 key_type)
{
	ShardPlan plan = {.structure = structure, .p = p};
	int64 shards;

	/* its errors are about n and p */
	if (n < 1 || !(p >= BS_MIN_P && p < 1))
		(void) bs_new_filter(structure, n, p, 0);
	shards = given_shards ? *given_shards : usual_shards(structure, n, p);
	if (shards < 1 || shards > MAX_SHARDS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("number of shards must be from 1 to %d, not " INT64_FORMAT,
							   MAX_SHARDS, shards),
						given_shards ? 0 : errhint("Give a smaller number, for larger shards.")));
	plan.generation.shards = (int32) shards;
	plan.n = divide_up(n, shards) + margin(p, shards);
	plan.empty = bs_new_filter(structure, plan.n, p, 0);
	/* to ask a shard that holds no key yet for one of another type is an error, too */
	plan.empty->key_type = key_type;
	return plan;
}

/* The name of a function of this kind of filters: bf_agg, bf_agg_counting, ... */
static const char *
own_aggregate(const Source *source, const BsStructure *structure)
{
	const char *type = structure->type_name;
	char *name = structure == &bs_bloom
					 ? "bf_agg"
					 : psprintf("bf_agg_%.*s", (int) (strlen(type) - strlen("filter")), type);

	return bs_own_name(source->own_namespace, name);
}

/* ---- the table ---- */

static void
create_table(const Source *source, const ShardPlan *plan)
{
	bs_run(psprintf("CREATE TABLE %s (generation pg_catalog.int4, shards pg_catalog.int4 NOT NULL,"
					" shard pg_catalog.int4, f %s NOT NULL, PRIMARY KEY (generation, shard))"
					" WITH (fillfactor = 50)",
					source->table, bs_own_name(source->own_namespace, plan->structure->type_name)));
	bs_run(psprintf("COMMENT ON TABLE %s IS %s", source->table,
					quote_literal_cstr(psprintf("filters of column %s of table %s, kept current by"
												" bf_maintain",
												source->column, source->name))));
}

/* The source's owner, and whoever may write or read the source, may do so with the filters. */
static void
grant(const Source *source)
{
	char *owner = psprintf("SELECT pg_catalog.format('ALTER TABLE %%s OWNER TO %%I', %s,"
						   " pg_catalog.pg_get_userbyid(s.relowner))"
						   " FROM pg_catalog.pg_class AS s, pg_catalog.pg_class AS t"
						   " WHERE s.oid = %u AND t.oid = %s::pg_catalog.regclass"
						   " AND s.relowner <> t.relowner",
						   quote_literal_cstr(source->table), source->relid,
						   quote_literal_cstr(source->table));
	char *others = psprintf(
		"SELECT pg_catalog.format('GRANT SELECT%%s ON TABLE %%s TO %%s',"
		" CASE WHEN pg_catalog.bool_or(a.privilege_type <> 'SELECT') THEN ', UPDATE (f)' END, %s,"
		" CASE a.grantee WHEN 0 THEN 'PUBLIC'"
		" ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END)"
		" FROM pg_catalog.pg_class AS s, pg_catalog.aclexplode(s.relacl) AS a"
		" WHERE s.oid = %u AND NOT s.relrowsecurity AND a.grantee <> s.relowner"
		" AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE')"
		" GROUP BY a.grantee",
		quote_literal_cstr(source->table), source->relid);
	const char *queries[] = {owner, others};

	for (int i = 0; i < 2; i++)
	{
		SPITupleTable *statements;

		bs_run(queries[i]);
		statements = SPI_tuptable;
		for (uint64 j = 0, n = SPI_processed; j < n; j++)
			bs_run(SPI_getvalue(statements->vals[j], statements->tupdesc, 1));
	}
}

typedef enum Contents
{
	EMPTY,
	FROM_SOURCE,
} Contents;

/* The built filters of the source: (shard, f); $1 shards, $2 n, $3 p. */
static const char *
built_sql(const Source *source, const ShardPlan *plan)
{
	return psprintf(
		"SELECT %s(t.%s, $1) AS shard, %s(t.%s, $2, $3) AS f FROM ONLY %s AS t GROUP BY 1",
		bs_own_name(source->own_namespace, "bf_shard"), source->column,
		own_aggregate(source, plan->structure), source->column, source->name);
}

static void
run_with_plan(const Source *source, const ShardPlan *plan, const char *sql)
{
	Oid types[] = {INT4OID, INT8OID, FLOAT8OID, INT4OID,
				   bs_own_type(source->own_namespace, plan->structure->type_name)};
	Datum values[] = {Int32GetDatum(plan->generation.shards), Int64GetDatum(plan->n),
					  Float8GetDatum(plan->p), Int32GetDatum(plan->generation.number),
					  PointerGetDatum(plan->empty)};

	if (SPI_execute_with_args(sql, lengthof(types), types, values, NULL, false, 0) < 0)
		elog(ERROR, "could not run \"%s\"", sql);
}

static void
insert_generation(const Source *source, const ShardPlan *plan, Contents contents)
{
	const char *shards =
		psprintf("pg_catalog.generate_series(0, %d) AS s", plan->generation.shards - 1);
	const char *sql =
		contents == EMPTY
			? psprintf("INSERT INTO %s SELECT $4, $1, s, $5 FROM %s", source->table, shards)
			: psprintf("INSERT INTO %s SELECT $4, $1, s, COALESCE(b.f, $5)"
					   " FROM %s LEFT JOIN (%s) AS b ON b.shard OPERATOR(pg_catalog.=) s",
					   source->table, shards, built_sql(source, plan));

	run_with_plan(source, plan, sql);
}

static void
delete_others(const Source *source, int32 generation)
{
	bs_run(psprintf("DELETE FROM %s WHERE generation OPERATOR(pg_catalog.<>) %d", source->table,
					generation));
}

/* ---- the triggers ---- */

static const struct
{
	const char *event;
	const char *label; /* in the trigger's name */
	const char *transition_tables;
	const char *when;
	bool removes_only;
} events[BS_TRIGGER_KINDS] = {
	[BS_ON_INSERT] = {"INSERT", "insert", "REFERENCING NEW TABLE AS bf_new", "STATEMENT", false},
	[BS_ON_UPDATE] = {"UPDATE", "update", "REFERENCING OLD TABLE AS bf_old NEW TABLE AS bf_new",
					  "STATEMENT", false},
	[BS_ON_DELETE] = {"DELETE", "delete", "REFERENCING OLD TABLE AS bf_old", "STATEMENT", true},
	[BS_ON_TRUNCATE] = {"TRUNCATE", "truncate", "", "STATEMENT", false},
	[BS_HOLDS_COLUMN] = {"UPDATE OF", "column", "", "STATEMENT WHEN (false)", false},
	[BS_HOLDS_TABLE] = {"INSERT", "table", "REFERENCING NEW TABLE AS bf_new", "ROW WHEN (false)",
						false},
};

/* One that no other trigger of the table has: names are cut to 63 bytes. */
static char *
new_trigger_name(Relation rel, const char *column, const char *label)
{
	char *name = makeObjectName("bf", column, label);
	bool taken = true;

	for (int number = 1; taken; number++)
	{
		taken = false;
		for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
			taken = taken || strcmp(rel->trigdesc->triggers[i].tgname, name) == 0;
		if (taken)
			name = makeObjectName("bf", column, psprintf("%s%d", label, number));
	}
	return name;
}

static void
drop_triggers(const Source *source, Relation rel)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; rel->trigdesc && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];

		if (bs_is_tracking(trigger, source->maintain, source->column_name))
			appendStringInfo(&sql, "DROP TRIGGER %s ON %s;", quote_identifier(trigger->tgname),
							 source->name);
	}
	bs_run(sql.data);
	CommandCounterIncrement();
}

/*
 * For one generation, or for two of which the second is being built; in place of those
 * that there are.
 */
static void
create_triggers(const Source *source, Relation rel, const BsStructure *structure, int ngenerations,
				const BsGeneration *generations)
{
	StringInfoData arguments;

	initStringInfo(&arguments);
	appendStringInfo(&arguments, "%s, %s", quote_literal_cstr(source->column_name),
					 quote_literal_cstr(source->table_name));
	for (int i = 0; i < ngenerations; i++)
		appendStringInfo(&arguments, ", '%d', '%d'", generations[i].number, generations[i].shards);

	for (int i = 0; i < BS_TRIGGER_KINDS; i++)
	{
		const Trigger *former = bs_find_trigger(rel, source->maintain, source->column_name, i);
		const char *name;

		if (events[i].removes_only && structure->remove == NULL)
			continue;
		/* a copy, as looking into catalogs can bring other triggers */
		name = former ? pstrdup(former->tgname)
					  : new_trigger_name(rel, source->column_name, events[i].label);
		bs_run(psprintf("CREATE %s TRIGGER %s AFTER %s %s ON %s %s FOR EACH %s"
						" EXECUTE FUNCTION %s(%s)",
						former ? "OR REPLACE" : "", quote_identifier(name), events[i].event,
						i == BS_HOLDS_COLUMN ? source->column : "", source->name,
						events[i].transition_tables, events[i].when,
						bs_own_name(source->own_namespace, "bf_maintain"), arguments.data));
	}
}

/* ENABLE ALWAYS, which a new trigger has not, is for replicas that are written to. */
static bool
fires_always(const Source *source, Relation rel)
{
	for (int kind = 0; kind < BS_TRIGGER_KINDS; kind++)
	{
		const Trigger *trigger = bs_find_trigger(rel, source->maintain, source->column_name, kind);

		if (trigger && trigger->tgenabled == TRIGGER_FIRES_ALWAYS)
			return true;
	}
	return false;
}

/* ALTER TABLE wants the table closed. */
static void
close_and_fire_always(const Source *source, Relation rel)
{
	StringInfoData sql;

	initStringInfo(&sql);
	CommandCounterIncrement(); /* to see the new triggers */
	for (int kind = 0; kind < BS_TRIGGER_KINDS; kind++)
	{
		const Trigger *trigger = bs_find_trigger(rel, source->maintain, source->column_name, kind);

		if (trigger)
			appendStringInfo(&sql, "ALTER TABLE %s ENABLE ALWAYS TRIGGER %s;", source->name,
							 quote_identifier(trigger->tgname));
	}
	relation_close(rel, NoLock);
	bs_run(sql.data);
}

/* Closes the source. */
static void
replace_triggers(const Source *source, Relation rel, const BsStructure *structure, int ngenerations,
				 const BsGeneration *generations)
{
	bool always = fires_always(source, rel);

	if (REPLACE_LOCK == AccessExclusiveLock)
		drop_triggers(source, rel);
	create_triggers(source, rel, structure, ngenerations, generations);
	if (always)
		close_and_fire_always(source, rel);
	else
		relation_close(rel, NoLock);
}

/* ---- what the procedures have in common ---- */

static void
require_argument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("argument \"%s\" must not be null", name)));
}

/* An older snapshot would miss rows that others have committed. */
static void
require_fresh_snapshots(void)
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
						errmsg("filters cannot be built in a transaction of this isolation level"),
						errhint("Use READ COMMITTED.")));
}

static Relation
open_source(Oid relid, LOCKMODE lock)
{
	Relation rel;
	char *name = get_rel_name(relid);

	if (name == NULL)
		bs_no_such_table(relid);
#if PG_VERSION_NUM >= 160000
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
#else
	if (!pg_class_ownercheck(relid, GetUserId()))
#endif
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, name);
	rel = try_relation_open(relid, lock);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("table \"%s\" does not exist", name)));
	return rel;
}

static void
name_source(Source *source, Relation rel)
{
	source->name = bs_beside(rel, RelationGetRelationName(rel));
	source->table = bs_beside(rel, source->table_name);
}

/* The names are copied, as those of triggers and caches may go. */
static Source
make_source(FunctionCallInfo fcinfo, Relation rel, const char *column, const char *table)
{
	Source source = {.own_namespace = bs_own_namespace(fcinfo), .relid = RelationGetRelid(rel)};

	source.maintain = bs_maintain_function(source.own_namespace);
	source.column_name = pstrdup(column);
	source.column = quote_identifier(source.column_name);
	source.table_name = pstrdup(table);
	name_source(&source, rel);
	return source;
}

static void
cannot_track(Relation rel, const char *detail)
{
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("filters of \"%s\" cannot be maintained", RelationGetRelationName(rel)),
					errdetail_internal("%s", detail)));
}

static Oid
owner_of(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/* Whoever made the triggers has named the table, and the caller may be a superuser. */
static void
require_same_owner(Relation rel, Oid table)
{
	if (OidIsValid(table) && owner_of(table) != rel->rd_rel->relowner)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("table \"%s\" does not belong to the owner of table \"%s\"",
							   get_rel_name(table), RelationGetRelationName(rel)),
						errhint("ALTER TABLE ... OWNER TO, if it is the one of the filters.")));
}

/* Statement triggers of a table must see all that is written to it. */
static void
require_simple_table(Relation rel)
{
	if (rel->rd_rel->relkind != RELKIND_RELATION)
		cannot_track(rel, rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE
							  ? "It is partitioned, and what is written to a partition fires no"
								" statement trigger of it."
							  : "It is not an ordinary table.");
	if (rel->rd_rel->relispartition)
		cannot_track(rel, "It is a partition, and what is written through its parent fires no"
						  " statement trigger of it.");
	if (has_superclass(RelationGetRelid(rel)) || has_subclass(RelationGetRelid(rel)))
		cannot_track(rel, "It inherits or is inherited, and what is written to one table through"
						  " another fires no statement trigger of it.");
	if (check_enable_rls(RelationGetRelid(rel), InvalidOid, true) == RLS_ENABLED)
		cannot_track(rel, "Row-level security hides rows of it.");
}

/* Changes that arrive by logical replication fire no statement triggers. */
static void
require_no_subscription(Relation rel)
{
	bs_run(psprintf("SELECT FROM pg_catalog.pg_subscription_rel WHERE srrelid = %u",
					RelationGetRelid(rel)));
	if (SPI_processed > 0)
		cannot_track(rel, "It is written by a subscription, whose changes fire no statement"
						  " triggers. Track it where it is published, and replicate its filters.");
}

/* The type of its keys. */
static uint32
require_column(Relation rel, const char *column)
{
	int attnum = SPI_fnumber(RelationGetDescr(rel), column);
	uint32 key_type;

	if (attnum <= 0)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("column \"%s\" of table \"%s\" does not exist", column,
							   RelationGetRelationName(rel))));
	/* its errors are about types that cannot be keys */
	key_type = bs_column_key_type(rel, attnum);
#if PG_VERSION_NUM >= 180000
	if (TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated ==
		ATTRIBUTE_GENERATED_VIRTUAL)
		cannot_track(rel, "The column is a virtual generated one, which triggers do not see.");
#endif
	return key_type;
}

/* ---- the procedures ---- */

/* bf_track(source regclass, column_name name, n bigint, p float8, shards int, type regtype,
 *          filters name) */
Datum
bs_track(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"source", "column_name", "n", "p", NULL, "type", NULL};
	Relation rel;
	Source source;
	ShardPlan plan;
	const BsStructure *structure;
	const char *column;
	int32 shards;
	uint32 key_type;

	for (size_t i = 0; i < lengthof(names); i++)
		if (names[i])
			require_argument(fcinfo, (int) i, names[i]);
	require_fresh_snapshots();
	column = NameStr(*PG_GETARG_NAME(1));

	/* writers wait until all is in place */
	SPI_connect();
	rel = open_source(PG_GETARG_OID(0), ShareRowExclusiveLock);
	/* what a statement that has begun still writes would fire none of the triggers */
	CheckTableNotInUse(rel, "CALL bf_track");
	require_simple_table(rel);
	key_type = require_column(rel, column);
	require_no_subscription(rel);
	source =
		make_source(fcinfo, rel, column,
					PG_ARGISNULL(6) ? makeObjectName(RelationGetRelationName(rel), column, "filter")
									: NameStr(*PG_GETARG_NAME(6)));
	if (bs_find_trigger(rel, source.maintain, column, BS_TRIGGER_KINDS))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("column \"%s\" of table \"%s\" is tracked already", column,
						RelationGetRelationName(rel)),
				 errhint("CALL bf_rebuild to have other filters of it, or bf_untrack first.")));
	structure = bs_kind_of_type(PG_GETARG_OID(5), source.own_namespace);
	if (structure == NULL || !bs_can_be_maintained(structure))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters of type %s cannot be maintained",
						format_type_extended(PG_GETARG_OID(5), -1, FORMAT_TYPE_ALLOW_INVALID)),
				 errhint("Use bloomfilter, countingfilter, cuckoofilter or scalablefilter.")));
	shards = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT32(4);
	plan = make_plan(structure, PG_GETARG_INT64(2), PG_GETARG_FLOAT8(3),
					 PG_ARGISNULL(4) ? NULL : &shards, key_type);
	plan.generation.number = 1;

	create_table(&source, &plan);
	insert_generation(&source, &plan, FROM_SOURCE);
	create_triggers(&source, rel, structure, 1, &plan.generation);
	grant(&source);
	relation_close(rel, NoLock);
	SPI_finish();
	PG_RETURN_VOID();
}

/* bf_untrack(source regclass, column_name name) */
Datum
bs_untrack(PG_FUNCTION_ARGS)
{
	Relation rel;
	Source source;
	BsTracked tracked;
	Oid maintain = bs_maintain_function(bs_own_namespace(fcinfo));

	require_argument(fcinfo, 0, "source");
	require_argument(fcinfo, 1, "column_name");
	SPI_connect();
	rel = open_source(PG_GETARG_OID(0), AccessExclusiveLock);
	tracked = bs_require_tracking(rel, maintain, NameStr(*PG_GETARG_NAME(1)));
	source = make_source(fcinfo, rel, tracked.column, tracked.table);
	require_same_owner(rel, get_relname_relid(source.table_name, RelationGetNamespace(rel)));
	drop_triggers(&source, rel);
	bs_run(psprintf("DROP TABLE IF EXISTS %s", source.table));
	relation_close(rel, NoLock);
	SPI_finish();
	PG_RETURN_VOID();
}

/* ---- rebuilding ---- */

/* What there is; arguments that are not given are taken from it. */
static ShardPlan
plan_rebuild(FunctionCallInfo fcinfo, const Source *source, const BsTracked *tracked,
			 const BsStructure *structure, uint32 key_type)
{
	BsGeneration now = tracked->generations[0];
	int64 n = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT64(2);
	double p = PG_ARGISNULL(3) ? 0 : PG_GETARG_FLOAT8(3);
	int32 shards = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT32(4);
	ShardPlan plan;

	bs_run(psprintf("SELECT (%s(f)).n, (%s(f)).p, (SELECT pg_catalog.sum(%s(f)) FROM %s"
					" WHERE generation OPERATOR(pg_catalog.=) %d) FROM %s"
					" WHERE generation OPERATOR(pg_catalog.=) %d LIMIT 1",
					bs_own_name(source->own_namespace, "bf_info"),
					bs_own_name(source->own_namespace, "bf_info"),
					bs_own_name(source->own_namespace, "bf_count"), source->table, now.number,
					source->table, now.number));
	if (SPI_processed > 0)
	{
		HeapTuple row = SPI_tuptable->vals[0];
		TupleDesc desc = SPI_tuptable->tupdesc;
		bool isnull;
		int64 former_n = DatumGetInt64(SPI_getbinval(row, desc, 1, &isnull));
		double former_p = DatumGetFloat8(SPI_getbinval(row, desc, 2, &isnull));
		double count = DatumGetFloat8(SPI_getbinval(row, desc, 3, &isnull));

		former_n = (former_n - margin(former_p, now.shards)) * now.shards;
		if (PG_ARGISNULL(2))
			n = Max(former_n, (int64) Min(2 * count, 1e15));
		if (PG_ARGISNULL(3))
			p = former_p;
	}
	else if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("no filter is left in table \"%s\"", source->table_name),
						errhint("Give n and p to bf_rebuild.")));
	plan = make_plan(structure, n, p, PG_ARGISNULL(4) ? NULL : &shards, key_type);
	plan.generation.number = tracked->generations[tracked->ngenerations - 1].number + 1;
	return plan;
}

static void
superseded(const Source *source)
{
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("another bf_rebuild or bf_untrack of column %s has come in between",
						   source->column)));
}

/* While writers wait; readers do not.  Closes the source, as the next one. */
static void
rebuild_at_once(const Source *source, const ShardPlan *plan, Relation rel)
{
	insert_generation(source, plan, FROM_SOURCE);
	replace_triggers(source, rel, plan->structure, 1, &plan->generation);
	delete_others(source, plan->generation.number);
}

static void
commit(void)
{
	SPI_commit();
	SPI_start_transaction();
}

/* Nothing was locked in between: the source may have got another name, or much else. */
static Relation
reopen_source(Source *source, const ShardPlan *plan, LOCKMODE lock)
{
	Relation rel = open_source(source->relid, lock);
	BsTracked tracked = bs_require_tracking(rel, source->maintain, source->column_name);

	if (tracked.ngenerations != 2 || tracked.generations[1].number != plan->generation.number)
		superseded(source);
	require_simple_table(rel);
	bs_require_same_column(rel, source->maintain, source->column_name);
	name_source(source, rel);
	require_same_owner(rel, bs_table_of_filters(rel, &tracked));
	return rel;
}

/* Adds what is in the source to the new generation, whose shards writers add to as well. */
static void
fill_generation(const Source *source, const ShardPlan *plan)
{
	Oid filter = bs_own_type(source->own_namespace, plan->structure->type_name);
	Oid types[] = {INT4OID, INT8OID, FLOAT8OID};
	Datum values[] = {Int32GetDatum(plan->generation.shards), Int64GetDatum(plan->n),
					  Float8GetDatum(plan->p)};
	Oid update_types[] = {INT4OID, filter};
	SPIPlanPtr update = SPI_prepare(
		psprintf("UPDATE %s SET f = %s(f, $2) WHERE generation OPERATOR(pg_catalog.=) %d"
				 " AND shard OPERATOR(pg_catalog.=) $1",
				 source->table, bs_own_name(source->own_namespace, "bf_union"),
				 plan->generation.number),
		2, update_types);
	Portal built = SPI_cursor_open_with_args(
		NULL,
		psprintf("SELECT * FROM (%s) AS b WHERE shard IS NOT NULL ORDER BY shard",
				 built_sql(source, plan)),
		lengthof(types), types, values, NULL, false, 0);

	for (;;)
	{
		SPITupleTable *rows;

		SPI_cursor_fetch(built, true, 100);
		rows = SPI_tuptable;
		if (SPI_processed == 0)
			break;
		for (uint64 i = 0, n = SPI_processed; i < n; i++)
		{
			bool isnull;
			Datum update_values[] = {SPI_getbinval(rows->vals[i], rows->tupdesc, 1, &isnull),
									 SPI_getbinval(rows->vals[i], rows->tupdesc, 2, &isnull)};

			if (SPI_execute_plan(update, update_values, NULL, false, 0) < 0)
				elog(ERROR, "could not fill filters");
			if (SPI_processed == 0)
				superseded(source);
		}
		SPI_freetuptable(rows);
	}
	SPI_cursor_close(built);
	SPI_freeplan(update);
}

/*
 * While others write and read: first triggers keep a new, empty generation current
 * beside the old one, then what was there before is added, then the old one goes.
 * Shards are locked in the middle step, and the source in the other two, so that
 * nobody waits for somebody who waits for him.
 */
static void
rebuild_beside(Source *source, const ShardPlan *plan, Relation rel, BsGeneration old)
{
	BsGeneration both[] = {old, plan->generation};

	delete_others(source, old.number);
	insert_generation(source, plan, EMPTY);
	replace_triggers(source, rel, plan->structure, 2, both);
	commit();

	rel = reopen_source(source, plan, AccessShareLock);
	fill_generation(source, plan);
	relation_close(rel, NoLock);
	commit();

	rel = reopen_source(source, plan, REPLACE_LOCK);
	replace_triggers(source, rel, plan->structure, 1, &plan->generation);
	delete_others(source, plan->generation.number);
}

/* bf_rebuild(source regclass, column_name name, n bigint, p float8, shards int) */
Datum
bs_rebuild(PG_FUNCTION_ARGS)
{
	const CallContext *call = (const CallContext *) fcinfo->context;
	bool atomic = call == NULL || !IsA(call, CallContext) || call->atomic || IsSubTransaction();
	Oid maintain = bs_maintain_function(bs_own_namespace(fcinfo));
	Relation rel;
	BsTracked tracked;
	Source source;
	ShardPlan plan;
	const BsStructure *structure;
	uint32 key_type;
	Oid table;

	require_argument(fcinfo, 0, "source");
	require_argument(fcinfo, 1, "column_name");
	require_fresh_snapshots();
	SPI_connect_ext(atomic ? 0 : SPI_OPT_NONATOMIC);
	rel = open_source(PG_GETARG_OID(0), REPLACE_LOCK);
	tracked = bs_require_tracking(rel, maintain, NameStr(*PG_GETARG_NAME(1)));
	source = make_source(fcinfo, rel, tracked.column, tracked.table);
	require_simple_table(rel);
	key_type = require_column(rel, source.column_name);
	table = bs_table_of_filters(rel, &tracked);
	require_same_owner(rel, table);
	structure = bs_kind_of_filters(table, source.own_namespace);
	plan = plan_rebuild(fcinfo, &source, &tracked, structure, key_type);

	/* a key that is removed while the new filters do not have it yet could not be */
	if (atomic || structure->remove)
		rebuild_at_once(&source, &plan, rel);
	else
		rebuild_beside(&source, &plan, rel, tracked.generations[0]);
	SPI_finish();
	PG_RETURN_VOID();
}
