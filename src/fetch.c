/*
 * fetch.c - call sites, and how a filter that is an argument is read at one.
 */
#include "fetch.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "format.h"
#include "hash.h"

/* A look-up by slices costs about as much as reading so many bytes at once. */
#define LOOKUP_BYTES (32 * 1024)

/* Of stored filters, between two checks for interrupts. */
#define PIECE_BYTES (4 << 20)

/* Stored filters that a call site remembers; others with the same remainder of
 * their TOAST value's number replace them. */
#define STORED_SLOTS 256

/*
 * A whole filter that is kept: one copy for all call sites of the process, since a
 * query on a partitioned table has one for every partition.
 */
typedef struct Whole
{
	struct Whole *next;
	struct varlena *datum; /* the TOAST pointer or compressed value: its identity */
	const BsFilter *filter;
	MemoryContext context; /* of all of this */
	int users;			   /* entries of call sites that point here */
} Whole;

static Whole *wholes = NULL;
static size_t whole_bytes = 0;

/* A filter out of line or compressed, as a call site knows it. */
struct BsStored
{
	struct varlena *datum;
	BsFilter *header; /* and directory; NULL: not read yet */
	Whole *whole;	  /* NULL until it pays */
	uint64 lookups;
	int evictions; /* how often it had to make room for others */
	uint64 last_call;
};

static pg_noinline void
damaged(const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED), errmsg("filter is damaged"), errdetail("%s", why)));
}

static inline void
check(const BsFilter *f, size_t size)
{
	const char *why;

	if (likely(bs_filter_sane(f, size)))
		return;
	why = bs_filter_check(f, size);
	if (why)
		damaged(why);
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

/* The maker by the array itself: a column declared anyarray (pg_stats has some) holds
 * another type in every row. */
BsKeyArray
bs_key_array(BsCallSite *site, FunctionCallInfo fcinfo)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(1);

	if (unlikely(site->maker == NULL || site->maker->sql_type != ARR_ELEMTYPE(array)))
	{
		site->maker = NULL;
		if (site->maker_context == NULL)
			site->maker_context =
				AllocSetContextCreate(site->context, "bloomset key maker", ALLOCSET_SMALL_SIZES);
		MemoryContextReset(site->maker_context);
		site->maker = bs_key_maker(ARR_ELEMTYPE(array), PG_GET_COLLATION(), site->maker_context);
	}
	return (BsKeyArray){site->maker, array_create_iterator(array, 0, NULL)};
}

bool
bs_next_key(BsKeyArray *array, BsKey *key, bool *isnull)
{
	Datum value;

	CHECK_FOR_INTERRUPTS();
	if (!array_iterate(array->elements, &value, isnull))
		return false;
	if (!*isnull)
		*key = bs_make_key(array->maker, value);
	return true;
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
same_datum(const struct varlena *a, const struct varlena *b)
{
	Size size = VARSIZE_ANY(a);

	return VARSIZE_ANY(b) == size && memcmp(a, b, size) == 0;
}

static struct varlena *
copy_datum(MemoryContext context, struct varlena *datum)
{
	Size size = VARSIZE_ANY(datum);

	return memcpy(MemoryContextAlloc(context, size), datum, size);
}

/* Header and bits follow the length word of the stored value. */
static uint8 *
read_slice(struct varlena *datum, size_t offset, size_t length)
{
	struct varlena *slice = detoast_attr_slice(datum, (int32) offset, (int32) length);

	if (VARSIZE(slice) - VARHDRSZ != length)
		damaged("It is shorter than its header says.");
	return (uint8 *) VARDATA(slice);
}

/* detoast_attr, which no interrupt stops, in pieces. */
static const BsFilter *
detoasted(struct varlena *datum)
{
	size_t size = toast_raw_datum_size(PointerGetDatum(datum));
	BsFilter *f;

	if (size <= PIECE_BYTES || !can_slice(datum))
		f = (BsFilter *) detoast_attr(datum);
	else
	{
		f = palloc(size);
		SET_VARSIZE(f, size);
		for (size_t at = 0; at < size - VARHDRSZ; at += PIECE_BYTES)
		{
			size_t length = Min(size - VARHDRSZ - at, PIECE_BYTES);
			uint8 *bytes = read_slice(datum, at, length);

			memcpy(VARDATA(f) + at, bytes, length);
			pfree(bytes - VARHDRSZ);
			CHECK_FOR_INTERRUPTS();
		}
	}
	check(f, VARSIZE(f));
	return f;
}

/* ---- whole filters that are kept ---- */

static void
release_whole(BsStored *stored)
{
	Whole *whole = stored->whole;

	if (whole == NULL)
		return;
	stored->whole = NULL;
	if (--whole->users > 0)
		return;
	for (Whole **link = &wholes; *link != NULL; link = &(*link)->next)
		if (*link == whole)
		{
			*link = whole->next;
			break;
		}
	whole_bytes -= VARSIZE(whole->filter);
	MemoryContextDelete(whole->context);
}

/* When a call site's memory goes, at the end of its query or after an error. */
static void
release_call_site(void *arg)
{
	BsCallSite *site = arg;

	for (int i = 0; i < STORED_SLOTS; i++)
		if (site->stored[i])
			release_whole(site->stored[i]);
}

/* Makes room for so many bytes, from what this call site keeps and this call does
 * not use, the longest unused first.  One filter is always let in. */
static bool
make_room(BsCallSite *site, size_t bytes)
{
	while (whole_bytes > 0 && whole_bytes + bytes > bs_hash_memory_limit())
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
		release_whole(oldest);
		/* has to pay anew, and more, or filters would take turns */
		oldest->lookups = 0;
		oldest->evictions = Min(oldest->evictions + 1, 16);
	}
	return true;
}

