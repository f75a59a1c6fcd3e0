/*
 * seen.c - bf_seen, a window function: did this key come earlier in the partition?
 */
#include "bloomset.h"

#include "utils/memutils.h"
#include "windowapi.h"

#include "aggregate.h"
#include "fetch.h"
#include "key.h"

PG_FUNCTION_INFO_V1(bs_seen);

/* The filter of what has come in the partition; NULL before its first row. */
typedef struct Seen
{
	BsFilter *filter;
} Seen;

static BsParameters
get_parameters(WindowObject window)
{
	BsParameters parameters = {0};
	bool n_isnull;
	bool p_isnull;

	parameters.n = DatumGetInt64(WinGetFuncArgCurrent(window, 1, &n_isnull));
	parameters.p = DatumGetFloat8(WinGetFuncArgCurrent(window, 2, &p_isnull));
	if (n_isnull || p_isnull)
		bs_null_parameters();
	return parameters;
}

/* bf_seen(key "any", n bigint, p float8) -> boolean, a window function */
Datum
bs_seen(PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();
	BsCallSite *site;
	BsParameters parameters;
	BsKeyMaker *maker;
	BsFilter *f;
	BsKey key;
	Seen *seen;
	Datum value;
	bool isnull;

	if (!WindowObjectIsValid(window))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("bf_seen was not called as a window function")));
	site = bs_call_site(fcinfo);

	/* earlier rows are not needed again: let the window forget them */
	WinSetMarkPosition(window, WinGetCurrentPosition(window));

	parameters = get_parameters(window);
	seen = WinGetPartitionLocalMemory(window, sizeof(Seen));
	if (seen->filter)
		bs_require_same_parameters(seen->filter, &parameters);
	else
	{
		MemoryContext caller = MemoryContextSwitchTo(GetMemoryChunkContext(seen));

		seen->filter = bs_new_filter(&bs_bloom, parameters.n, parameters.p, 0);
		MemoryContextSwitchTo(caller);
	}
	f = seen->filter;

	/* no key, so never seen: WHERE NOT seen keeps such rows */
	value = WinGetFuncArgCurrent(window, 0, &isnull);
	if (isnull)
		PG_RETURN_BOOL(false);
	maker = bs_arg_key_maker(site, fcinfo, 0);
	key = bs_make_key(maker, value);
	bs_adopt_key_type(f, &key, maker);
	PG_RETURN_BOOL(!bs_filter_add(f, key.hash));
}
