/*
 * bloom.c - the blocked Bloom filter: every formula stands here.
 */
#include "bloom.h"

#include <math.h>
#include <string.h>

#include "blocks.h"
#include "bytes.h"
#include "key_type.h"
#include "sizing_table.h"
#include "structure.h"

#define CACHE_LINE 64
#define SMALL_BLOCKS 128 /* from so many blocks on, whole blocks waste under 1% */

#define FMIX_INVERSE_1 UINT64_C(0x4f74430c22a54005) /* FMIX_MULTIPLIER_1 times it is 1 */
#define FMIX_INVERSE_2 UINT64_C(0x9cb4b2f8129337db)
#define SHARD_SALT UINT64_C(0x5368617264730000)
#define SCATTER_SALT UINT64_C(0x5363617474657200)

void (*bs_poll)(void) = NULL;

/* ---- sizing ---- */

/*
 * log2(x / 2^63) for x in [2^63, 2^64), in 1/2^24, rounded down: each squaring
 * doubles the logarithm and so brings its next binary digit to the front.
 */
static uint32_t
log2_fraction(uint64_t x)
{
	uint32_t result = 0;

	for (int i = 0; i < 24; i++)
	{
		uint64_t square = bs_multiply_high(x, x); /* of a number in [1, 2): in [1, 4) / 4 */

		result <<= 1;
		if (square >> 63)
			result |= 1;
		else
			square <<= 1;
		x = square;
	}
	return result;
}

/* -log2(mantissa * 2^exponent) in 1/2^24; the mantissa is not 0. */
static uint32_t
minus_log2(uint64_t mantissa, int exponent)
{
	while (!(mantissa >> 63))
	{
		mantissa <<= 1;
		exponent--;
	}
	return (uint32_t) (-exponent - 63) * (1U << 24) - log2_fraction(mantissa);
}

/*
 * Bits per key in 1/65536 bit, the block, and k for rate p.  One bit a key needs
 * m = n / -ln(1 - p) whatever the block; otherwise the table says.
 */
static uint32_t
bits_per_key(double p, uint32_t *block_bits, uint8_t *k)
{
	int exponent;
	uint64_t mantissa = (uint64_t) (frexp(p, &exponent) * 9007199254740992.0); /* 2^53 */
	uint32_t log;
	uint32_t cell;
	uint32_t fraction;

	exponent -= 53;
	log = minus_log2(mantissa, exponent); /* up: the logarithm of p is rounded down */
	if (log < (BS_TABLE_FIRST << 24) / BS_TABLE_STEPS)
	{
		/* here p > 1/3, so 1 - p is exact with exponent >= -54; at least 2^-53 */
		uint64_t complement = (UINT64_C(1) << -exponent) - mantissa;
		uint64_t inverse_ln2 = UINT64_C(6196328019); /* in 1/2^32, rounded up */

		log = minus_log2(complement, exponent);
		log -= 1; /* down: the logarithm is rounded up */
		*block_bits = 512;
		*k = 1;
		return (uint32_t) ((inverse_ln2 << 8) / log + 1);
	}

	cell = log / ((1U << 24) / BS_TABLE_STEPS) - BS_TABLE_FIRST;
	fraction = log % ((1U << 24) / BS_TABLE_STEPS);
	*block_bits = UINT32_C(1) << bs_sizing_table[cell].log2_block;
	*k = bs_sizing_table[cell].k;
	return bs_sizing_table[cell].low +
		   (uint32_t) (((uint64_t) (bs_sizing_table[cell].high - bs_sizing_table[cell].low) *
							fraction * BS_TABLE_STEPS >>
						24) +
					   1);
}

/* n keys' worth of bits: n * bits / 2^shift, UINT64_MAX where that overflows. */
static uint64_t
scaled_product(int64_t n, uint32_t bits, int shift)
{
	uint64_t high = bs_multiply_high((uint64_t) n, bits);

	if (high >> shift)
		return UINT64_MAX;
	return (high << (64 - shift)) | (((uint64_t) n * bits) >> shift);
}

