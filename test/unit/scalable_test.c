/*
 * Filters that grow: random operations against exact sets, the rate whatever they
 * have grown to, sizes, unions, the portable form.
 *
 * SCALABLE_SEEDS=100 tries as many random sequences.
 */
#include <math.h>

#include "filters.h"
#include "key_type.h"
#include "scalable.h"
#include "tap.h"

/* A filter, and its size as the host knows it. */
typedef struct Value
{
	BsFilter *f;
	size_t size;
} Value;

static BsSizing
plan(uint64_t n, double p, uint64_t *size)
{
	BsFilter header = {.n = n, .p = p};

	return bs_scalable.plan(&header, size);
}

static Value
create(uint64_t n, double p, uint64_t seed)
{
	Value value;

	value.f = make_structure(&bs_scalable, (int64_t) n, p, seed, &value.size);
	value.f->key_type = BS_KEY_NUMBER;
	return value;
}

static Value
copy_of(Value value)
{
	return (Value){memcpy(malloc(value.size), value.f, value.size), value.size};
}

/* False, and no change, where it cannot grow any more. */
static bool
add_hash(Value *value, uint64_t hash)
{
	BsProbe probe = {.hash = hash};
	uint64_t size = bs_scalable.size_with(value->f, value->size, &probe);

	if (size > BS_MAX_SIZE)
		return false;
	if (size != value->size)
	{
		BsFilter *larger = malloc(size);

		bs_scalable.make_room(larger, size, value->f, &probe);
		free(value->f);
		*value = (Value){larger, (size_t) size};
	}
	return bs_scalable.add(value->f, &probe) != BS_FULL;
}

static bool
contains(Value value, uint64_t hash)
{
	BsProbe probe = {.hash = hash};

	return bs_probe_contains(value.f, &probe);
}

static Value
unite(Value a, Value b)
{
	Value united;

	united.size = (size_t) bs_scalable.united_size(a.f, b.f);
	united.f = malloc(united.size);
	if (!bs_scalable.unite(united.f, a.f, b.f))
		abort();
	return united;
}

static bool
same(Value a, Value b)
{
	return a.size == b.size && memcmp(a.f, b.f, a.size) == 0;
}

static uint8_t *
encode(Value value, size_t *length)
{
	uint8_t *bytes;

	*length = bs_external_size(value.size);
	bytes = malloc(*length);
	bs_external_encode(value.f, value.size, bytes);
	return bytes;
}

static void
seal(uint8_t *bytes, size_t length)
{
	bs_store_le(bytes + length - 8, XXH3_64bits(bytes, length - 8), 8);
}

/* Whether all the format promises holds, and it is read back as it is. */
static bool
sound(Value value)
{
	size_t length;
	uint8_t *bytes = encode(value, &length);
	const char *why;
	BsFilter *again = read_external(bytes, length, &why);
	bool result = bs_filter_check(value.f, value.size) == NULL && again &&
				  memcmp(again, value.f, value.size) == 0;

	if (why)
		printf("# %s\n", why);
	free(again);
	free(bytes);
	return result;
}

static const BsFilter *
layers_of(const BsFilter *f)
{
	return (const BsFilter *) f->bits;
}

/* ---- random operations against exact sets ---- */

#define UNIVERSE 4096
#define FILTERS 6
#define OPERATIONS 100000

static uint64_t random_state;

static uint64_t
random_below(uint64_t limit)
{
	uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % limit;
}

typedef struct Modelled
{
	Value value;
	bool in[UNIVERSE];
} Modelled;

static void
start(Modelled *m, uint64_t n, double p, uint64_t seed)
{
	free(m->value.f);
	m->value = create(n, p, seed);
	memset(m->in, 0, sizeof(m->in));
}

static uint64_t
false_negatives(const Modelled *m)
{
	uint64_t missed = 0;

	for (uint64_t key = 0; key < UNIVERSE; key++)
		missed += m->in[key] && !contains(m->value, hash_of(key));
	return missed;
}

