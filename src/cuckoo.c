/*
 * cuckoo.c - the cuckoo filter: a multiset of fingerprints, so that keys can be
 * taken out again.
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher: "Cuckoo Filter: Practically Better Than
 * Bloom", 2014.  Buckets have four slots.  A key's fingerprint lies in one of two
 * buckets, and either follows from the other and the fingerprint alone, so that
 * fingerprints are moved without their keys.  Room is found by searching breadth
 * first, not by random kicks: the result is the same on every machine, the paths
 * are short, and nothing has been changed where there is no room.
 */
#include "cuckoo.h"

#include <math.h>

#include "blocks.h"
#include "bytes.h"
#include "key_type.h"

#define SLOTS 4 /* in a bucket */

/*
 * Fewer bits would not make room for many copies of few fingerprints: nine of one
 * fingerprint in one pair of buckets fit nowhere (see buckets_for).
 */
#define MIN_F 8
#define MAX_F 37 /* for 1e-10, whatever the number of keys */

#define SLACK 8 /* bytes after the buckets, so that a slot is read by loading eight */

#define MAX_SEARCH 2048 /* buckets that a search for room looks at */

#define POLL_BUCKETS 16384 /* at most 320 kB */

#define RESERVE 32		  /* slots beyond the load of 0.95, for small tables */
#define SMALL_BUCKETS 256 /* from so many on, pairs of them always suffice */
#define MOST_KEYS (BS_MAX_BITS / MIN_F / 20 * 19 - RESERVE) /* that fit */

/* ---- sizing ---- */

/*
 * Whether n different keys practically always fit two by two: the least that fits
 * nowhere are nine keys of one pair of buckets, and their chance is at most that of
 * any nine keys, C(n, 9), to agree on one of so many pairs, 1 / pairs^8.
 */
static bool
pairs_suffice(uint64_t n, uint64_t pairs)
{
	double nines = (double) pairs;

	for (uint64_t i = 0; i < 9; i++)
		nines *= (double) (n > i ? n - i : 0) / ((double) pairs * (double) (i + 1));
	return nines < 1e-9;
}

/*
 * Buckets for n different keys.  Below a load of 0.9768 nearly all fillings of a
 * large table fit, above it nearly none (the threshold for two buckets of four:
 * Fernholz, Ramachandran; Cain, Sanders, Wormald, 2007), however the keys came.
 * The paper fills up to 0.95; smaller tables vary more, which RESERVE slots make up
 * for, and the smallest are in danger of nine keys in two buckets alone.
 *
 * MIN_F is the least for which pairs_suffice too, for every n that fits, where the
 * pairs are those of a bucket with its partners, one for each fingerprint.
 */
static uint64_t
buckets_for(uint64_t n)
{
	uint64_t buckets = 2;

	if (n > 2 * SLOTS)
		buckets = 2 * ((5 * (n + RESERVE) + 37) / 38);
	while (buckets < SMALL_BUCKETS && !pairs_suffice(n, buckets / 2 * (buckets / 2)))
		buckets += 2;
	return buckets;
}

/*
 * The rate for n keys is at most n times the chance that another key agrees with one
 * of them in the pair of buckets, 2 / buckets, and in the fingerprint, and the
 * chance that their 64-bit hashes agree.  Compared without a division, whose
 * rounding a compiler could be allowed to change.
 */
static uint32_t
fingerprint_bits(uint64_t n, uint64_t buckets, double p)
{
	uint32_t f = MIN_F;

	while (f < MAX_F && 2.0 * (double) n > (p - (double) n * 0x1p-64) *
											   (double) (buckets * ((UINT64_C(1) << f) - 1)))
		f++;
	return f;
}

static BsSizing
plan(BsFilter *header, uint64_t *size)
{
	BsLayout unused;
	uint64_t n = header->n;
	uint64_t buckets;

	/* judges p alone */
	BsSizing sizing = bs_sizing((int64_t) n < 1 ? (int64_t) n : 1, header->p, &unused);

	*size = 0;
	if (sizing != BS_SIZING_OK)
		return sizing;
	n = n < MOST_KEYS ? n : MOST_KEYS;
	header->k = (uint8_t) fingerprint_bits(n, buckets_for(n), header->p);
	header->block_bits = SLOTS * header->k;

	*size = UINT64_MAX / 8; /* about right for more keys than the next lines can count with */
	if (header->n > UINT64_MAX / 64)
		return BS_SIZING_TOO_LARGE;
	buckets = buckets_for(header->n);
	header->m = buckets * header->block_bits;
	*size = sizeof(BsFilter) + header->m / 8 + SLACK;
	return *size > BS_MAX_SIZE ? BS_SIZING_TOO_LARGE : BS_SIZING_OK;
}

