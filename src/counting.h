/*
 * counting.h - what only the counting filter has.  Pure C.
 */
#ifndef BS_COUNTING_H
#define BS_COUNTING_H

#include "structure.h"

/* Counters that are not 0, and that are 15 and so stay for ever. */
extern uint64_t bs_counting_set(const BsFilter *f);
extern uint64_t bs_counting_saturated(const BsFilter *f);

/* The standard filter of the same keys; "to" has bs_filter_size(f->m) bytes, and its
 * host_word is for the caller to set. */
extern void bs_counting_to_standard(BsFilter *to, const BsFilter *f);

#endif