static void
test_random(uint64_t seed)
{
	static const double rates[] = {0.3, 0.05, 0.01, 1e-4, 1e-8};
	static Modelled models[FILTERS];
	uint64_t n = 1 + seed * seed * 7 % 400;
	double p = rates[seed % 5];
	uint64_t missed = 0;
	uint64_t unions = 0;
	uint64_t unchanged = 0;
	bool all_sound = true;
	bool commutative = true;
	bool idempotent = true;
	bool settled = true;

	random_state = seed;
	for (int i = 0; i < FILTERS; i++)
		start(&models[i], n, p, seed);
	for (int operation = 0; operation < OPERATIONS; operation++)
	{
		Modelled *m = &models[random_below(FILTERS)];
		Modelled *other = &models[random_below(FILTERS)];
		uint64_t what = random_below(1000);
		uint64_t key = random_below(UNIVERSE);

		if (what < 990)
		{
			bool had = contains(m->value, hash_of(key));
			Value before = had ? copy_of(m->value) : (Value){0};

			if (!add_hash(&m->value, hash_of(key)))
				start(m, n, p, seed);
			else
				m->in[key] = true;
			if (had)
			{
				unchanged += same(before, m->value) ? 0 : 1;
				free(before.f);
			}
			missed += m->in[key] && !contains(m->value, hash_of(key));
		}
		else if (what < 998)
		{
			Value united = unite(m->value, other->value);
			Value reversed = unite(other->value, m->value);
			Value itself = unite(united, united);
			Value doubled = unite(m->value, m->value); /* its layers in any order */
			Value again = unite(united, other->value);
			Value once_more = unite(again, other->value);

			unions++;
			commutative = commutative && same(united, reversed);
			idempotent = idempotent && same(united, itself) && same(m->value, doubled);
			settled = settled && same(again, once_more) && again.size <= united.size;
			all_sound = all_sound && sound(united) && sound(again);
			free(reversed.f);
			free(itself.f);
			free(doubled.f);
			free(again.f);
			free(once_more.f);
			free(m->value.f);
			m->value = united;
			for (int i = 0; i < UNIVERSE; i++)
				m->in[i] |= other->in[i];
			missed += false_negatives(m);
		}
		else
			start(m, n, p, seed);
		if (bs_scalable_layers(m->value.f) > 40)
			start(m, n, p, seed);
	}
	for (int i = 0; i < FILTERS; i++)
	{
		all_sound = all_sound && sound(models[i].value);
		missed += false_negatives(&models[i]);
	}
	ok(missed == 0, "n = %d, p = %g: no key is missed after %d operations", (int) n, p, OPERATIONS);
	ok(unchanged == 0, "a key that is in changes nothing");
	ok(all_sound, "what came of %d unions is as the format says", (int) unions);
	ok(commutative, "a | b = b | a");
	ok(idempotent, "a | a = a");
	ok(settled, "uniting with the same again adds nothing");
}

/* ---- the rate ---- */

/* Not more than p, whatever it has grown to; every layer is full at the end. */
static void
test_rate(uint64_t n, double p, uint64_t keys)
{
	Value value = create(n, p, 0);
	uint64_t probes = (p < 1e-4 ? 2000000 : 200000) / UNIT_SCALE;
	uint64_t missed = 0;
	uint64_t hits = 0;
	uint64_t in_full = 0;
	double told;
	double count;

	for (uint64_t key = 1; key <= keys; key++)
		if (!add_hash(&value, hash_of(key)))
			abort();
	for (uint64_t key = 1; key <= keys; key++)
		missed += !contains(value, hash_of(key));
	for (uint64_t key = keys + 1; key <= keys + probes; key++)
		hits += contains(value, hash_of(key));
	for (uint64_t i = 0; i + 1 < bs_scalable_layers(value.f); i++)
		in_full += layers_of(value.f)[i].own[0] == layers_of(value.f)[i].n;
	told = bs_scalable.rate(value.f);
	count = bs_scalable.count(value.f);

	ok(missed == 0, "n = %d, p = %g: none of %d keys is missed, in %d layers", (int) n, p,
	   (int) keys, (int) bs_scalable_layers(value.f));
	ok(hits <= probes * p + 4 * sqrt(probes * p), "%d false positives in %d, at most %.1f + %.1f",
	   (int) hits, (int) probes, probes * p, 4 * sqrt(probes * p));
	ok(fabs(hits - probes * told) <= 4 * sqrt(probes * told) + 1, "the rate told is %g", told);
	ok(fabs(count / keys - 1) < 0.02 + 3 / sqrt((double) keys), "%.0f keys are estimated", count);
	ok(in_full + 1 == bs_scalable_layers(value.f), "all layers but the newest are full");
	ok(bs_scalable_capacity(value.f) == n * ((UINT64_C(1) << bs_scalable_layers(value.f)) - 1),
	   "layers double");
	free(value.f);
}

