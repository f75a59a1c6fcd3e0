/*
 * Operations of a filter: order, batches, unions, estimates at the edges, sizes
 * of every remainder, and one that has nearly as many bits as a filter can.
 */
#include <math.h>

#include "filters.h"
#include "key_type.h"
#include "tap.h"

static size_t
size_of(const BsFilter *f)
{
	return bs_filter_size(f->m);
}

static bool
same(const BsFilter *a, const BsFilter *b)
{
	return size_of(a) == size_of(b) && memcmp(a, b, size_of(a)) == 0;
}

static void
test_add(void)
{
	BsFilter *forward = make_filter(1000, 0.01, 42);
	BsFilter *backward = make_filter(1000, 0.01, 42);
	BsFilter *batch = make_filter(1000, 0.01, 42);
	BsFilter *unseeded = make_filter(1000, 0.01, 0);
	BsFilter *mixed = make_filter(1000, 0.01, 0);
	uint64_t hashes[1000];
	bool contained = true;

	for (int i = 0; i < 1000; i++)
		hashes[i] = hash_of(i);
	for (int i = 0; i < 1000; i++)
	{
		bs_filter_add(forward, hashes[i]);
		bs_filter_add(backward, hashes[999 - i]);
	}
	for (size_t i = 0; i < 1000; i += 37)
		bs_filter_add_many(batch, hashes + i, i + 37 <= 1000 ? 37 : 1000 - i);
	ok(same(forward, backward), "the order of insertion leaves no trace");
	ok(same(forward, batch), "batches set the bits that single keys do");
	for (int i = 0; i < 1000; i++)
	{
		bs_filter_add(unseeded, hashes[i]);
		hashes[i] = bs_mix(hashes[i]);
	}
	bs_filter_add_mixed(mixed, hashes, 1000);
	ok(same(unseeded, mixed), "so do keys that were mixed before");
	for (int i = 0; i < 1000; i++)
		hashes[i] = hash_of(i);
	ok(!bs_filter_add(forward, hashes[5]), "a key that is in changes nothing");
	ok(same(forward, backward), "nor does it write anything");
	for (int i = 0; i < 1000; i++)
		contained = contained && bs_filter_contains(forward, hashes[i]);
	ok(contained, "every added key is contained");
	free(forward);
	free(backward);
	free(batch);
	free(unseeded);
	free(mixed);
}

/* Every size of filter, with guard bytes behind it. */
static void
test_sizes(void)
{
	bool contained = true;
	bool guarded = true;
	bool empty = true;

	for (int n = 1; n <= 3000; n++)
	{
		BsLayout layout;
		BsFilter *f;

		bs_sizing(n, n % 2 ? 0.37 : 0.003, &layout);
		f = calloc(1, bs_filter_size(layout.m) + 16);
		bs_filter_init(f, &layout, n, 0.5, (uint64_t) n);
		memset(f->bits + layout.m / 8, 0x5a, 16);
		empty = empty && !bs_filter_contains(f, hash_of(n)) && bs_filter_bits_set(f) == 0;
		for (int i = 0; i < 20; i++)
		{
			bs_filter_add(f, hash_of((uint64_t) n + i));
			contained = contained && bs_filter_contains(f, hash_of((uint64_t) n + i));
		}
		for (int i = 0; i < 16; i++)
			guarded = guarded && f->bits[layout.m / 8 + i] == 0x5a;
		free(f);
	}
	ok(empty, "an empty filter contains nothing, whatever its size");
	ok(contained, "every added key is contained, whatever the size");
	ok(guarded, "no bit is set past the end, whatever the size");
}

static void
test_union(void)
{
	BsFilter *a = make_filter(2000, 0.01, 0);
	BsFilter *b = make_filter(2000, 0.01, 0);
	BsFilter *all = make_filter(2000, 0.01, 0);
	BsFilter *ab = make_filter(2000, 0.01, 0);
	BsFilter *ba = make_filter(2000, 0.01, 0);
	BsFilter *other = make_filter(2000, 0.01, 1);
	uint64_t both;
	bool common = true;

	b->n = 3000;
	b->p = 0.02;
	b->key_type = BS_KEY_NUMBER;
	for (int i = 0; i < 1200; i++)
	{
		bs_filter_add(a, hash_of(i));
		bs_filter_add(all, hash_of(i));
	}
	for (int i = 1000; i < 2000; i++)
	{
		bs_filter_add(b, hash_of(i));
		bs_filter_add(all, hash_of(i));
	}
	both = bs_filter_bits_set_union(a, b);
	memcpy(ab, a, size_of(a));
	bs_filter_unite(ab, b);
	memcpy(ba, b, size_of(b));
	bs_filter_unite(ba, a);
	ok(same(ab, ba), "a | b and b | a are the same bytes");
	ok(ab->n == 3000 && ab->p == b->p && ab->key_type == BS_KEY_NUMBER,
	   "the union has the larger n and the key type there is");
	ok(memcmp(ab->bits, all->bits, all->m / 8) == 0, "the union is the filter of all keys");
	ok(both == bs_filter_bits_set(all), "bits of the union are counted without making it");

	memcpy(ab, a, size_of(a));
	bs_filter_intersect(ab, b);
	memcpy(ba, b, size_of(b));
	bs_filter_intersect(ba, a);
	ok(same(ab, ba), "a & b and b & a are the same bytes");
	for (int i = 1000; i < 1200; i++)
		common = common && bs_filter_contains(ab, hash_of(i));
	ok(common, "the intersection contains every common key");
	ok(bs_same_layout(a, b) && !bs_same_layout(a, other), "filters of another seed do not fit");
	free(a);
	free(b);
	free(all);
	free(ab);
	free(ba);
	free(other);
}

