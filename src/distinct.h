/*
 * distinct.h - a set of distinct keys (mixed hashes) in bounded memory.
 *
 * An open-addressing table indexed by the top bits, so that growing it and reading
 * it run through memory in order.  When the table is as large as it gets it is
 * emptied into parts, cut by the top bits too: lists in memory, and temporary
 * files past the limit for hash memory.  Counting takes one part after the other.
 */
#ifndef BS_DISTINCT_H
#define BS_DISTINCT_H

#include "bloomset.h"

typedef struct BsDistinct BsDistinct;

/* In the memory context.  May_spill: if not, files are an error (54000); if so,
 * they must be closed before the context is gone. */
extern BsDistinct *bs_distinct_create(MemoryContext context, bool may_spill);

extern void bs_distinct_add(BsDistinct *set, uint64 key);

/* Many keys at once, in any order; little-endian as bs_store_le writes them. */
extern void bs_distinct_add_many(BsDistinct *set, const uint8 *keys, size_t count);

/* True if files have been made: they have to be closed. */
extern bool bs_distinct_spilled(const BsDistinct *set);
extern void bs_distinct_close(BsDistinct *set);

/* The exact number of distinct keys. */
extern uint64 bs_distinct_count(BsDistinct *set);

/* Number of keys that bs_distinct_each will hand out. */
extern uint64 bs_distinct_stored(BsDistinct *set);

/* Hands out all keys, in pieces and about in order; spilled ones may come more
 * than once. */
extern void bs_distinct_each(BsDistinct *set,
							 void (*take)(void *target, const uint64 *keys, size_t count),
							 void *target);

#endif