static Whole *
find_whole(const struct varlena *datum)
{
	for (Whole *whole = wholes; whole != NULL; whole = whole->next)
		if (same_datum(whole->datum, datum))
			return whole;
	return NULL;
}

static Whole *
read_whole(struct varlena *datum)
{
	/* goes with the caller's memory until all has gone well */
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "bloomset stored filter", ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Whole *whole = palloc0(sizeof(Whole));

	whole->context = context;
	whole->datum = copy_datum(context, datum);
	whole->filter = detoasted(datum);
	MemoryContextSwitchTo(caller);

	MemoryContextSetParent(context, TopMemoryContext);
	whole->next = wholes;
	wholes = whole;
	whole_bytes += VARSIZE(whole->filter);
	return whole;
}

/* Keeps the whole, reading it if no other call site has it, if there is room. */
static void
keep_whole(BsCallSite *site, BsStored *stored)
{
	Whole *whole = find_whole(stored->datum);

	if (whole == NULL)
	{
		if (!make_room(site, toast_raw_datum_size(PointerGetDatum(stored->datum))))
			return;
		whole = read_whole(stored->datum);
	}
	whole->users++;
	stored->whole = whole;
}

/* ---- what a call site knows ---- */

static BsStored *
new_stored(BsCallSite *site, struct varlena *datum)
{
	BsStored *stored = MemoryContextAllocZero(site->context, sizeof(BsStored));

	stored->datum = copy_datum(site->context, datum);
	return stored;
}

static void
prepare_call_site(BsCallSite *site)
{
	MemoryContextCallback *callback =
		MemoryContextAllocZero(site->context, sizeof(MemoryContextCallback));

	site->stored = MemoryContextAllocZero(site->context, STORED_SLOTS * sizeof(BsStored *));
	callback->func = release_call_site;
	callback->arg = site;
	MemoryContextRegisterResetCallback(site->context, callback);
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
	if (site->last == NULL || !same_datum(site->last->datum, datum))
	{
		if (site->stored == NULL)
			prepare_call_site(site);
		slot = &site->stored[slot_of(datum)];
		if (*slot == NULL || !same_datum((*slot)->datum, datum))
		{
			BsStored *replaced = *slot;

			*known = false;
			if (replaced && replaced->last_call == site->call)
				return NULL;
			*slot = new_stored(site, datum);
			if (replaced)
			{
				release_whole(replaced);
				if (replaced->header)
					pfree(replaced->header);
				pfree(replaced->datum);
				pfree(replaced);
			}
		}
		site->last = *slot;
	}
	site->last->last_call = site->call;
	return site->last;
}

