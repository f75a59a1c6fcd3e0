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
too_large(int64 n, double p, uint64 bits)
{
	uint64 shards = bs_sizing_shards(n, p);

	ereport(
		ERROR,
		(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
		 errmsg("bloomfilter for " INT64_FORMAT " keys at rate %.15g is too large", n, p),
		 errdetail("It would take %s" UINT64_FORMAT " bytes; the limit is " UINT64_FORMAT ".",
				   bits == PG_UINT64_MAX ? "more than " : "",
				   (uint64) (bits / 8 + sizeof(BsFilter)), (uint64) bs_filter_size(BS_MAX_BITS)),
		 shards <= PG_INT32_MAX
			 ? errhint("Spread the keys over " UINT64_FORMAT " filters or more, each for"
					   " its share of the keys; bf_shard() tells which one a key"
					   " belongs to.",
					   shards)
			 : 0));
}

BsLayout
bs_layout(int64 n, double p)
{
	BsLayout layout;

	switch (bs_sizing(n, p, &layout))
	{
		case BS_SIZING_OK:
			break;
		case BS_SIZING_BAD_N:
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("number of keys must be at least 1, not " INT64_FORMAT, n)));
			break;
		case BS_SIZING_BAD_P:
			bad_rate(p);
			break;
		case BS_SIZING_TINY_P:
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("false-positive rate %.15g is too small", p),
							errdetail("The smallest is %g: below it, keys of 64 bits collide"
									  " more often than that.",
									  BS_MIN_P)));
			break;
		case BS_SIZING_TOO_LARGE:
			too_large(n, p, layout.m);
			break;
	}
	return layout;
}

BsFilter *
bs_new_filter(int64 n, double p, int64 seed)
{
	BsLayout layout = bs_layout(n, p);
	size_t size = bs_filter_size(layout.m);
	BsFilter *f = palloc(size);

	bs_bytes_zero((uint8 *) f, size);
	SET_VARSIZE(f, size);
	bs_filter_init(f, &layout, n, p, (uint64) seed);
	return f;
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

/* The parameters of a filter, for an errdetail. */
static char *
describe(const BsFilter *f)
{
	return psprintf("n = " UINT64_FORMAT ", p = %.15g, m = " UINT64_FORMAT
					", k = %d, blocks of %u bits, seed = " INT64_FORMAT,
					f->n, f->p, f->m, f->k, f->block_bits, (int64) f->seed);
}

void
bs_require_compatible(const char *who, const BsFilter *a, const BsFilter *b)
{
	if (!bs_filter_same_layout(a, b))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s needs bloomfilters of the same size and seed", who),
						errdetail("One has %s; the other %s.", describe(a), describe(b)),
						errhint("Create both with the same n, p and seed.")));
	if (a->key_type != b->key_type && a->key_type != BS_KEY_NONE && b->key_type != BS_KEY_NONE)
	{
		const char *of_a = bs_key_type_name(a->key_type);
		const char *of_b = bs_key_type_name(b->key_type);

		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("%s needs bloomfilters of the same key type", who),
						errdetail("One holds %s, the other %s.", of_a, of_b)));
	}
}
