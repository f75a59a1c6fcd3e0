/*
 * scalable.c - a filter that grows: layers of standard filters (Almeida, Baquero,
 * Preguiça, Hutchison: "Scalable Bloom Filters", 2007).
 *
 * Each generation of layers has room for twice the keys of the one before, at half
 * its rate, so that the rates of all together stay below p however many there are.
 * A key goes into the newest layer, unless it is in one already.  There is one layer
 * of each generation, but in unions.
 *
 * Header: n, p and seed of the whole, m the bits of all layers, own[0] the number of
 * layers; k, block_bits and own[1] are 0.  The directory has a header for each layer:
 * that of a standard filter, with the number of keys in own[0] and the generation in
 * own[1].  Then the bits of the layers, each padded to whole words.
 */
#include "scalable.h"

#include "blocks.h"
#include "bytes.h"
#include "hash.h"
#include "key_type.h"

#define SET_ASIDE (1.0 / (1 << 28))

/* ---- layers ---- */

static inline const BsFilter *
directory(const BsFilter *f)
{
	return (const BsFilter *) f->bits;
}

static size_t
directory_size(const BsFilter *header)
{
	return (size_t) bs_scalable_layers(header) * sizeof(BsFilter);
}

/* Bytes of a layer's bits with their padding. */
static inline size_t
padded(const BsFilter *layer)
{
	return (size_t) ((layer->m / 8 + 7) & ~UINT64_C(7));
}

/* Where a layer's bits start, from f->bits on; where they all end for the number of layers. */
static size_t
bits_at(const BsFilter *f, uint64_t index)
{
	size_t at = directory_size(f);

	for (uint64_t i = 0; i < index; i++)
		at += padded(&directory(f)[i]);
	return at;
}

/* Bytes after the header. */
static size_t
length(const BsFilter *f)
{
	return bits_at(f, bs_scalable_layers(f));
}

/* A layer, to go from one to the next. */
typedef struct Layer
{
	const BsFilter *header;
	const uint8_t *bits;
	const BsFilter *end; /* of the directory */
} Layer;

static Layer
first_layer(const BsFilter *f)
{
	return (Layer){directory(f), f->bits + directory_size(f), directory(f) + bs_scalable_layers(f)};
}

static inline bool
is_layer(const Layer *layer)
{
	return layer->header < layer->end;
}

static inline void
step(Layer *layer)
{
	layer->bits += padded(layer->header);
	layer->header++;
}

static inline bool
has_room(const BsFilter *layer)
{
	return layer->own[0] < layer->n;
}

/* Where the next key goes: of the newest layers the one with fewest keys. */
static uint64_t
filling(const BsFilter *f)
{
	const BsFilter *layers = directory(f);
	uint64_t last = bs_scalable_layers(f) - 1;
	uint64_t least = last;

	for (uint64_t i = last; i > 0 && layers[i - 1].own[1] == layers[last].own[1]; i--)
		if (layers[i - 1].own[0] <= layers[least].own[0])
			least = i - 1;
	return least;
}

/* ---- sizing ---- */

/*
 * What the rates of the generations are halves of.  No layer's rate is below
 * BS_MIN_P; what this costs is set aside first: a power of two, so that the
 * difference is exact, and the same on every machine.
 */
static double
shared_out(double p)
{
	uint64_t bits = bs_double_bits(p) & (UINT64_C(0x7ff) << 52);
	double power;

	memcpy(&power, &bits, sizeof(power));
	return p - (power < 4 * SET_ASIDE ? power / 4 : SET_ASIDE);
}

/* The rate of a generation's layer; false if those of all up to it pass p. */
static bool
layer_rate(double p, uint64_t generation, double *rate)
{
	double half = shared_out(p);
	double sum = 0;

	for (uint64_t i = 0; i <= generation; i++)
	{
		half /= 2;
		*rate = bs_rate_in(half, BS_MIN_P, 1) ? half : BS_MIN_P;
		sum += *rate;
	}
	return bs_rate_in(sum, BS_MIN_P, p) || bs_double_bits(sum) == bs_double_bits(p);
}