/* At exactly the number of keys where the newest layer is full, too. */
static void
test_rates(void)
{
	static const double rates[] = {0.05, 0.01, 0.001, 1e-4, 1e-6};

	test_rate(100, 0.01, 100000 / UNIT_SCALE);
	test_rate(1000, 0.01, 1000);
	test_rate(1000, 0.05, 1000 * 127);
	test_rate(1000, 0.001, 1000 * 127);
	for (size_t i = 0; i < 5; i++)
		test_rate(i % 2 ? 10 : 1, rates[i], 1000000 / UNIT_SCALE);
}

/* The rates of layers: halves, none below the least, all together at most p. */
static void
test_sum(void)
{
	bool bounded = true;
	bool enough = true;
	bool least = true;
	int rates = 0;
	const uint64_t most = UNIT_SCALE == 1 ? 22 : 14; /* layers */

	for (double p = 2.3e-10; p < 1; p *= 1.37)
	{
		Value value = {0};
		double sum = 0;
		double last = 1;
		uint64_t size;

		if (plan(1, p, &size) == BS_SIZING_TINY_P)
		{
			bounded = bounded && p < 4e-10;
			continue;
		}
		value = create(1, p, 0);
		/* layers that are said to be full, until there can be no more */
		for (uint64_t key = 0; bs_scalable_layers(value.f) < most; key++)
		{
			BsFilter *layer;

			if (contains(value, hash_of(key)))
				continue;
			if (!add_hash(&value, hash_of(key)))
				break;
			layer = (BsFilter *) value.f->bits + bs_scalable_layers(value.f) - 1;
			layer->own[0] = layer->n;
		}
		for (uint64_t i = 0; i < bs_scalable_layers(value.f); i++)
		{
			double rate = layers_of(value.f)[i].p;

			sum += rate;
			least =
				least && rate >= BS_MIN_P &&
				(rate == last / 2 || i == 0 || bs_double_bits(rate) == bs_double_bits(BS_MIN_P));
			last = rate;
		}
		bounded = bounded && sum <= p;
		enough = enough && (bs_scalable_layers(value.f) == most || sum + BS_MIN_P > p * 0.99);
		rates++;
		free(value.f);
	}
	ok(rates > 50 && bounded, "the rates of all layers together are at most p, for %d rates",
	   rates);
	ok(least, "each is half of the one before, or 1e-10");
	ok(enough, "and there are no fewer layers than p has room for");
}

/* ---- sizes ---- */

static void
test_sizes(void)
{
	static const double rates[] = {0.05, 0.01, 0.001, 1e-4, 1e-6};

	for (size_t i = 0; i < 5; i++)
		for (uint64_t n = 10; n <= 100000; n *= 100)
		{
			Value value = create(n, rates[i], 0);
			BsFilter *fixed = make_filter(1000000, rates[i], 0);
			double bits;
			double theory = 0;
			uint64_t capacity = n;

			for (uint64_t key = 0; key < 1000000; key++)
				if (!add_hash(&value, hash_of(key)))
					abort();
			bits = value.size * 8.0;
			/* -ln(p / 2^(g + 1)) / ln^2 2 bits for each of n 2^g keys */
			for (uint64_t g = 0; g < bs_scalable_layers(value.f); g++, capacity *= 2)
				theory += capacity * -log(fmax(ldexp(rates[i], -(int) (g + 1)), BS_MIN_P)) /
						  (log(2) * log(2));
			ok(bits > theory && bits < theory * 1.035 + 1000 * bs_scalable_layers(value.f),
			   "a million keys from n = %d at %g: %.1f bits per key, %.1f of capacity, "
			   "%.2f times a filter made for them",
			   (int) n, rates[i], bits / 1e6, bits / bs_scalable_capacity(value.f),
			   bits / fixed->m);
			free(value.f);
			free(fixed);
		}
}

