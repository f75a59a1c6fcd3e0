/*
 * Sizing against the exact model: the expected rate is never above the one asked
 * for, and the size is near the theoretical one.
 */
#include <stdlib.h>

#include "hash.h"
#include "structure.h"
#include "model.h"
#include "tap.h"

static const double rates[] = {0.999, 0.99, 0.9,  0.75, 0.5,  0.4,	0.3,  0.2,	0.1,  0.05, 0.02,
							   0.01,  5e-3, 2e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10};

#define NRATES (sizeof(rates) / sizeof(rates[0]))

static long double
expected_rate(int64_t n, const BsLayout *l)
{
	int64_t blocks = (int64_t) (l->m / l->block_bits);

	if (blocks < 1000)
		return model_binomial_rate(n, blocks, l->block_bits, l->k);
	return model_poisson_rate((long double) n / blocks, l->block_bits, l->k);
}

/* Bits of an unblocked filter with the best whole number of bits per key. */
static long double
textbook_bits(int64_t n, double p)
{
	long double best = INFINITY;

	for (int k = 1; k <= 40; k++)
		best = fminl(best, -k / log1pl(-powl(p, 1.0L / k)));
	return best * n;
}

/* E[(X / B)^k] after the throws of n keys, from the distribution of X itself. */
static double
exact_block_rate(int n, int B, int k)
{
	double *at = calloc(B + 1, sizeof(double));
	double rate = 0;

	at[0] = 1;
	for (int throw = 0; throw < n * k; throw ++)
		for (int x = throw +1 < B ? throw +1 : B; x >= 0; x--)
			at[x] = at[x] * x / B + (x > 0 ? at[x - 1] * (B - x + 1) / B : 0);
	for (int x = 0; x <= B; x++)
		rate += at[x] * pow((double) x / B, k);
	free(at);
	return rate;
}

static void
test_rates_kept(void)
{
	static const int64_t ns[] = {1,		2,		3,		 5,		   10,		  20,		50,
								 77,	100,	333,	 1000,	   2500,	  10000,	20000,
								 65536, 300000, 1000000, 10000000, 100000000, 400000000};

	for (size_t i = 0; i < NRATES; i++)
	{
		long double worst = 0;
		long double largest = 0;
		int64_t worst_n = 0;

		for (size_t j = 0; j < sizeof(ns) / sizeof(ns[0]); j++)
		{
			BsLayout l;
			BsSizing result = bs_sizing(ns[j], rates[i], &l);
			long double relative;

			if (result == BS_SIZING_TOO_LARGE)
			{
				if (textbook_bits(ns[j], rates[i]) * 1.025L < BS_MAX_BITS)
					ok(false, "%lld keys at rate %g fit", (long long) ns[j], rates[i]);
				continue;
			}
			relative = expected_rate(ns[j], &l) / rates[i];
			if (relative > worst)
			{
				worst = relative;
				worst_n = ns[j];
			}
			if (ns[j] >= 10000)
				largest = fmaxl(largest, l.m / textbook_bits(ns[j], rates[i]));
		}
		ok(worst <= 1, "rate %g is kept from 1 to 4e8 keys: at most %.4Lf of it, at n = %lld",
		   rates[i], worst, (long long) worst_n);
		/* 2.1% by the table, and a share of a block: at most 1% from 10,000 keys on */
		ok(largest < 1.032L, "size at rate %g from 10,000 keys on is %.4Lf of the textbook's",
		   rates[i], largest);
	}
}

static void
test_every_small_n(void)
{
	long double worst = 0;

	for (size_t i = 0; i < NRATES; i++)
		for (int64_t n = 1; n <= 3000; n += n < 200 ? 1 : 37)
		{
			BsLayout l;

			bs_sizing(n, rates[i], &l);
			worst = fmaxl(worst, expected_rate(n, &l) / rates[i]);
		}
	ok(worst <= 1, "rates are kept for every small n: at most %.4Lf of what was asked", worst);
}

static void
test_tiny_exactly(void)
{
	static const int ns[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 20, 40, 64};
	double worst = 0;

	for (size_t i = 0; i < NRATES; i++)
		for (size_t j = 0; j < sizeof(ns) / sizeof(ns[0]); j++)
		{
			BsLayout l;
			double rate;

			bs_sizing(ns[j], rates[i], &l);
			if (l.m != l.block_bits)
				continue;
			rate = exact_block_rate(ns[j], (int) l.m, l.k) / rates[i];
			if (rate > worst)
				worst = rate;
		}
	ok(worst <= 1, "one-block filters keep the rate by exact enumeration: at most %.4f", worst);
}

