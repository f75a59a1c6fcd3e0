/*
 * filters.h - filters and keys for the unit tests.
 */
#ifndef BS_FILTERS_H
#define BS_FILTERS_H

#include <stdlib.h>

#include "format.h"
#include "hash.h"

static inline BsFilter *
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

/* An empty filter of any structure, and its size. */
static inline BsFilter *
make_structure(const BsStructure *structure, int64_t n, double p, uint64_t seed, size_t *size)
{
	BsFilter header = {.version = BS_FORMAT_VERSION,
					   .structure = structure->number,
					   .hash_scheme = BS_HASH_SCHEME,
					   .n = (uint64_t) n,
					   .p = p,
					   .seed = seed};
	uint64_t bytes;
	BsFilter *f;

	if (structure->plan(&header, &bytes) != BS_SIZING_OK)
		abort();
	*size = (size_t) bytes;
	f = calloc(1, *size);
	*f = header;
	return f;
}

/* A filter from its portable form; NULL, and why, where the bytes are not one. */
static inline BsFilter *
read_external(const uint8_t *bytes, size_t length, const char **why)
{
	BsFilter header;
	BsFilter *f;

	*why = bs_external_check(bytes, length, &header);
	if (*why)
		return NULL;
	f = calloc(1, bs_internal_size(length));
	*why = bs_external_decode(bytes, &header, bs_internal_size(length), f);
	if (*why == NULL)
		return f;
	free(f);
	return NULL;
}

static inline bool
accepted(const uint8_t *bytes, size_t length)
{
	const char *why;

	free(read_external(bytes, length, &why));
	return why == NULL;
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