/* ---- limits ---- */

static void
test_limits(void)
{
	Value value = create(1, 3e-10, 0);
	Value before;
	uint64_t size;
	uint64_t added = 0;
	bool bounded = true;

	while (added < 100 && add_hash(&value, hash_of(added)))
		added++;
	before = copy_of(value);
	ok(added == bs_scalable_capacity(value.f) && added < 100 && !add_hash(&value, hash_of(added)) &&
		   same(value, before),
	   "at 3e-10 the %dth key is refused, and changes nothing", (int) added + 1);
	ok(add_hash(&value, hash_of(0)) && same(value, before), "one that is in is not");

	ok(plan(0, 0.01, &size) == BS_SIZING_BAD_N && plan(UINT64_MAX, 0.01, &size) == BS_SIZING_BAD_N,
	   "a filter for no keys is refused");
	ok(plan(1, 0, &size) == BS_SIZING_BAD_P && plan(1, 1, &size) == BS_SIZING_BAD_P &&
		   plan(1, -0.5, &size) == BS_SIZING_BAD_P && plan(1, NAN, &size) == BS_SIZING_BAD_P &&
		   plan(1, INFINITY, &size) == BS_SIZING_BAD_P,
	   "so are rates outside of 0 to 1");
	ok(plan(1, 1e-10, &size) == BS_SIZING_TINY_P && plan(1, 2e-10, &size) == BS_SIZING_TINY_P &&
		   plan(1, 3e-10, &size) == BS_SIZING_OK,
	   "so is a rate that leaves less than 1e-10 for the first layer");
	ok(plan(INT64_MAX, 0.01, &size) == BS_SIZING_TOO_LARGE && size > BS_MAX_SIZE,
	   "so is one whose first layer would be too large");
	/* the most keys that plan lets pass fit with their first layer, header and all */
	for (double p = 0.9; p > 1e-9; p /= 3)
	{
		uint64_t fits = 1;
		BsFilter header = {.structure = BS_STRUCTURE_SCALABLE, .p = p};
		BsProbe probe = {.hash = 1};

		for (uint64_t more = UINT64_C(1) << 40; more > 0; more /= 2)
			if (plan(fits + more, p, &size) == BS_SIZING_OK)
				fits += more;
		bounded = bounded && plan(fits + 1, p, &size) == BS_SIZING_TOO_LARGE && size > BS_MAX_SIZE;
		header.n = fits;
		size = bs_scalable.size_with(&header, sizeof(header), &probe);
		bounded = bounded && size > BS_MAX_SIZE - 20000 && size <= BS_MAX_SIZE;
	}
	ok(bounded, "and no smaller one");
	free(value.f);
	free(before.f);
}

/* Layers that cannot be: the next one would have more bits than a value can. */
static void
test_largest(void)
{
	Value value = create(200000000, 0.01, 0);
	BsFilter *layer;
	BsProbe probe = {.hash = hash_of(2)};

	add_hash(&value, hash_of(1));
	layer = (BsFilter *) value.f->bits;
	ok(bs_scalable.size_with(value.f, value.size, &probe) == value.size, "a layer of %d MB",
	   (int) (value.size >> 20));
	layer->own[0] = layer->n;
	ok(bs_scalable.size_with(value.f, value.size, &probe) > BS_MAX_SIZE,
	   "is the last when the next would be too large");
	free(value.f);

	/* the third layer would be one of 4 keys if n overflowed */
	value = create(1, 0.9, 0);
	for (uint64_t key = 1; bs_scalable_layers(value.f) < 2; key++)
	{
		add_hash(&value, hash_of(key));
		layer = (BsFilter *) value.f->bits + bs_scalable_layers(value.f) - 1;
		layer->own[0] = layer->n;
	}
	for (probe.hash = 0; contains(value, probe.hash); probe.hash = hash_of(probe.hash))
		;
	value.f->n = (UINT64_C(1) << 62) + 1;
	ok(bs_scalable.size_with(value.f, value.size, &probe) > BS_MAX_SIZE, "nor does n overflow");
	free(value.f);
}