/* The header of a new layer; false if there cannot be one. */
static bool
plan_layer(const BsFilter *f, uint64_t generation, BsFilter *layer)
{
	BsLayout layout;
	double rate;

	if (generation > 62 || f->n > (uint64_t) INT64_MAX >> generation ||
		!layer_rate(f->p, generation, &rate) ||
		bs_sizing((int64_t) (f->n << generation), rate, &layout) != BS_SIZING_OK)
		return false;
	memset(layer, 0, sizeof(*layer));
	bs_filter_init(layer, &layout, (int64_t) (f->n << generation), rate, f->seed);
	layer->own[1] = generation;
	return true;
}

static BsSizing
plan(BsFilter *header, uint64_t *size)
{
	BsLayout layout = {0};
	BsSizing sizing = bs_sizing((int64_t) header->n, header->p, &layout); /* n and p are right */

	if (sizing == BS_SIZING_OK || sizing == BS_SIZING_TOO_LARGE)
		sizing = bs_sizing((int64_t) header->n, shared_out(header->p) / 2, &layout);
	*size = sizeof(BsFilter);
	if (sizing == BS_SIZING_OK && layout.m > BS_MAX_BITS - 8 * sizeof(BsFilter))
		sizing = BS_SIZING_TOO_LARGE; /* the layer's header has to fit too */
	if (sizing == BS_SIZING_TOO_LARGE)
		*size += sizeof(BsFilter) + layout.m / 8;
	return sizing;
}

/* ---- checks ---- */

static void
swap_directory(uint8_t *to, const uint8_t *from, size_t size)
{
	/* widths of the fields; the four of one byte are as they are */
	static const uint8_t widths[] = {4, 1, 1, 1, 1, 4, 4, 8, 8, 8, 8, 8, 8};

	for (size_t at = 0; at < size; at += sizeof(BsFilter))
	{
		size_t field = at;

		for (size_t i = 0; i < sizeof(widths); i++)
		{
			uint64_t value = bs_load_le(from + field, widths[i]);
			uint32_t value32 = (uint32_t) value;

			if (widths[i] == 8)
				memcpy(to + field, &value, 8);
			else if (widths[i] == 4)
				memcpy(to + field, &value32, 4);
			else
				to[field] = (uint8_t) value;
			field += widths[i];
		}
	}
}

static const char *
check_header(const BsFilter *h, uint64_t after)
{
	if (h->k != 0 || h->block_bits != 0 || h->own[1] != 0)
		return "Its reserved bytes are not zero.";
	if (after > BS_MAX_SIZE - sizeof(BsFilter) || h->own[0] > after / sizeof(BsFilter))
		return "Its length does not fit its header.";
	return NULL;
}

static const char *
check_directory(const BsFilter *f, uint64_t after)
{
	const BsFilter *layers = directory(f);
	uint64_t bytes = directory_size(f); /* no overflow: 2^23 layers of 2^29 bytes at most */
	uint64_t generation = 0;
	uint64_t bits = 0;

	for (uint64_t i = 0; i < bs_scalable_layers(f); i++)
	{
		const BsFilter *layer = &layers[i];
		const char *why = bs_check_blocks(layer, BS_MAX_BITS);

		if (why)
			return why;
		if (layer->version != BS_FORMAT_VERSION || layer->structure != BS_STRUCTURE_BLOOM ||
			layer->hash_scheme != BS_HASH_SCHEME || layer->seed != f->seed)
			return "One of its layers is another kind of filter.";
		/* the first is 0, and none is left out */
		if (layer->own[1] != generation && (i == 0 || layer->own[1] != generation + 1))
			return "Its layers are out of order.";
		generation = layer->own[1];
		if (layer->own[0] > layer->n)
			return "A layer's number of keys is out of range.";
		bytes += padded(layer);
		bits += layer->m;
	}
	if (bytes != after)
		return "Its length does not fit its layers.";
	if (bits != f->m)
		return "Its number of bits is out of range.";
	return NULL;
}

