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

#define MOST_GROWTH (1 << 24) /* a short input may ask for a layer of 512 MB */

static const uint64_t hashes[] = {0, 1, UINT64_MAX, 0x2fbc593564db792e, 0x517a430dcf1f8a00};

#define HASHES (sizeof(hashes) / sizeof(hashes[0]))

static BsFilter *
copy_of(const BsFilter *f, size_t size)
{
	return memcpy(malloc(size), f, size);
}

/* What only the standard filter has. */
static void
use_standard(const BsFilter *original, size_t size)
{
	BsFilter *f = copy_of(original, size);
	BsFilter *g = copy_of(original, size);
	size_t length;

	CHECK(bs_filter_sane(f, size));
	for (size_t i = 0; i < HASHES; i++)
	{
		bool contained = bs_filter_contains(f, hashes[i]);
		size_t start = bs_block_start(f, hashes[i], &length);

		CHECK(start + length <= f->m / 8);
		CHECK(bs_block_contains(f, f->bits + start, hashes[i]) == contained);
		CHECK(bs_filter_add(f, hashes[i]) == !contained);
		CHECK(bs_filter_contains(f, hashes[i]));
	}
	bs_filter_add_many(g, hashes, HASHES);
	CHECK(memcmp(f->bits, g->bits, f->m / 8) == 0);
	CHECK(bs_filter_bits_set_union(f, g) == bs_filter_bits_set(f));
	bs_filter_intersect(g, f);
	bs_filter_unite(f, g);
	CHECK(memcmp(f->bits, g->bits, f->m / 8) == 0);
	free(f);
	free(g);
}

/* Added where there is room; NULL where there is none. */
static BsFilter *
add(BsFilter *f, size_t *size, const BsProbe *probe)
{
	const BsStructure *structure = bs_structure_of(f);
	uint64_t needed = structure->size_with ? structure->size_with(f, *size, probe) : *size;

	if (needed > *size + MOST_GROWTH)
	{
		free(f);
		return NULL;
	}
	if (needed != *size)
	{
		BsFilter *larger = malloc(needed);

		structure->make_room(larger, needed, f, probe);
		free(f);
		f = larger;
		*size = needed;
	}
	CHECK(bs_filter_check(f, *size) == NULL);
	if (structure->add(f, probe) == BS_FULL)
	{
		free(f);
		return NULL;
	}
	return f;
}

static void
unite_with_itself(const BsFilter *f, size_t size)
{
	const BsStructure *structure = bs_structure_of(f);
	uint64_t united_size = structure->united_size ? structure->united_size(f, f) : size;
	BsFilter *united;

	CHECK(structure->compatible(f, f));
	if (united_size > size + MOST_GROWTH)
		return;
	united = malloc(united_size);
	if (structure->unite(united, f, f))
		CHECK(bs_filter_check(united, united_size) == NULL);
	free(united);
}

static void
use(const uint8_t *bytes, size_t length, const BsFilter *header)
{
	const BsStructure *structure;
	size_t size = bs_internal_size(length);
	BsFilter *f = calloc(1, size);
	uint8_t *again = malloc(length);

	if (bs_external_decode(bytes, header, size, f) != NULL)
	{
		free(f);
		free(again);
		return;
	}
	structure = bs_structure_of(f);
	CHECK(bs_filter_check(f, size) == NULL);
	bs_external_encode(f, size, again);
	CHECK(memcmp(bytes, again, length) == 0);
	if (structure == &bs_bloom)
		use_standard(f, size);
	CHECK(isfinite(structure->count(f)) && structure->count(f) >= 0);
	CHECK(structure->rate(f) >= 0 && structure->rate(f) <= 1);
	unite_with_itself(f, size);
	for (size_t i = 0; f && i < HASHES; i++)
	{
		BsProbe probe = {hashes[i], (int64_t) hashes[i]};
		bool contained = bs_probe_contains(f, &probe);

		f = add(f, &size, &probe);
		if (f && structure->number != BS_STRUCTURE_LAYERED)
			CHECK(bs_probe_contains(f, &probe));
		if (f && structure->remove)
			CHECK(structure->remove(f, &probe));
		if (f && contained)
			CHECK(bs_probe_contains(f, &probe));
	}
	free(f);
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