/* ---- unions ---- */

static Value
of_keys(uint64_t n, uint64_t from, uint64_t to)
{
	Value value = create(n, 0.01, 0);

	for (uint64_t key = from; key < to; key++)
		add_hash(&value, hash_of(key));
	return value;
}

static uint64_t
layers_of_union(uint64_t from1, uint64_t to1, uint64_t from2, uint64_t to2)
{
	Value a = of_keys(100, from1, to1);
	Value b = of_keys(100, from2, to2);
	Value united = unite(a, b);
	uint64_t layers = bs_scalable_layers(united.f);

	free(a.f);
	free(b.f);
	free(united.f);
	return layers;
}

static void
test_union(void)
{
	Value empty = create(100, 0.01, 0);
	Value few = of_keys(100, 0, 40);
	Value a = of_keys(100, 0, 90);
	Value b = of_keys(100, 1000, 1080);
	Value united = unite(a, b);
	Value with_empty = unite(a, empty);
	Value with_part = unite(a, few);
	Value other = create(100, 0.01, 1);
	uint64_t added = 0;
	double told;

	ok(same(with_empty, a), "an empty filter adds nothing");
	ok(same(with_part, a), "nor does one whose bits are all there");
	((BsFilter *) a.f->bits)->own[0] = 30;
	free(with_part.f);
	with_part = unite(few, a);
	ok(same(with_part, a), "even if the other one has fewer keys");
	((BsFilter *) a.f->bits)->own[0] = 90;
	ok(layers_of_union(0, 40, 1000, 1060) == 1, "40 and 60 keys go into one layer of 100");
	ok(layers_of_union(0, 41, 1000, 1060) == 2, "41 and 60 do not");
	ok(layers_of_union(0, 150, 1000, 1150) == 3, "full layers stay, those with room become one");
	ok(!bs_scalable.compatible(a.f, other.f), "filters of another seed do not fit");
	other.f->seed = 0;
	ok(bs_scalable.compatible(a.f, other.f), "of the same one they do");
	other.f->n = 101;
	ok(!bs_scalable.compatible(a.f, other.f), "but not for another n");
	other.f->n = 100;
	other.f->p = 0.02;
	ok(!bs_scalable.compatible(a.f, other.f), "nor for another p");

	/* 90 and 80 of 100: room for 30 more before a generation starts, first in the emptier one */
	while (bs_scalable_layers(united.f) == 2 && add_hash(&united, hash_of(5000 + added)))
		added++;
	ok(added >= 30 && added <= 33, "a union goes on with the room it has: %d keys", (int) added);
	ok(layers_of(united.f)[2].own[1] == 1 && sound(united), "then the next generation starts");
	told = bs_scalable.rate(united.f);
	ok(told < 2 * 0.01, "its rate is below that of both: %g", told);
	free(empty.f);
	free(few.f);
	free(a.f);
	free(b.f);
	free(united.f);
	free(with_empty.f);
	free(with_part.f);
	free(other.f);
}

