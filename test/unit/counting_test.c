/*
 * The counting filter against an exact multiset.
 */
#include "counting.h"
#include "filters.h"
#include "tap.h"

#define UNIVERSE 3000
#define OPERATIONS 100000
#define SEEDS 20

static BsFilter *
make_counting(int64_t n, double p, uint64_t seed, size_t *size)
{
	return make_structure(&bs_counting, n, p, seed, size);
}

static uint64_t random_state;

static uint64_t
next_random(void)
{
	return random_state = hash_of(random_state);
}

static BsProbe
probe_of(uint64_t key)
{
	return (BsProbe){.hash = hash_of(key)};
}

static bool
contains(const BsFilter *f, uint64_t key)
{
	BsProbe probe = probe_of(key);

	return bs_probe_contains(f, &probe);
}

/* Adds, removals and unions; a key whose exact count is above zero is always in. */
static void
test_model(void)
{
	int missing = 0;
	int refused = 0;
	int overfull_errors = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
	{
		size_t size;
		BsFilter *f = make_counting(UNIVERSE / 2, 0.01, seed, &size);
		BsFilter *other = make_counting(UNIVERSE / 2, 0.01, seed, &size);
		static int exact[UNIVERSE];
		static int in_other[UNIVERSE];

		memset(exact, 0, sizeof(exact));
		memset(in_other, 0, sizeof(in_other));
		random_state = seed;
		for (int i = 0; i < OPERATIONS / SEEDS; i++)
		{
			uint64_t key = next_random() % UNIVERSE;
			BsProbe probe = probe_of(key);

			switch (next_random() % 8)
			{
				case 0:
				case 1:
				case 2:
					bs_counting.add(f, &probe);
					exact[key]++;
					break;
				case 3:
					bs_counting.add(other, &probe);
					in_other[key]++;
					break;
				case 4:
				case 5:
					/* only what was added; taking out a false positive is the known danger */
					if (exact[key] > 0)
					{
						refused += !bs_counting.remove(f, &probe);
						exact[key]--;
					}
					break;
				case 6:
					missing += exact[key] > 0 && !contains(f, key);
					break;
				case 7:
					if (next_random() % 100 > 0)
						break;
					overfull_errors += !bs_counting.unite(f, f, other);
					for (int j = 0; j < UNIVERSE; j++)
						exact[j] += in_other[j];
					break;
			}
		}
		for (int j = 0; j < UNIVERSE; j++)
			missing += exact[j] > 0 && !contains(f, (uint64_t) j);
		free(f);
		free(other);
	}
	ok(missing == 0, "a key whose exact count is above zero is always in");
	ok(refused == 0, "and can always be removed");
	ok(overfull_errors == 0, "a union always has room");
}

/* What was added and removed again leaves no trace. */
static void
test_inverse(void)
{
	size_t size;
	BsFilter *f = make_counting(1000, 0.001, 7, &size);
	BsFilter *before;
	BsFilter *sum;
	bool removed = true;

	for (uint64_t key = 0; key < 500; key++)
	{
		BsProbe probe = probe_of(key);

		bs_counting.add(f, &probe);
	}
	before = memcpy(malloc(size), f, size);
	for (uint64_t key = 500; key < 1000; key++)
	{
		BsProbe probe = probe_of(key);

		bs_counting.add(f, &probe);
	}
	for (uint64_t key = 999; key >= 500; key--)
	{
		BsProbe probe = probe_of(key);

		removed = removed && bs_counting.remove(f, &probe);
	}
	ok(removed && memcmp(f, before, size) == 0, "removing what was added gives the bytes before");

	/* adding in any order, and as a union */
	sum = make_counting(1000, 0.001, 7, &size);
	for (uint64_t key = 250; key < 500; key++)
	{
		BsProbe probe = probe_of(749 - key);

		bs_counting.add(sum, &probe);
	}
	{
		BsFilter *half = make_counting(1000, 0.001, 7, &size);

		for (uint64_t key = 0; key < 250; key++)
		{
			BsProbe probe = probe_of(key);

			bs_counting.add(half, &probe);
		}
		bs_counting.unite(sum, half, sum);
		free(half);
	}
	ok(memcmp(sum, before, size) == 0, "a union is the filter of all keys, added in any order");
	free(f);
	free(before);
	free(sum);
}

