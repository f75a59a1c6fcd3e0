/*
 * io.h - the portable form of a filter, as bytea, text and on the wire.
 */
#ifndef BS_IO_H
#define BS_IO_H

#include "bloomset.h"

extern bytea *bs_filter_to_external(const BsFilter *f);

/* Error 22P03 where the bytes are not a filter of this kind; NULL: of any kind. */
extern BsFilter *bs_filter_from_external(const BsStructure *structure, const bytea *bytes);

/* The input functions of a kind of filter. */
extern Datum bs_read_text(FunctionCallInfo fcinfo, const BsStructure *structure);
extern Datum bs_read_binary(FunctionCallInfo fcinfo, const BsStructure *structure);

#endif
