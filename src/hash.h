/*
 * hash.h - the one place that brings in xxHash, header-only: the library is
 * compiled in, so no build option and no installed version changes a hash.
 */
#ifndef BS_HASH_H
#define BS_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8.0 or newer is needed: XXH3 was not final before"
#endif

#include <stdint.h>
#include <string.h>

/* Integers enter hashes and files in little-endian order on every machine. */
static inline void
bs_store_le(uint8_t *to, uint64_t value, size_t bytes)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(to, &value, bytes);
#else
	for (size_t i = 0; i < bytes; i++)
		to[i] = (uint8_t) (value >> (8 * i));
#endif
}

static inline uint64_t
bs_load_le(const uint8_t *from, size_t bytes)
{
	uint64_t value = 0;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&value, from, bytes);
#else
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t) from[i] << (8 * i);
#endif
	return value;
}

#endif
