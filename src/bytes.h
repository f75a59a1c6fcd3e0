/*
 * bytes.h - memory operations on whole filters, which the host can interrupt:
 * half a gigabyte takes memset or memcpy longer than a user should wait.
 */
#ifndef BS_BYTES_H
#define BS_BYTES_H

#include "bloom.h"
#include "hash.h"

#define BS_PIECE (1 << 20) /* bytes between two calls of bs_poll */

static inline void
bs_poll_host(void)
{
	if (bs_poll)
		bs_poll();
}

static inline void
bs_bytes_zero(uint8_t *to, size_t length)
{
	for (; length > BS_PIECE; to += BS_PIECE, length -= BS_PIECE)
	{
		memset(to, 0, BS_PIECE);
		bs_poll_host();
	}
	memset(to, 0, length);
}

static inline void
bs_bytes_copy(uint8_t *to, const uint8_t *from, size_t length)
{
	for (; length > BS_PIECE; to += BS_PIECE, from += BS_PIECE, length -= BS_PIECE)
	{
		memcpy(to, from, BS_PIECE);
		bs_poll_host();
	}
	memcpy(to, from, length);
}

static inline void
bs_bytes_or(uint8_t *to, const uint8_t *from, size_t length)
{
	for (size_t start = 0; start < length; start += BS_PIECE)
	{
		size_t end = length - start < BS_PIECE ? length : start + BS_PIECE;

		for (size_t i = start; i < end; i++)
			to[i] |= from[i];
		if (end - start == BS_PIECE)
			bs_poll_host();
	}
}

static inline bool
bs_bytes_equal(const uint8_t *a, const uint8_t *b, size_t length)
{
	for (; length > BS_PIECE; a += BS_PIECE, b += BS_PIECE, length -= BS_PIECE)
	{
		if (memcmp(a, b, BS_PIECE) != 0)
			return false;
		bs_poll_host();
	}
	return memcmp(a, b, length) == 0;
}

static inline bool
bs_bytes_all_zero(const uint8_t *bytes, size_t length)
{
	/* each byte equals the next, and the first is zero */
	return length == 0 || (bytes[0] == 0 && bs_bytes_equal(bytes, bytes + 1, length - 1));
}

/* XXH3_64bits_withSeed; with seed 0, XXH3_64bits. */
static inline uint64_t
bs_bytes_hash(const uint8_t *bytes, size_t length, uint64_t seed)
{
	XXH3_state_t state;

	if (length <= BS_PIECE)
		return XXH3_64bits_withSeed(bytes, length, seed);
	memset(&state, 0, sizeof(state)); /* which resetting reads */
	XXH3_64bits_reset_withSeed(&state, seed);
	for (; length > BS_PIECE; bytes += BS_PIECE, length -= BS_PIECE)
	{
		XXH3_64bits_update(&state, bytes, BS_PIECE);
		bs_poll_host();
	}
	XXH3_64bits_update(&state, bytes, length);
	return XXH3_64bits_digest(&state);
}

#endif