BsSizing
bs_sizing(int64_t n, double p, BsLayout *layout)
{
	uint32_t bits;
	uint64_t needed;
	uint64_t blocks;

	if (n < 1)
		return BS_SIZING_BAD_N;
	if (!bs_rate_in(p, 4.9406564584124654e-324, 1))
		return BS_SIZING_BAD_P;
	if (!bs_rate_in(p, BS_MIN_P, 1))
		return BS_SIZING_TINY_P;

	bits = bits_per_key(p, &layout->block_bits, &layout->k);
	needed = scaled_product(n, bits, 16);
	layout->m = needed;
	if (needed > UINT64_MAX / 2)
		return BS_SIZING_TOO_LARGE;

	/*
	 * One bit for the rounding, one for (1 - 1/B)^kn against exp(-kn/B), and
	 * about 0.22 (k - 1) for the variance of the fill of a block smaller than
	 * those in the table, whatever its size.
	 */
	needed += 2 + (layout->k + 2) / 4;
	blocks = (needed + layout->block_bits - 1) / layout->block_bits;
	if (blocks < SMALL_BLOCKS)
		layout->block_bits = (uint32_t) ((needed + blocks * 8 - 1) / (blocks * 8) * 8);
	layout->m = blocks * layout->block_bits;
	return layout->m > BS_MAX_BITS ? BS_SIZING_TOO_LARGE : BS_SIZING_OK;
}

/* ---- the filter ---- */

void
bs_filter_init(BsFilter *f, const BsLayout *layout, int64_t n, double p, uint64_t seed)
{
	f->version = BS_FORMAT_VERSION;
	f->structure = BS_STRUCTURE_BLOOM;
	f->hash_scheme = BS_HASH_SCHEME;
	f->k = layout->k;
	f->key_type = BS_KEY_NONE;
	f->block_bits = layout->block_bits;
	f->n = (uint64_t) n;
	f->p = p;
	f->m = layout->m;
	f->seed = seed;
}

static inline bool
set_bits(const BsGeometry *g, uint8_t *block, uint64_t x)
{
	uint8_t missing = 0;

	for (uint32_t i = 0; i < g->k; i++)
	{
		uint32_t bit = bs_next_bit(g, &x);
		uint8_t mask = (uint8_t) (1 << (bit & 7));

		missing |= (uint8_t) (~block[bit >> 3] & mask);
		block[bit >> 3] |= mask;
	}
	return missing != 0;
}

bool
bs_filter_add(BsFilter *f, uint64_t hash)
{
	BsGeometry g = bs_geometry(f);
	uint64_t x = bs_mix_seed(&g, hash);

	return set_bits(&g, f->bits + bs_block_byte(&g, x), x);
}

bool
bs_block_add(const BsFilter *header, uint8_t *block, uint64_t hash)
{
	BsGeometry g = bs_geometry(header);

	return set_bits(&g, block, bs_mix_seed(&g, hash));
}

/* Starts loading the lines that a key's bits lie in; a block of a few lines is
 * loaded as a whole, which is cheaper than finding out which. */
static inline void
prefetch_block(const BsGeometry *g, const uint8_t *block, uint64_t x)
{
	uint32_t bytes = g->block_bits / 8;

	if (bytes <= 4 * CACHE_LINE)
	{
		for (uint32_t at = 0; at < bytes; at += CACHE_LINE)
			bs_prefetch(block + at);
		bs_prefetch(block + bytes - 1);
	}
	else
		for (uint32_t i = 0; i < g->k; i++)
			bs_prefetch(block + (bs_next_bit(g, &x) >> 3));
}

#define GROUP 32 /* keys whose lines are loaded at a time */

static inline void
add_group(BsFilter *f, const BsGeometry *g, uint64_t *mixed, size_t count)
{
	uint8_t *block[GROUP];

	for (size_t i = 0; i < count; i++)
	{
		block[i] = f->bits + bs_block_byte(g, mixed[i]);
		prefetch_block(g, block[i], mixed[i]);
	}
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < g->k; k++)
		{
			uint32_t bit = bs_next_bit(g, &mixed[i]);

			block[i][bit >> 3] |= (uint8_t) (1 << (bit & 7));
		}
}

void
bs_filter_add_many(BsFilter *f, const uint64_t *hashes, size_t count)
{
	BsGeometry g = bs_geometry(f);
	uint64_t mixed[GROUP];

	for (size_t at = 0; at < count; at += GROUP)
	{
		size_t group = count - at < GROUP ? count - at : GROUP;

		for (size_t i = 0; i < group; i++)
			mixed[i] = bs_mix_seed(&g, hashes[at + i]);
		add_group(f, &g, mixed, group);
	}
}

uint64_t
bs_mix(uint64_t hash)
{
	BsGeometry unseeded = {.seed_mix = 0};

	return bs_mix_seed(&unseeded, hash);
}

