/*
 * collect.h - aggregates that collect the distinct keys first, then make a filter
 * of them.
 */
#ifndef BS_COLLECT_H
#define BS_COLLECT_H

#include "aggregate.h"

/*
 * (internal, key "any", ...) -> internal.  Of a standard filter n is not used: it is
 * made for as many keys as there are.
 */
extern Datum bs_collect(FunctionCallInfo fcinfo, const BsStructure *structure,
						const BsParameters *parameters);

#endif