/* ---- checks ---- */

static const char *
check_header(const BsFilter *h, uint64_t after)
{
	if (h->k < MIN_F || h->k > MAX_F)
		return "Its number of bits per fingerprint is out of range.";
	if (h->block_bits != SLOTS * (uint32_t) h->k)
		return "Its bucket size does not fit its fingerprints.";
	if (h->m == 0 || h->m > BS_MAX_BITS - 8 * SLACK || h->m % (2 * h->block_bits) != 0)
		return "Its number of bits is out of range.";
	if (h->m / 8 + SLACK != after)
		return "Its length does not fit its header.";
	return NULL;
}

static const char *
check_value(const BsFilter *f, uint64_t after)
{
	if (f->own[0] != 0 || f->own[1] != 0 || !bs_bytes_all_zero(f->bits + after - SLACK, SLACK))
		return "Its reserved bytes are not zero.";
	return NULL;
}

/* ---- positions ---- */

/* A fingerprint and one of its buckets. */
typedef struct Home
{
	uint64_t fingerprint;
	uint32_t bucket;
} Home;

static inline Home
home_of(const BsGeometry *g, uint64_t hash)
{
	uint64_t x = bs_mix_seed(g, hash);
	uint64_t fingerprints = (UINT64_C(1) << g->k) - 1; /* 1 to so many: 0 is an empty slot */
	Home home;

	home.bucket = (uint32_t) bs_multiply_high(x, g->blocks);
	home.fingerprint = 1 + bs_multiply_high(x * CHAIN_MULTIPLIER, fingerprints);
	return home;
}

/*
 * The other bucket of a fingerprint: offset - bucket modulo their number, which
 * applied twice gives the bucket back, for any number of buckets.  That number is
 * even and the offset odd: even and odd buckets are partners, no bucket its own.
 *
 * The offset's upper bits are the fingerprint, so that no two fingerprints share an
 * offset that need not; the lower ones are mixed, so that sums of offsets do not
 * come to the same buckets again and again.
 */
static inline uint32_t
partner(const BsGeometry *g, Home home)
{
	uint64_t spread = home.fingerprint << (64 - g->k) | bs_fmix(home.fingerprint) >> g->k;
	uint32_t offset = 2 * (uint32_t) bs_multiply_high(spread, g->blocks / 2) + 1;

	return offset - home.bucket + (offset < home.bucket ? (uint32_t) g->blocks : 0);
}

/* ---- slots ---- */

static inline uint64_t
load_slot(const BsGeometry *g, const uint8_t *bits, uint64_t slot)
{
	uint64_t bit = slot * g->k;

	return bs_load_le(bits + (bit >> 3), 8) >> (bit & 7) & ((UINT64_C(1) << g->k) - 1);
}

static inline void
store_slot(const BsGeometry *g, uint8_t *bits, uint64_t slot, uint64_t fingerprint)
{
	uint64_t bit = slot * g->k;
	uint8_t *at = bits + (bit >> 3);
	uint64_t mask = ((UINT64_C(1) << g->k) - 1) << (bit & 7);

	bs_store_le(at, (bs_load_le(at, 8) & ~mask) | fingerprint << (bit & 7), 8);
}

/* The first slot of the bucket with this fingerprint, or an empty one for 0; SLOTS
 * if there is none. */
static inline uint32_t
find_in(const BsGeometry *g, const uint8_t *bits, uint32_t bucket, uint64_t fingerprint)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (load_slot(g, bits, (uint64_t) bucket * SLOTS + i) == fingerprint)
			return i;
	return SLOTS;
}

static inline bool
replace_in(const BsGeometry *g, uint8_t *bits, uint32_t bucket, uint64_t old, uint64_t new)
{
	uint32_t i = find_in(g, bits, bucket, old);

	if (i == SLOTS)
		return false;
	store_slot(g, bits, (uint64_t) bucket * SLOTS + i, new);
	return true;
}

/* ---- making room ---- */

/* A full bucket that the search has come to: by what is in a slot of another one. */
typedef struct Node
{
	uint32_t bucket;
	uint16_t before; /* the node of the other one */
	uint8_t slot;	 /* in it */
} Node;