static const char *
check_value(const BsFilter *f, uint64_t after)
{
	(void) after;
	if (!bs_rate_in(shared_out(f->p) / 2, BS_MIN_P, 1))
		return "Its false-positive rate is out of range.";
	if (f->key_type == BS_KEY_NONE && bs_scalable_layers(f) > 0)
		return "It holds keys of no type.";
	for (Layer layer = first_layer(f); is_layer(&layer); step(&layer))
	{
		BsFilter planned;

		if (!plan_layer(f, layer.header->own[1], &planned))
			return "It has more layers than its rate allows.";
		if (layer.header->own[0] < 1)
			return "A layer's number of keys is out of range.";
		planned.own[0] = layer.header->own[0];
		if (memcmp(&planned, layer.header, sizeof(planned)) != 0)
			return "A layer is not what its number of keys and rate call for.";
		if (!bs_bytes_all_zero(layer.bits + layer.header->m / 8,
							   padded(layer.header) - layer.header->m / 8))
			return "The padding of a layer is not zero.";
		bs_poll_host();
	}
	return NULL;
}

/* ---- asking and adding ---- */

/* The newest layer first: it has about half of all keys. */
static bool
place(const BsFilter *f, const BsProbe *probe, uint32_t i, BsPlace *place)
{
	uint64_t index;

	if (i >= bs_scalable_layers(f))
		return false;
	index = bs_scalable_layers(f) - 1 - i;
	place->part = &directory(f)[index];
	place->start = bits_at(f, index) + bs_block_start(place->part, probe->hash, &place->length);
	return true;
}

/* A whole filter in one pass from the end, in the order of places: those are each
 * found from the beginning, which adds up where a union has left many layers. */
static bool
contains(const BsFilter *f, const BsProbe *probe)
{
	const uint8_t *bits = f->bits + length(f);

	for (uint64_t i = bs_scalable_layers(f); i-- > 0;)
	{
		const BsFilter *layer = &directory(f)[i];
		size_t bytes;
		size_t start = bs_block_start(layer, probe->hash, &bytes);

		bits -= padded(layer);
		if (bs_block_contains(layer, bits + start, probe->hash))
			return true;
	}
	return false;
}

static uint64_t
next_generation(const BsFilter *f)
{
	return bs_scalable_layers(f) ? directory(f)[bs_scalable_layers(f) - 1].own[1] + 1 : 0;
}

static bool
has_room_somewhere(const BsFilter *f)
{
	return bs_scalable_layers(f) > 0 && has_room(&directory(f)[filling(f)]);
}

static uint64_t
size_with(const BsFilter *f, size_t size, const BsProbe *probe)
{
	BsFilter layer;

	if (has_room_somewhere(f) || bs_probe_contains(f, probe))
		return size;
	if (!plan_layer(f, next_generation(f), &layer))
		return UINT64_MAX;
	return size + sizeof(BsFilter) + padded(&layer);
}

static void
make_room(BsFilter *to, size_t to_size, const BsFilter *from, const BsProbe *probe)
{
	size_t before = directory_size(from);
	size_t bytes = length(from) - before;
	uint8_t *bits = to->bits + before + sizeof(BsFilter);
	BsFilter layer;

	(void) to_size;
	(void) probe;
	(void) plan_layer(from, next_generation(from), &layer);
	*to = *from;
	to->own[0]++;
	to->m += layer.m;
	bs_bytes_copy(to->bits, from->bits, before);
	memcpy(to->bits + before, &layer, sizeof(layer));
	bs_bytes_copy(bits, from->bits + before, bytes);
	bs_bytes_zero(bits + bytes, padded(&layer));
}

static BsAdded
add(BsFilter *f, const BsProbe *probe)
{
	BsFilter *layer;
	uint64_t index;
	size_t start;
	size_t bytes;

	if (bs_probe_contains(f, probe))
		return BS_UNCHANGED;
	if (!has_room_somewhere(f))
		return BS_FULL;
	index = filling(f);
	layer = (BsFilter *) f->bits + index;
	start = bits_at(f, index) + bs_block_start(layer, probe->hash, &bytes);
	bs_block_add(layer, f->bits + start, probe->hash);
	layer->own[0]++;
	return BS_ADDED;
}

