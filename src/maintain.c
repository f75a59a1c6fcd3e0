/*
 * maintain.c - bf_maintain, the trigger function that keeps filters current with a
 * table: once per statement, from its transition tables.
 */
#include "bloomset.h"

#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "fetch.h"
#include "tracked.h"

PG_FUNCTION_INFO_V1(bs_maintain);

/* A key that a row has brought (1) or taken away (-1). */
typedef struct Change
{
	BsKey key;
	int32 shard;
	int32 delta;
} Change;

/* One call, for one generation of filters. */
typedef struct Maintenance
{
	TriggerData *trigger;
	const BsTracked *tracked;
	BsGeneration generation;
	Oid table; /* of filters */
	Oid own_namespace;
	Oid key_type; /* bfkey */
	bool removes; /* keys are taken out, too */
	BsKeyMaker *maker;
	AttrNumber column;
	TupleTableSlot *slot;
	MemoryContext per_row;
	MemoryContext per_shard;
	Change *changes;
	size_t nchanges;
	size_t room;
} Maintenance;

/* ---- applying changes, shard by shard ---- */

static int
compare_changes(const void *a, const void *b)
{
	const Change *x = a;
	const Change *y = b;

	if (x->shard != y->shard)
		return x->shard < y->shard ? -1 : 1;
	if (x->key.type != y->key.type)
		return x->key.type < y->key.type ? -1 : 1;
	if (x->key.hash != y->key.hash)
		return x->key.hash < y->key.hash ? -1 : 1;
	return 0;
}

/*
 * The keys of changes[from .. to) that have come (sign 1) or gone (-1) on balance: a
 * row that kept its key, or two that exchanged theirs, change nothing.
 */
static ArrayType *
balance(const Maintenance *m, size_t from, size_t to, int sign, int *count)
{
	Datum *keys = palloc_extended((to - from) * sizeof(Datum), MCXT_ALLOC_HUGE);
	size_t next;

	*count = 0;
	for (size_t i = from; i < to; i = next)
	{
		int64 delta = 0;

		for (next = i; next < to && compare_changes(&m->changes[i], &m->changes[next]) == 0; next++)
			delta += m->changes[next].delta;
		delta *= sign;
		if (!m->removes)
			delta = Min(delta, 1);
		for (; delta > 0; delta--)
			keys[(*count)++] = PointerGetDatum(&m->changes[i].key);
	}
	return construct_array(keys, *count, m->key_type, sizeof(BsKey), false, 'd');
}

/* The number of rows; a snapshot is for reading by another than the present one. */
static uint64
execute(const Maintenance *m, BsStatement statement, Datum *values, Snapshot snapshot)
{
	MemoryContext caller = CurrentMemoryContext;
	SPIPlanPtr plan = bs_statement(statement, m->table, m->own_namespace);
	int result =
		SPI_execute_snapshot(plan, values, NULL, snapshot, InvalidSnapshot, false, true, 0);

	if (result < 0)
		elog(ERROR, "could not maintain filters: %s", SPI_result_code_string(result));
	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(caller); /* SPI leaves its own, which lasts for all shards */
	return SPI_processed;
}

/*
 * Whether a shard has the keys by now.  An older snapshot may see them in a filter that
 * TRUNCATE has emptied since; none can while we hold the source's lock.
 */
static bool
are_in(const Maintenance *m, Datum *values)
{
	Snapshot latest = IsolationUsesXactSnapshot() ? GetLatestSnapshot() : InvalidSnapshot;

	return execute(m, BS_FIND_KEYS, values, latest) > 0;
}

static void
apply_to_shard(const Maintenance *m, size_t from, size_t to)
{
	int ncome;
	int ngone = 0;
	Datum values[4] = {Int32GetDatum(m->generation.number), Int32GetDatum(m->changes[from].shard)};

	values[2] = PointerGetDatum(balance(m, from, to, 1, &ncome));
	if (m->removes)
	{
		values[3] = PointerGetDatum(balance(m, from, to, -1, &ngone));
		if (ncome + ngone > 0 && execute(m, BS_CHANGE_KEYS, values, InvalidSnapshot) == 0)
			bs_missing_shard(m->table);
	}
	/* without an effect where all keys are in: then no row is written */
	else if (ncome > 0 && execute(m, BS_ADD_KEYS, values, InvalidSnapshot) == 0 &&
			 !are_in(m, values))
		bs_missing_shard(m->table);
}