/* Between the points of the table, and monotone: a smaller rate takes no less. */
static void
test_between(void)
{
	long double worst = 0;
	uint64_t last = 0;
	bool monotone = true;

	for (int i = 0; i < 2000; i++)
	{
		double p = exp2(-0.02 - i * (33.2 - 0.02) / 2000);
		BsLayout l;

		bs_sizing(1000000, p, &l);
		worst = fmaxl(worst, expected_rate(1000000, &l) / p);
		if (l.m < last * 0.985L)
			monotone = false;
		last = l.m;
	}
	ok(worst <= 1, "2,000 rates between: at most %.6Lf of what was asked", worst);
	ok(monotone, "a smaller rate does not take less space (but for a change of blocks)");
}

static void
test_known_layouts(void)
{
	static const struct
	{
		double p;
		int k;
		uint32_t block_bits;
	} known[] = {
		{0.05, 4, 512}, {0.01, 7, 1024}, {0.001, 10, 2048}, {1e-4, 13, 4096}, {1e-6, 20, 16384}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		BsLayout l;

		bs_sizing(10000000, known[i].p, &l);
		ok(l.k == known[i].k && l.block_bits == known[i].block_bits,
		   "rate %g: k = %d, blocks of %u bits", known[i].p, l.k, l.block_bits);
	}
}

/*
 * Filters of the same n and p can be united, whatever machine or version has made
 * them.  The rates are taken by their bits, so that no logarithm chooses them.
 */
static void
test_same_everywhere(void)
{
	static const uint64_t ns[] = {1, 7, 100, 1000, 12345, 1000000, 77777777};
	static uint8_t layouts[1000 * sizeof(ns) / sizeof(ns[0]) * 13];
	uint64_t low = bs_double_bits(BS_MIN_P);
	uint64_t step = (bs_double_bits(1) - low) / 1000;
	uint8_t *at = layouts;

	for (uint64_t i = 0; i < 1000; i++)
		for (size_t j = 0; j < sizeof(ns) / sizeof(ns[0]); j++)
		{
			uint64_t bits = low + i * step;
			BsLayout l;
			double p;

			memcpy(&p, &bits, sizeof(p));
			bs_sizing((int64_t) ns[j], p, &l);
			bs_store_le(at, l.m, 8);
			bs_store_le(at + 8, l.block_bits, 4);
			at[12] = l.k;
			at += 13;
		}
	ok(XXH3_64bits(layouts, sizeof(layouts)) == UINT64_C(0x811d1069356659b1),
	   "%zu layouts are those of version 1", sizeof(layouts) / 13);
}

static void
test_limits(void)
{
	BsLayout l;
	bool whole = true;

	ok(bs_sizing(0, 0.01, &l) == BS_SIZING_BAD_N, "no keys are refused");
	ok(bs_sizing(-5, 0.01, &l) == BS_SIZING_BAD_N, "negative numbers of keys are refused");
	ok(bs_sizing(1, 0, &l) == BS_SIZING_BAD_P && bs_sizing(1, 1, &l) == BS_SIZING_BAD_P &&
		   bs_sizing(1, -0.5, &l) == BS_SIZING_BAD_P && bs_sizing(1, NAN, &l) == BS_SIZING_BAD_P &&
		   bs_sizing(1, INFINITY, &l) == BS_SIZING_BAD_P,
	   "rates outside (0, 1) are refused");
	ok(bs_sizing(1, 1e-300, &l) == BS_SIZING_TINY_P && bs_sizing(1, 4e-324, &l) == BS_SIZING_TINY_P,
	   "rates that 64-bit keys cannot give are refused");
	ok(bs_sizing(1, nextafter(1, 0), &l) == BS_SIZING_OK && l.k == 1, "the largest rate below 1");
	ok(bs_sizing(INT64_MAX, 1e-10, &l) == BS_SIZING_TOO_LARGE &&
		   bs_sizing(INT64_MAX, nextafter(1, 0), &l) == BS_SIZING_TOO_LARGE,
	   "the largest number of keys is too large at any rate");

	for (size_t i = 0; i < NRATES; i++)
		for (int64_t n = 1; n < INT64_MAX / 7; n = n * 7 + 3)
			if (bs_sizing(n, rates[i], &l) == BS_SIZING_OK)
				whole = whole && l.m % l.block_bits == 0 && l.block_bits % 8 == 0 &&
						l.m <= BS_MAX_BITS && l.block_bits <= BS_MAX_BLOCK_BITS && l.k >= 1 &&
						l.k <= BS_MAX_K;
			else
			{
				BsFilter header = {.n = (uint64_t) n, .p = rates[i]};
				uint64_t shards = bs_shares(&bs_bloom, &header);

				whole = whole && bs_sizing((int64_t) (((uint64_t) n + shards - 1) / shards),
										   rates[i], &l) == BS_SIZING_OK;
			}
	ok(whole, "every layout is within the format's limits, and shards of what is too large fit");
}

int
main(void)
{
	/* the model is in floating point, and says nothing about the machine */
	if (UNIT_SCALE == 1)
	{
		test_rates_kept();
		test_every_small_n();
		test_tiny_exactly();
		test_between();
	}
	test_known_layouts();
	test_same_everywhere();
	test_limits();
	return done_testing();
}
