/*
 * tracked.h - maintained filters: what bf_track sets up and others read.
 *
 * A tracked column has a table of filters in the schema of its table (the source),
 * and triggers of the source that call bf_maintain:
 *
 *     (generation int, shards int, shard int, f), PRIMARY KEY (generation, shard)
 *     bf_maintain(column, table of filters, generation, shards [, generation, shards])
 *
 * A generation is a complete set of shards.  While bf_rebuild builds a new one there
 * are two, and the triggers keep both current; the older one is asked.  Triggers are
 * what writers go by, as every transaction sees the latest ones whatever its
 * snapshot; readers go by the rows, which agree with their snapshot.
 */
#ifndef BS_TRACKED_H
#define BS_TRACKED_H

#include "bloomset.h"

#include "executor/spi.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"

#include "key.h"

typedef struct BsGeneration
{
	int32 number;
	int32 shards;
} BsGeneration;

/* What the arguments of a trigger say. */
typedef struct BsTracked
{
	const char *column;
	const char *table;
	int ngenerations;
	BsGeneration generations[2];
} BsTracked;

/* Error 22023 where they are not such arguments. */
extern BsTracked bs_tracked(const Trigger *trigger);

/* The schema that this extension is in, of which the called function is. */
extern Oid bs_own_namespace(FunctionCallInfo fcinfo);

/* An object of it, fit for SQL; a type of it. */
extern const char *bs_own_name(Oid own_namespace, const char *name);
extern Oid bs_own_type(Oid own_namespace, const char *name);

/* The trigger function bf_maintain. */
extern Oid bs_maintain_function(Oid own_namespace);

/* Whether a trigger is one of the column's. */
extern bool bs_is_tracking(const Trigger *trigger, Oid maintain, const char *column);

/* What the triggers of a column are there for. */
typedef enum BsTriggerKind
{
	BS_ON_INSERT,
	BS_ON_UPDATE,
	BS_ON_DELETE,
	BS_ON_TRUNCATE,
	BS_HOLDS_COLUMN, /* never fires, but belongs to the column: UPDATE OF column WHEN (false) */
	BS_HOLDS_TABLE,	 /* never fires, but a row trigger with a transition table is what keeps a
					  * table from becoming a partition or a child */
	BS_TRIGGER_KINDS
} BsTriggerKind;

/* The first one of a kind, or of any (BS_TRIGGER_KINDS); NULL if there is none. */
extern const Trigger *bs_find_trigger(Relation source, Oid maintain, const char *column,
									  BsTriggerKind kind);

/* Error 55000 unless the column of this name is still the one whose keys the filters have. */
extern void bs_require_same_column(Relation source, Oid maintain, const char *column);

/* How a column's values become keys; errors are about types that cannot be keys. */
extern BsKeyMaker *bs_column_key_maker(Relation source, int attnum);

/* The key type of all of them, BS_KEY_NONE where the column's type does not tell. */
extern uint32 bs_column_key_type(Relation source, int attnum);

/* Errors 55000: the filters are not current, and why. */
pg_noreturn extern void bs_not_current(Relation source, const char *column, const char *detail);

/* What the triggers of a column say; error 42704 if it is not tracked. */
extern BsTracked bs_require_tracking(Relation source, Oid maintain, const char *column);

/* Error 42P01. */
pg_noreturn extern void bs_no_such_table(Oid table);

/* The table of filters; error 42P01. */
extern Oid bs_table_of_filters(Relation source, const BsTracked *tracked);

/* The kind of filters that a type, or the column f of a table, holds: NULL, or error 42809. */
extern const BsStructure *bs_kind_of_type(Oid type, Oid own_namespace);
static inline bool
bs_can_be_maintained(const BsStructure *structure)
{
	return structure != &bs_layered; /* its keys come with times */
}
extern const BsStructure *bs_kind_of_filters(Oid table, Oid own_namespace);

/* A table of the source's schema, fit for SQL. */
extern const char *bs_beside(Relation source, const char *table);

/*
 * Statements that are run again and again; planned once in a session for a table of
 * filters.
 */
typedef enum BsStatement
{
	BS_ADD_KEYS,	/* ($1 generation, $2 shard, $3 bfkey[]) where they are not in */
	BS_CHANGE_KEYS, /* ($1, $2, $3, $4 bfkey[] to be removed) */
	BS_FIND_KEYS,	/* ($1, $2, $3 bfkey[]) the shard if it has all */
	BS_READ_SHARD,	/* ($1 bfkey) the filter that the key belongs to */
} BsStatement;

extern SPIPlanPtr bs_statement(BsStatement statement, Oid table, Oid own_namespace);

/* Runs a statement that is not kept; SPI is connected. */
extern void bs_run(const char *sql);

/* Error because a shard is not visible: 40001 where an older snapshot can be why. */
pg_noreturn extern void bs_missing_shard(Oid table);

#endif