/* Many at once: each part is in, and the rate is at most that of all parts. */
static void
test_many(void)
{
	Value all = of_keys(50, 0, 20);
	uint64_t missed = 0;
	uint64_t hits = 0;

	for (uint64_t i = 1; i < 60; i++)
	{
		Value part = of_keys(50, i * 1000, i * 1000 + 10 + i * 3);
		Value united = unite(all, part);

		free(all.f);
		free(part.f);
		all = united;
	}
	for (uint64_t i = 1; i < 60; i++)
		for (uint64_t key = i * 1000; key < i * 1000 + 10 + i * 3; key++)
			missed += !contains(all, hash_of(key));
	for (uint64_t key = 100000; key < 200000; key++)
		hits += contains(all, hash_of(key));
	ok(missed == 0 && sound(all), "sixty filters united have all their keys, in %d layers",
	   (int) bs_scalable_layers(all.f));
	ok(fabs(hits - 100000 * bs_scalable.rate(all.f)) < 4 * sqrt(hits) + 1 && hits < 60 * 1000,
	   "they have the rate that is told: %d of 100000, %g", (int) hits, bs_scalable.rate(all.f));
	free(all.f);
}

/*
 * As many layers as a union may leave, and a forged value has: a question reads each
 * of them once (were each looked for from the first on, this would take minutes), and
 * the answers are those of its places.
 */
static void
test_crowd(void)
{
	const uint64_t layers = 200000 / UNIT_SCALE;
	Value one = create(1, 0.5, 3);
	Value many;
	BsFilter *directory;
	size_t padded;
	uint64_t yes = 0;
	uint64_t missed = 0;
	bool by_places = true;

	add_hash(&one, hash_of(0));
	padded = one.size - 2 * sizeof(BsFilter);
	many.size = one.size + (layers - 1) * (one.size - sizeof(BsFilter));
	many.f = calloc(1, many.size);
	*many.f = *one.f;
	many.f->own[0] = layers;
	many.f->m = layers * one.f->m;
	directory = (BsFilter *) many.f->bits;
	for (uint64_t i = 0; i < layers; i++)
		directory[i] = *layers_of(one.f);
	/* key i in layer i of the first ten, nothing in the others */
	for (uint64_t i = 0; i < 10; i++)
	{
		Value part = create(1, 0.5, 3);

		add_hash(&part, hash_of(i));
		memcpy(many.f->bits + layers * sizeof(BsFilter) + i * padded,
			   part.f->bits + sizeof(BsFilter), padded);
		free(part.f);
	}
	ok(sound(many), "%d layers of one generation are a valid filter", (int) layers);
	for (uint64_t key = 0; key < 500; key++)
	{
		bool in = contains(many, hash_of(key));

		yes += in;
		missed += key < 10 && !in;
	}
	for (uint64_t key = 0; key < 20; key++)
	{
		BsProbe probe = {.hash = hash_of(key)};
		bool in = false;
		BsPlace place;

		/* the last ten: those before hold nothing here */
		for (uint64_t i = layers - 10; i < layers; i++)
			in = in || (bs_scalable.place(many.f, &probe, (uint32_t) i, &place) &&
						bs_scalable.holds(&place, many.f->bits + place.start, &probe));
		by_places = by_places && in == contains(many, probe.hash) &&
					!bs_scalable.place(many.f, &probe, (uint32_t) layers, &place);
	}
	ok(missed == 0 && yes > 10 && yes < 500, "it is asked layer by layer: %d of 500", (int) yes);
	ok(by_places, "as by its places");
	free(one.f);
	free(many.f);
}

/* ---- the portable form ---- */

/* To the byte, by doc/format.md: two layers for 3 keys from n = 1. */
static void
test_bytes(void)
{
	static const uint8_t expected[] = {/* header: 2 layers of 20 and 40 bits */
									   1, 4, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1,	 0,
									   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xd0, 0x3f};
	Value value = create(1, 0.25, 7);
	size_t length;
	uint8_t *bytes;

	add_hash(&value, hash_of(1));
	add_hash(&value, hash_of(2));
	bytes = encode(value, &length);
	ok(memcmp(bytes, expected, sizeof(expected)) == 0 && bs_load_le(bytes + 36, 8) == 7 &&
		   bs_load_le(bytes + 44, 8) == bs_scalable_layers(value.f) &&
		   bs_load_le(bytes + 52, 8) == 0,
	   "the header is as documented");
	ok(length == 60 + bs_scalable_layers(value.f) * (64 + 8) + 8,
	   "%d bytes: header, directory, bits in whole words, checksum", (int) length);
	ok(bs_load_le(bytes + 60, 4) == 0 && bytes[64] == 1 && bytes[65] == 1 && bytes[66] == 1 &&
		   bs_load_le(bytes + 60 + 16, 8) == 1 && bs_load_le(bytes + 60 + 40, 8) == 7 &&
		   bs_load_le(bytes + 60 + 48, 8) == 1 && bs_load_le(bytes + 60 + 56, 8) == 0,
	   "so is the directory");
	free(value.f);
	free(bytes);
}

