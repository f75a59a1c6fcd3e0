/*
 * fetch.c - how a filter that is an argument is read.
 */
#include "fetch.h"

#include "format.h"

const BsFilter *
bs_fetch(Datum filter)
{
	const BsFilter *f = (const BsFilter *) PG_DETOAST_DATUM(filter);
	const char *why = bs_filter_check(f, VARSIZE(f));

	if (why)
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("bloomfilter value is damaged"),
						errdetail("%s", why)));
	return f;
}

void
bs_release(const BsFilter *f, Datum filter)
{
	if ((Pointer) f != DatumGetPointer(filter))
		pfree((void *) f);
}
