/*
 * model.h - the false-positive rate of a blocked Bloom filter from first
 * principles, as ground truth for the sizing; long double throughout.
 */
#ifndef BS_MODEL_H
#define BS_MODEL_H

#include <math.h>

/*
 * E[(X / B)^k], X the number of distinct bits that N = k j throws set in a block
 * of B: mean to the k-th power, corrected to second order for the variance of X
 * (both exact for the occupancy distribution).
 */
static long double
model_block_rate(long double j, long double B, int k)
{
	long double N = k * j;
	long double one = expl(N * log1pl(-1 / B));
	long double two = B > 2 ? expl(N * log1pl(-2 / B)) : 0;
	long double fill = 1 - one;
	long double variance = ((B - 1) / B * two + one / B) - one * one;

	if (j == 0)
		return 0;
	return fminl(1, powl(fill, k) * (1 + k * (k - 1) / 2.0L * variance / (fill * fill)));
}

/* The same averaged over blocks whose number of keys is Poisson distributed. */
static long double
model_poisson_rate(long double lambda, long double B, int k)
{
	long double sum = 0;
	long double width = 12 * sqrtl(lambda) + 40;
	long j = lambda > width ? (long) (lambda - width) : 0;
	long last = (long) (lambda + width);

	for (; j <= last; j++)
		sum += expl(-lambda + j * logl(lambda) - lgammal(j + 1.0L)) * model_block_rate(j, B, k);
	return sum;
}

/* The same for n keys thrown into so few blocks that the Poisson is too wide. */
static long double
model_binomial_rate(long n, long blocks, long double B, int k)
{
	long double q = 1.0L / blocks;
	long double mean = n * q;
	long double width = 12 * sqrtl(mean) + 40;
	long j = mean > width ? (long) (mean - width) : 0;
	long last = mean + width < n ? (long) (mean + width) : n;
	long double sum = 0;

	if (blocks == 1)
		return model_block_rate(n, B, k);
	for (; j <= last; j++)
		sum += expl(lgammal(n + 1.0L) - lgammal(j + 1.0L) - lgammal(n - j + 1.0L) + j * logl(q) +
					(n - j) * log1pl(-q)) *
			   model_block_rate(j, B, k);
	return sum;
}

#endif