void
bs_filter_add_mixed(BsFilter *f, const uint64_t *mixed, size_t count)
{
	BsGeometry g = bs_geometry(f);
	uint64_t copy[GROUP];

	for (size_t at = 0; at < count; at += GROUP)
	{
		size_t group = count - at < GROUP ? count - at : GROUP;

		memcpy(copy, mixed + at, group * sizeof(uint64_t));
		add_group(f, &g, copy, group);
	}
}

/* Whether a bit is set, as the lowest of the result. */
static inline uint32_t
is_set(const uint8_t *block, uint32_t bit)
{
	return (uint32_t) block[bit >> 3] >> (bit & 7);
}

static inline bool
all_set(const BsGeometry *g, const uint8_t *block, uint64_t x)
{
	return bs_all_positions(g, block, x, is_set);
}

bool
bs_filter_contains(const BsFilter *f, uint64_t hash)
{
	BsGeometry g = bs_geometry(f);
	uint64_t x = bs_mix_seed(&g, hash);

	return all_set(&g, f->bits + bs_block_byte(&g, x), x);
}

size_t
bs_block_start(const BsFilter *header, uint64_t hash, size_t *bytes)
{
	BsGeometry g = bs_geometry(header);

	*bytes = g.block_bits / 8;
	return bs_block_byte(&g, bs_mix_seed(&g, hash));
}

bool
bs_block_contains(const BsFilter *header, const uint8_t *block, uint64_t hash)
{
	BsGeometry g = bs_geometry(header);

	return all_set(&g, block, bs_mix_seed(&g, hash));
}

void
bs_filter_unite(BsFilter *dst, const BsFilter *src)
{
	bs_merge_headers(dst, src);
	bs_bytes_or(dst->bits, src->bits, dst->m / 8);
}

void
bs_filter_intersect(BsFilter *dst, const BsFilter *src)
{
	size_t bytes = dst->m / 8;

	bs_merge_headers(dst, src);
	for (size_t start = 0; start < bytes; start += BS_PIECE)
	{
		size_t end = bytes - start < BS_PIECE ? bytes : start + BS_PIECE;

		for (size_t i = start; i < end; i++)
			dst->bits[i] &= src->bits[i];
		bs_poll_host();
	}
}

/* ---- counting and estimates ---- */

/* Bits set in a or, where b is given, in a | b. */
static uint64_t
popcount_bytes(const uint8_t *a, const uint8_t *b, size_t bytes)
{
	uint64_t count = 0;
	size_t i = 0;

	if (b)
		for (; i + 8 <= bytes; i += 8)
			count += bs_popcount64(bs_load64(a + i) | bs_load64(b + i));
	else
		for (; i + 8 <= bytes; i += 8)
			count += bs_popcount64(bs_load64(a + i));
	for (; i < bytes; i++)
		count += bs_popcount64(a[i] | (b ? b[i] : 0));
	return count;
}

static uint64_t
popcount_polled(const uint8_t *a, const uint8_t *b, size_t bytes)
{
	uint64_t count = 0;

	for (size_t start = 0; start < bytes; start += BS_PIECE)
	{
		size_t length = bytes - start < BS_PIECE ? bytes - start : BS_PIECE;

		count += popcount_bytes(a + start, b ? b + start : NULL, length);
		bs_poll_host();
	}
	return count;
}

uint64_t
bs_count_bits_polled(const uint8_t *bytes, size_t length)
{
	return popcount_polled(bytes, NULL, length);
}

uint64_t
bs_filter_bits_set(const BsFilter *f)
{
	return popcount_polled(f->bits, NULL, f->m / 8);
}

uint64_t
bs_filter_bits_set_union(const BsFilter *a, const BsFilter *b)
{
	return popcount_polled(a->bits, b->bits, a->m / 8);
}

/*
 * A bit stays clear with probability (1 - q / blocks)^n, q = 1 - (1 - 1/B)^k
 * being the chance that a key of its block sets it.  Solved for n with the
 * observed share of clear bits (Swamidass, Baldi 2007, carried over to blocks).
 */
double
bs_filter_estimate(const BsFilter *f, uint64_t bits_set)
{
	double blocks = (double) (f->m / f->block_bits);
	double q = -expm1(f->k * log1p(-1.0 / f->block_bits));
	double clear = bits_set < f->m ? (double) (f->m - bits_set) : 0.5;

	if (bits_set == 0)
		return 0;
	return log(clear / (double) f->m) / log1p(-q / blocks);
}

