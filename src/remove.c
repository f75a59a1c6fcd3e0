/*
 * remove.c - bf_remove and bf_remove_all, for the kinds of filters that can.
 */
#include "bloomset.h"

#include "fetch.h"
#include "key.h"

PG_FUNCTION_INFO_V1(bs_remove);
PG_FUNCTION_INFO_V1(bs_remove_all);

/* Keys that are to be taken out of a filter. */
typedef struct Removal
{
	BsReader reader;
	BsFilter *f; /* the copy that is changed; NULL before the first key that is in */
	bool changed;
	bool missing_ok;
} Removal;

/* missing_ok is the third argument. */
static void
begin(Removal *removal, FunctionCallInfo fcinfo, BsCallSite *site)
{
	bs_open(&removal->reader, site, PG_GETARG_DATUM(0));
	removal->f = NULL;
	removal->changed = false;
	removal->missing_ok = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);
}

/* The argument itself where nothing changes: an UPDATE then keeps the stored value. */
static Datum
result(const Removal *removal, FunctionCallInfo fcinfo)
{
	return removal->changed ? PointerGetDatum(removal->f) : PG_GETARG_DATUM(0);
}

static void
take_out(Removal *removal, const BsKey *key, const BsKeyMaker *maker)
{
	const BsFilter *header = removal->reader.header;
	const BsStructure *structure = bs_structure_of(header);
	BsProbe probe = {.hash = key->hash};

	if (bs_check_key_type(header, key, maker) && structure->remove &&
		(removal->f || bs_reader_contains(&removal->reader, &probe)))
	{
		if (removal->f == NULL)
			removal->f = bs_reader_copy(&removal->reader);
		if (structure->remove(removal->f, &probe))
		{
			removal->changed = true;
			return;
		}
	}
	if (!removal->missing_ok)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("key is not in the %s", structure->type_name),
						errhint("Remove only keys that were added; missing_ok => true lets the"
								" others pass.")));
}

/* bf_remove(f, key "any", missing_ok boolean) -> the same type */
Datum
bs_remove(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyMaker *maker;
	Removal removal;
	BsKey key;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	maker = bs_arg_key_maker(site, fcinfo, 1);
	key = bs_make_key(maker, PG_GETARG_DATUM(1));
	begin(&removal, fcinfo, site);
	take_out(&removal, &key, maker);
	return result(&removal, fcinfo);
}

/* bf_remove_all(f, keys anyarray, missing_ok boolean) -> the same type */
Datum
bs_remove_all(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyArray keys;
	Removal removal;
	BsKey key;
	bool isnull;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	keys = bs_key_array(site, fcinfo);
	begin(&removal, fcinfo, site);
	while (bs_next_key(&keys, &key, &isnull))
		if (!isnull)
			take_out(&removal, &key, keys.maker);
	return result(&removal, fcinfo);
}
