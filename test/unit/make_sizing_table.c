/*
 * Writes src/sizing_table.h: bits per key of a blocked Bloom filter for every
 * rate, from the model in model.h.  Run by "make sizing-table"; the result is
 * part of the format (filters of equal n and p must have equal m and k), so a
 * released table is never changed.
 */
#include <stdint.h>
#include <stdio.h>

#include "model.h"

#define STEPS 8	   /* cells per halving of the rate */
#define FIRST 11   /* rates above 2^-(11/8) have one bit a key, and a formula */
#define LAST 266   /* 2^-33.25 is just below BS_MIN_P */
#define UNIT 65536 /* the table counts in 1/65536 bit */
#define MAX_COST                                                                                   \
	1.021L /* what blocks may cost over an unblocked filter: "2%", and 0.1% for the                \
			* variance of the fill, so that p = 0.001 keeps blocks of 2048 bits */

/* Bits per key of an unblocked filter with k bits a key at rate p. */
static long double
textbook(long double p, int k)
{
	return -k / log1pl(-powl(p, 1.0L / k));
}

static int
textbook_k(long double p)
{
	int k = 1;

	while (textbook(p, k + 1) < textbook(p, k))
		k++;
	return k;
}

/* Least bits per key at which blocks of B bits meet p, hash collisions of the
 * largest possible filter (2^32 bits) included. */
static long double
blocked(long double p, long double B, int k)
{
	long double lo = textbook(p, k) * 0.99L;
	long double hi = lo * 4;

	for (int i = 0; i < 60; i++)
	{
		long double b = (lo + hi) / 2;

		if (model_poisson_rate(B / b, B, k) + 0x1p-32L / b > p)
			lo = b;
		else
			hi = b;
	}
	return hi;
}

int
main(void)
{
	printf("/*\n"
		   " * sizing_table.h - bits per key, in 1/65536 bit, by the rate asked for.\n"
		   " *\n"
		   " * Made by test/unit/make_sizing_table.c (\"make sizing-table\"), which says how.\n"
		   " * Never change it after a release: filters of equal n and p must stay alike.\n"
		   " *\n"
		   " * Cell i covers the rates p with (%d + i) / %d <= -log2(p) < (%d + i + 1) / %d:\n"
		   " * log2 of the block's bits, k, and the bits per key at both ends; these are\n"
		   " * convex between the ends, so linear interpolation errs to the safe side.\n"
		   " */\n"
		   "#define BS_TABLE_STEPS %d\n"
		   "#define BS_TABLE_FIRST %d\n"
		   "#define BS_TABLE_CELLS %d\n\n"
		   "static const struct\n{\n"
		   "\tuint8_t log2_block;\n\tuint8_t k;\n\tuint32_t low;\n\tuint32_t high;\n"
		   "} bs_sizing_table[BS_TABLE_CELLS] = {\n",
		   FIRST, STEPS, FIRST, STEPS, STEPS, FIRST, LAST - FIRST);
	for (int i = FIRST; i < LAST; i++)
	{
		long double middle = exp2l(-(i + 0.5L) / STEPS);
		long double p0 = exp2l(-(long double) i / STEPS);
		long double p1 = exp2l(-(i + 1.0L) / STEPS);
		int k = textbook_k(middle);
		int log2_block = 9;

		while (blocked(middle, exp2l(log2_block), k) > MAX_COST * textbook(middle, k))
			log2_block++;
		printf("\t{%d, %d, %u, %u},\n", log2_block, k,
			   (uint32_t) ceill(blocked(p0, exp2l(log2_block), k) * UNIT),
			   (uint32_t) ceill(blocked(p1, exp2l(log2_block), k) * UNIT));
	}
	printf("};\n");
	return 0;
}
