/*
 * bloomset.c - the module, and the errors that several functions share.
 */
#include "bloomset.h"

#include "miscadmin.h"
#if PG_VERSION_NUM < 150000
#include "executor/nodeHash.h"
#endif

#include "bytes.h"
#include "key.h"
#include "layered.h"

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "bloomset", .version = BLOOMSET_VERSION);
#else
PG_MODULE_MAGIC;
#endif

PGDLLEXPORT void _PG_init(void);

static void
check_for_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

void
_PG_init(void)
{
	bs_poll = check_for_interrupts;
}

static void
bad_rate(double p)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("false-positive rate %.15g is not between 0 and 1", p),
					p >= 1 && p < 100 ? errhint("Did you mean %.15g?", p / 100)
									  : errhint("A usual rate is 0.01, one in a hundred.")));
}

static void
tiny_rate(const BsStructure *structure, double p)
{
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("false-positive rate %.15g is too small", p),
					structure->directory_size
						? errdetail("A layer would need a rate below %g, where keys of 64 bits"
									" collide more often than that.",
									BS_MIN_P)
						: errdetail("The smallest is %g: below it, keys of 64 bits collide more"
									" often than that.",
									BS_MIN_P)));
}

static void
too_large(const BsStructure *structure, const BsFilter *header, uint64 size)
{
	uint64 shares = bs_shares(structure, header);

	ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("%s for " UINT64_FORMAT " keys at rate %.15g is too large",
						   structure->type_name, header->n, header->p),
					errdetail("It would take %s" UINT64_FORMAT " bytes; the limit is %zu.",
							  size > PG_UINT64_MAX / 16 ? "more than " : "", size, BS_MAX_SIZE),
					shares <= PG_INT32_MAX
						? errhint("Spread the keys over " UINT64_FORMAT " filters or more, each for"
								  " its share of the keys; bf_shard() tells which one a key"
								  " belongs to.",
								  shares)
						: 0));
}

/* Fills in the header, and tells the size of an empty filter. */
static size_t
plan(const BsStructure *structure, BsFilter *header)
{
	uint64_t size;

	switch (structure->plan(header, &size))
	{
		case BS_SIZING_OK:
			break;
		case BS_SIZING_BAD_N:
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("number of keys must be at least 1, not " INT64_FORMAT,
								   (int64) header->n)));
			break;
		case BS_SIZING_BAD_P:
			bad_rate(header->p);
			break;
		case BS_SIZING_TINY_P:
			tiny_rate(structure, header->p);
			break;
		case BS_SIZING_TOO_LARGE:
			too_large(structure, header, size);
			break;
	}
	return (size_t) size;
}

BsLayout
bs_layout(int64 n, double p)
{
	BsFilter header = {.n = (uint64) n, .p = p};
	BsLayout layout;

	(void) plan(&bs_bloom, &header);
	layout.m = header.m;
	layout.block_bits = header.block_bits;
	layout.k = header.k;
	return layout;
}

BsFilter *
bs_new_from(const BsStructure *structure, const BsFilter *header)
{
	BsFilter full = *header;
	size_t size;
	BsFilter *f;

	full.version = BS_FORMAT_VERSION;
	full.structure = structure->number;
	full.hash_scheme = BS_HASH_SCHEME;
	size = plan(structure, &full);
	f = palloc(size);
	*f = full;
	bs_bytes_zero(f->bits, size - sizeof(BsFilter));
	SET_VARSIZE(f, size);
	return f;
}

BsFilter *
bs_new_filter(const BsStructure *structure, int64 n, double p, int64 seed)
{
	BsFilter header = {.n = (uint64) n, .p = p, .seed = (uint64) seed};

	return bs_new_from(structure, &header);
}

MemoryContext
bs_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("support function of a bloomset aggregate called outside of it")));
	return context;
}

size_t
bs_hash_memory_limit(void)
{
#if PG_VERSION_NUM >= 150000
	return get_hash_memory_limit();
#else
	return (size_t) get_hash_mem() * 1024;
#endif
}

BsFilter *
bs_copy_filter(const BsFilter *f)
{
	BsFilter *copy = palloc(VARSIZE(f));

	bs_bytes_copy((uint8 *) copy, (const uint8 *) f, VARSIZE(f));
	return copy;
}