/* Reads so many bytes after those that are there already. */
static BsFilter *
read_more(BsCallSite *site, struct varlena *datum, BsFilter *header, size_t have, size_t bytes)
{
	uint8 *slice;

	header = header ? repalloc(header, have + bytes)
					: MemoryContextAllocZero(site->context, have + bytes);
	slice = read_slice(datum, have - VARHDRSZ, bytes);
	memcpy((char *) header + have, slice, bytes);
	pfree(slice - VARHDRSZ);
	return header;
}

static void
read_header(BsCallSite *site, BsStored *stored)
{
	size_t size = toast_raw_datum_size(PointerGetDatum(stored->datum));
	BsFilter none = {0};
	BsFilter *header;
	const char *why;

	if (stored->header)
		return;
	if (size < sizeof(BsFilter))
		check(&none, size);
	header = read_more(site, stored->datum, NULL, VARHDRSZ, sizeof(BsFilter) - VARHDRSZ);
	why = bs_header_check(header, size);
	if (why == NULL && bs_directory_size(header) > 0)
		header =
			read_more(site, stored->datum, header, sizeof(BsFilter), bs_directory_size(header));
	if (why)
		damaged(why);
	check(header, size);
	stored->header = header;
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
		reader->header = reader->whole = stored->whole->filter;
	else if (stored && can_slice(datum))
	{
		read_header(site, stored);
		reader->header = stored->header;
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
	if (site->last == NULL || site->last->whole == NULL)
		return NULL;
	/* of a length known to the compiler, which then needs no call for it */
	if (VARATT_IS_EXTERNAL_ONDISK(datum)
			? VARATT_IS_EXTERNAL_ONDISK(site->last->datum) &&
				  memcmp(VARDATA_EXTERNAL(site->last->datum), VARDATA_EXTERNAL(datum),
						 sizeof(struct varatt_external)) == 0
			: same_datum(site->last->datum, datum))
		return site->last->whole->filter;
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

/* The places of a stored filter one by one, or the whole if now is the time. */
static bool
stored_contains(BsReader *reader, const BsProbe *probe)
{
	BsStored *stored = reader->stored;
	const BsStructure *structure = bs_structure_of(stored->header);
	size_t size = toast_raw_datum_size(PointerGetDatum(stored->datum));
	bool result = false;
	BsPlace place;

	if (++stored->lookups >= (size / LOOKUP_BYTES) << stored->evictions)
		keep_whole(reader->site, stored);
	if (stored->whole)
	{
		reader->header = reader->whole = stored->whole->filter;
		return bs_whole_contains(reader->whole, probe);
	}

	for (uint32 i = 0; !result && structure->place(stored->header, probe, i, &place); i++)
	{
		uint8 *bytes =
			read_slice(stored->datum, sizeof(BsFilter) - VARHDRSZ + place.start, place.length);

		CHECK_FOR_INTERRUPTS(); /* a filter of layers may have very many places */
		result = structure->holds(&place, bytes, probe);
		pfree(bytes - VARHDRSZ);
	}
	return result;
}

bool
bs_reader_contains(BsReader *reader, const BsProbe *probe)
{
	if (likely(reader->whole != NULL))
		return bs_whole_contains(reader->whole, probe);
	return stored_contains(reader, probe);
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
	return stored && stored->whole ? stored->whole->filter : detoasted(datum);
}

const BsFilter *
bs_fetch_once(Datum filter)
{
	struct varlena *datum = (struct varlena *) DatumGetPointer(filter);

	if (VARATT_IS_EXTENDED(datum))
		return detoasted(datum);
	check((const BsFilter *) datum, VARSIZE(datum));
	return (const BsFilter *) datum;
}

const BsFilter *
bs_of_kind(const BsStructure *structure, const BsFilter *f)
{
	if (f->structure != structure->number)
		damaged("It is another kind of filter.");
	return f;
}

void
bs_release(const BsFilter *f, Datum filter)
{
	if ((Pointer) f != DatumGetPointer(filter))
		pfree((void *) f);
}
