/*
 * counting.c - the counting filter: a counter of 4 bits where the standard filter
 * has a bit (Fan, Cao, Almeida, Broder: "Summary Cache", 2000), so that keys can be
 * removed.
 *
 * Counter i of a block is half a byte, the lower one first.  A counter that has
 * reached 15 stays there for ever: what it counted is no longer known, and to take
 * one off could lose a key that is in.
 */
#include "counting.h"

#include "blocks.h"
#include "bytes.h"

#define SATURATED 15
#define MAX_COUNTERS (BS_MAX_BITS / 4)

static inline uint32_t
get(const uint8_t *block, uint32_t i)
{
	return (block[i >> 1] >> (i & 1) * 4) & SATURATED;
}

static inline void
step(uint8_t *block, uint32_t i, int by)
{
	block[i >> 1] = (uint8_t) (block[i >> 1] + by * (1 << (i & 1) * 4));
}

/* First byte of the block that the mixed hash chooses. */
static inline size_t
block_start(const BsGeometry *g, uint64_t x)
{
	return bs_block_byte(g, x) * 4;
}

static BsSizing
plan(BsFilter *header, uint64_t *size)
{
	BsSizing sizing = bs_bloom.plan(header, size);

	*size = sizeof(BsFilter) + header->m / 2;
	return sizing == BS_SIZING_OK && header->m > MAX_COUNTERS ? BS_SIZING_TOO_LARGE : sizing;
}

static const char *
check_header(const BsFilter *h, uint64_t after)
{
	const char *why = bs_check_blocks(h, MAX_COUNTERS);

	if (why == NULL && h->m / 2 != after)
		why = "Its length does not fit its header.";
	return why;
}

static bool
place(const BsFilter *f, const BsProbe *probe, uint32_t i, BsPlace *place)
{
	BsGeometry g = bs_geometry(f);

	place->part = f;
	place->start = block_start(&g, bs_mix_seed(&g, probe->hash));
	place->length = f->block_bits / 2;
	return i == 0;
}

static inline uint32_t
is_counting(const uint8_t *block, uint32_t i)
{
	return get(block, i) > 0;
}

static bool
holds(const BsPlace *place, const uint8_t *bytes, const BsProbe *probe)
{
	BsGeometry g = bs_geometry(place->part);

	return bs_all_positions(&g, bytes, bs_mix_seed(&g, probe->hash), is_counting);
}

static bool
contains(const BsFilter *f, const BsProbe *probe)
{
	BsGeometry g = bs_geometry(f);
	uint64_t x = bs_mix_seed(&g, probe->hash);

	return bs_all_positions(&g, f->bits + block_start(&g, x), x, is_counting);
}

static BsAdded
add(BsFilter *f, const BsProbe *probe)
{
	BsGeometry g = bs_geometry(f);
	uint64_t x = bs_mix_seed(&g, probe->hash);
	uint8_t *block = f->bits + block_start(&g, x);
	BsAdded result = BS_UNCHANGED;

	for (uint32_t i = 0; i < g.k; i++)
	{
		uint32_t at = bs_next_bit(&g, &x);

		if (get(block, at) < SATURATED)
		{
			step(block, at, 1);
			result = BS_ADDED;
		}
	}
	return result;
}

/* Where a counter runs out the key is not in: what was taken is given back.  A
 * counter that was not saturated cannot have become so by taking. */
static bool
remove_key(BsFilter *f, const BsProbe *probe)
{
	BsGeometry g = bs_geometry(f);
	uint64_t first = bs_mix_seed(&g, probe->hash);
	uint8_t *block = f->bits + block_start(&g, first);
	uint64_t x = first;

	for (uint32_t i = 0; i < g.k; i++)
	{
		uint32_t at = bs_next_bit(&g, &x);

		if (get(block, at) == 0)
		{
			x = first;
			while (i-- > 0)
			{
				at = bs_next_bit(&g, &x);
				if (get(block, at) < SATURATED)
					step(block, at, 1);
			}
			return false;
		}
		if (get(block, at) < SATURATED)
			step(block, at, -1);
	}
	return true;
}

