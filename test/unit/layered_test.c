/*
 * The time-layered filter against the exact times of its keys.
 */
#include <math.h>

#include "filters.h"
#include "layered.h"
#include "tap.h"

#define UNIVERSE 2000
#define OPERATIONS (UNIT_SCALE == 1 ? 100000 : 20000)
#define SEEDS 20
#define LAYERS 5
#define SPAN 100
#define NEVER INT64_MIN

static uint64_t random_state;

static uint64_t
next_random(void)
{
	return random_state = hash_of(random_state);
}

typedef struct Value
{
	BsFilter *f;
	size_t size;
} Value;

static Value
make_layered(int64_t n, double p, uint32_t layers, int64_t span, uint64_t seed)
{
	BsFilter header = {.version = BS_FORMAT_VERSION,
					   .structure = BS_STRUCTURE_LAYERED,
					   .hash_scheme = BS_HASH_SCHEME,
					   .n = (uint64_t) n,
					   .p = p,
					   .seed = seed};
	Value v;
	uint64_t size;

	bs_layered_own(header.own, layers, span);
	if (bs_layered.plan(&header, &size) != BS_SIZING_OK)
		abort();
	v.size = (size_t) size;
	v.f = calloc(1, v.size);
	*v.f = header;
	return v;
}

static void
replace(Value *v, BsFilter *f, size_t size)
{
	free(v->f);
	v->f = f;
	v->size = size;
}

/* As the host does. */
static void
add(Value *v, uint64_t key, int64_t at)
{
	BsProbe probe = {hash_of(key), at};
	uint64_t size = bs_layered.size_with(v->f, v->size, &probe);

	if (size != v->size)
	{
		BsFilter *larger = malloc(size);

		bs_layered.make_room(larger, size, v->f, &probe);
		replace(v, larger, size);
	}
	bs_layered.add(v->f, &probe);
}

static Value
united(Value a, Value b)
{
	Value result;

	result.size = (size_t) bs_layered.united_size(a.f, b.f);
	result.f = malloc(result.size);
	bs_layered.unite(result.f, a.f, b.f);
	return result;
}

static void
expire(Value *v, int64_t at)
{
	uint64_t size = bs_layered_expired_size(v->f, at);
	BsFilter *smaller = malloc(size);

	bs_layered_expire(smaller, v->f, at);
	replace(v, smaller, size);
}

static bool
contains(Value v, uint64_t key, int64_t at)
{
	BsProbe probe = {hash_of(key), at};

	return bs_probe_contains(v.f, &probe);
}

static bool
valid(Value v)
{
	uint8_t *bytes = malloc(bs_external_size(v.size));
	const char *why;
	BsFilter *again;
	bool result;

	v.f->key_type = 1;
	bs_external_encode(v.f, v.size, bytes);
	again = read_external(bytes, bs_external_size(v.size), &why);
	result = again && bs_internal_size(bs_external_size(v.size)) == v.size &&
			 memcmp(again, v.f, v.size) == 0;
	free(again);
	free(bytes);
	return result;
}

static int64_t
span_of(int64_t at)
{
	return at >= 0 ? at / SPAN : -((-at + SPAN - 1) / SPAN);
}

/* Random times around a clock that goes on; a key whose last addition is alive is
 * always in, one that never came is not but for the rate. */
