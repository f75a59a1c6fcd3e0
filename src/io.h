/*
 * io.h - the portable form of a filter as a bytea.
 */
#ifndef BS_IO_H
#define BS_IO_H

#include "bloomset.h"

extern bytea *bs_filter_to_external(const BsFilter *f);

/* Error 22P03 where the bytes are not a filter. */
extern BsFilter *bs_filter_from_external(const bytea *bytes);

#endif
