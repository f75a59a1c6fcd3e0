/*
 * layered.c - the time-layered filter: one standard filter for each span of time,
 * the oldest dropped as time goes on (a generation scheme as in Yoon: "Aging Bloom
 * Filter with Two Active Buffers for Dynamic Sets", 2010, with any number of them).
 *
 * The filter's time is its newest span, not a clock, so that the same calls give
 * the same bytes.  A layer is alive for the span of its keys and the layers - 1
 * after it.  The directory has the newest span that was forgotten, so that a
 * question about a time before can be refused, and the span numbers of the layers,
 * ascending.  All layers have the layout in the header; each is padded to 8 bytes.
 */
#include "layered.h"

#include <math.h>

#include "bytes.h"

#define NOTHING INT64_MIN /* forgotten; in the directory it is 0 */
#define SIGN (UINT64_C(1) << 63)

static uint64_t *
directory(BsFilter *f)
{
	return (uint64_t *) f->bits;
}

static int64_t
forgotten(const BsFilter *f)
{
	return (int64_t) (((const uint64_t *) f->bits)[0] ^ SIGN);
}

static void
forget(BsFilter *f, int64_t span)
{
	if (span > forgotten(f))
		directory(f)[0] = (uint64_t) span ^ SIGN;
}

static inline int64_t
span_at(const BsFilter *f, uint32_t i)
{
	return (int64_t) ((const uint64_t *) f->bits)[1 + i];
}

static inline int64_t
span_of(const BsFilter *f, int64_t at)
{
	int64_t span = bs_layered_span(f);

	return at / span - (at % span < 0);
}

/* Whether keys of one span are alive in another one. */
static inline bool
alive(const BsFilter *f, int64_t span, int64_t in)
{
	return span <= in && (uint64_t) in - (uint64_t) span < bs_layered_layers(f);
}

/* Whether a filter whose time is "in" has no more use for keys of a span. */
static inline bool
expired(const BsFilter *f, int64_t span, int64_t in)
{
	return span <= in && !alive(f, span, in);
}

static inline uint64_t
layer_bytes(const BsFilter *f)
{
	return (f->m / 8 + 7) / 8 * 8;
}

static inline uint64_t
directory_bytes(uint32_t present)
{
	return 8 * (1 + (uint64_t) present);
}

static uint64_t
size_of(const BsFilter *f, uint32_t present)
{
	return sizeof(BsFilter) + directory_bytes(present) + present * layer_bytes(f);
}

static size_t
layer_start(const BsFilter *f, uint32_t i)
{
	return (size_t) (directory_bytes(bs_layered_present(f)) + i * layer_bytes(f));
}

static void
set_present(BsFilter *f, uint32_t present)
{
	f->own[1] = bs_layered_layers(f) | (uint64_t) present << 32;
}

