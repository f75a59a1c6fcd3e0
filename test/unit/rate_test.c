/*
 * Measured false-positive rates: a million keys, ten million others, whatever
 * the shape of the keys; 4 sigma of the binomial around the rate asked for.
 */
#include <math.h>

#include "filters.h"
#include "tap.h"

#define KEYS (1000000 / UNIT_SCALE)
#define PROBES (10000000 / UNIT_SCALE)

static uint64_t
sequential(uint64_t i)
{
	return i;
}

static uint64_t
high_half(uint64_t i)
{
	return i << 32;
}

static uint64_t
strided(uint64_t i)
{
	return i * 65536;
}

static uint64_t
swapped(uint64_t i)
{
	return __builtin_bswap64(i);
}

/* SplitMix64: a bijection, so that others are certainly not members */
static uint64_t
scattered(uint64_t i)
{
	uint64_t z = i * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static const struct
{
	const char *name;
	uint64_t (*key)(uint64_t i);
} shapes[] = {{"sequential", sequential},
			  {"i << 32", high_half},
			  {"i * 65536", strided},
			  {"byte-swapped", swapped},
			  {"random", scattered}};

static void
measure(double p, uint64_t (*key)(uint64_t i), const char *name)
{
	BsFilter *f = make_filter(KEYS, p, 0);
	uint64_t hits = 0;
	uint64_t missed = 0;
	double sigma = sqrt(PROBES * p * (1 - p));
	uint64_t bits_set;
	double estimate;

	for (uint64_t i = 1; i <= KEYS; i++)
		bs_filter_add(f, hash_of(key(i)));
	for (uint64_t i = 1; i <= KEYS; i++)
		missed += !bs_filter_contains(f, hash_of(key(i)));
	for (uint64_t i = KEYS + 1; i <= KEYS + PROBES; i++)
		hits += bs_filter_contains(f, hash_of(key(i)));

	ok(missed == 0, "%s keys at %g: none of %d is missed", name, p, KEYS);
	/* from below too: much less than asked for would be wasted space */
	ok(hits <= PROBES * p + 4 * sigma && hits >= 0.98 * PROBES * p - 4 * sigma,
	   "%s keys at %g: %llu false positives in %d, %.0f +- %.0f expected", name, p,
	   (unsigned long long) hits, PROBES, PROBES * p, 4 * sigma);
	ok(fabs(bs_filter_rate(f) * PROBES - hits) < 5 * sigma,
	   "%s keys at %g: the rate told by the fill agrees, %.3g", name, p, bs_filter_rate(f));

	bits_set = bs_filter_bits_set(f);
	estimate = bs_filter_estimate(f, bits_set);
	ok(fabs(estimate / KEYS - 1) < 0.005 * sqrt(UNIT_SCALE), "%s keys at %g: %.0f keys estimated",
	   name, p, estimate);
	free(f);
}

/* The bits of another seed are independent: false positives of the one filter
 * are not more often false positives of the other. */
static void
test_seeds(void)
{
	enum
	{
		SEED_KEYS = 100000 / UNIT_SCALE
	};
	BsFilter *a = make_filter(SEED_KEYS, 0.05, 0);
	BsFilter *b = make_filter(SEED_KEYS, 0.05, 1);
	uint64_t in_a = 0;
	uint64_t in_both = 0;
	double expected;

	for (uint64_t i = 1; i <= SEED_KEYS; i++)
	{
		bs_filter_add(a, hash_of(i));
		bs_filter_add(b, hash_of(i));
	}
	for (uint64_t i = SEED_KEYS + 1; i <= 21 * SEED_KEYS; i++)
		if (bs_filter_contains(a, hash_of(i)))
		{
			in_a++;
			in_both += bs_filter_contains(b, hash_of(i));
		}
	expected = in_a * bs_filter_rate(b);
	ok(fabs(in_both - expected) < 4 * sqrt(expected),
	   "seeds 0 and 1: %llu of %llu false positives are shared, %.0f expected",
	   (unsigned long long) in_both, (unsigned long long) in_a, expected);
	free(a);
	free(b);
}

/* Keys of one shard fill their filter as any keys do, and shards are equal. */
static void
test_shards(void)
{
	enum
	{
		SHARDS = 64
	};
	uint64_t count[SHARDS] = {0};
	BsFilter *f = make_filter(KEYS / SHARDS, 0.01, 0);
	uint64_t hits = 0;
	uint64_t probes = 0;
	double chi_square = 0;
	double expected;

	for (uint64_t i = 1; i <= 20 * KEYS; i++)
	{
		uint64_t hash = hash_of(i);
		uint32_t shard = bs_shard(hash, SHARDS);

		if (i <= KEYS)
			count[shard]++;
		if (shard != 7)
			continue;
		if (i <= KEYS)
			bs_filter_add(f, hash);
		else
		{
			probes++;
			hits += bs_filter_contains(f, hash);
		}
	}
	for (int i = 0; i < SHARDS; i++)
		chi_square += pow(count[i] - (double) KEYS / SHARDS, 2) / ((double) KEYS / SHARDS);
	ok(chi_square < 63 + 4 * sqrt(2 * 63), "64 shards are filled evenly: chi-square %.1f of 63",
	   chi_square);
	expected = probes * bs_filter_rate(f);
	ok(fabs(hits - expected) < 4 * sqrt(expected),
	   "keys of one shard: %llu false positives, %.0f expected", (unsigned long long) hits,
	   expected);
	ok(bs_shard(UINT64_MAX, 1) == 0 && bs_shard(0, 1) == 0, "one shard takes all");
	free(f);
}

int
main(void)
{
	static const double rates[] = {0.05, 0.01, 0.001, 1e-4};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (size_t j = 0; j < sizeof(shapes) / sizeof(shapes[0]); j++)
			measure(rates[i], shapes[j].key, shapes[j].name);
	test_seeds();
	test_shards();
	return done_testing();
}
