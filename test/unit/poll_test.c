/*
 * Operations on whole filters let the host interrupt them at least once per
 * megabyte, and working in pieces changes no result.
 */
#include "bytes.h"
#include "filters.h"
#include "format.h"
#include "key_type.h"
#include "tap.h"

#define KEYS 12000000 /* a filter of 14 MB */

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
	ok(polls + 1 >= bytes / BS_PIECE, "%s", what);
	polls = 0;
}

static void
test_operations(void)
{
	BsFilter *f = make_filter(KEYS, 0.01, 0);
	BsFilter *g = make_filter(KEYS, 0.01, 0);
	size_t bits_bytes = f->m / 8;
	size_t size = bs_filter_size(f->m);
	uint8_t *external = malloc(bs_external_size(size));
	BsFilter header;

	ok(bs_external_check(external, 0, &header) != NULL && polls == 0, "nothing to do, no poll");
	bs_external_encode(f, size, external);
	polled(2 * bits_bytes, "writing the portable form is interruptible");
	ok(bs_external_check(external, bs_external_size(size), &header) == NULL,
	   "the checksum is right");
	polled(bits_bytes, "checking is interruptible");
	ok(bs_external_decode(external, &header, size, f) == NULL, "an empty filter is valid");
	polled(2 * bits_bytes, "reading one without keys is interruptible");

	g->key_type = BS_KEY_NUMBER;
	for (uint64_t i = 0; i < 1000; i++)
		bs_filter_add(g, hash_of(i));
	bs_external_encode(g, size, external);
	polls = 0;
	ok(bs_external_check(external, bs_external_size(size), &header) == NULL, "a filter is valid");
	polled(bits_bytes, "checking is interruptible");
	bs_external_decode(external, &header, size, f);
	polled(bits_bytes, "reading is interruptible");
	ok(memcmp(f, g, size) == 0, "written and read in pieces, it is the same");

	ok(bs_filter_bits_set(f) == bs_filter_bits_set_union(f, g), "bits are counted");
	polled(2 * bits_bytes, "counting bits is interruptible");
	ok(bs_filter_rate(f) < 0.01, "the rate is estimated");
	polled(bits_bytes, "estimating the rate is interruptible");
	bs_filter_unite(f, g);
	polled(bits_bytes, "union is interruptible");
	bs_filter_intersect(f, g);
	polled(bits_bytes, "intersection is interruptible");
	ok(memcmp(f, g, size) == 0, "both change nothing here");
	free(f);
	free(g);
	free(external);
}

/* Around the edges of pieces. */
static void
test_bytes(void)
{
	static const size_t lengths[] = {0,
									 1,
									 BS_PIECE - 1,
									 BS_PIECE,
									 BS_PIECE + 1,
									 2 * BS_PIECE,
									 2 * BS_PIECE + 1,
									 5 * BS_PIECE + 7};
	bool hashed = true;
	bool copied = true;
	bool told = true;
	bool zeroed = true;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
	{
		size_t length = lengths[i];
		uint8_t *a = malloc(length + 1);
		uint8_t *b = calloc(1, length + 1);

		for (size_t at = 0; at <= length; at++)
			a[at] = (uint8_t) (at * 7 + at / 256 + 1);
		hashed = hashed && bs_bytes_hash(a, length, 0) == XXH3_64bits(a, length) &&
				 bs_bytes_hash(a, length, 5) == XXH3_64bits_withSeed(a, length, 5);
		bs_bytes_copy(b, a, length);
		copied = copied && memcmp(a, b, length) == 0 && b[length] == 0;
		told = told && bs_bytes_equal(a, b, length);
		if (length > 0)
		{
			b[length - 1] ^= 1;
			told = told && !bs_bytes_equal(a, b, length);
			b[length - 1] ^= 1;
			b[0] ^= 1;
			told = told && !bs_bytes_equal(a, b, length);
		}
		b[length] = 1;
		bs_bytes_zero(b, length);
		zeroed = zeroed && bs_bytes_all_zero(b, length) && !bs_bytes_all_zero(b, length + 1) &&
				 b[length] == 1;
		free(a);
		free(b);
	}
	ok(hashed, "a hash in pieces is the hash");
	ok(copied, "copies are complete and no longer");
	ok(told, "equal is told from different, at both ends");
	ok(zeroed, "zeroing is complete and no longer");
}

int
main(void)
{
	bs_poll = count_poll;
	test_operations();
	test_bytes();
	return done_testing();
}
