/*
 * fetch.h - how a filter that is an argument is read.
 *
 * All functions reach stored filters through here, so that reading them in
 * slices or keeping them between calls is a matter of this file alone.
 */
#ifndef BS_FETCH_H
#define BS_FETCH_H

#include "bloomset.h"

/* The filter, to read only: in place where it can be, else detoasted in the
 * current memory context.  Error XX001 if it is not one. */
extern const BsFilter *bs_fetch(Datum filter);

/* Frees what bs_fetch had to copy; for callers that outlive many calls. */
extern void bs_release(const BsFilter *f, Datum filter);

#endif
