/*
 * row.h - functions that return one row: bf_size, and bf_info of every type.
 */
#ifndef BS_ROW_H
#define BS_ROW_H

#include "bloomset.h"

#define BS_ROW_COLUMNS 16

/* Columns so far; begins as zeros. */
typedef struct BsRow
{
	int ncolumns;
	Datum values[BS_ROW_COLUMNS];
	bool nulls[BS_ROW_COLUMNS];
} BsRow;

extern void bs_row_add(BsRow *row, Datum value);

/* The columns seed and key_type (NULL before the first key)... */
extern void bs_row_key_type(BsRow *row, const BsFilter *f);

/* ...n, p, m, k, block_bits and those, of a filter of blocks... */
extern void bs_row_parameters(BsRow *row, const BsFilter *f);

/* ...and count, fpp and bytes. */
extern void bs_row_estimates(BsRow *row, const BsFilter *f);

extern Datum bs_row_datum(const BsRow *row, FunctionCallInfo fcinfo);

#endif
