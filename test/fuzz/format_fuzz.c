/*
 * libFuzzer target: whatever bs_external_check accepts can be decoded, encoded
 * back to the same bytes, and put through every operation.
 *
 *   make fuzz                    a minute, from the corpus
 *   make fuzz FUZZ_SECONDS=3600  longer
 *
 * A random checksum is never right, so the target makes it right first; inputs
 * with a wrong one are tried as they come too.
 */
#include <math.h>
#include <stdlib.h>

#include "format.h"
#include "hash.h"

#define CHECK(condition)                                                                           \
	do                                                                                             \
	{                                                                                              \
		if (!(condition))                                                                          \
			abort();                                                                               \
	} while (0)

static void
use(const uint8_t *bytes, size_t size, const BsFilter *header)
{
	BsFilter *f = calloc(1, bs_filter_size(header->m));
	BsFilter *g = calloc(1, bs_filter_size(header->m));
	uint8_t *again = malloc(size);
	uint64_t hashes[] = {0, 1, UINT64_MAX, 0x2fbc593564db792e, 0x517a430dcf1f8a00};
	size_t length;

	bs_external_decode(bytes, header, f);
	CHECK(bs_filter_check(f, bs_filter_size(header->m)) == NULL);
	CHECK(bs_filter_sane(f, bs_filter_size(header->m)));
	bs_external_encode(f, again);
	CHECK(bs_external_size(f->m) == size && memcmp(bytes, again, size) == 0);

	memcpy(g, f, bs_filter_size(header->m));
	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++)
	{
		bool contained = bs_filter_contains(f, hashes[i]);
		size_t start = bs_block_start(f, hashes[i], &length);

		CHECK(start + length <= f->m / 8);
		CHECK(bs_block_contains(f, f->bits + start, hashes[i]) == contained);
		CHECK(bs_filter_add(f, hashes[i]) == !contained);
		CHECK(bs_filter_contains(f, hashes[i]));
	}
	bs_filter_add_many(g, hashes, sizeof(hashes) / sizeof(hashes[0]));
	CHECK(memcmp(f->bits, g->bits, f->m / 8) == 0);
	CHECK(bs_filter_bits_set_union(f, g) == bs_filter_bits_set(f));
	CHECK(isfinite(bs_filter_estimate(f, bs_filter_bits_set(f))));
	CHECK(bs_filter_rate(f) >= 0 && bs_filter_rate(f) <= 1);
	bs_filter_intersect(g, f);
	bs_filter_unite(f, g);
	CHECK(memcmp(f->bits, g->bits, f->m / 8) == 0);
	free(f);
	free(g);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	BsFilter header;
	uint8_t *sealed;

	if (bs_external_check(data, size, &header) == NULL)
		use(data, size, &header);
	if (size < BS_EXTERNAL_CHECKSUM)
		return 0;
	sealed = malloc(size);
	memcpy(sealed, data, size);
	bs_store_le(sealed + size - 8, XXH3_64bits(sealed, size - 8), 8);
	if (bs_external_check(sealed, size, &header) == NULL)
		use(sealed, size, &header);
	free(sealed);
	return 0;
}