/* Moves what is in a slot of the node's bucket to the empty one, and so on back to
 * the bucket where the search began; puts the fingerprint there. */
static void
move(const BsGeometry *g, uint8_t *bits, const Node *nodes, uint32_t node, uint32_t slot,
	 uint32_t to, uint64_t fingerprint)
{
	(void) replace_in(g, bits, to, 0,
					  load_slot(g, bits, (uint64_t) nodes[node].bucket * SLOTS + slot));
	while (node > 1)
	{
		uint32_t before = nodes[node].before;
		uint64_t from = (uint64_t) nodes[before].bucket * SLOTS + nodes[node].slot;

		store_slot(g, bits, (uint64_t) nodes[node].bucket * SLOTS + slot, load_slot(g, bits, from));
		slot = nodes[node].slot;
		node = before;
	}
	store_slot(g, bits, (uint64_t) nodes[node].bucket * SLOTS + slot, fingerprint);
}

/*
 * Both buckets being full.  Breadth first, so that the way found is a shortest one
 * and passes no bucket twice, although the search may.
 */
static bool
insert_by_moving(const BsGeometry *g, uint8_t *bits, Home home)
{
	Node nodes[MAX_SEARCH];
	uint32_t count = 2;

	nodes[0].bucket = home.bucket;
	nodes[1].bucket = partner(g, home);
	for (uint32_t node = 0; node < count; node++)
		for (uint32_t slot = 0; slot < SLOTS; slot++)
		{
			Home moved;
			uint32_t to;

			moved.bucket = nodes[node].bucket;
			moved.fingerprint = load_slot(g, bits, (uint64_t) moved.bucket * SLOTS + slot);
			to = partner(g, moved);
			if (find_in(g, bits, to, 0) < SLOTS)
			{
				move(g, bits, nodes, node, slot, to, home.fingerprint);
				return true;
			}
			if (count < MAX_SEARCH)
				nodes[count++] = (Node){to, (uint16_t) node, (uint8_t) slot};
		}
	return false;
}

static inline bool
insert(const BsGeometry *g, uint8_t *bits, Home home)
{
	return replace_in(g, bits, home.bucket, 0, home.fingerprint) ||
		   replace_in(g, bits, partner(g, home), 0, home.fingerprint) ||
		   insert_by_moving(g, bits, home);
}

/* ---- the structure ---- */

static bool
place(const BsFilter *f, const BsProbe *probe, uint32_t i, BsPlace *place)
{
	BsGeometry g = bs_geometry(f);
	Home home = home_of(&g, probe->hash);
	uint64_t bit;

	if (i == 2)
		return false;
	if (i == 1)
		home.bucket = partner(&g, home);
	bit = (uint64_t) home.bucket * g.block_bits;
	place->part = f;
	place->start = (size_t) (bit / 8);
	place->shift = bit & 7;
	place->length = ((place->shift + (SLOTS - 1) * g.k) >> 3) + SLACK;
	return true;
}

/* Whether one of four slots, from so many bits after the first byte on, holds the
 * fingerprint, which is not known before all are compared: no branches. */
static inline bool
slots_hold(uint32_t f, const uint8_t *bytes, uint32_t shift, uint64_t fingerprint)
{
	uint64_t mask = (UINT64_C(1) << f) - 1;
	bool found = false;

	if (SLOTS * f + 4 <= 64)
	{
		/* a field of the difference is 0 where subtracting 1 borrows from its top */
		uint64_t ones = (UINT64_C(1) | UINT64_C(1) << f) * (UINT64_C(1) | UINT64_C(1) << 2 * f);
		uint64_t difference = (bs_load_le(bytes, 8) >> shift) ^ (fingerprint * ones);

		return ((difference - ones) & ~difference & ones << (f - 1)) != 0;
	}
	for (uint32_t i = 0; i < SLOTS; i++, shift += f)
		found |= (bs_load_le(bytes + (shift >> 3), 8) >> (shift & 7) & mask) == fingerprint;
	return found;
}

static bool
holds(const BsPlace *place, const uint8_t *bytes, const BsProbe *probe)
{
	BsGeometry g = bs_geometry(place->part);

	return slots_hold(g.k, bytes, place->shift, home_of(&g, probe->hash).fingerprint);
}

