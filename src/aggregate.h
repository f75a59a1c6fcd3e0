/*
 * aggregate.h - transition functions of the aggregates that build filters.
 */
#ifndef BS_AGGREGATE_H
#define BS_AGGREGATE_H

#include "bloomset.h"

/* What is the same for all rows. */
typedef struct BsParameters
{
	int64 n;
	double p;
	uint64 own[2]; /* as in the header */
} BsParameters;

/* (internal, key "any", ...) -> internal: adds the key, if it is not NULL, to a
 * filter that the first row makes. */
extern Datum bs_build(FunctionCallInfo fcinfo, const BsStructure *structure,
					  const BsParameters *parameters, int64 at);

/* (filter, key bfkey, ...) -> filter: the same with the filter as state. */
extern Datum bs_build_from_keys(FunctionCallInfo fcinfo, const BsStructure *structure,
								const BsParameters *parameters, int64 at);

/* Error 22023 unless they are those of the filter. */
extern void bs_require_same_parameters(const BsFilter *f, const BsParameters *given);

/* Adds a key to a filter that may have to grow. */
extern void bs_add_growing(BsFilter **f, const BsProbe *probe);

/* n and p, the arguments from this one on; error 22004 for NULL. */
extern BsParameters bs_get_parameters(FunctionCallInfo fcinfo, int argno);
pg_noreturn extern void bs_null_parameters(void);

#endif