/* Keys that are certainly not in are refused, and nothing changes. */
static void
test_absent(void)
{
	size_t size;
	BsFilter *f = make_counting(1000, 0.01, 0, &size);
	BsFilter *before;
	int refused = 0;
	bool same = true;
	bool as_asked = true;

	for (uint64_t key = 0; key < 1000; key++)
	{
		BsProbe probe = probe_of(key);

		bs_counting.add(f, &probe);
	}
	before = memcpy(malloc(size), f, size);
	for (uint64_t key = 1000; key < 11000; key++)
	{
		BsProbe probe = probe_of(key);

		if (bs_counting.remove(f, &probe))
			memcpy(f, before, size);
		else
		{
			refused++;
			same = same && memcmp(f, before, size) == 0;
		}
		as_asked = as_asked && (contains(f, key) || !bs_counting.remove(f, &probe));
	}
	ok(refused > 9800, "%d of 10000 absent keys are refused", refused);
	ok(same, "which changes nothing");
	ok(as_asked, "no key that is certainly absent is removed");
	free(f);
	free(before);
}

/* A counter sticks at 15: more copies are never lost, removed or not. */
static void
test_saturation(void)
{
	static const int copies[] = {14, 15, 16, 1000};
	bool kept = true;
	bool counted = true;
	bool stuck = true;

	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
		for (uint64_t key = 0; key < 50; key++)
		{
			size_t size;
			BsFilter *f = make_counting(100, 0.001, key, &size);
			BsProbe probe = probe_of(key);

			for (int j = 0; j < copies[i]; j++)
				bs_counting.add(f, &probe);
			counted =
				counted && (copies[i] < 15) == (bs_counting_saturated(f) < bs_counting_set(f));
			for (int j = 0; j < copies[i]; j++)
			{
				kept = kept && contains(f, key);
				bs_counting.remove(f, &probe);
			}
			stuck = stuck && contains(f, key) == (copies[i] >= 15);
			free(f);
		}
	ok(kept, "a key is in until all its copies are removed");
	ok(counted, "saturated counters are told");
	ok(stuck, "15 copies and more stay for ever");
}

/* The same positions as the standard filter, and its bits. */
static void
test_standard(void)
{
	static const double rates[] = {0.3, 0.05, 0.01, 0.001, 1e-6};
	bool same = true;
	bool estimates = true;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (int64_t n = 1; n < 20000; n = n * 3 + 1)
		{
			size_t size;
			BsFilter *f = make_counting(n, rates[i], 5, &size);
			BsFilter *standard = make_filter(n, rates[i], 5);
			BsFilter *converted = calloc(1, bs_filter_size(standard->m));

			f->key_type = standard->key_type = 1;
			for (uint64_t key = 0; key < (uint64_t) n; key++)
			{
				BsProbe probe = probe_of(key);

				bs_counting.add(f, &probe);
				bs_filter_add(standard, probe.hash);
			}
			bs_counting_to_standard(converted, f);
			same = same && size == sizeof(BsFilter) + standard->m / 2 &&
				   memcmp(converted, standard, bs_filter_size(standard->m)) == 0;
			estimates = estimates && bs_counting.count(f) == bs_bloom.count(standard) &&
						bs_counting.rate(f) == bs_bloom.rate(standard);
			free(f);
			free(standard);
			free(converted);
		}
	ok(same, "converted, it is the standard filter of the same keys, at 4 times the size");
	ok(estimates, "count and rate are those of the standard filter");
}

int
main(void)
{
	test_model();
	test_inverse();
	test_absent();
	test_saturation();
	test_standard();
	return done_testing();
}
