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

#include "bloom.h"

/* Input errors are soft where the server knows soft errors (16 and later). */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#define bs_input_error(fcinfo, ...) ereturn((fcinfo)->context, (Datum) 0, __VA_ARGS__)
#else
#define bs_input_error(fcinfo, ...) ereport(ERROR, __VA_ARGS__)
#endif

/*
 * An empty filter for n keys at rate p, in the current memory context.
 * Errors: 22023 for n < 1 or p not in [1e-10, 1); 54000 past 2^32 bits.
 */
extern BsFilter *bs_new_filter(int64 n, double p, int64 seed);

/* A copy in the current memory context. */
extern BsFilter *bs_copy_filter(const BsFilter *f);

/* The layout that bs_new_filter would use; the same errors. */
extern BsLayout bs_layout(int64 n, double p);

/* The memory of the aggregate that calls; error 55000 if none does. */
extern MemoryContext bs_aggregate_context(FunctionCallInfo fcinfo);

#define BS_DEFAULT_RATE 0.01 /* of bf_agg(key); bf_create has it in SQL */

/* Bytes that a hash table may take: work_mem and hash_mem_multiplier. */
extern size_t bs_hash_memory_limit(void);

/*
 * Errors unless the two may be united or intersected: 22023 where they differ in
 * layout or seed, 42804 in key type.  "who" is the SQL function, for the message.
 */
extern void bs_require_compatible(const char *who, const BsFilter *a, const BsFilter *b);

#endif