/* Whatever bit of header, directory and padding changes, it is noticed. */
static void
test_damage(void)
{
	Value value = create(3, 0.1, 9);
	size_t length;
	uint8_t *bytes;
	uint8_t *copy;
	size_t payload;
	int accepted_bits = 0;
	bool cut = true;

	for (uint64_t key = 0; key < 30; key++)
		add_hash(&value, hash_of(key));
	bytes = encode(value, &length);
	copy = malloc(length);
	payload = 60 + 64 * bs_scalable_layers(value.f);
	for (size_t bit = 0; bit < payload * 8; bit++)
	{
		size_t byte = bit / 8;

		memcpy(copy, bytes, length);
		copy[byte] ^= (uint8_t) (1 << bit % 8);
		seal(copy, length);
		if (!accepted(copy, length))
			continue;
		accepted_bits++;
		/* another key type, and other numbers of keys in a layer, may be */
		if (!(byte >= 4 && byte < 8) && !(byte >= 60 && (byte - 60) % 64 == 48))
			ok(false, "byte %d may not be %d", (int) byte, copy[byte]);
	}
	ok(accepted_bits > 0, "each bit of header and directory counts, but for %d", accepted_bits);

	for (size_t short_length = 0; short_length < length; short_length++)
	{
		uint8_t *piece = malloc(short_length + 1);

		memcpy(piece, bytes, short_length);
		if (short_length >= 8)
			seal(piece, short_length);
		cut = cut && !accepted(piece, short_length);
		free(piece);
	}
	ok(cut, "no shorter piece is accepted");

	memcpy(copy, bytes, length);
	ok(layers_of(value.f)[0].m % 64 != 0, "the first layer has padding");
	copy[payload + layers_of(value.f)[0].m / 8] = 1;
	seal(copy, length);
	ok(!accepted(copy, length), "which has to be zero");

	memcpy(copy, bytes, length);
	bs_store_le(copy + 60 + 48, 0, 8);
	seal(copy, length);
	ok(!accepted(copy, length), "a layer without keys is refused");

	memcpy(copy, bytes, length);
	bs_store_le(copy + 4, 0, 4);
	seal(copy, length);
	ok(!accepted(copy, length), "keys of no type are refused");
	memset(copy + payload, 0, length - payload - 8);
	seal(copy, length);
	ok(!accepted(copy, length), "even where no bit is set");

	ok(bs_scalable.check_header(value.f, BS_MAX_SIZE - sizeof(BsFilter)) == NULL &&
		   bs_scalable.check_header(value.f, BS_MAX_SIZE) != NULL,
	   "no value may be larger than the largest");

	/* a value that is damaged where it lies is not asked */
	for (size_t field = 0; field < 9; field++)
	{
		Value damaged = copy_of(value);
		BsFilter *layer = (BsFilter *) damaged.f->bits + 1;

		switch (field)
		{
			case 0:
				layer->m += 8 * layer->block_bits;
				break;
			case 1:
				layer->k = 0;
				break;
			case 2:
				layer->block_bits = 1 << 20;
				break;
			case 3:
				layer->own[1] = UINT64_MAX;
				break;
			case 4:
				layer->own[0] = layer->n + 1;
				break;
			case 5:
				damaged.f->own[0]++;
				break;
			case 6:
				damaged.f->own[0] = UINT64_MAX / 64 + 2;
				break;
			case 7:
				damaged.size -= 8;
				break;
			case 8:
				layer->seed++;
				break;
		}
		ok(bs_filter_check(damaged.f, damaged.size) != NULL, "damage %d: %s", (int) field,
		   bs_filter_check(damaged.f, damaged.size));
		free(damaged.f);
	}
	free(value.f);
	free(bytes);
	free(copy);
}

