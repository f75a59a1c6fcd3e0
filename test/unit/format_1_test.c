/*
 * Values of format version 1 that another implementation has written (test/format):
 * on every machine they are read, asked and written as they were.
 */
#include "filters.h"
#include "format.h"
#include "key_type.h"
#include "tap.h"

#define MAX_FILTERS 100
#define MAX_BYTES 4096

typedef struct Value
{
	char name[64];
	uint8_t bytes[MAX_BYTES]; /* the portable form */
	size_t length;
	BsFilter *read;	   /* from these */
	BsFilter *written; /* anew, from the keys */
} Value;

static Value values[MAX_FILTERS];
static int nvalues;

/* RFC 4648; the length of what was written, 0 for anything else than base64. */
static size_t
decode_base64(const char *text, uint8_t *out, size_t room)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	int nbits = 0;
	size_t length = 0;

	for (; *text != '\0' && *text != '='; text++)
	{
		const char *digit = strchr(digits, *text);

		if (digit == NULL || length == room)
			return 0;
		bits = bits << 6 | (uint32_t) (digit - digits);
		nbits += 6;
		if (nbits >= 8)
			out[length++] = (uint8_t) (bits >> (nbits -= 8));
	}
	return length;
}

/* Cuts a line into its fields; false at the end of the file. */
static bool
next_line(FILE *file, char **fields, int count)
{
	static char line[2 * MAX_BYTES];
	char *at = line;

	if (fgets(line, sizeof(line), file) == NULL)
		return false;
	for (int i = 0; i < count; i++)
	{
		fields[i] = at;
		at += strcspn(at, "\t\n");
		if (*at == '\0')
			abort();
		*at++ = '\0';
	}
	return true;
}

static FILE *
open_data(const char *name)
{
	FILE *file = fopen(name, "r");

	if (file == NULL)
	{
		perror(name);
		exit(1);
	}
	return file;
}

static bool
same(const BsFilter *a, const BsFilter *b)
{
	return a->m == b->m && memcmp(a, b, bs_filter_size(a->m)) == 0;
}

/* name, least version of PostgreSQL, n, p, seed, SHA-256, base64 */
static void
read_filters(void)
{
	FILE *file = open_data("test/format/filters.tsv");
	char *fields[7];
	bool classes[256] = {false};
	int missing = 0;

	for (; next_line(file, fields, 7) && nvalues < MAX_FILTERS; nvalues++)
	{
		Value *v = &values[nvalues];
		const char *why;
		uint8_t again[MAX_BYTES];

		snprintf(v->name, sizeof(v->name), "%s", fields[0]);
		v->length = decode_base64(fields[6], v->bytes, sizeof(v->bytes));
		v->read = read_external(v->bytes, v->length, &why);
		if (!ok(v->read != NULL, "%s: %s", v->name, why ? why : "read"))
			exit(1);
		bs_external_encode(v->read, bs_internal_size(v->length), again);
		ok(memcmp(again, v->bytes, v->length) == 0, "%s: written as it was read", v->name);
		classes[BS_KEY_CLASS(v->read->key_type)] = true;

		v->written = make_filter(strtoll(fields[2], NULL, 10), strtod(fields[3], NULL),
								 (uint64_t) strtoll(fields[4], NULL, 10));
	}
	fclose(file);
	for (int i = BS_KEY_NONE; i <= BS_KEY_CHAR; i++)
		missing += !classes[i];
	ok(missing == 0 && classes[BS_KEY_OTHER], "every class of keys is there");
}

/* name, SQL, bfkey, whether it was added, the answer */
static void
read_keys(void)
{
	FILE *file = open_data("test/format/keys.tsv");
	char *fields[5];
	int asked = 0;
	int wrong = 0;

	for (; next_line(file, fields, 5); asked++)
	{
		Value *v = values;
		uint64_t hash = strtoull(fields[2] + 9, NULL, 16);
		bool answer = *fields[4] == 't';

		while (strcmp(v->name, fields[0]) != 0)
			if (++v == values + nvalues)
				abort();
		if (*fields[3] == 't')
		{
			v->written->key_type = (uint32_t) strtoul(fields[2], NULL, 16);
			bs_filter_add(v->written, hash);
		}
		if (bs_filter_contains(v->read, hash) != answer)
		{
			printf("# %s: %s\n", v->name, fields[1]);
			wrong++;
		}
	}
	fclose(file);
	ok(asked > 250 && wrong == 0, "%d of %d answers are others", wrong, asked);
}

/* Filters too large for a file: the checksum covers all of their bytes. */
static void
test_large(void)
{
	static const struct
	{
		double p;
		uint64_t keys;
		uint64_t checksum;
	} large[] = {{0.01, 100000, UINT64_C(0x03f2d9591d287ac5)},
				 {1e-4, 50000, UINT64_C(0xeb833c85f5b9102f)}};

	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
	{
		BsFilter *f = make_filter(100000, large[i].p, 0);
		size_t length = bs_external_size(bs_filter_size(f->m));
		uint8_t *bytes = malloc(length);
		uint64_t *hashes = malloc(large[i].keys * sizeof(uint64_t));

		f->key_type = BS_KEY_NUMBER;
		for (uint64_t j = 0; j < large[i].keys; j++)
			hashes[j] = hash_of(j + 1);
		bs_filter_add_many(f, hashes, large[i].keys);
		bs_external_encode(f, bs_filter_size(f->m), bytes);
		ok(bs_load_le(bytes + length - 8, 8) == large[i].checksum,
		   "%llu keys at rate %g: the same bytes", (unsigned long long) large[i].keys, large[i].p);
		free(f);
		free(bytes);
		free(hashes);
	}
}

/* Nearly as many bits as there may be: where the bits of keys lie. */
static void
test_largest(void)
{
	enum
	{
		KEYS = 1000
	};
	BsFilter *f = make_filter(440000000, 0.01, 0); /* most of its pages are never touched */
	uint8_t *numbers = malloc((size_t) KEYS * f->k * 8);
	size_t length = 0;

	for (int i = 1; i <= KEYS; i++)
	{
		size_t bytes;
		uint64_t start = bs_block_start(f, hash_of((uint64_t) i), &bytes);

		bs_filter_add(f, hash_of((uint64_t) i));
		for (uint64_t bit = start * 8; bit < (start + bytes) * 8; bit++)
			if (f->bits[bit / 8] >> bit % 8 & 1)
			{
				bs_store_le(numbers + length, bit, 8);
				length += 8;
			}
		memset(f->bits + start, 0, bytes);
	}
	ok(XXH3_64bits(numbers, length) == UINT64_C(0xacd04cf32458aaab),
	   "a filter of %llu bits: the same bits", (unsigned long long) f->m);
	free(numbers);
	free(f);
}

int
main(void)
{
	read_filters();
	read_keys();
	for (Value *v = values; v < values + nvalues; v++)
	{
		ok(same(v->read, v->written), "%s: built from its keys", v->name);
		free(v->read);
		free(v->written);
	}
	test_large();
	test_largest();
	return done_testing();
}