static inline uint8_t
add_saturating(uint8_t a, uint8_t b)
{
	uint32_t low = (a & 0x0fU) + (b & 0x0fU);
	uint32_t high = (a & 0xf0U) + (b & 0xf0U);

	return (uint8_t) ((low < 0x0f ? low : 0x0f) | (high < 0xf0 ? high : 0xf0));
}

static bool
unite(BsFilter *to, const BsFilter *a, const BsFilter *b)
{
	size_t bytes = a->m / 2;

	if (to != a)
		*to = *a;
	bs_merge_headers(to, b);
	for (size_t start = 0; start < bytes; start += BS_PIECE)
	{
		size_t end = bytes - start < BS_PIECE ? bytes : start + BS_PIECE;

		for (size_t i = start; i < end; i++)
			to->bits[i] = add_saturating(a->bits[i], b->bits[i]);
		bs_poll_host();
	}
	return true;
}

/* ---- counting counters ---- */

/* One bit, the lowest of the four, for each counter that is not 0... */
static inline uint64_t
not_zero(uint64_t counters)
{
	counters |= counters >> 2;
	counters |= counters >> 1;
	return counters & UINT64_C(0x1111111111111111);
}

/* ...or that is 15. */
static inline uint64_t
is_full(uint64_t counters)
{
	return not_zero(~counters) ^ UINT64_C(0x1111111111111111);
}

/* Blocks, and so pieces, have a multiple of 4 bytes. */
static inline uint64_t
load_counters(const uint8_t *bytes, size_t length)
{
	uint64_t counters = 0;

	memcpy(&counters, bytes, length < 8 ? length : 8);
	return counters;
}

static uint64_t
count_set(const uint8_t *bytes, size_t length)
{
	uint64_t count = 0;

	for (size_t i = 0; i < length; i += 8)
		count += bs_popcount64(not_zero(load_counters(bytes + i, length - i)));
	return count;
}

static uint64_t
count_saturated(const uint8_t *bytes, size_t length)
{
	uint64_t count = 0;

	for (size_t i = 0; i < length; i += 8)
		count += bs_popcount64(is_full(load_counters(bytes + i, length - i)));
	return count;
}

static uint64_t
count_polled(const BsFilter *f, uint64_t (*count)(const uint8_t *, size_t))
{
	size_t bytes = f->m / 2;
	uint64_t sum = 0;

	for (size_t start = 0; start < bytes; start += BS_PIECE)
	{
		sum += count(f->bits + start, bytes - start < BS_PIECE ? bytes - start : BS_PIECE);
		bs_poll_host();
	}
	return sum;
}

uint64_t
bs_counting_set(const BsFilter *f)
{
	return count_polled(f, count_set);
}

uint64_t
bs_counting_saturated(const BsFilter *f)
{
	return count_polled(f, count_saturated);
}

static double
count(const BsFilter *f)
{
	return bs_filter_estimate(f, bs_counting_set(f));
}

static double
rate(const BsFilter *f)
{
	return bs_blocks_rate(f, f->bits, f->block_bits / 2, count_set);
}

void
bs_counting_to_standard(BsFilter *to, const BsFilter *f)
{
	*to = *f;
	to->structure = BS_STRUCTURE_BLOOM;
	for (uint64_t i = 0; i < f->m; i += 8)
	{
		uint8_t bits = 0;

		for (uint32_t j = 0; j < 8; j++)
			bits |= (uint8_t) ((get(f->bits + i / 2, j) > 0) << j);
		to->bits[i / 8] = bits;
		if (i % (BS_PIECE * UINT64_C(8)) == 0)
			bs_poll_host();
	}
}

const BsStructure bs_counting = {
	.number = BS_STRUCTURE_COUNTING,
	.type_name = "countingfilter",
	.plan = plan,
	.check_header = check_header,
	.check_value = bs_check_whole_blocks,
	.place = place,
	.holds = holds,
	.contains = contains,
	.add = add,
	.remove = remove_key,
	.compatible = bs_same_layout,
	.unite = unite,
	.count = count,
	.rate = rate,
};
