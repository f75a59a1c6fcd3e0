/*
 * The cuckoo filter against an exact multiset; that there is room for what it was
 * made for; and its rate.
 */
#include <math.h>

#include "cuckoo.h"
#include "filters.h"
#include "tap.h"

#define OPERATIONS 100000
#define SEEDS 20
#define UNIVERSE 3000
#define COPIES 8

static const double rates[] = {0.9, 0.3, 0.05, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-10};

#define RATES (sizeof(rates) / sizeof(rates[0]))

static BsFilter *
make_cuckoo(int64_t n, double p, uint64_t seed, size_t *size)
{
	return make_structure(&bs_cuckoo, n, p, seed, size);
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

static BsAdded
add(BsFilter *f, uint64_t key)
{
	BsProbe probe = probe_of(key);

	return bs_cuckoo.add(f, &probe);
}

static bool
take(BsFilter *f, uint64_t key)
{
	BsProbe probe = probe_of(key);

	return bs_cuckoo.remove(f, &probe);
}

static bool
contains(const BsFilter *f, uint64_t key)
{
	BsProbe probe = probe_of(key);

	return bs_probe_contains(f, &probe);
}

static BsFilter *
copy_of(const BsFilter *f, size_t size)
{
	return memcpy(malloc(size), f, size);
}

/* Adds, removals and unions, up to more keys than there is room for. */
static void
test_model(void)
{
	static int exact[UNIVERSE];
	static int in_other[UNIVERSE];
	int missing = 0;
	int unremoved = 0;
	int early = 0;
	int full = 0;
	int changed = 0;
	int miscounted = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
	{
		size_t size;
		BsFilter *f = make_cuckoo(UNIVERSE / 2, rates[seed % RATES], seed, &size);
		BsFilter *other = make_cuckoo(UNIVERSE / 2, rates[seed % RATES], seed, &size);
		BsFilter *before = calloc(1, size);
		int total = 0;
		int of_other = 0;
		int often = 0; /* keys with more than two copies, which need more room */

		memset(exact, 0, sizeof(exact));
		memset(in_other, 0, sizeof(in_other));
		random_state = seed;
		for (int i = 0; i < OPERATIONS / SEEDS; i++)
		{
			uint64_t key = next_random() % UNIVERSE;

			switch (next_random() % 8)
			{
				case 0:
				case 1:
				case 2:
					memcpy(before, f, size);
					if (add(f, key) == BS_ADDED)
					{
						often += ++exact[key] == 3;
						total++;
						break;
					}
					full++;
					early += total < UNIVERSE / 2 && often == 0;
					changed += memcmp(f, before, size) != 0;
					break;
				case 3:
					if (in_other[key] == 0 && add(other, key) == BS_ADDED)
					{
						in_other[key]++;
						of_other++;
					}
					break;
				case 4:
					/* only what was added; taking out a false positive is the known danger */
					if (exact[key] > 0)
					{
						unremoved += !take(f, key);
						often -= exact[key]-- == 3;
						total--;
					}
					break;
				case 5:
				case 6:
					missing += exact[key] > 0 && !contains(f, key);
					break;
				case 7:
					if (next_random() % 100 > 0)
						break;
					memcpy(before, f, size);
					if (bs_cuckoo.unite(f, f, other))
					{
						for (int j = 0; j < UNIVERSE; j++)
							often += in_other[j] > 0 && ++exact[j] == 3;
						total += of_other;
						break;
					}
					full++;
					early += total + of_other <= UNIVERSE / 2 && often == 0;
					memcpy(f, before, size);
					break;
			}
			miscounted += i % 100 == 0 && bs_cuckoo.count(f) != total;
		}
		for (int j = 0; j < UNIVERSE; j++)
			missing += exact[j] > 0 && !contains(f, (uint64_t) j);
		for (int j = 0; j < UNIVERSE; j++)
			while (exact[j]-- > 0)
				unremoved += !take(f, (uint64_t) j);
		miscounted += bs_cuckoo.count(f) != 0;
		free(f);
		free(other);
		free(before);
	}
	ok(missing == 0, "a key whose exact count is above zero is always in");
	ok(unremoved == 0, "and can always be removed");
	ok(full > 0 && early == 0, "no room %d times, never below n keys", full);
	ok(changed == 0, "which changes nothing");
	ok(miscounted == 0, "the number of keys in is exact, and 0 at the end");
}

/* Eight copies of a key fit into an empty filter of any size, a ninth never. */
static void
test_copies(void)
{
	bool fit = true;
	bool refused = true;
	bool told = true;
	bool kept = true;

	for (size_t i = 0; i < RATES; i++)
		for (int64_t n = 1; n < (UNIT_SCALE == 1 ? 2000 : 200); n = n * 5 / 4 + 1)
			for (uint64_t key = 0; key < 20; key++)
			{
				size_t size;
				BsFilter *f = make_cuckoo(n, rates[i], key, &size);
				BsFilter *before;
				BsProbe probe = probe_of(key);

				for (int j = 0; j < COPIES; j++)
				{
					told = told && bs_cuckoo.crowd(f, &probe) == 0;
					fit = fit && add(f, key) == BS_ADDED;
				}
				before = copy_of(f, size);
				told = told && bs_cuckoo.crowd(f, &probe) == COPIES;
				refused = refused && add(f, key) == BS_FULL && memcmp(f, before, size) == 0;
				for (int j = 0; j < COPIES; j++)
					kept = kept && contains(f, key) && take(f, key);
				kept = kept && !contains(f, key) && !take(f, key);
				free(f);
				free(before);
			}
	ok(fit, "eight copies of a key fit into a filter of any size");
	ok(refused, "a ninth is refused, and changes nothing");
	ok(told, "and told from a filter that is full of others");
	ok(kept, "a key is in until all its copies are removed");
}

static void
test_absent(void)
{
	size_t size;
	BsFilter *f = make_cuckoo(1000, 0.01, 0, &size);
	BsFilter *before;
	int refused = 0;
	bool as_asked = true;

	for (uint64_t key = 0; key < 1000; key++)
		add(f, key);
	before = copy_of(f, size);
	for (uint64_t key = 1000; key < 11000; key++)
	{
		bool contained = contains(f, key);

		if (take(f, key))
			memcpy(f, before, size);
		else
			refused++;
		as_asked = as_asked && (contained || memcmp(f, before, size) == 0);
	}
	ok(refused > 9800, "%d of 10000 absent keys are refused", refused);
	ok(as_asked, "every one that is certainly not in, and nothing changes");
	free(f);
	free(before);
}

/* The sum of two multisets, whichever comes first; false where there is no room. */
static void
test_union(void)
{
	size_t size;
	BsFilter *a = make_cuckoo(2000, 0.001, 3, &size);
	BsFilter *b = make_cuckoo(2000, 0.001, 3, &size);
	BsFilter *ab = copy_of(a, size);
	BsFilter *ba = copy_of(a, size);
	bool both = true;
	int differ = 0;

	b->p = 0.0009;
	b->key_type = 1;
	for (uint64_t key = 0; key < 1200; key++)
		add(a, key);
	for (uint64_t key = 1000; key < 1800; key++)
		add(b, key);
	ok(bs_cuckoo.unite(ab, a, b) && bs_cuckoo.unite(ba, b, a), "two filters fit into one");
	ok(bs_cuckoo.count(ab) == 2000 && bs_cuckoo.count(ba) == 2000, "it holds the keys of both");
	ok(memcmp(ab, ba, sizeof(BsFilter)) == 0 && bs_double_bits(ab->p) == bs_double_bits(0.0009) &&
		   ab->key_type == 1,
	   "the header does not tell which came first");
	for (uint64_t key = 0; key < 100000; key++)
		differ += contains(ab, key) != contains(ba, key);
	ok(differ == 0, "nor does any answer");
	for (uint64_t key = 0; key < 1800; key++)
	{
		both = both && contains(ab, key) && take(ab, key);
		if (key >= 1000 && key < 1200)
			both = both && contains(ab, key) && take(ab, key);
	}
	ok(both && bs_cuckoo.count(ab) == 0, "twice those that are in both");
	ok(bs_cuckoo.unite(a, a, b) && bs_cuckoo.count(a) == 2000 && contains(a, 1799),
	   "in place of the first one too");
	ok(!bs_cuckoo.unite(ab, a, b), "three of them do not fit");
	free(a);
	free(b);
	free(ab);
	free(ba);
}

/* ---- room ---- */

static double
log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* The chance of at least k hits among n with chance q each. */
static double
at_least(double n, double q, double k)
{
	double term;
	double sum;

	if (k > n)
		return 0;
	if (k <= n * q || q >= 1)
		return 1;
	sum = term = exp(log_choose(n, k) + k * log(q) + (n - k) * log1p(-q));
	for (double j = k + 1; j <= n && term > sum * 1e-12; j++)
		sum += term *= (n - j + 1) / j * q / (1 - q);
	return sum;
}

/*
 * An upper bound of the chance that n keys do not fit: by Hall's theorem they do
 * unless there are a even and b odd buckets with more keys of their own than slots.
 */
static double
no_room_bound(double n, double buckets)
{
	double half = buckets / 2;
	double sum = 0;

	for (double a = 1; a <= half; a++)
		for (double b = 1; b <= half && 4 * (a + b) < n; b++)
			sum += exp(log_choose(half, a) + log_choose(half, b)) *
				   at_least(n, a * b / (half * half), 4 * (a + b) + 1);
	return sum;
}

/* The same for nine keys of one fingerprint and pair of buckets. */
static double
nine_alike_bound(double n, double buckets, double fingerprints)
{
	double classes = buckets / 2 * fingerprints;

	return classes * at_least(n, 1 / classes, 9);
}

static double
buckets_of(const BsFilter *f)
{
	return (double) (f->m / f->block_bits);
}

static void
test_bounds(void)
{
	double worst = 0;
	double worst_alike = 0;
	int64_t worst_n = 0;
	bool paired = true;
	size_t size;
	BsFilter *f;

	for (int64_t n = 1; n <= 220; n++)
	{
		double bound;

		f = make_cuckoo(n, 0.01, 0, &size);
		bound = no_room_bound((double) n, buckets_of(f));
		if (bound > worst)
		{
			worst = bound;
			worst_n = n;
		}
		free(f);
	}
	ok(worst < 2e-9, "up to 220 keys have no room in %.1e of cases at most (%d keys)", worst,
	   (int) worst_n);
	for (int64_t n = 1; n <= 510000000; n = n * 9 / 8 + 1)
	{
		BsFilter header = {.n = (uint64_t) n, .p = 0.99};
		uint64_t bytes;
		double bound;

		paired = paired && bs_cuckoo.plan(&header, &bytes) == BS_SIZING_OK &&
				 (uint64_t) buckets_of(&header) % 2 == 0;
		bound = nine_alike_bound((double) n, buckets_of(&header), pow(2, header.k) - 1);
		worst_alike = fmax(worst_alike, bound);
	}
	ok(paired, "the number of buckets is even");
	ok(worst_alike < 1.1e-9,
	   "few fingerprints: nine alike in one pair of buckets in %.1e of cases at most", worst_alike);
}

/* Every number of keys fits, however they fall. */
static void
test_room(void)
{
	const char *rounds = getenv("BLOOMSET_CUCKOO_ROUNDS");
	uint64_t last = rounds ? strtoull(rounds, NULL, 10) : UNIT_SCALE == 1 ? 3 : 1;
	uint64_t fills = 0;
	uint64_t failed = 0;

	for (uint64_t round = 1; round <= last; round++)
		for (size_t i = 0; i < RATES; i++)
			for (int64_t n = 1; n <= 20000; n = UNIT_SCALE == 1 && n < 300 ? n + 1 : n * 2)
			{
				size_t size;
				BsFilter *f = make_cuckoo(n, rates[i], round, &size);
				bool fits = true;

				random_state = round * 1000003 + (uint64_t) n;
				for (int64_t j = 0; fits && j < n; j++)
				{
					BsProbe probe = {.hash = next_random()};

					fits = bs_cuckoo.add(f, &probe) == BS_ADDED;
				}
				fills++;
				failed += !fits;
				free(f);
			}
	ok(failed == 0, "%llu of %llu filters had no room for the keys they were made for",
	   (unsigned long long) failed, (unsigned long long) fills);
}

/* Where the bounds say nothing: how far above n filters really are full. */
static void
test_reserve(void)
{
	static const int64_t sizes[] = {250, 400, 700, 1500, 4000, 30000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		double sum = 0;
		double squares = 0;
		double runs = sizes[i] < 5000 ? 200 : 20;
		double mean;
		double sigma;

		for (uint64_t run = 1; run <= runs; run++)
		{
			size_t size;
			BsFilter *f = make_cuckoo(sizes[i], run % 2 ? 0.3 : 1e-4, run, &size);
			double held = 0;

			random_state = run;
			for (BsProbe probe = {0}; bs_cuckoo.add(f, &probe) == BS_ADDED; held++)
				probe.hash = next_random();
			sum += held;
			squares += held * held;
			free(f);
		}
		mean = sum / runs;
		sigma = sqrt(squares / runs - mean * mean);
		ok((mean - sizes[i]) / sigma > 6, "made for %d keys: full at %.0f, %.1f sigma above",
		   (int) sizes[i], mean, (mean - sizes[i]) / sigma);
	}
}

/* ---- rate and size ---- */

/* The chance of one other key, by counting pairs of buckets and fingerprints. */
static void
test_sizes(void)
{
	bool enough = true;
	bool least = true;
	bool even = true;

	for (size_t i = 0; i < RATES; i++)
		for (int64_t n = 1; n < 400000000; n = n < 3000 ? n + 1 : n * 5 / 4)
		{
			BsFilter header = {.n = (uint64_t) n, .p = rates[i]};
			uint64_t size;
			double alike;

			if (bs_cuckoo.plan(&header, &size) == BS_SIZING_TOO_LARGE)
				break;
			alike = 2.0 * n / buckets_of(&header);
			enough = enough && alike / (pow(2, header.k) - 1) + n * 0x1p-64 <= rates[i];
			least = least &&
					(header.k == 8 || alike / (pow(2, header.k - 1) - 1) + n * 0x1p-64 > rates[i]);
			even = even && size == sizeof(BsFilter) + header.m / 8 + 8 &&
				   header.m % (8 * header.k) == 0 && header.block_bits == 4u * header.k;
		}
	ok(enough, "fingerprints are long enough for n and p");
	ok(least, "and no bit longer");
	ok(even, "sizes are as documented");
}

static void
measure(int64_t n, double p, uint64_t seed)
{
	const uint64_t probes = 2000000;
	size_t size;
	BsFilter *f = make_cuckoo(n, p, seed, &size);
	uint64_t missing = 0;
	uint64_t hits = 0;
	double expected;
	double sigma;

	for (int64_t key = 0; key < n; key++)
		add(f, (uint64_t) key);
	for (int64_t key = 0; key < n; key++)
		missing += !contains(f, (uint64_t) key);
	for (uint64_t key = 0; key < probes; key++)
		hits += contains(f, (UINT64_C(1) << 40) + key);
	expected = probes * bs_cuckoo.rate(f);
	sigma = sqrt(expected * (1 - bs_cuckoo.rate(f))) + 0.01;
	ok(missing == 0, "%lld keys at %g: none is missed", (long long) n, p);
	ok(hits <= probes * p + 4 * sqrt(probes * p),
	   "%lld keys at %g: %llu false positives in two million", (long long) n, p,
	   (unsigned long long) hits);
	/* a few keys have few places, so the rate of one filter varies */
	ok(fabs(hits - expected) < 4 * sigma + 4 * expected / sqrt((double) n) / 4,
	   "%lld keys at %g: the rate told is %.3g, %.0f of them", (long long) n, p, bs_cuckoo.rate(f),
	   expected);
	free(f);
}

static void
test_rates(void)
{
	static const double measured[] = {0.3, 0.05, 0.01, 0.001, 1e-4, 1e-6};

	for (size_t i = 0; i < sizeof(measured) / sizeof(measured[0]); i++)
	{
		measure(300000, measured[i], i);
		measure(1000, measured[i], i);
	}
}

/* ---- places ---- */

/* A stored filter is asked by its places alone, which lie inside the value. */
static void
test_places(void)
{
	bool inside = true;
	bool same = true;
	bool two = true;

	for (size_t i = 0; i < RATES; i++)
		for (int64_t n = 1; n < 3000; n = n * 3 / 2 + 1)
		{
			size_t size;
			BsFilter *f = make_cuckoo(n, rates[i], (uint64_t) n, &size);

			for (int64_t key = 0; key < n; key++)
				add(f, (uint64_t) key);
			for (int64_t key = 0; key < 2 * n + 200; key++)
			{
				BsProbe probe = probe_of((uint64_t) key);
				bool found = false;
				uint64_t start[3];
				BsPlace place;
				uint32_t j;

				for (j = 0; bs_cuckoo.place(f, &probe, j, &place); j++)
				{
					uint8_t *bytes = malloc(place.length); /* exact, for the sanitizers */

					inside =
						inside && sizeof(BsFilter) + place.start + place.length <= size && j < 2;
					memcpy(bytes, f->bits + place.start, place.length);
					found = bs_cuckoo.holds(&place, bytes, &probe) || found;
					start[j] = place.start;
					free(bytes);
				}
				two = two && j == 2 && start[0] != start[1];
				same = same && found == contains(f, (uint64_t) key) && (found || key >= n);
			}
			free(f);
		}
	ok(inside, "places lie inside the value");
	ok(two, "a key has two of them, and they differ");
	ok(same, "the places tell what the whole tells");
}

/* ---- the portable form ---- */

static bool
refused(uint8_t *bytes, size_t length)
{
	bs_store_le(bytes + length - 8, XXH3_64bits(bytes, length - 8), 8);
	return !accepted(bytes, length);
}

static void
test_format(void)
{
	bool equal = true;
	bool noticed = true;
	bool judged = true;

	for (size_t i = 0; i < RATES; i++)
		for (int64_t n = 1; n < 100; n += 7)
		{
			/* k, B, m, own, slack, with a checksum that is right */
			const struct
			{
				size_t at;
				uint8_t flip;
			} damage[] = {{3, 1}, {3, 0x80}, {8, 4}, {28, 4}, {32, 2}, {44, 1}, {59, 0x80}};
			size_t size;
			BsFilter *f = make_cuckoo(n, rates[i], (uint64_t) n, &size);
			size_t length = bs_external_size(size);
			uint8_t *bytes = malloc(length);
			const char *why;
			BsFilter *g;

			f->key_type = 1;
			for (int64_t key = 0; key < n; key++)
				add(f, (uint64_t) key);
			bs_external_encode(f, size, bytes);
			g = read_external(bytes, length, &why);
			equal = equal && g && memcmp(f, g, size) == 0;
			for (size_t bit = 0; bit < length * 8; bit += 1 + bit % 7)
			{
				bytes[bit / 8] ^= (uint8_t) (1 << bit % 8);
				noticed = noticed && !accepted(bytes, length);
				bytes[bit / 8] ^= (uint8_t) (1 << bit % 8);
			}
			for (size_t j = 0; j < sizeof(damage) / sizeof(damage[0]); j++)
			{
				bytes[damage[j].at] ^= damage[j].flip;
				judged = judged && refused(bytes, length);
				bytes[damage[j].at] ^= damage[j].flip;
			}
			for (size_t j = 1; j <= 8; j++)
			{
				bytes[length - 8 - j] = 1;
				judged = judged && refused(bytes, length);
				bytes[length - 8 - j] = 0;
			}
			judged = judged && !refused(bytes, length) && refused(bytes, length - 1);
			free(f);
			free(g);
			free(bytes);
		}
	ok(equal, "what is written is read back");
	ok(noticed, "flipped bits are noticed");
	ok(judged, "with a right checksum, whatever is not as documented is refused");
}

/* An odd number of buckets would have some that are their own partner. */
static void
test_odd(void)
{
	size_t size;
	BsFilter *f = make_cuckoo(5, 0.01, 0, &size);
	BsFilter *odd = calloc(1, size);

	*odd = *f;
	odd->m = f->block_bits;
	ok(bs_filter_check(f, size) == NULL, "two buckets are a filter");
	ok(bs_filter_check(odd, sizeof(BsFilter) + odd->m / 8 + 8) != NULL, "one is not");
	odd->m = f->block_bits * 3;
	ok(bs_filter_check(odd, sizeof(BsFilter) + odd->m / 8 + 8) != NULL, "nor are three");
	free(f);
	free(odd);
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
	size_t size;
	BsFilter *f = make_cuckoo(4000000, 0.001, 0, &size);
	BsFilter *sum = malloc(size);

	bs_poll = count_poll;
	bs_cuckoo.count(f);
	ok(polls >= (int) (size >> 20), "counting polls the host (%d times)", polls);
	polls = 0;
	bs_cuckoo.rate(f);
	ok(polls >= (int) (size >> 20), "so does the rate");
	polls = 0;
	bs_cuckoo.unite(sum, f, f);
	ok(polls >= 2 * (int) (size >> 20), "so does a union");
	bs_poll = NULL;
	free(f);
	free(sum);
}

/* The number of keys and the rate that there is room for, and too much of either. */
static void
test_limits(void)
{
	const struct
	{
		int64_t n;
		double p;
		BsSizing sizing;
	} cases[] = {
		{0, 0.01, BS_SIZING_BAD_N},
		{-1, 0.01, BS_SIZING_BAD_N},
		{INT64_MIN, 0.01, BS_SIZING_BAD_N},
		{1, 0, BS_SIZING_BAD_P},
		{1, 1, BS_SIZING_BAD_P},
		{1, -0.01, BS_SIZING_BAD_P},
		{1, NAN, BS_SIZING_BAD_P},
		{1, 9e-11, BS_SIZING_TINY_P},
		{1, 1e-10, BS_SIZING_OK},
		{200000000, 0.01, BS_SIZING_OK},
		{510000000, 0.5, BS_SIZING_OK},
		{510100000, 0.5, BS_SIZING_TOO_LARGE},
		{500000000, 1e-10, BS_SIZING_TOO_LARGE},
		{INT64_C(1) << 40, 0.01, BS_SIZING_TOO_LARGE},
		{INT64_MAX, 0.01, BS_SIZING_TOO_LARGE},
		{INT64_MAX, 1e-10, BS_SIZING_TOO_LARGE},
	};
	BsFilter header = {.n = INT64_MAX, .p = 0.01};
	bool as_expected = true;
	bool inside = true;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		BsFilter h = {.n = (uint64_t) cases[i].n, .p = cases[i].p};
		uint64_t size;

		as_expected = ok(bs_cuckoo.plan(&h, &size) == cases[i].sizing, "%lld keys at %g",
						 (long long) cases[i].n, cases[i].p) &&
					  as_expected;
		inside = inside && (cases[i].sizing != BS_SIZING_OK || size <= BS_MAX_SIZE) &&
				 (cases[i].sizing != BS_SIZING_TOO_LARGE || size > BS_MAX_SIZE);
	}
	ok(inside, "what is allowed is no larger than a value may be");
	ok(bs_shares(&bs_cuckoo, &header) > INT64_MAX / 510100000, "shares of n are found");
}

int
main(void)
{
	test_model();
	test_copies();
	test_absent();
	test_union();
	test_bounds();
	test_room();
	test_reserve();
	test_sizes();
	test_rates();
	test_places();
	test_format();
	test_odd();
	test_polling();
	test_limits();
	return done_testing();
}