/* In the order of shards, so that statements wait for each other, but never in a circle. */
static void
apply(Maintenance *m)
{
	MemoryContext caller = MemoryContextSwitchTo(m->per_shard);
	size_t next;

	qsort(m->changes, m->nchanges, sizeof(Change), compare_changes);
	for (size_t i = 0; i < m->nchanges; i = next)
	{
		for (next = i; next < m->nchanges && m->changes[next].shard == m->changes[i].shard;)
			next++;
		CHECK_FOR_INTERRUPTS();
		apply_to_shard(m, i, next);
		MemoryContextReset(m->per_shard);
	}
	MemoryContextSwitchTo(caller);
	m->nchanges = 0;
}

/* ---- reading transition tables ---- */

typedef void (*VisitKey)(Maintenance *m, const BsKey *key, int32 shard, int delta, void *argument);

static void
visit_table(Maintenance *m, Tuplestorestate *rows, int delta, VisitKey visit, void *argument)
{
	MemoryContext caller = CurrentMemoryContext;

	if (rows == NULL)
		return;
	tuplestore_rescan(rows);
	while (tuplestore_gettupleslot(rows, true, false, m->slot))
	{
		bool isnull;
		Datum value = slot_getattr(m->slot, m->column, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (!isnull)
		{
			BsKey key;

			MemoryContextSwitchTo(m->per_row);
			key = bs_make_key(m->maker, value);
			MemoryContextSwitchTo(caller);
			visit(m, &key, (int32) bs_shard(key.hash, (uint32) m->generation.shards), delta,
				  argument);
			MemoryContextReset(m->per_row);
		}
	}
	ExecClearTuple(m->slot);
}

static void
visit(Maintenance *m, VisitKey visit_key, void *argument)
{
	visit_table(m, m->trigger->tg_oldtable, -1, visit_key, argument);
	visit_table(m, m->trigger->tg_newtable, 1, visit_key, argument);
}

static void
count_key(Maintenance *m, const BsKey *key, int32 shard, int delta, void *counts)
{
	(void) m;
	(void) key;
	(void) delta;
	((int64 *) counts)[shard]++;
}

typedef struct Range
{
	int32 from;
	int32 to;
} Range;

static void
collect_key(Maintenance *m, const BsKey *key, int32 shard, int delta, void *argument)
{
	const Range *range = argument;

	if (shard < range->from || shard >= range->to)
		return;
	/* only a single shard can be too much for the room */
	if (m->nchanges == m->room)
		apply(m);
	m->changes[m->nchanges++] = (Change){*key, shard, delta};
}

/* As many shards at a time as there is room for their keys; mostly that is all. */
static void
maintain_generation(Maintenance *m, int64 nrows)
{
	size_t room = Max((size_t) maintenance_work_mem * 1024, 64 * 1024) / sizeof(Change);
	/* the keys of a shard must fit into an array */
	size_t limit = Min(room, MaxAllocSize / 2 / sizeof(BsKey));
	int32 shards = m->generation.shards;
	Range range = {0, shards};
	int64 *counts = NULL;

	m->room = Min((size_t) nrows, limit);
	m->changes = palloc_extended(m->room * sizeof(Change), MCXT_ALLOC_HUGE);
	if ((size_t) nrows > limit)
	{
		counts = palloc_extended(shards * sizeof(int64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		visit(m, count_key, counts);
		range.to = 0;
	}
	do
	{
		if (counts)
		{
			int64 sum = counts[range.to];

			range.from = range.to++;
			while (range.to < shards && sum + counts[range.to] <= (int64) limit)
				sum += counts[range.to++];
		}
		visit(m, collect_key, &range);
		apply(m);
	} while (range.to < shards);
	pfree(m->changes);
	if (counts)
		pfree(counts);
}

/* ---- the trigger ---- */

static void
check_call(FunctionCallInfo fcinfo)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						errmsg("bf_maintain was not called by a trigger")));
	if (!TRIGGER_FIRED_AFTER(trigger->tg_event) || !TRIGGER_FIRED_FOR_STATEMENT(trigger->tg_event))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						errmsg("bf_maintain must be called AFTER and FOR EACH STATEMENT")));
}

/* Which of the transition tables an event must have. */
static void
check_transition_tables(const TriggerData *trigger)
{
	bool needs_old = !TRIGGER_FIRED_BY_INSERT(trigger->tg_event);
	bool needs_new = !TRIGGER_FIRED_BY_DELETE(trigger->tg_event);

	if ((needs_old && trigger->tg_oldtable == NULL) || (needs_new && trigger->tg_newtable == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must have transition tables", trigger->tg_trigger->tgname),
				 errhint("Create it with REFERENCING OLD TABLE, NEW TABLE or both.")));
}