/* Blocks are chosen so that a filter of r times the blocks folds onto one. */
static void
test_fold(void)
{
	BsLayout small;
	BsLayout large;
	BsFilter *f;
	BsFilter *g;
	size_t block_bytes;
	bool equal = true;

	bs_sizing(200000, 0.01, &small);
	large = small;
	large.m = small.m * 5;
	block_bytes = small.block_bits / 8;
	f = calloc(1, bs_filter_size(small.m));
	g = calloc(1, bs_filter_size(large.m));
	bs_filter_init(f, &small, 200000, 0.01, 0);
	bs_filter_init(g, &large, 200000, 0.01, 0);
	for (int i = 0; i < 200000; i++)
	{
		bs_filter_add(f, hash_of(i));
		bs_filter_add(g, hash_of(i));
	}
	for (size_t i = 0; i < small.m / 8; i++)
	{
		size_t block = i / block_bytes;
		uint8_t byte = 0;

		for (size_t part = 0; part < 5; part++)
			byte |= g->bits[(block * 5 + part) * block_bytes + i % block_bytes];
		equal = equal && byte == f->bits[i];
	}
	ok(equal, "a filter of five times the blocks folds down exactly");
	free(f);
	free(g);
}

static void
test_estimates(void)
{
	BsFilter *f = make_filter(1, 0.5, 0);
	BsFilter *g = make_filter(20000, 0.001, 0);
	double estimate;

	ok(bs_filter_estimate(f, 0) == 0 && bs_filter_rate(f) == 0, "an empty filter holds nothing");
	memset(f->bits, 0xff, f->m / 8);
	estimate = bs_filter_estimate(f, bs_filter_bits_set(f));
	ok(isfinite(estimate) && estimate > 1, "a full filter has a finite estimate: %g", estimate);
	ok(bs_filter_rate(f) == 1, "a full filter says yes to everything");
	for (int i = 1; i <= 60000; i++)
	{
		bs_filter_add(g, hash_of(i));
		if (i != 10 && i != 1000 && i != 20000 && i != 60000)
			continue;
		estimate = bs_filter_estimate(g, bs_filter_bits_set(g));
		ok(fabs(estimate - i) < 4 * sqrt(i) * 0.3 + 1, "%d keys are estimated as %.1f", i,
		   estimate);
	}
	free(f);
	free(g);
}

static void
test_largest(void)
{
	enum
	{
		KEYS = 3000000,
		SLICES = 64
	};
	BsFilter *f = make_filter(410000000, 0.01, 0);
	uint64_t set = 0;
	/* a key sets a bit of its block with chance q */
	double q = -expm1(f->k * log1p(-1.0 / f->block_bits));
	double expected = f->m * -expm1(KEYS * log1p(-q * f->block_bits / f->m));
	double worst = 0;
	uint8_t ored = 0;
	bool contained = true;

	for (uint64_t i = 0; i < KEYS; i++)
		bs_filter_add(f, hash_of(i));
	for (uint64_t i = 0; i < KEYS; i++)
		contained = contained && bs_filter_contains(f, hash_of(i));
	for (int slice = 0; slice < SLICES; slice++)
	{
		uint64_t begin = f->m / 8 / SLICES * slice;
		uint64_t count = 0;
		double sigmas;

		for (uint64_t i = begin; i < begin + f->m / 8 / SLICES; i++)
		{
			count += __builtin_popcount(f->bits[i]);
			ored |= f->bits[i];
		}
		set += count;
		/* k bits of a key lie together, so the variance is k times the binomial's */
		sigmas = fabs(count - expected / SLICES) / sqrt(f->k * expected / SLICES);
		worst = sigmas > worst ? sigmas : worst;
	}
	ok(f->m > UINT64_C(4000000000), "a filter of %llu bits", (unsigned long long) f->m);
	ok(contained, "contains what was added");
	ok(fabs(set - expected) < 5 * sqrt(expected), "has %llu bits set, %.0f expected",
	   (unsigned long long) set, expected);
	ok(worst < 4.5, "in all of its parts alike: at most %.1f sigma off", worst);
	ok(ored == 0xff, "in every bit of a byte");
	free(f);
}

static int polls;

static void
count_poll(void)
{
	polls++;
}

static void
test_polling(void)
{
	BsFilter *f = make_filter(10000000, 0.01, 0);

	bs_poll = count_poll;
	bs_filter_bits_set(f);
	ok(polls >= 10, "counting 12 MB polls the host (%d times)", polls);
	polls = 0;
	bs_filter_rate(f);
	ok(polls >= 10, "so does the rate");
	polls = 0;
	bs_filter_unite(f, f);
	ok(polls >= 10, "so does a union");
	bs_poll = NULL;
	free(f);
}

int
main(void)
{
	test_add();
	test_sizes();
	test_union();
	test_fold();
	test_estimates();
	test_polling();
	if (UNIT_SCALE == 1)
		test_largest();
	return done_testing();
}