/* ---- union ---- */

static bool
compatible(const BsFilter *a, const BsFilter *b)
{
	return a->version == b->version && a->structure == b->structure &&
		   a->hash_scheme == b->hash_scheme && a->n == b->n &&
		   bs_double_bits(a->p) == bs_double_bits(b->p) && a->seed == b->seed;
}

static bool
alike(const Layer *a, const Layer *b)
{
	return a->header->own[1] == b->header->own[1] && bs_same_layout(a->header, b->header);
}

/* Whether all bits of the one are set in the other, which is alike. */
static bool
is_subset(const Layer *layer, const Layer *of)
{
	size_t bytes = padded(layer->header);

	for (size_t start = 0; start < bytes; start += BS_PIECE)
	{
		size_t end = bytes - start < BS_PIECE ? bytes : start + BS_PIECE;

		for (size_t i = start; i < end; i += 8)
		{
			if (bs_load64(layer->bits + i) & ~bs_load64(of->bits + i))
				return false;
		}
		bs_poll_host();
	}
	return true;
}

/* An order of layers that does not depend on where they stand. */
static int
compare(const Layer *a, const Layer *b)
{
	const BsFilter *x = a->header;
	const BsFilter *y = b->header;
	size_t bytes = padded(x);
	int order = 0;

	if (x->own[1] != y->own[1])
		return x->own[1] < y->own[1] ? -1 : 1;
	if (x->own[0] != y->own[0])
		return x->own[0] < y->own[0] ? -1 : 1;
	if (x->m != y->m)
		return x->m < y->m ? -1 : 1;
	for (size_t start = 0; start < bytes && order == 0; start += BS_PIECE)
	{
		order = memcmp(a->bits + start, b->bits + start,
					   bytes - start < BS_PIECE ? bytes - start : BS_PIECE);
		bs_poll_host();
	}
	return order;
}

/*
 * Whether another layer has all bits of this one.  Of layers with the same bits the
 * one with most keys stays, then the first.
 */
static bool
is_superfluous(const BsFilter *const both[2], const Layer *layer, int from)
{
	bs_poll_host();
	for (int i = 0; i < 2; i++)
		for (Layer other = first_layer(both[i]); is_layer(&other); step(&other))
		{
			bool earlier = i < from || (i == from && other.header < layer->header);

			if (other.header == layer->header || !alike(layer, &other) || !is_subset(layer, &other))
				continue;
			if (!is_subset(&other, layer) || other.header->own[0] > layer->header->own[0] ||
				(other.header->own[0] == layer->header->own[0] && earlier))
				return true;
		}
	return false;
}

/* The layer that comes after this one among those of both filters that stay. */
static bool
next_staying(const BsFilter *const both[2], const Layer *after, Layer *next)
{
	Layer first;
	bool found = false;

	for (int i = 0; i < 2; i++)
		for (Layer layer = first_layer(both[i]); is_layer(&layer); step(&layer))
			if ((after == NULL || compare(after, &layer) < 0) &&
				(!found || compare(&layer, &first) < 0) && !is_superfluous(both, &layer, i))
			{
				first = layer;
				found = true;
			}
	if (found)
		*next = first;
	return found;
}

/*
 * The layers that stay, in order; neighbours become one layer as long as it has room
 * for the keys of all.  Writes headers and bits, and tells how many layers and bits.
 * Without "headers" it only tells, and returns the bytes of the bits.
 */
