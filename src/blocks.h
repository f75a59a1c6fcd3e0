/*
 * blocks.h - where a key lies in a filter of blocks, and arithmetic on bits.
 *
 * Inline, for the structures; bloom.h has what others need.
 */
#ifndef BS_BLOCKS_H
#define BS_BLOCKS_H

#include "bloom.h"

/*
 * Part of the format: the multipliers below decide which bits a key sets.
 * FMIX is MurmurHash3's finaliser (Appleby); CHAIN a multiplier with good
 * spectra (Steele, Vigna: "Computationally easy, spectrally good multipliers").
 */
#define MIX_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)
#define CHAIN_MULTIPLIER UINT64_C(0xf1357aea2e62a9c5)
#define FMIX_MULTIPLIER_1 UINT64_C(0xff51afd7ed558ccd)
#define FMIX_MULTIPLIER_2 UINT64_C(0xc4ceb9fe1a85ec53)

/* For a function with a function as argument, which is to be inlined too. */
#if defined(__GNUC__)
#define BS_ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define BS_ALWAYS_INLINE static inline
#endif

/* Upper half of the 128-bit product. */
static inline uint64_t
bs_multiply_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t) (((unsigned __int128) a * b) >> 64);
#else
	uint64_t al = (uint32_t) a, ah = a >> 32;
	uint64_t bl = (uint32_t) b, bh = b >> 32;
	uint64_t mid = ah * bl + ((al * bl) >> 32);
	uint64_t mid2 = al * bh + (uint32_t) mid;

	return ah * bh + (mid >> 32) + (mid2 >> 32);
#endif
}

static inline uint64_t
bs_fmix(uint64_t x)
{
	x ^= x >> 33;
	x *= FMIX_MULTIPLIER_1;
	x ^= x >> 33;
	x *= FMIX_MULTIPLIER_2;
	x ^= x >> 33;
	return x;
}

/* Where the bits of keys lie in one filter. */
typedef struct BsGeometry
{
	uint64_t blocks;
	uint64_t seed_mix;
	uint32_t block_bits;
	uint32_t k;
} BsGeometry;

/* A division, but for the powers of two that all large filters have. */
static inline uint64_t
bs_number_of_blocks(const BsFilter *f)
{
#ifdef __GNUC__
	if ((f->block_bits & (f->block_bits - 1)) == 0)
		return f->m >> __builtin_ctz(f->block_bits);
#endif
	return f->m / f->block_bits;
}

static inline BsGeometry
bs_geometry(const BsFilter *f)
{
	BsGeometry g;

	g.blocks = bs_number_of_blocks(f);
	g.seed_mix = f->seed ? bs_fmix(f->seed) : 0;
	g.block_bits = f->block_bits;
	g.k = f->k;
	return g;
}

static inline uint64_t
bs_mix_seed(const BsGeometry *g, uint64_t hash)
{
	uint64_t x = (hash ^ g->seed_mix) * MIX_MULTIPLIER;

	return x ^ (x >> 32);
}

/* First byte of the block that the mixed hash chooses. */
static inline uint64_t
bs_block_byte(const BsGeometry *g, uint64_t x)
{
	return bs_multiply_high(x, g->blocks) * (g->block_bits / 8);
}

/* Steps the chain and returns the next bit inside the block. */
static inline uint32_t
bs_next_bit(const BsGeometry *g, uint64_t *x)
{
	*x *= CHAIN_MULTIPLIER;
	return (uint32_t) (((*x >> 32) * g->block_bits) >> 32);
}

/*
 * Whether a test, whose result is the lowest bit, holds at all of a key's positions.
 *
 * The first four together: after each of them alone it would be as likely as not that
 * a key which is not in needs no more, which no CPU can predict.
 */
BS_ALWAYS_INLINE bool
bs_all_positions(const BsGeometry *g, const uint8_t *block, uint64_t x,
				 uint32_t (*test)(const uint8_t *block, uint32_t i))
{
	uint32_t i = 0;

	if (g->k >= 4)
	{
		uint32_t all = test(block, bs_next_bit(g, &x));

		all &= test(block, bs_next_bit(g, &x));
		all &= test(block, bs_next_bit(g, &x));
		all &= test(block, bs_next_bit(g, &x));
		if (!(all & 1))
			return false;
		i = 4;
	}
	for (; i < g->k; i++)
		if (!(test(block, bs_next_bit(g, &x)) & 1))
			return false;
	return true;
}

static inline uint64_t
bs_load64(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Bits set in a word; portable, and quick enough without POPCNT. */
static inline uint32_t
bs_popcount64(uint64_t x)
{
	x -= (x >> 1) & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t) ((x * UINT64_C(0x0101010101010101)) >> 56);
}

#endif
