/*
 * layered.h - what only the time-layered filter has.  Pure C.
 *
 * Times are microseconds since 2000-01-01 UTC.  Span number s is the time from
 * s * span on, rounded down.
 */
#ifndef BS_LAYERED_H
#define BS_LAYERED_H

#include "structure.h"

#define BS_MAX_LAYERS 1000

/* header->own of a filter with so many layers of this span. */
static inline void
bs_layered_own(uint64_t own[2], uint32_t layers, int64_t span)
{
	own[0] = (uint64_t) span;
	own[1] = layers;
}

/* Whether a filter was made with that, whatever layers are there. */
static inline bool
bs_layered_has_own(const BsFilter *f, const uint64_t own[2])
{
	return f->own[0] == own[0] && (uint32_t) f->own[1] == (uint32_t) own[1];
}

static inline int64_t
bs_layered_span(const BsFilter *f)
{
	return (int64_t) f->own[0];
}

static inline uint32_t
bs_layered_layers(const BsFilter *f)
{
	return (uint32_t) f->own[1];
}

/* Layers that are there: spans with keys that have not been dropped. */
static inline uint32_t
bs_layered_present(const BsFilter *f)
{
	return (uint32_t) (f->own[1] >> 32);
}

/* Where the i-th of them begins, oldest first. */
extern int64_t bs_layered_start(const BsFilter *f, uint32_t i);

/* Whether keys that were alive at this time may have been dropped since. */
extern bool bs_layered_forgot(const BsFilter *f, int64_t at);

/* The filter without what has expired at this time: size, then into "to". */
extern uint64_t bs_layered_expired_size(const BsFilter *f, int64_t at);
extern void bs_layered_expire(BsFilter *to, const BsFilter *f, int64_t at);

#endif
