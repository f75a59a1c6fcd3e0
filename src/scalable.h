/*
 * scalable.h - what only filters that grow can be asked.  Pure C, as bloom.h.
 */
#ifndef BS_SCALABLE_H
#define BS_SCALABLE_H

#include "structure.h"

static inline uint64_t
bs_scalable_layers(const BsFilter *f)
{
	return f->own[0];
}

/* Keys that all layers together have room for. */
extern uint64_t bs_scalable_capacity(const BsFilter *f);

extern uint64_t bs_scalable_bits_set(const BsFilter *f);

#endif
