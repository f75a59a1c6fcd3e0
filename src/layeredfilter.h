/*
 * layeredfilter.h - what functions for every kind of filter ask of layered ones:
 * the time of a question.
 */
#ifndef BS_LAYEREDFILTER_H
#define BS_LAYEREDFILTER_H

#include "bloomset.h"

/*
 * When a key is added or asked for, as in BsProbe: the third argument, or now; a
 * question without the argument is not asked before the newest span of the filter
 * (header and directory).  Error 22004 for NULL, 22008 for infinity.
 */
extern int64 bs_layered_time(FunctionCallInfo fcinfo, const BsFilter *header, bool question);

/* Error 55000 if a span that was alive then has been dropped since: "no" would not
 * be certain. */
extern void bs_layered_require_memory(const BsFilter *header, int64 at);

#endif