static void
test_model(void)
{
	int lost = 0;
	int wrong = 0;
	int asked = 0;
	int uncertain = 0;
	int invalid = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++)
	{
		Value v = make_layered(UNIVERSE / 5, 0.01, LAYERS, SPAN, seed);
		static int64_t last[UNIVERSE]; /* the latest time each key was added at */
		int64_t clock = (int64_t) (next_random() % 2000) - 1000;

		random_state = seed;
		for (int i = 0; i < UNIVERSE; i++)
			last[i] = NEVER;
		for (int i = 0; i < OPERATIONS / SEEDS; i++)
		{
			uint64_t key = next_random() % (UNIVERSE / 2);
			uint64_t what = next_random() % 100;
			/* late by up to more than a filter's memory */
			int64_t at = clock - (int64_t) (next_random() % (SPAN * (LAYERS + 2)));

			clock += (int64_t) (next_random() % 3);
			if (what < 60)
			{
				add(&v, key, what < 30 ? clock : at);
				last[key] =
					last[key] > (what < 30 ? clock : at) ? last[key] : (what < 30 ? clock : at);
			}
			else if (what < 61)
				expire(&v, clock);
			else if (what < 62)
			{
				Value other = make_layered(UNIVERSE / 5, 0.01, LAYERS, SPAN, seed);
				Value sum;

				add(&other, key, at);
				last[key] = last[key] > at ? last[key] : at;
				sum = united(v, other);
				replace(&v, sum.f, sum.size);
				free(other.f);
			}
			else
			{
				bool is_alive = last[key] != NEVER && span_of(last[key]) <= span_of(clock) &&
								span_of(clock) - span_of(last[key]) < LAYERS;

				lost += is_alive && !contains(v, key, clock);
				/* the other half of the universe never comes */
				asked++;
				wrong += contains(v, key + UNIVERSE / 2, clock);
				/* at any time: no is only certain if nothing of it was forgotten */
				if (last[key] != NEVER && span_of(last[key]) <= span_of(at) &&
					span_of(at) - span_of(last[key]) < LAYERS && !contains(v, key, at))
				{
					uncertain++;
					lost += !bs_layered_forgot(v.f, at);
				}
			}
			if (i % 97 == 0)
				invalid += !valid(v);
		}
		free(v.f);
	}
	ok(lost == 0, "a key that is alive is always in, and at other times no is certain or refused");
	ok(uncertain > 0, "some questions are about what was forgotten: %d", uncertain);
	ok(wrong <= asked * 0.01 + 5 * 20, "%d of %d that never came are said to be in", wrong, asked);
	ok(invalid == 0, "it is valid at all times");
}

/* A key lives at least (layers - 1) and at most layers times the span. */
static void
test_edges(void)
{
	bool kept = true;
	bool gone = true;
	bool dropped = true;

	for (int64_t at = -350; at < 350; at++)
	{
		Value v = make_layered(100, 1e-9, LAYERS, SPAN, 0);
		int64_t end = (span_of(at) + LAYERS) * SPAN;

		add(&v, 1, at);
		kept = kept && contains(v, 1, at) && contains(v, 1, end - 1) &&
			   contains(v, 1, at + (LAYERS - 1) * SPAN);
		gone = gone && !contains(v, 1, end) && !contains(v, 1, at + LAYERS * SPAN) &&
			   !contains(v, 1, span_of(at) * SPAN - 1);
		add(&v, 2, end - 1);
		kept = kept && contains(v, 1, end - 1) && bs_layered_present(v.f) == 2;
		add(&v, 3, end);
		dropped = dropped && bs_layered_present(v.f) == 2 && bs_layered_forgot(v.f, at) &&
				  bs_layered_forgot(v.f, end - 1) && !bs_layered_forgot(v.f, end);
		free(v.f);
	}
	ok(kept, "a key lives for layers - 1 spans at least");
	ok(gone, "and for layers spans at most");
	ok(dropped, "it is dropped by the first key after that, and the filter knows that it was");
}

/* The same keys and times in any order, or as unions, give the same bytes. */
static void
test_order(void)
{
	bool any_order = true;
	bool as_union = true;
	bool commutative = true;

	for (uint64_t seed = 1; seed <= 30; seed++)
	{
		Value forth = make_layered(50, 0.01, LAYERS, SPAN, 1);
		Value back = make_layered(50, 0.01, LAYERS, SPAN, 1);
		Value part[2] = {make_layered(50, 0.01, LAYERS, SPAN, 1),
						 make_layered(50, 0.01, LAYERS, SPAN, 1)};
		Value ab;
		Value ba;
		int64_t times[300];

		random_state = seed;
		for (int i = 0; i < 300; i++)
			times[i] = (int64_t) (next_random() % (SPAN * 12)) - SPAN * 6;
		for (int i = 0; i < 300; i++)
		{
			add(&forth, (uint64_t) i, times[i]);
			add(&back, (uint64_t) (299 - i), times[299 - i]);
			add(&part[i % 2], (uint64_t) i, times[i]);
		}
		any_order =
			any_order && forth.size == back.size && memcmp(forth.f, back.f, forth.size) == 0;
		ab = united(part[0], part[1]);
		ba = united(part[1], part[0]);
		as_union = as_union && ab.size == forth.size && memcmp(ab.f, forth.f, ab.size) == 0;
		commutative = commutative && ab.size == ba.size && memcmp(ab.f, ba.f, ab.size) == 0;
		free(forth.f);
		free(back.f);
		free(part[0].f);
		free(part[1].f);
		free(ab.f);
		free(ba.f);
	}
	ok(any_order, "the order of additions does not matter, late ones included");
	ok(as_union, "a union is the filter of all keys");
	ok(commutative, "a | b and b | a are the same bytes");
}