/* The number of layers up to a span, by bisection. */
static uint32_t
layers_up_to(const BsFilter *f, int64_t span)
{
	uint32_t low = 0;
	uint32_t high = bs_layered_present(f);

	if (high > 0 && span_at(f, high - 1) <= span)
		return high;
	while (low < high)
	{
		uint32_t middle = (low + high) / 2;

		if (span_at(f, middle) <= span)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The layer of a span; false if there is none. */
static bool
find(const BsFilter *f, int64_t span, uint32_t *i)
{
	*i = layers_up_to(f, span);
	if (*i == 0 || span_at(f, *i - 1) != span)
		return false;
	(*i)--;
	return true;
}

/* The filter's time after a key of this span has come. */
static int64_t
time_with(const BsFilter *f, int64_t span)
{
	uint32_t present = bs_layered_present(f);

	return present > 0 && span_at(f, present - 1) > span ? span_at(f, present - 1) : span;
}

/* How many layers are expired at the filter's time "in": they are the first. */
static uint32_t
count_expired(const BsFilter *f, int64_t in)
{
	uint32_t i = 0;

	while (i < bs_layered_present(f) && expired(f, span_at(f, i), in))
		i++;
	return i;
}

/* ---- sizes and checks ---- */

static BsSizing
plan(BsFilter *header, uint64_t *size)
{
	uint32_t layers = bs_layered_layers(header);
	BsLayout layout = {0};
	BsSizing sizing;

	if (!bs_rate_in(header->p, 4.9406564584124654e-324, 1))
		return BS_SIZING_BAD_P;
	sizing = bs_sizing((int64_t) header->n, header->p / layers, &layout);
	if (sizing == BS_SIZING_BAD_P)
		sizing = BS_SIZING_TINY_P; /* a layer's share of the smallest numbers is 0 */
	header->k = layout.k;
	header->block_bits = layout.block_bits;
	header->m = layout.m;
	if (sizing == BS_SIZING_TOO_LARGE ||
		(sizing == BS_SIZING_OK && size_of(header, layers) > BS_MAX_SIZE))
	{
		*size = layout.m > UINT64_MAX / BS_MAX_LAYERS ? UINT64_MAX : size_of(header, layers);
		return BS_SIZING_TOO_LARGE;
	}
	*size = size_of(header, 0);
	return sizing;
}

static size_t
directory_size(const BsFilter *header)
{
	return (size_t) directory_bytes(bs_layered_present(header));
}

static void
swap_directory(uint8_t *to, const uint8_t *from, size_t size)
{
	for (size_t i = 0; i < size; i += 8)
	{
		uint64_t native;

		memcpy(&native, from + i, 8);
		bs_store_le(to + i, native, 8); /* which is its own inverse */
	}
}

static const char *
check_header(const BsFilter *h, uint64_t after)
{
	const char *why = bs_check_blocks(h, BS_MAX_BITS);
	uint32_t layers = bs_layered_layers(h);

	if (why)
		return why;
	if (bs_layered_span(h) < 1)
		return "Its span is out of range.";
	if (layers < 1 || layers > BS_MAX_LAYERS || bs_layered_present(h) > layers)
		return "Its number of layers is out of range.";
	if (size_of(h, bs_layered_present(h)) - sizeof(BsFilter) != after)
		return "Its length does not fit its header.";
	return NULL;
}

static const char *
check_directory(const BsFilter *f, uint64_t after)
{
	uint32_t present = bs_layered_present(f);

	(void) after;
	for (uint32_t i = 0; i + 1 < present; i++)
		if (span_at(f, i) >= span_at(f, i + 1) || !alive(f, span_at(f, i), span_at(f, present - 1)))
			return "Its layers are not those of one time.";
	return NULL;
}

static const char *
check_value(const BsFilter *f, uint64_t after)
{
	(void) after;
	if (f->m % f->block_bits != 0)
		return "Its number of bits is out of range.";
	for (uint32_t i = 0; i < bs_layered_present(f); i++)
	{
		int64_t span = bs_layered_span(f);

		if (span_at(f, i) < INT64_MIN / span || span_at(f, i) > INT64_MAX / span)
			return "Its layers are out of range.";
		if (!bs_bytes_all_zero(f->bits + layer_start(f, i) + f->m / 8, layer_bytes(f) - f->m / 8))
			return "Its padding is not zero.";
	}
	return NULL;
}

/* ---- asking and adding ---- */

static bool
place(const BsFilter *f, const BsProbe *probe, uint32_t i, BsPlace *place)
{
	int64_t now = span_of(f, probe->at);
	uint32_t first = layers_up_to(f, now);

	/* newest first: most questions are about recent keys */
	if (i >= first || !alive(f, span_at(f, first - 1 - i), now))
		return false;
	place->part = f;
	place->start = layer_start(f, first - 1 - i) + bs_block_start(f, probe->hash, &place->length);
	return true;
}

static uint64_t
size_with(const BsFilter *f, size_t size, const BsProbe *probe)
{
	int64_t span = span_of(f, probe->at);
	int64_t now = time_with(f, span);
	uint32_t present = bs_layered_present(f);
	uint32_t i;

	if (expired(f, span, now))
		return size;
	present -= count_expired(f, now);
	if (!find(f, span, &i))
		present++;
	return size_of(f, present);
}

/*
 * The layers that are alive at the filter's time "now", and one of a span of its
 * own if it is not there yet.  "to" may be the filter itself if as many layers are
 * added as dropped: all that stay then move down.
 */
static void
arrange(BsFilter *to, const BsFilter *from, int64_t now, const int64_t *with)
{
	uint32_t dropped = count_expired(from, now);
	uint32_t present = bs_layered_present(from);
	uint32_t count = present - dropped;
	uint64_t bytes = layer_bytes(from);
	size_t old_start = layer_start(from, 0);
	uint32_t j = 0;
	uint32_t at = 0; /* of the added layer */
	int64_t last = dropped > 0 ? span_at(from, dropped - 1) : NOTHING;
	bool adds = with && !find(from, *with, &at);

	if (adds)
	{
		at -= dropped;
		count++;
	}
	if (to != from)
	{
		*to = *from;
		set_present(to, count);
		directory(to)[0] = ((const uint64_t *) from->bits)[0];
	}
	for (uint32_t i = dropped; i < present; i++, j++)
	{
		if (adds && j == at)
			j++;
		directory(to)[1 + j] = (uint64_t) span_at(from, i);
		memmove(to->bits + layer_start(to, j), from->bits + old_start + i * bytes, bytes);
		bs_poll_host();
	}
	if (adds)
	{
		directory(to)[1 + at] = (uint64_t) *with;
		bs_bytes_zero(to->bits + layer_start(to, at), bytes);
	}
	forget(to, last);
}

static void
make_room(BsFilter *to, size_t to_size, const BsFilter *from, const BsProbe *probe)
{
	int64_t span = span_of(from, probe->at);

	(void) to_size;
	arrange(to, from, time_with(from, span), &span);
}

static BsAdded
add(BsFilter *f, const BsProbe *probe)
{
	int64_t span = span_of(f, probe->at);
	int64_t now = time_with(f, span);
	int64_t before = forgotten(f);
	uint8_t *layer;
	size_t length;
	uint32_t i;

	if (expired(f, span, now))
	{
		forget(f, span);
		return forgotten(f) == before ? BS_UNCHANGED : BS_ADDED;
	}
	if (!find(f, span, &i))
	{
		arrange(f, f, now, &span);
		(void) find(f, span, &i);
	}
	layer = f->bits + layer_start(f, i);
	return bs_block_add(f, layer + bs_block_start(f, probe->hash, &length), probe->hash)
			   ? BS_ADDED
			   : BS_UNCHANGED;
}

/* ---- time ---- */

int64_t
bs_layered_start(const BsFilter *f, uint32_t i)
{
	return (int64_t) ((uint64_t) span_at(f, i) * f->own[0]);
}

bool
bs_layered_forgot(const BsFilter *f, int64_t at)
{
	return forgotten(f) != NOTHING && !expired(f, forgotten(f), span_of(f, at));
}

uint64_t
bs_layered_expired_size(const BsFilter *f, int64_t at)
{
	return size_of(f, bs_layered_present(f) - count_expired(f, span_of(f, at)));
}

void
bs_layered_expire(BsFilter *to, const BsFilter *f, int64_t at)
{
	arrange(to, f, span_of(f, at), NULL);
}

/* ---- union ---- */

static bool
compatible(const BsFilter *a, const BsFilter *b)
{
	return bs_same_layout(a, b) && a->n == b->n && bs_double_bits(a->p) == bs_double_bits(b->p) &&
		   bs_layered_has_own(a, b->own);
}

/* Walks through the layers of two filters that are alive at the later one's time. */
typedef struct Merge
{
	uint32_t i; /* next layer of a */
	uint32_t j; /* and of b */
} Merge;

static Merge
merge_begin(const BsFilter *a, const BsFilter *b)
{
	int64_t now = bs_layered_present(b) > 0 ? time_with(a, span_at(b, bs_layered_present(b) - 1))
											: time_with(a, NOTHING);

	return (Merge){count_expired(a, now), count_expired(b, now)};
}

/* The next span; which of the two have it. */
static bool
merge_next(Merge *merge, const BsFilter *a, const BsFilter *b, bool *in_a, bool *in_b)
{
	bool more_a = merge->i < bs_layered_present(a);
	bool more_b = merge->j < bs_layered_present(b);

	*in_a = more_a && (!more_b || span_at(a, merge->i) <= span_at(b, merge->j));
	*in_b = more_b && (!more_a || span_at(b, merge->j) <= span_at(a, merge->i));
	merge->i += *in_a;
	merge->j += *in_b;
	return more_a || more_b;
}

static uint64_t
united_size(const BsFilter *a, const BsFilter *b)
{
	Merge merge = merge_begin(a, b);
	uint32_t present = 0;
	bool in_a;
	bool in_b;

	while (merge_next(&merge, a, b, &in_a, &in_b))
		present++;
	return size_of(a, present);
}

static bool
unite(BsFilter *to, const BsFilter *a, const BsFilter *b)
{
	Merge begin = merge_begin(a, b);
	Merge merge = begin;
	uint64_t bytes = layer_bytes(a);
	uint32_t present = 0;
	bool in_a;
	bool in_b;

	*to = *a;
	bs_merge_headers(to, b);
	while (merge_next(&merge, a, b, &in_a, &in_b))
		present++;
	set_present(to, present);
	directory(to)[0] = ((const uint64_t *) a->bits)[0];
	forget(to, forgotten(b));
	if (begin.i > 0)
		forget(to, span_at(a, begin.i - 1));
	if (begin.j > 0)
		forget(to, span_at(b, begin.j - 1));

	merge = begin;
	for (uint32_t layer = 0; merge_next(&merge, a, b, &in_a, &in_b); layer++)
	{
		const BsFilter *first = in_a ? a : b;
		uint32_t at = in_a ? merge.i - 1 : merge.j - 1;
		uint8_t *bits = to->bits + layer_start(to, layer);

		directory(to)[1 + layer] = (uint64_t) span_at(first, at);
		bs_bytes_copy(bits, first->bits + layer_start(first, at), bytes);
		if (in_a && in_b)
			bs_bytes_or(bits, b->bits + layer_start(b, merge.j - 1), bytes);
	}
	return true;
}

/* ---- estimates ---- */

/* A key counts once for each span that it came in. */
static double
count(const BsFilter *f)
{
	double sum = 0;

	for (uint32_t i = 0; i < bs_layered_present(f); i++)
		sum += bs_filter_estimate(f, bs_count_bits_polled(f->bits + layer_start(f, i), f->m / 8));
	return sum;
}

static double
rate(const BsFilter *f)
{
	double none = 0; /* logarithm of the chance that no layer says yes */

	for (uint32_t i = 0; i < bs_layered_present(f); i++)
		none += log1p(
			-bs_blocks_rate(f, f->bits + layer_start(f, i), f->block_bits / 8, bs_count_bits));
	return -expm1(none);
}

const BsStructure bs_layered = {
	.number = BS_STRUCTURE_LAYERED,
	.type_name = "layeredfilter",
	.plan = plan,
	.directory_size = directory_size,
	.swap_directory = swap_directory,
	.check_header = check_header,
	.check_directory = check_directory,
	.check_value = check_value,
	.place = place,
	.holds = bs_block_holds,
	.size_with = size_with,
	.make_room = make_room,
	.add = add,
	.compatible = compatible,
	.united_size = united_size,
	.unite = unite,
	.count = count,
	.rate = rate,
};