double
bs_blocks_rate(const BsFilter *f, const uint8_t *bits, size_t block_bytes,
			   uint64_t (*count)(const uint8_t *, size_t))
{
	uint64_t blocks = f->m / f->block_bits;
	size_t since_poll = 0;
	double sum = 0;

	for (uint64_t block = 0; block < blocks; block++)
	{
		double fill = (double) count(bits + block * block_bytes, block_bytes) / f->block_bits;
		double rate = 1;

		for (uint32_t i = 0; i < f->k; i++)
			rate *= fill;
		sum += rate;
		since_poll += block_bytes;
		if (since_poll >= BS_PIECE)
		{
			bs_poll_host();
			since_poll = 0;
		}
	}
	return sum / (double) blocks;
}

uint64_t
bs_count_bits(const uint8_t *bytes, size_t length)
{
	return popcount_bytes(bytes, NULL, length);
}

double
bs_filter_rate(const BsFilter *f)
{
	return bs_blocks_rate(f, f->bits, f->block_bits / 8, bs_count_bits);
}

uint64_t
bs_scatter(uint64_t hash)
{
	return bs_fmix(hash ^ SCATTER_SALT);
}

uint64_t
bs_unscatter(uint64_t scattered)
{
	uint64_t x = scattered;

	x ^= x >> 33;
	x *= FMIX_INVERSE_2;
	x ^= x >> 33;
	x *= FMIX_INVERSE_1;
	x ^= x >> 33;
	return x ^ SCATTER_SALT;
}

uint32_t
bs_shard(uint64_t hash, uint32_t shards)
{
	return (uint32_t) (((bs_fmix(hash ^ SHARD_SALT) >> 32) * shards) >> 32);
}

/* ---- the structure ---- */

static BsSizing
plan(BsFilter *header, uint64_t *size)
{
	BsLayout layout = {0};
	BsSizing sizing = bs_sizing((int64_t) header->n, header->p, &layout);

	header->k = layout.k;
	header->block_bits = layout.block_bits;
	header->m = layout.m;
	*size = sizeof(BsFilter) + layout.m / 8;
	return sizing;
}

const char *
bs_check_blocks(const BsFilter *h, uint64_t max_bits)
{
	if (h->k < 1 || h->k > BS_MAX_K)
		return "Its number of bits per key is out of range.";
	if (h->block_bits < 8 || h->block_bits > BS_MAX_BLOCK_BITS || h->block_bits % 8 != 0)
		return "Its block size is out of range.";
	if (h->m < h->block_bits || h->m > max_bits)
		return "Its number of bits is out of range.";
	return NULL;
}

static const char *
check_header(const BsFilter *h, uint64_t after)
{
	const char *why = bs_check_blocks(h, BS_MAX_BITS);

	if (why == NULL && h->m / 8 != after)
		why = "Its length does not fit its header.";
	return why;
}

const char *
bs_check_whole_blocks(const BsFilter *f, uint64_t after)
{
	(void) after;
	if (f->m % f->block_bits != 0)
		return "Its number of bits is out of range.";
	if (f->own[0] != 0 || f->own[1] != 0)
		return "Its reserved bytes are not zero.";
	return NULL;
}

static bool
place(const BsFilter *f, const BsProbe *probe, uint32_t i, BsPlace *place)
{
	place->part = f;
	place->start = bs_block_start(f, probe->hash, &place->length);
	return i == 0;
}

bool
bs_block_holds(const BsPlace *place, const uint8_t *bytes, const BsProbe *probe)
{
	return bs_block_contains(place->part, bytes, probe->hash);
}

static BsAdded
add(BsFilter *f, const BsProbe *probe)
{
	return bs_filter_add(f, probe->hash) ? BS_ADDED : BS_UNCHANGED;
}

static bool
unite(BsFilter *to, const BsFilter *a, const BsFilter *b)
{
	if (to != a)
		bs_bytes_copy((uint8_t *) to, (const uint8_t *) a, bs_filter_size(a->m));
	bs_filter_unite(to, b);
	return true;
}

static double
count(const BsFilter *f)
{
	return bs_filter_estimate(f, bs_filter_bits_set(f));
}

const BsStructure bs_bloom = {
	.number = BS_STRUCTURE_BLOOM,
	.type_name = "bloomfilter",
	.is_set = true,
	.plan = plan,
	.check_header = check_header,
	.check_value = bs_check_whole_blocks,
	.place = place,
	.holds = bs_block_holds,
	.add = add,
	.compatible = bs_same_layout,
	.unite = unite,
	.count = count,
	.rate = bs_filter_rate,
};
