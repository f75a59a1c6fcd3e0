/*
 * The portable form: every byte of it is either needed or refused.
 */
#include "filters.h"
#include "format.h"
#include "key_type.h"
#include "tap.h"

static uint8_t *
encode(const BsFilter *f, size_t *length)
{
	uint8_t *bytes;

	*length = bs_external_size(bs_filter_size(f->m));
	bytes = malloc(*length);
	bs_external_encode(f, bs_filter_size(f->m), bytes);
	return bytes;
}

/* Makes the checksum right again, so that the header is judged by itself. */
static void
seal(uint8_t *bytes, size_t length)
{
	bs_store_le(bytes + length - 8, XXH3_64bits(bytes, length - 8), 8);
}

static void
test_round_trip(void)
{
	bool equal = true;

	for (int n = 1; n < 400; n += 7)
	{
		BsFilter *f = make_filter(n, 0.02, (uint64_t) n * 3);
		const char *why;
		BsFilter *g;
		size_t length;
		uint8_t *bytes;

		f->key_type = BS_KEY_TEXT;
		for (int i = 0; i < n; i++)
			bs_filter_add(f, hash_of(i));
		bytes = encode(f, &length);
		g = read_external(bytes, length, &why);
		equal = equal && g && memcmp(f, g, bs_filter_size(f->m)) == 0 &&
				bs_filter_check(g, bs_filter_size(f->m)) == NULL &&
				bs_filter_check(g, bs_filter_size(f->m) - 8) != NULL;
		free(f);
		free(g);
		free(bytes);
	}
	ok(equal, "what is written is read back");
}

static void
test_bytes(void)
{
	/* header of bf_create(8, 0.1) with one key, by doc/format.md */
	static const uint8_t header[] = {1,	   1,	 1,	   3,	 1,	   0,	 0,	   0, 0x30, 0,	  0,
									 0,	   8,	 0,	   0,	 0,	   0,	 0,	   0, 0,	0x9a, 0x99,
									 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f, 0x30, 0, 0,	0,	  0,
									 0,	   0,	 0,	   0,	 0,	   0,	 0,	   0, 0,	0,	  0};
	BsFilter *f = make_filter(8, 0.1, 0);
	size_t length;
	uint8_t *bytes;

	f->key_type = BS_KEY_NUMBER;
	bs_filter_add(f, hash_of(1));
	bytes = encode(f, &length);
	ok(length == 60 + 6 + 8, "60 bytes of header, 6 of bits, 8 of checksum");
	ok(memcmp(bytes, header, sizeof(header)) == 0, "the header is as documented");
	ok(bs_load_le(bytes + 66, 8) == XXH3_64bits(bytes, 66), "the checksum is as documented");
	free(f);
	free(bytes);
}

static void
test_damage(void)
{
	BsFilter *f = make_filter(50, 0.01, 7);
	size_t length;
	uint8_t *bytes;
	int refused = 0;
	int sealed_accepted = 0;
	bool cut = true;

	f->key_type = BS_KEY_NUMBER;
	for (int i = 0; i < 50; i++)
		bs_filter_add(f, hash_of(i));
	bytes = encode(f, &length);

	for (size_t bit = 0; bit < length * 8; bit++)
	{
		bytes[bit / 8] ^= (uint8_t) (1 << bit % 8);
		refused += !accepted(bytes, length);
		bytes[bit / 8] ^= (uint8_t) (1 << bit % 8);
	}
	ok(refused == (int) length * 8, "each of %d flipped bits is noticed", (int) length * 8);

	/* with a right checksum only fields with room for other values may change:
	 * key type, k, n, p, seed */
	for (size_t bit = 0; bit < 60 * 8; bit++)
	{
		uint8_t *copy = malloc(length);

		memcpy(copy, bytes, length);
		copy[bit / 8] ^= (uint8_t) (1 << bit % 8);
		seal(copy, length);
		if (accepted(copy, length))
		{
			size_t byte = bit / 8;

			sealed_accepted++;
			if (!(byte == 3 || (byte >= 4 && byte < 8) || (byte >= 12 && byte < 28) ||
				  (byte >= 36 && byte < 44)))
				ok(false, "byte %zu may not be %d", byte, copy[byte]);
		}
		free(copy);
	}
	ok(sealed_accepted > 64, "other seeds, n and p are accepted when sealed");

	for (size_t short_length = 0; short_length < length; short_length++)
	{
		uint8_t *copy = malloc(short_length + 1); /* exact, for the sanitizers */

		memcpy(copy, bytes, short_length);
		if (short_length >= 8)
			seal(copy, short_length);
		cut = cut && !accepted(copy, short_length);
		free(copy);
	}
	ok(cut, "no shorter piece is accepted");

	bs_store_le(bytes + 4, BS_KEY_NONE, 4);
	seal(bytes, length);
	ok(!accepted(bytes, length), "keys of no type are refused");
	free(f);
	free(bytes);
}

/* Rates are judged by their bits, so that no compiler option changes the verdict. */
static void
test_rates(void)
{
	static const uint64_t refused[] = {
		0,					/* 0 */
		UINT64_C(1) << 63,	/* -0 */
		0x7ff8000000000000, /* NaN */
		0xfff8000000000000, /* -NaN */
		0x7ff0000000000000, /* infinity */
		0xfff0000000000000, /* -infinity */
		0x3ff0000000000000, /* 1 */
		0xbfe0000000000000, /* -0.5 */
		1,					/* the least positive double */
	};
	BsLayout layout;
	bool all = true;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
	{
		double p;

		memcpy(&p, &refused[i], sizeof(p));
		all = all && bs_sizing(100, p, &layout) != BS_SIZING_OK;
	}
	ok(all, "NaN, infinities, 0, 1 and negative rates are refused");
	ok(bs_sizing(1000000, 0.01, &layout) == BS_SIZING_OK && layout.m == 9761792 && layout.k == 7,
	   "a million keys at 1%% take 9761792 bits");
}

int
main(void)
{
	test_rates();
	test_round_trip();
	test_bytes();
	test_damage();
	return done_testing();
}
