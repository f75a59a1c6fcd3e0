/*
 * tap.h - the least that a test program needs to speak TAP.
 */
#ifndef BS_TAP_H
#define BS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Emulated machines do so much less of the work that takes long. */
#ifndef UNIT_SCALE
#define UNIT_SCALE 1
#endif

static int tap_count;
static int tap_failed;

static bool __attribute__((format(printf, 2, 3))) ok(bool passed, const char *format, ...)
{
	va_list args;

	printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	if (!passed)
		tap_failed++;
	return passed;
}

static int
done_testing(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed > 0;
}

#endif
