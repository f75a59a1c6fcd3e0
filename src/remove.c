/*
 * remove.c - bf_remove, for the kinds of filters that can.
 */
#include "bloomset.h"

#include "fetch.h"
#include "key.h"

PG_FUNCTION_INFO_V1(bs_remove);

/* bf_remove(f, key "any", missing_ok boolean) -> the same type */
Datum
bs_remove(PG_FUNCTION_ARGS)
{
	BsCallSite *site = bs_call_site(fcinfo);
	BsKeyMaker *maker;
	const BsFilter *f;
	BsProbe probe = {0};
	BsKey key;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	maker = bs_arg_key_maker(site, fcinfo, 1);
	key = bs_make_key(maker, PG_GETARG_DATUM(1));
	probe.hash = key.hash;
	f = bs_fetch(site, PG_GETARG_DATUM(0));
	if (bs_check_key_type(f, &key, maker))
	{
		BsFilter *result = bs_copy_filter(f);

		if (bs_structure_of(f)->remove && bs_structure_of(f)->remove(result, &probe))
			PG_RETURN_POINTER(result);
	}
	if (PG_ARGISNULL(2) || !PG_GETARG_BOOL(2))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("key is not in the %s", bs_structure_of(f)->type_name),
						errhint("Remove only keys that were added; missing_ok => true lets the"
								" others pass.")));
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}