static size_t
unite_layers(const BsFilter *const both[2], BsFilter *headers, uint8_t *bits, BsFilter *total)
{
	size_t bytes = 0;
	Layer layer;
	bool more = next_staying(both, NULL, &layer);

	total->own[0] = 0;
	total->m = 0;
	while (more)
	{
		Layer first = layer;
		uint64_t keys = first.header->own[0];

		if (headers)
			bs_bytes_copy(bits + bytes, first.bits, padded(first.header));
		while ((more = next_staying(both, &layer, &layer)) && alike(&first, &layer) &&
			   layer.header->own[0] <= first.header->n - keys)
		{
			keys += layer.header->own[0];
			if (headers)
				bs_bytes_or(bits + bytes, layer.bits, padded(layer.header));
		}
		if (headers)
		{
			headers[total->own[0]] = *first.header;
			headers[total->own[0]].own[0] = keys;
		}
		bytes += padded(first.header);
		total->own[0]++;
		total->m += first.header->m;
	}
	return bytes;
}

/* A filter and itself: the order of its layers is left as it is. */
static bool
same_layers(const BsFilter *a, const BsFilter *b)
{
	return length(a) == length(b) && bs_bytes_equal(a->bits, b->bits, length(a));
}

static uint64_t
united_size(const BsFilter *a, const BsFilter *b)
{
	const BsFilter *const both[2] = {a, b};
	BsFilter total;
	size_t bytes;

	if (same_layers(a, b))
		return sizeof(BsFilter) + length(a);
	bytes = unite_layers(both, NULL, NULL, &total);
	return sizeof(BsFilter) + directory_size(&total) + bytes;
}

static bool
unite(BsFilter *to, const BsFilter *a, const BsFilter *b)
{
	const BsFilter *const both[2] = {a, b};

	*to = *a;
	bs_merge_headers(to, b);
	if (same_layers(a, b))
		bs_bytes_copy(to->bits, a->bits, length(a));
	else
	{
		unite_layers(both, NULL, NULL, to);
		unite_layers(both, (BsFilter *) to->bits, to->bits + directory_size(to), to);
	}
	return true;
}

/* ---- estimates ---- */

uint64_t
bs_scalable_capacity(const BsFilter *f)
{
	uint64_t capacity = 0;

	for (uint64_t i = 0; i < bs_scalable_layers(f); i++)
		capacity += directory(f)[i].n;
	return capacity;
}

uint64_t
bs_scalable_bits_set(const BsFilter *f)
{
	return bs_count_bits_polled(f->bits + directory_size(f), length(f) - directory_size(f));
}

static double
rate_of(const Layer *layer)
{
	return bs_blocks_rate(layer->header, layer->bits, layer->header->block_bits / 8, bs_count_bits);
}

static uint64_t
bits_set(const Layer *layer)
{
	return bs_count_bits_polled(layer->bits, (size_t) (layer->header->m / 8));
}

/*
 * No key is in two layers, but in unions.  Keys that older generations took to be in
 * have left no trace, and are added: a share of p at most.
 */
static double
count(const BsFilter *f)
{
	double sum = 0;
	double passed_older = 1; /* the chance that none of them says yes */
	double passed = 1;
	uint64_t generation = 0;

	for (Layer layer = first_layer(f); is_layer(&layer); step(&layer))
	{
		if (layer.header->own[1] != generation)
			passed_older = passed > 1 - f->p ? passed : 1 - f->p;
		generation = layer.header->own[1];
		sum += bs_filter_estimate(layer.header, bits_set(&layer)) / passed_older;
		passed *= 1 - rate_of(&layer);
	}
	return sum;
}

static double
rate(const BsFilter *f)
{
	double yes = 0;

	for (Layer layer = first_layer(f); is_layer(&layer); step(&layer))
		yes += (1 - yes) * rate_of(&layer);
	return yes;
}

const BsStructure bs_scalable = {
	.number = BS_STRUCTURE_SCALABLE,
	.type_name = "scalablefilter",
	.is_set = true,
	.plan = plan,
	.directory_size = directory_size,
	.swap_directory = swap_directory,
	.check_header = check_header,
	.check_directory = check_directory,
	.check_value = check_value,
	.place = place,
	.holds = bs_block_holds,
	.contains = contains,
	.size_with = size_with,
	.make_room = make_room,
	.add = add,
	.compatible = compatible,
	.united_size = united_size,
	.unite = unite,
	.count = count,
	.rate = rate,
};
