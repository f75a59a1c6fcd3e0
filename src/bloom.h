/*
 * bloom.h - the blocked Bloom filter: layout, sizing, positions, estimates.
 *
 * Pure C: no PostgreSQL types, no allocation, no error reports, so that unit
 * tests and fuzzers compile it alone.  Callers own all memory.
 *
 * A key is a uniformly distributed 64-bit hash.  It chooses one block, and all
 * of its k bits lie inside that block (Putze, Sanders, Singler: "Cache-, Hash-
 * and Space-Efficient Bloom Filters", 2007), so one key touches one or two
 * cache lines or TOAST chunks.  The bits of a filter are numbered from 0, bit i
 * being (bits[i >> 3] >> (i & 7)) & 1, which is the same on every CPU.
 */
#ifndef BS_BLOOM_H
#define BS_BLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BS_MAX_BITS (UINT64_C(1) << 32) /* 512 MiB: text form fits in 1 GB */
#define BS_MAX_K 40						/* most bits a key that a header may ask for */
#define BS_MAX_BLOCK_BITS 65536			/* largest block that a header may ask for */
#define BS_MIN_P 1e-10					/* below it, 64-bit hashes collide too often */

#define BS_FORMAT_VERSION 1
#define BS_HASH_SCHEME 1 /* XXH3-64 keys, positions as in bloom.c */

/* What kind of filter; part of the format, never renumbered. */
enum
{
	BS_STRUCTURE_BLOOM = 1, /* the standard filter */
	BS_STRUCTURE_COUNTING = 2,
	BS_STRUCTURE_CUCKOO = 3,
	BS_STRUCTURE_SCALABLE = 4,
	BS_STRUCTURE_LAYERED = 5,
};

/*
 * A filter in memory and on disk: 64 bytes of header in native byte order, then
 * m / 8 bytes of bits.  The first word belongs to the host (PostgreSQL's varlena
 * length).  doc/format.md describes the portable form.  The other structures have
 * the same header; what follows it, structure.h tells.
 */
typedef struct BsFilter
{
	uint32_t host_word;
	uint8_t version;	 /* BS_FORMAT_VERSION */
	uint8_t structure;	 /* BS_STRUCTURE_... */
	uint8_t hash_scheme; /* BS_HASH_SCHEME */
	uint8_t k;			 /* bits set per key */
	uint32_t key_type;	 /* what the keys are, see key_type.h */
	uint32_t block_bits; /* bits of one block, a multiple of 8 */
	uint64_t n;			 /* distinct keys it was made for */
	double p;			 /* false-positive rate asked for at n keys */
	uint64_t m;			 /* bits in all, a multiple of block_bits */
	uint64_t seed;		 /* mixed into every key's hash */
	uint64_t own[2];	 /* the structure's own, of the standard filter 0 */
	uint8_t bits[];
} BsFilter;

/* What sizing chooses for n keys at rate p. */
typedef struct BsLayout
{
	uint64_t m;
	uint32_t block_bits;
	uint8_t k;
} BsLayout;

static inline uint64_t
bs_double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/*
 * low <= p < high, all but p positive.  By their bits, which order positive
 * doubles: -ffast-math lets a comparison with NaN come out as it likes.
 */
static inline bool
bs_rate_in(double p, double low, double high)
{
	return bs_double_bits(p) >= bs_double_bits(low) && bs_double_bits(p) < bs_double_bits(high);
}

typedef enum BsSizing
{
	BS_SIZING_OK,
	BS_SIZING_BAD_N,	 /* n < 1 */
	BS_SIZING_BAD_P,	 /* p is NaN, or not inside (0, 1) */
	BS_SIZING_TINY_P,	 /* 0 < p < BS_MIN_P */
	BS_SIZING_TOO_LARGE, /* more than BS_MAX_BITS: layout->m tells how many */
} BsSizing;

/*
 * Chooses m, k and the block for n distinct keys at rate p.  The same n and p
 * give the same layout on every machine and compiler: integers only.
 */
extern BsSizing bs_sizing(int64_t n, double p, BsLayout *layout);

/* Bytes of a filter of m bits, header included. */
static inline size_t
bs_filter_size(uint64_t m)
{
	return sizeof(BsFilter) + (size_t) (m / 8);
}

/* Fills the header; the caller has zeroed the memory and sets host_word. */
extern void bs_filter_init(BsFilter *f, const BsLayout *layout, int64_t n, double p, uint64_t seed);

/* Adds a key; true if that changed a bit. */
extern bool bs_filter_add(BsFilter *f, uint64_t hash);

/* Adds many keys, hiding the cache misses of large filters behind prefetches. */
extern void bs_filter_add_many(BsFilter *f, const uint64_t *hashes, size_t count);

/*
 * For collections of keys without a seed: the hash as a filter of seed 0 mixes
 * it, whose order is that of the blocks in memory, whatever the filter's size.
 * Keys given in this order are added from one end of the filter to the other.
 */
extern uint64_t bs_mix(uint64_t hash);
extern void bs_filter_add_mixed(BsFilter *f, const uint64_t *mixed, size_t count);

/* False: the key was certainly never added.  True: it probably was. */
extern bool bs_filter_contains(const BsFilter *f, uint64_t hash);

/*
 * The same for a filter of which only the header and one block are at hand: the
 * block's first byte among the bits and its length, and the answer from it.
 */
extern size_t bs_block_start(const BsFilter *header, uint64_t hash, size_t *bytes);
extern bool bs_block_contains(const BsFilter *header, const uint8_t *block, uint64_t hash);
extern bool bs_block_add(const BsFilter *header, uint8_t *block, uint64_t hash);

/* Unites or intersects the bits of two filters of the same layout into dst,
 * and gives dst the header that both orders of the operands agree on. */
extern void bs_filter_unite(BsFilter *dst, const BsFilter *src);
extern void bs_filter_intersect(BsFilter *dst, const BsFilter *src);

/* Number of bits set, and of bits set in the union with another one. */
extern uint64_t bs_filter_bits_set(const BsFilter *f);
extern uint64_t bs_filter_bits_set_union(const BsFilter *a, const BsFilter *b);

/* Estimated number of distinct keys for this many bits set, finite even for a
 * full filter (then a lower bound). */
extern double bs_filter_estimate(const BsFilter *f, uint64_t bits_set);

/* The false-positive rate at the present fill, block by block; 0 to 1. */
extern double bs_filter_rate(const BsFilter *f);

/*
 * For collections of keys that go into one filter after the other: a number for each
 * hash, in whose order keys lie anywhere in a filter and in any shard; and back.
 */
extern uint64_t bs_scatter(uint64_t hash);
extern uint64_t bs_unscatter(uint64_t scattered);

/* Which of this many shards (at least 1) a key belongs to, from 0; independent
 * of the bits that the key takes inside a filter of any seed. */
extern uint32_t bs_shard(uint64_t hash, uint32_t shards);

/* Starts loading what will be changed soon. */
static inline void
bs_prefetch(const void *address)
{
#if defined(__GNUC__)
	__builtin_prefetch(address, 1, 3);
#else
	(void) address;
#endif
}

/* Called about once per megabyte by every loop over bits; the host may leave
 * by longjmp.  NULL: not called. */
extern void (*bs_poll)(void);

#endif
