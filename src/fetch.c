/*
 * fetch.c - how a filter that is an argument is read.
 */
#include "fetch.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "format.h"
#include "hash.h"

/* A look-up by slices costs about as much as reading so many bytes at once. */
#define LOOKUP_BYTES (32 * 1024)

/* Stored filters that a call site remembers; others with the same remainder of
 * their TOAST value's number replace them. */
#define STORED_SLOTS 256

/* A filter out of line or compressed, as a call site knows it. */
struct BsStored
{
	struct varlena *datum; /* the TOAST pointer or compressed value: its identity */
	BsFilter header;
	bool has_header;
	BsFilter *whole; /* NULL until it pays */
	uint64 lookups;
	uint64 last_call;
};

static inline void
check(const BsFilter *f, size_t size)
{
	if (unlikely(!bs_filter_sane(f, size)))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("bloomfilter value is damaged"),
						errdetail("%s", bs_filter_check(f, size))));
}

/* ---- call sites ---- */

BsCallSite *
bs_new_call_site(FunctionCallInfo fcinfo)
{
	BsCallSite *site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(BsCallSite));

	site->context = fcinfo->flinfo->fn_mcxt;
	fcinfo->flinfo->fn_extra = site;
	return site;
}

void
bs_find_key_maker(BsCallSite *site, FunctionCallInfo fcinfo, int argno)
{
	Oid type = get_fn_expr_argtype(fcinfo->flinfo, argno);

	if (!OidIsValid(type))
		ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
						errmsg("could not determine the type of the key")));
	site->maker = type == UNKNOWNOID ? bs_literal_key_maker(PG_GET_COLLATION(), site->context)
									 : bs_key_maker(type, PG_GET_COLLATION(), site->context);
}

/* By the array itself: a column declared anyarray (pg_stats has some) holds
 * another type in every row. */
BsKeyMaker *
bs_element_key_maker(BsCallSite *site, FunctionCallInfo fcinfo, const ArrayType *array)
{
	if (unlikely(site->maker == NULL || site->maker->sql_type != ARR_ELEMTYPE(array)))
	{
		site->maker = NULL;
		if (site->maker_context == NULL)
			site->maker_context =
				AllocSetContextCreate(site->context, "bloomset key maker", ALLOCSET_SMALL_SIZES);
		MemoryContextReset(site->maker_context);
		site->maker = bs_key_maker(ARR_ELEMTYPE(array), PG_GET_COLLATION(), site->maker_context);
	}
	return site->maker;
}

/* ---- stored filters ---- */

/* Compressed values cannot be read in slices. */
static bool
can_slice(struct varlena *datum)
{
	struct varatt_external pointer;

	if (!VARATT_IS_EXTERNAL_ONDISK(datum))
		return false;
	VARATT_EXTERNAL_GET_POINTER(pointer, datum);
	return !VARATT_EXTERNAL_IS_COMPRESSED(pointer);
}

static uint32
slot_of(struct varlena *datum)
{
	struct varatt_external pointer;

	if (!VARATT_IS_EXTERNAL_ONDISK(datum))
		return (uint32) XXH3_64bits(datum, VARSIZE_ANY(datum)) % STORED_SLOTS;
	VARATT_EXTERNAL_GET_POINTER(pointer, datum);
	return pointer.va_valueid % STORED_SLOTS;
}

static inline bool
is_of(const BsStored *stored, struct varlena *datum)
{
	Size size = VARSIZE_ANY(datum);

	return VARSIZE_ANY(stored->datum) == size && memcmp(stored->datum, datum, size) == 0;
}

static void
forget(BsCallSite *site, BsStored *stored)
{
	if (stored->whole)
	{
		site->kept -= VARSIZE(stored->whole);
		pfree(stored->whole);
		stored->whole = NULL;
		stored->lookups = 0; /* has to pay anew, or filters would take turns */
	}
}