/* ---- interrupts ---- */

static size_t polls;

static void
count_poll(void)
{
	polls++;
}

/* Takes what happened since the last time. */
static void
polled(size_t bytes, const char *what)
{
	ok(polls + 2 >= bytes >> 20, "%s polls the host, %d times", what, (int) polls);
	polls = 0;
}

static void
test_polling(void)
{
	Value a = create(8000000, 0.01, 0);
	Value b = create(8000000, 0.01, 0);
	Value united;
	BsFilter *layer;
	size_t length;
	uint8_t *bytes;

	bs_poll = count_poll;
	add_hash(&a, hash_of(1));
	polled(a.size, "zeroing a layer of 11 MB");
	add_hash(&b, hash_of(2));
	polls = 0;
	united = unite(a, b);
	polled(2 * a.size, "copying one and adding another");
	free(unite(united, a).f);
	polled(2 * a.size, "finding out that one has all bits of another");
	free(unite(a, a).f);
	polled(3 * a.size, "uniting one with itself");
	bs_scalable.count(a.f);
	polled(2 * a.size, "counting");
	bs_scalable.rate(a.f);
	polled(a.size, "the rate");
	bs_scalable_bits_set(a.f);
	polled(a.size, "counting bits");
	layer = (BsFilter *) a.f->bits;
	layer->own[0] = layer->n;
	add_hash(&a, hash_of(3));
	polled(a.size, "growing");
	bytes = encode(a, &length);
	polled(2 * a.size, "writing the portable form");
	ok(accepted(bytes, length), "which is right");
	polled(2 * a.size, "reading it");
	bs_poll = NULL;
	free(a.f);
	free(b.f);
	free(united.f);
	free(bytes);
}

/* ---- the order of collected keys ---- */

static int
compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

static void
test_scatter(void)
{
	enum
	{
		KEYS = 1000000
	};
	Value value = create(1000, 0.01, 0);
	uint64_t *scattered = malloc(KEYS * sizeof(uint64_t));
	uint64_t kept = 0;
	uint64_t hits = 0;
	bool inverse =
		bs_unscatter(bs_scatter(0)) == 0 && bs_unscatter(bs_scatter(UINT64_MAX)) + 1 == 0;

	for (uint64_t key = 0; key < KEYS; key++)
		inverse = inverse && bs_unscatter(bs_scatter(hash_of(key))) == hash_of(key);
	ok(inverse, "scattered numbers are hashes again");

	/* the keys of one shard of 8, in the order of their scattered numbers */
	for (uint64_t key = 0; key < KEYS; key++)
		if (bs_shard(hash_of(key), 8) == 3)
			scattered[kept++] = bs_scatter(hash_of(key));
	qsort(scattered, kept, sizeof(uint64_t), compare_numbers);
	for (uint64_t i = 0; i < kept; i++)
		add_hash(&value, bs_unscatter(scattered[i]));
	for (uint64_t key = KEYS; key < KEYS * 2; key++)
		hits += contains(value, hash_of(key));
	ok(fabs(kept - KEYS / 8.0) < 4 * sqrt(KEYS / 8.0), "a shard has its share of keys");
	ok(hits <= KEYS * 0.01 + 4 * sqrt(KEYS * 0.01),
	   "layers filled in that order have the rate: %d of %d", (int) hits, KEYS);
	free(value.f);
	free(scattered);
}

int
main(void)
{
	const char *seeds = getenv("SCALABLE_SEEDS");
	uint64_t last = seeds ? strtoull(seeds, NULL, 10) : UNIT_SCALE == 1 ? 5 : 1;

	for (uint64_t seed = 1; seed <= last; seed++)
		test_random(seed);
	test_union();
	test_many();
	test_crowd();
	test_bytes();
	test_damage();
	test_sum();
	test_limits();
	test_polling();
	if (UNIT_SCALE == 1)
	{
		test_largest();
		test_scatter();
		test_sizes();
	}
	test_rates();
	return done_testing();
}
