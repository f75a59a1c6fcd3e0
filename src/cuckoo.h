/*
 * cuckoo.h - what only the cuckoo filter has.  Pure C.
 */
#ifndef BS_CUCKOO_H
#define BS_CUCKOO_H

#include "structure.h"

/* Slots in all, and those that hold a fingerprint. */
extern uint64_t bs_cuckoo_slots(const BsFilter *f);
extern uint64_t bs_cuckoo_used(const BsFilter *f);

#endif
