/*
 * structure.c - the kinds of filters, and what they have in common.
 */
#include "structure.h"

#include "key_type.h"

static const BsStructure *const structures[] = {
	[BS_STRUCTURE_BLOOM] = &bs_bloom,
	[BS_STRUCTURE_COUNTING] = &bs_counting,
	[BS_STRUCTURE_CUCKOO] = &bs_cuckoo,
	[BS_STRUCTURE_SCALABLE] = &bs_scalable,
	[BS_STRUCTURE_LAYERED] = &bs_layered,
};

const BsStructure *
bs_structure(uint8_t number)
{
	return number < sizeof(structures) / sizeof(structures[0]) ? structures[number] : NULL;
}

bool
bs_probe_contains(const BsFilter *f, const BsProbe *probe)
{
	const BsStructure *structure = bs_structure_of(f);
	BsPlace place;

	if (structure->contains)
		return structure->contains(f, probe);
	for (uint32_t i = 0; structure->place(f, probe, i, &place); i++)
		if (structure->holds(&place, f->bits + place.start, probe))
			return true;
	return false;
}

bool
bs_same_layout(const BsFilter *a, const BsFilter *b)
{
	return a->version == b->version && a->structure == b->structure &&
		   a->hash_scheme == b->hash_scheme && a->k == b->k && a->block_bits == b->block_bits &&
		   a->m == b->m && a->seed == b->seed;
}

void
bs_merge_headers(BsFilter *to, const BsFilter *from)
{
	if (from->n > to->n || (from->n == to->n && from->p < to->p))
	{
		to->n = from->n;
		to->p = from->p;
	}
	if (to->key_type == BS_KEY_NONE)
		to->key_type = from->key_type;
}

static bool
share_fits(const BsStructure *structure, const BsFilter *header, uint64_t shares)
{
	BsFilter share = *header;
	uint64_t size;

	share.n = header->n / shares + (header->n % shares > 0);
	return structure->plan(&share, &size) == BS_SIZING_OK;
}

uint64_t
bs_shares(const BsStructure *structure, const BsFilter *header)
{
	uint64_t fits = 1;
	uint64_t too_few;

	while (!share_fits(structure, header, fits))
		fits *= 2;
	for (too_few = fits / 2; fits - too_few > 1;)
	{
		uint64_t middle = too_few + (fits - too_few) / 2;

		if (share_fits(structure, header, middle))
			fits = middle;
		else
			too_few = middle;
	}
	return fits;
}