static BsStored *
new_stored(BsCallSite *site, struct varlena *datum)
{
	BsStored *stored = MemoryContextAllocZero(site->context, sizeof(BsStored));
	Size size = VARSIZE_ANY(datum);

	stored->datum = MemoryContextAlloc(site->context, size);
	memcpy(stored->datum, datum, size);
	return stored;
}

/*
 * What the call site knows of a stored filter, from now on; *known tells whether
 * it knew it before.  NULL if another one that this call reads is in its place.
 */
static BsStored *
find_stored(BsCallSite *site, struct varlena *datum, bool *known)
{
	BsStored **slot;

	*known = true;
	if (site->last == NULL || !is_of(site->last, datum))
	{
		if (site->stored == NULL)
			site->stored = MemoryContextAllocZero(site->context, STORED_SLOTS * sizeof(BsStored *));
		slot = &site->stored[slot_of(datum)];
		if (*slot == NULL || !is_of(*slot, datum))
		{
			BsStored *replaced = *slot;

			*known = false;
			if (replaced && replaced->last_call == site->call)
				return NULL;
			*slot = new_stored(site, datum);
			if (replaced)
			{
				forget(site, replaced);
				pfree(replaced->datum);
				pfree(replaced);
			}
		}
		site->last = *slot;
	}
	site->last->last_call = site->call;
	return site->last;
}

/* Makes room for so many bytes, from what this call does not use, the longest
 * unused first.  One filter is always let in. */
static bool
make_room(BsCallSite *site, size_t bytes)
{
	while (site->kept > 0 && site->kept + bytes > bs_hash_memory_limit())
	{
		BsStored *oldest = NULL;

		for (int i = 0; i < STORED_SLOTS; i++)
		{
			BsStored *stored = site->stored[i];

			if (stored && stored->whole && stored->last_call != site->call &&
				(oldest == NULL || stored->last_call < oldest->last_call))
				oldest = stored;
		}
		if (oldest == NULL)
			return false;
		forget(site, oldest);
	}
	return true;
}

/* Reads the whole to keep it, if there is room. */
static void
keep_whole(BsCallSite *site, BsStored *stored)
{
	MemoryContext caller;
	BsFilter *whole;

	if (!make_room(site, toast_raw_datum_size(PointerGetDatum(stored->datum))))
		return;
	caller = MemoryContextSwitchTo(site->context);
	whole = (BsFilter *) detoast_attr(stored->datum);
	MemoryContextSwitchTo(caller);
	check(whole, VARSIZE(whole));
	stored->whole = whole;
	site->kept += VARSIZE(whole);
}

static const BsFilter *
detoasted(struct varlena *datum)
{
	const BsFilter *f = (const BsFilter *) detoast_attr(datum);

	check(f, VARSIZE(f));
	return f;
}

/* Header and bits follow the length word of the stored value. */
static uint8 *
read_slice(struct varlena *datum, size_t offset, size_t length)
{
	struct varlena *slice = detoast_attr_slice(datum, (int32) offset, (int32) length);

	if (VARSIZE(slice) - VARHDRSZ != length)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("bloomfilter value is damaged"),
						errdetail("It is shorter than its header says.")));
	return (uint8 *) VARDATA(slice);
}

static void
read_header(BsStored *stored)
{
	size_t length = sizeof(BsFilter) - VARHDRSZ;
	size_t size = toast_raw_datum_size(PointerGetDatum(stored->datum));

	if (stored->has_header)
		return;
	if (size >= sizeof(BsFilter))
	{
		uint8 *bytes = read_slice(stored->datum, 0, length);

		memcpy((char *) &stored->header + VARHDRSZ, bytes, length);
		pfree(bytes - VARHDRSZ);
	}
	check(&stored->header, size);
	stored->has_header = true;
}

/* ---- reading ---- */

static void
open_stored(BsReader *reader, BsCallSite *site, struct varlena *datum)
{
	bool known;
	BsStored *stored = find_stored(site, datum, &known);

	if (stored && stored->whole == NULL && !can_slice(datum))
		keep_whole(site, stored);
	if (stored && stored->whole)
		reader->header = reader->whole = stored->whole;
	else if (stored && can_slice(datum))
	{
		read_header(stored);
		reader->header = &stored->header;
		reader->whole = NULL;
		reader->stored = stored;
	}
	else
		reader->header = reader->whole = detoasted(datum);
}

