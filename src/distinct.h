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

typedef void (*BsTakeKeys)(void *target, const uint64 *keys, size_t count);

/*
 * Hands out every key once, in pieces, and returns their exact number; take may be
 * NULL.  May make files.  Error 54000 for keys that cannot have been hashed.
 */
extern uint64 bs_distinct_each_once(BsDistinct *set, BsTakeKeys take, void *target);

/* The same in ascending order. */
extern uint64 bs_distinct_each_in_order(BsDistinct *set, BsTakeKeys take, void *target);

/* As the first, but faster and about in order, and keys put aside may come repeatedly. */
extern void bs_distinct_each(BsDistinct *set, BsTakeKeys take, void *target);

#endif