/* No room for a key, or (NULL) for all that was to be added. */
static void
full(const BsFilter *f, const BsProbe *probe)
{
	const BsStructure *structure = bs_structure_of(f);
	uint32 copies = probe && structure->crowd ? structure->crowd(f, probe) : 0;
	double count;

	if (copies > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%s has no room for this key", structure->type_name),
				 errdetail("It holds %u copies of the key, or of keys that it cannot tell from it;"
						   " there is no place for more.",
						   copies),
				 errhint("Add a key only where bf_contains() is false, or use a countingfilter.")));
	count = structure->count(f);
	if (structure->slots)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("%s is full", structure->type_name),
						errdetail("It was made for " UINT64_FORMAT
								  " keys and holds %.0f, in %.1f%% of its slots.",
								  f->n, count, 100 * count / (double) structure->slots(f)),
						count < (double) f->n
							? errhint("Several copies of each of many keys take more room than"
									  " different keys: use a countingfilter, or create one for"
									  " more keys.")
							: errhint("Create one for more keys.")));
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("%s is full", structure->type_name),
			 structure == &bs_scalable
				 ? errdetail("It began with room for " UINT64_FORMAT " keys, holds about %.0f, and"
							 " cannot grow any more within its false-positive rate and %zu bytes.",
							 f->n, count, BS_MAX_SIZE)
				 : errdetail("It was made for " UINT64_FORMAT " keys and holds about %.0f.", f->n,
							 count),
			 errhint("Create one for more keys.")));
}

BsFilter *
bs_add_probe(BsFilter *f, const BsProbe *probe, bool *changed)
{
	const BsStructure *structure = bs_structure_of(f);
	BsAdded added;

	if (structure->size_with)
	{
		uint64 size = structure->size_with(f, VARSIZE(f), probe);
		BsFilter *larger;

		if (size > BS_MAX_SIZE)
			full(f, probe);
		if (size != VARSIZE(f))
		{
			larger = palloc(size);
			structure->make_room(larger, size, f, probe);
			SET_VARSIZE(larger, size);
			f = larger;
		}
	}
	added = structure->add(f, probe);
	if (added == BS_FULL)
		full(f, probe);
	*changed = added == BS_ADDED;
	return f;
}

static BsFilter *
unite(const char *who, const BsFilter *a, const BsFilter *b, BsFilter *in_place)
{
	const BsStructure *structure = bs_structure_of(a);
	BsFilter *result = in_place;
	uint64 size;

	bs_require_compatible(who, a, b);
	size = structure->united_size ? structure->united_size(a, b) : VARSIZE(a);
	if (size > BS_MAX_SIZE)
		full(a, NULL);
	if (result == NULL || structure->united_size)
		result = palloc(size);
	if (!structure->unite(result, a, b))
		full(structure->slots ? result : a, NULL); /* with slots, as much as there was room for */
	SET_VARSIZE(result, size);
	return result;
}

BsFilter *
bs_united(const char *who, const BsFilter *a, const BsFilter *b)
{
	return unite(who, a, b, NULL);
}

BsFilter *
bs_unite_into(const char *who, BsFilter *a, const BsFilter *b)
{
	return unite(who, a, b, a);
}

/* The parameters of a filter, for an errdetail. */
static char *
describe(const BsFilter *f)
{
	char *text;

	if (f->structure == BS_STRUCTURE_SCALABLE)
		return psprintf("n = " UINT64_FORMAT ", p = %.15g, seed = " INT64_FORMAT, f->n, f->p,
						(int64) f->seed);
	text = psprintf("n = " UINT64_FORMAT ", p = %.15g, m = " UINT64_FORMAT
					", k = %d, blocks of %u bits, seed = " INT64_FORMAT,
					f->n, f->p, f->m, f->k, f->block_bits, (int64) f->seed);

	if (f->structure == BS_STRUCTURE_LAYERED)
		text = psprintf("%s, %u layers of " INT64_FORMAT " microseconds", text,
						bs_layered_layers(f), bs_layered_span(f));
	return text;
}

void
bs_require_compatible(const char *who, const BsFilter *a, const BsFilter *b)
{
	const char *type_name = bs_structure_of(a)->type_name;

	if (!bs_structure_of(a)->compatible(a, b))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s needs %ss of the same parameters", who, type_name),
						errdetail("One has %s; the other %s.", describe(a), describe(b)),
						a->structure == BS_STRUCTURE_LAYERED
							? errhint("Create both with the same n, p, layers, span and seed.")
							: errhint("Create both with the same n, p and seed.")));
	if (a->key_type != b->key_type && a->key_type != BS_KEY_NONE && b->key_type != BS_KEY_NONE)
	{
		const char *of_a = bs_key_type_name(a->key_type);
		const char *of_b = bs_key_type_name(b->key_type);

		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("%s needs %ss of the same key type", who, type_name),
						errdetail("One holds %s, the other %s.", of_a, of_b)));
	}
}
