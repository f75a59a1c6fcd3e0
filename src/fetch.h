/*
 * fetch.h - call sites, and how a filter that is an argument is read at one.
 *
 * A filter in memory is used in place.  A stored one arrives as its TOAST pointer,
 * for every row anew: a call site reads single blocks of it at first, and the
 * whole once so many look-ups have been made that it pays; that it then keeps.
 */
#ifndef BS_FETCH_H
#define BS_FETCH_H

#include "bloomset.h"

#include "utils/array.h"

#include "key.h"

typedef struct BsStored BsStored;

/* What a call site keeps in its fn_extra. */
typedef struct BsCallSite
{
	BsKeyMaker *maker;			 /* of the key argument, once there was one */
	BsStored **stored;			 /* stored filters seen, a table by TOAST value */
	BsStored *last;				 /* the one of the last look-up */
	MemoryContext context;		 /* of all of these */
	MemoryContext maker_context; /* of an element's maker, which may change */
	uint64 call;				 /* number of the call, to tell what is in use */
} BsCallSite;

extern BsCallSite *bs_new_call_site(FunctionCallInfo fcinfo);
extern void bs_find_key_maker(BsCallSite *site, FunctionCallInfo fcinfo, int argno);

/* To be called once in each call that reads filters or makes keys. */
static inline BsCallSite *
bs_call_site(FunctionCallInfo fcinfo)
{
	BsCallSite *site = fcinfo->flinfo->fn_extra;

	if (unlikely(site == NULL))
		site = bs_new_call_site(fcinfo);
	site->call++;
	return site;
}

/* The key maker of an argument. */
static inline BsKeyMaker *
bs_arg_key_maker(BsCallSite *site, FunctionCallInfo fcinfo, int argno)
{
	if (unlikely(site->maker == NULL))
		bs_find_key_maker(site, fcinfo, argno);
	return site->maker;
}

/* The keys of the array that is the second argument, one after the other. */
typedef struct BsKeyArray
{
	BsKeyMaker *maker;
	ArrayIterator elements;
} BsKeyArray;

extern BsKeyArray bs_key_array(BsCallSite *site, FunctionCallInfo fcinfo);

/* False where there is no other; *isnull instead of a key for a NULL. */
extern bool bs_next_key(BsKeyArray *array, BsKey *key, bool *isnull);

/* A filter opened to be asked; only for the duration of a call. */
typedef struct BsReader
{
	const BsFilter *header; /* and directory; without the rest, unless it is the whole */
	const BsFilter *whole;	/* NULL: places are fetched one by one */
	BsCallSite *site;
	BsStored *stored;
	Datum filter;
	union
	{
		BsFilter filter;
		char bytes[VARATT_SHORT_MAX + sizeof(uint32)];
	} unpacked; /* home of a value that came with a short varlena header */
} BsReader;

/*
 * The short cut for the usual case: a filter in memory, or the stored one of the
 * last look-up if the call site has kept it whole.  NULL: open it.
 */
extern const BsFilter *bs_whole_at_hand(BsCallSite *site, Datum filter);

/* Whether a filter that has been checked has a key; quick for the standard one. */
static inline bool
bs_whole_contains(const BsFilter *f, const BsProbe *probe)
{
	return likely(f->structure == BS_STRUCTURE_BLOOM) ? bs_filter_contains(f, probe->hash)
													  : bs_probe_contains(f, probe);
}

/* Error XX001 where the value is not a filter. */
extern void bs_open(BsReader *reader, BsCallSite *site, Datum filter);

extern bool bs_reader_contains(BsReader *reader, const BsProbe *probe);

/* A private copy of the whole, in the current memory context. */
extern BsFilter *bs_reader_copy(BsReader *reader);

/*
 * The whole filter, to read only: in place where it can be, else the call site's
 * (which keeps a stored filter from the second time on that it sees it), else
 * detoasted in the current memory context.
 */
extern const BsFilter *bs_fetch(BsCallSite *site, Datum filter);

/* The same where nothing is to be kept: call sites that outlive a query, and
 * values that come but once. */
extern const BsFilter *bs_fetch_once(Datum filter);

/* For functions of one kind of filter: error XX001 if it is of another one. */
extern const BsFilter *bs_of_kind(const BsStructure *structure, const BsFilter *f);

/* Frees what bs_fetch_once had to copy. */
extern void bs_release(const BsFilter *f, Datum filter);

#endif
