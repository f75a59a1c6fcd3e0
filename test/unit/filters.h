/*
 * filters.h - filters and keys for the unit tests.
 */
#ifndef BS_FILTERS_H
#define BS_FILTERS_H

#include <stdlib.h>

#include "bloom.h"
#include "hash.h"

static BsFilter *
make_filter(int64_t n, double p, uint64_t seed)
{
	BsLayout layout;
	BsFilter *f;

	if (bs_sizing(n, p, &layout) != BS_SIZING_OK)
		abort();
	f = calloc(1, bs_filter_size(layout.m));
	bs_filter_init(f, &layout, n, p, seed);
	return f;
}

/* The hash of an integer key, as the extension computes it. */
static uint64_t
hash_of(uint64_t key)
{
	uint8_t bytes[8];

	bs_store_le(bytes, key, 8);
	return XXH3_64bits(bytes, 8);
}

#endif