/* The rate with all layers full, inside five standard deviations of the binomial. */
static void
test_rate(void)
{
	static const double rates[] = {0.1, 0.01, 0.001};
	static const uint32_t layers[] = {1, 2, 7, 24};
	const int questions = 200000 / UNIT_SCALE;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (size_t j = 0; j < sizeof(layers) / sizeof(layers[0]); j++)
		{
			double p = rates[i];
			const int64_t n = 3000;
			Value v = make_layered(n, p, layers[j], SPAN, 3);
			double bound;
			int yes = 0;
			double estimate;

			for (int64_t key = 0; key < n * layers[j]; key++)
				add(&v, (uint64_t) key, key / n * SPAN);
			for (int question = 0; question < questions; question++)
				yes += contains(v, UINT64_C(1) << 40 | (uint64_t) question,
								(int64_t) layers[j] * SPAN - 1);
			bound = questions * p + 5 * sqrt(questions * p * (1 - p));
			ok(yes <= bound, "p = %g, %u layers: %d of %d, at most %.0f", p, layers[j], yes,
			   questions, bound);
			estimate = bs_layered.rate(v.f) * questions;
			ok(fabs(estimate - yes) < 5 * sqrt(questions * p) + 1, "as estimated: %.0f", estimate);
			ok(fabs(bs_layered.count(v.f) / ((double) n * layers[j]) - 1) < 0.05,
			   "the estimated number of keys is right");
			free(v.f);
		}
}

/* Times and spans at the ends of their ranges stay inside. */
static void
test_extremes(void)
{
	static const int64_t times[] = {INT64_MIN + 1, INT64_MIN / 2, -1, 0, 1,
									INT64_MAX - 1, INT64_MAX};
	static const int64_t spans[] = {1, 2, SPAN, INT64_MAX / 2, INT64_MAX};
	bool in = true;

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		for (size_t j = 0; j < sizeof(times) / sizeof(times[0]); j++)
			for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++)
			{
				Value v = make_layered(10, 0.001, BS_MAX_LAYERS, spans[i], 0);

				add(&v, 1, times[j]);
				in = in && contains(v, 1, times[j]);
				add(&v, 2, times[k]);
				in = in && (contains(v, 2, times[k]) || bs_layered_forgot(v.f, times[k]));
				in = in && (contains(v, 1, times[j]) || bs_layered_forgot(v.f, times[j]));
				expire(&v, times[j]);
				in = in && bs_filter_check(v.f, v.size) == NULL;
				free(v.f);
			}
	ok(in, "times and spans of any size");
}

/* What a header or a directory may not say. */
static void
test_damage(void)
{
	Value v = make_layered(10, 0.01, LAYERS, SPAN, 0);
	uint64_t *directory;
	int accepted_swaps = 0;

	for (int i = 0; i < LAYERS; i++)
		add(&v, (uint64_t) i, i * SPAN);
	directory = (uint64_t *) v.f->bits;
	ok(bs_filter_check(v.f, v.size) == NULL, "a full filter is valid");
	for (uint32_t i = 1; i < LAYERS; i++)
	{
		directory[i] ^= directory[i + 1];
		directory[i + 1] ^= directory[i];
		directory[i] ^= directory[i + 1];
		accepted_swaps += bs_filter_check(v.f, v.size) == NULL;
		directory[i] ^= directory[i + 1];
		directory[i + 1] ^= directory[i];
		directory[i] ^= directory[i + 1];
	}
	ok(accepted_swaps == 0, "layers out of order are refused");
	directory[LAYERS]++;
	ok(bs_filter_check(v.f, v.size) != NULL, "layers of more than one time are refused");
	directory[LAYERS]--;
	v.f->own[1] += UINT64_C(1) << 32;
	ok(bs_filter_check(v.f, v.size) != NULL, "more layers than there may be are refused");
	v.f->own[1] -= UINT64_C(2) << 32;
	ok(bs_filter_check(v.f, v.size) != NULL, "so is another number than there are");
	v.f->own[1] += UINT64_C(1) << 32;
	v.f->own[0] = 0;
	ok(bs_filter_check(v.f, v.size) != NULL, "a span of zero is refused");
	v.f->own[0] = UINT64_MAX;
	ok(bs_filter_check(v.f, v.size) != NULL, "so is a negative one");
	free(v.f);
}

int
main(void)
{
	test_model();
	test_edges();
	test_order();
	test_rate();
	test_extremes();
	test_damage();
	return done_testing();
}