static int
tracked_attnum(const Maintenance *m)
{
	Relation source = m->trigger->tg_relation;
	int attnum = SPI_fnumber(RelationGetDescr(source), m->tracked->column);

	if (attnum <= 0)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("tracked column \"%s\" of table \"%s\" does not exist",
							   m->tracked->column, RelationGetRelationName(source)),
						errhint("CALL bf_untrack with this name, and bf_track with the name that"
								" the column has now.")));
	return attnum;
}

/* After TRUNCATE, which waits for all writers: empty filters like those that were. */
static void
empty_filters(const Maintenance *m)
{
	const char *table = bs_beside(m->trigger->tg_relation, m->tracked->table);
	char *sql = psprintf("SELECT f FROM %s WHERE generation OPERATOR(pg_catalog.=) %d LIMIT 1",
						 table, m->generation.number);
	Oid types[1];
	Datum values[1];
	bool isnull;

	bs_run(sql);
	if (SPI_processed == 0)
		bs_missing_shard(m->table);
	types[0] = SPI_gettypeid(SPI_tuptable->tupdesc, 1);
	values[0] = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	if (!isnull && bs_kind_of_type(types[0], m->own_namespace))
	{
		Relation source = m->trigger->tg_relation;
		const BsFilter *f = bs_fetch_once(values[0]);
		BsFilter *empty = bs_new_filter(bs_structure_of(f), (int64) f->n, f->p, (int64) f->seed);

		empty->key_type = bs_column_key_type(source, tracked_attnum(m));
		values[0] = PointerGetDatum(empty);
		sql = psprintf("UPDATE %s SET f = $1 WHERE generation OPERATOR(pg_catalog.=) %d", table,
					   m->generation.number);
		if (SPI_execute_with_args(sql, 1, types, values, NULL, false, 0) < 0)
			elog(ERROR, "could not empty filters");
	}
}

static int64
prepare_reading(Maintenance *m)
{
	Relation source = m->trigger->tg_relation;
	Tuplestorestate *stores[] = {m->trigger->tg_oldtable, m->trigger->tg_newtable};
	int attnum = tracked_attnum(m);
	int64 nrows = 0;

	m->column = (AttrNumber) attnum;
	m->maker = bs_column_key_maker(source, attnum);
	m->key_type = bs_own_type(m->own_namespace, "bfkey");
	m->slot = MakeSingleTupleTableSlot(RelationGetDescr(source), &TTSOpsMinimalTuple);
	m->per_row = AllocSetContextCreate(CurrentMemoryContext, "bloomset row", ALLOCSET_SMALL_SIZES);
	m->per_shard =
		AllocSetContextCreate(CurrentMemoryContext, "bloomset shard", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < 2; i++)
		if (stores[i])
		{
			/* other triggers read them, too */
			tuplestore_select_read_pointer(
				stores[i], tuplestore_alloc_read_pointer(stores[i], EXEC_FLAG_REWIND));
			nrows += tuplestore_tuple_count(stores[i]);
		}
	return nrows;
}

/* bf_maintain(column, table of filters, generation, shards [, generation, shards]) */
Datum
bs_maintain(PG_FUNCTION_ARGS)
{
	Maintenance m = {.trigger = (TriggerData *) fcinfo->context};
	BsTracked tracked;
	bool truncated;
	int64 nrows = 0;

	check_call(fcinfo);
	truncated = TRIGGER_FIRED_BY_TRUNCATE(m.trigger->tg_event);
	if (!truncated)
		check_transition_tables(m.trigger);
	tracked = bs_tracked(m.trigger->tg_trigger);

	SPI_connect();
	m.tracked = &tracked;
	m.own_namespace = bs_own_namespace(fcinfo);
	m.table = bs_table_of_filters(m.trigger->tg_relation, &tracked);
	m.removes = bs_kind_of_filters(m.table, m.own_namespace)->remove != NULL;
	if (!truncated)
		nrows = prepare_reading(&m);
	for (int i = 0; i < tracked.ngenerations; i++)
	{
		m.generation = tracked.generations[i];
		if (truncated)
			empty_filters(&m);
		else if (nrows > 0)
			maintain_generation(&m, nrows);
	}
	if (m.slot)
		ExecDropSingleTupleTableSlot(m.slot);
	SPI_finish();
	return PointerGetDatum(NULL);
}
