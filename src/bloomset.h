/*
 * bloomset.h - what every file on the PostgreSQL side needs.
 */
#ifndef BS_BLOOMSET_H
#define BS_BLOOMSET_H

#include "postgres.h"

#include "fmgr.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "structure.h"

/* Input errors are soft where the server knows soft errors (16 and later). */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#define bs_input_error(fcinfo, ...) ereturn((fcinfo)->context, (Datum) 0, __VA_ARGS__)
#else
#define bs_input_error(fcinfo, ...) ereport(ERROR, __VA_ARGS__)
#endif

/* From 18 on the server spells it so, and has the older way no more. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/*
 * An empty filter for n keys at rate p, in the current memory context.
 * Errors: 22023 for n < 1 or p not in [1e-10, 1); 54000 past 512 MB.
 */
extern BsFilter *bs_new_filter(const BsStructure *structure, int64 n, double p, int64 seed);

/* The same from a header with n, p, seed and own. */
extern BsFilter *bs_new_from(const BsStructure *structure, const BsFilter *header);

/* A copy in the current memory context. */
extern BsFilter *bs_copy_filter(const BsFilter *f);

/* The layout that bs_new_filter would use for a standard filter; the same errors. */
extern BsLayout bs_layout(int64 n, double p);

/* The memory of the aggregate that calls; error 55000 if none does. */
extern MemoryContext bs_aggregate_context(FunctionCallInfo fcinfo);

#define BS_DEFAULT_RATE 0.01 /* of bf_agg(key); bf_create has it in SQL */

/* Bytes that a hash table may take: work_mem and hash_mem_multiplier. */
extern size_t bs_hash_memory_limit(void);

/*
 * The filter with the key, in place or where it has to grow another one in the
 * current memory context; *changed tells whether the key changed anything.  Error
 * 54000 where there is no room, and f is as it was.
 */
extern BsFilter *bs_add_probe(BsFilter *f, const BsProbe *probe, bool *changed);

/*
 * The union of two filters in the current memory context; the second one in place
 * of a unless it has to grow.  Errors as bs_require_compatible, and 54000 where
 * there is no room; a then is damaged.
 */
extern BsFilter *bs_united(const char *who, const BsFilter *a, const BsFilter *b);
extern BsFilter *bs_unite_into(const char *who, BsFilter *a, const BsFilter *b);

/*
 * Errors unless the two may be united or intersected: 22023 where they differ in
 * layout or seed, 42804 in key type.  "who" is the SQL function, for the message.
 */
extern void bs_require_compatible(const char *who, const BsFilter *a, const BsFilter *b);

#endif