static inline bool
bucket_holds(const BsGeometry *g, const uint8_t *bits, Home home)
{
	uint64_t bit = (uint64_t) home.bucket * g->block_bits;

	return slots_hold(g->k, bits + bit / 8, bit & 7, home.fingerprint);
}

/* Both buckets in any case: their cache misses then overlap. */
static bool
contains(const BsFilter *f, const BsProbe *probe)
{
	BsGeometry g = bs_geometry(f);
	Home home = home_of(&g, probe->hash);
	Home other = {home.fingerprint, partner(&g, home)};

	return bucket_holds(&g, f->bits, home) | bucket_holds(&g, f->bits, other);
}

static BsAdded
add(BsFilter *f, const BsProbe *probe)
{
	BsGeometry g = bs_geometry(f);

	return insert(&g, f->bits, home_of(&g, probe->hash)) ? BS_ADDED : BS_FULL;
}

static bool
remove_key(BsFilter *f, const BsProbe *probe)
{
	BsGeometry g = bs_geometry(f);
	Home home = home_of(&g, probe->hash);

	return replace_in(&g, f->bits, home.bucket, home.fingerprint, 0) ||
		   replace_in(&g, f->bits, partner(&g, home), home.fingerprint, 0);
}

/* All copies that there is room for, if that many are in. */
static uint32_t
crowd(const BsFilter *f, const BsProbe *probe)
{
	BsGeometry g = bs_geometry(f);
	Home home = home_of(&g, probe->hash);
	uint32_t other = partner(&g, home);

	for (uint64_t i = 0; i < SLOTS; i++)
		if (load_slot(&g, f->bits, (uint64_t) home.bucket * SLOTS + i) != home.fingerprint ||
			load_slot(&g, f->bits, (uint64_t) other * SLOTS + i) != home.fingerprint)
			return 0;
	return 2 * SLOTS;
}

/* Every fingerprint of b anew: a sum of multisets. */
static bool
unite(BsFilter *to, const BsFilter *a, const BsFilter *b)
{
	BsGeometry g = bs_geometry(b);
	Home home;

	if (to != a)
		bs_bytes_copy((uint8_t *) to, (const uint8_t *) a, sizeof(BsFilter) + a->m / 8 + SLACK);
	bs_merge_headers(to, b);
	for (home.bucket = 0; home.bucket < g.blocks; home.bucket++)
	{
		if (home.bucket % POLL_BUCKETS == 0)
			bs_poll_host();
		for (uint32_t i = 0; i < SLOTS; i++)
		{
			home.fingerprint = load_slot(&g, b->bits, (uint64_t) home.bucket * SLOTS + i);
			if (home.fingerprint > 0 && !insert(&g, to->bits, home))
				return false;
		}
	}
	return true;
}

uint64_t
bs_cuckoo_slots(const BsFilter *f)
{
	return f->m / f->k;
}

uint64_t
bs_cuckoo_used(const BsFilter *f)
{
	BsGeometry g = bs_geometry(f);
	uint64_t slots = bs_cuckoo_slots(f);
	uint64_t used = 0;

	for (uint64_t i = 0; i < slots; i++)
	{
		if (i % (POLL_BUCKETS * SLOTS) == 0)
			bs_poll_host();
		used += load_slot(&g, f->bits, i) > 0;
	}
	return used;
}

/* Not an estimate: every key and copy has a slot. */
static double
count(const BsFilter *f)
{
	return (double) bs_cuckoo_used(f);
}

/*
 * Another key agrees with one of those in with chance q, as in fingerprint_bits; the
 * paper's 1 - (1 - 1 / 2^f)^2b, for slots that are not all used.
 */
static double
rate(const BsFilter *f)
{
	double buckets = (double) (f->m / f->block_bits);
	double q = 2 / (buckets * (double) ((UINT64_C(1) << f->k) - 1));

	return -expm1((double) bs_cuckoo_used(f) * log1p(-q));
}

const BsStructure bs_cuckoo = {
	.number = BS_STRUCTURE_CUCKOO,
	.type_name = "cuckoofilter",
	.plan = plan,
	.check_header = check_header,
	.check_value = check_value,
	.place = place,
	.holds = holds,
	.contains = contains,
	.add = add,
	.remove = remove_key,
	.compatible = bs_same_layout,
	.unite = unite,
	.slots = bs_cuckoo_slots,
	.crowd = crowd,
	.count = count,
	.rate = rate,
};