const BsFilter *
bs_whole_at_hand(BsCallSite *site, Datum filter)
{
	struct varlena *datum = (struct varlena *) DatumGetPointer(filter);

	if (likely(VARATT_IS_4B_U(datum)))
	{
		check((const BsFilter *) datum, VARSIZE(datum));
		return (const BsFilter *) datum;
	}
	if (site->last && site->last->whole && is_of(site->last, datum))
		return site->last->whole;
	return NULL;
}

void
bs_open(BsReader *reader, BsCallSite *site, Datum filter)
{
	struct varlena *datum = (struct varlena *) DatumGetPointer(filter);

	reader->site = site;
	reader->filter = filter;
	reader->stored = NULL;
	if (likely(VARATT_IS_4B_U(datum)))
	{
		reader->header = reader->whole = (const BsFilter *) datum;
		check(reader->whole, VARSIZE(datum));
	}
	else if (VARATT_IS_EXTERNAL_ONDISK(datum) || VARATT_IS_COMPRESSED(datum))
		open_stored(reader, site, datum);
	else if (VARATT_IS_SHORT(datum) && !VARATT_IS_EXTERNAL(datum))
	{
		Size length = VARSIZE_SHORT(datum) - VARHDRSZ_SHORT;

		SET_VARSIZE(&reader->unpacked, length + VARHDRSZ);
		memcpy(VARDATA(&reader->unpacked), VARDATA_SHORT(datum), length);
		reader->header = reader->whole = &reader->unpacked.filter;
		check(reader->whole, length + VARHDRSZ);
	}
	else
		reader->header = reader->whole = detoasted(datum);
}

/* One block of a stored filter, or the whole if now is the time. */
static bool
stored_contains(BsReader *reader, uint64 hash)
{
	BsStored *stored = reader->stored;
	size_t length;
	size_t start;
	uint8 *block;
	bool result;

	if (++stored->lookups >= bs_filter_size(stored->header.m) / LOOKUP_BYTES)
		keep_whole(reader->site, stored);
	if (stored->whole)
	{
		reader->header = reader->whole = stored->whole;
		return bs_filter_contains(stored->whole, hash);
	}

	start = bs_block_start(&stored->header, hash, &length);
	block = read_slice(stored->datum, sizeof(BsFilter) - VARHDRSZ + start, length);
	result = bs_block_contains(&stored->header, block, hash);
	pfree(block - VARHDRSZ);
	return result;
}

bool
bs_reader_contains(BsReader *reader, uint64 hash)
{
	if (likely(reader->whole != NULL))
		return bs_filter_contains(reader->whole, hash);
	return stored_contains(reader, hash);
}

BsFilter *
bs_reader_copy(BsReader *reader)
{
	if (reader->whole)
		return bs_copy_filter(reader->whole);
	return (BsFilter *) detoasted((struct varlena *) DatumGetPointer(reader->filter));
}

const BsFilter *
bs_fetch(BsCallSite *site, Datum filter)
{
	struct varlena *datum = (struct varlena *) DatumGetPointer(filter);
	BsStored *stored;
	bool known;

	if (!VARATT_IS_EXTERNAL_ONDISK(datum) && !VARATT_IS_COMPRESSED(datum))
		return bs_fetch_once(filter);
	stored = find_stored(site, datum, &known);
	if (stored && stored->whole == NULL && known)
		keep_whole(site, stored);
	return stored && stored->whole ? stored->whole : detoasted(datum);
}

const BsFilter *
bs_fetch_once(Datum filter)
{
	const BsFilter *f = (const BsFilter *) PG_DETOAST_DATUM(filter);

	check(f, VARSIZE(f));
	return f;
}

void
bs_release(const BsFilter *f, Datum filter)
{
	if ((Pointer) f != DatumGetPointer(filter))
		pfree((void *) f);
}
