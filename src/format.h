/*
 * format.h - the portable form of a filter: what leaves and enters the database.
 *
 * Little-endian header, bits, checksum; doc/format.md has it to the byte.  Pure
 * C, like bloom.h.  bs_external_check is the one judge of foreign bytes.
 */
#ifndef BS_FORMAT_H
#define BS_FORMAT_H

#include <string.h>

#include "bloom.h"

#define BS_EXTERNAL_HEADER (sizeof(BsFilter) - sizeof(uint32_t))
#define BS_EXTERNAL_CHECKSUM 8

/* Bytes of the portable form of a filter of m bits. */
static inline size_t
bs_external_size(uint64_t m)
{
	return BS_EXTERNAL_HEADER + (size_t) (m / 8) + BS_EXTERNAL_CHECKSUM;
}

/* Writes bs_external_size(f->m) bytes. */
extern void bs_external_encode(const BsFilter *f, uint8_t *out);

/*
 * Judges the bytes without allocating.  NULL: they are a filter whose header now
 * stands in *header (host_word excepted).  Otherwise: why not, as a sentence.
 */
extern const char *bs_external_check(const uint8_t *bytes, size_t length, BsFilter *header);

/* Fills f, bs_filter_size(header->m) bytes, from bytes that bs_external_check has
 * passed with this header; leaves host_word alone. */
extern void bs_external_decode(const uint8_t *bytes, const BsFilter *header, BsFilter *f);

/*
 * Judges a filter in memory, or the header of one of this size: whether any
 * operation stays inside its bits.  As bs_external_check.
 */
extern const char *bs_filter_check(const BsFilter *f, size_t size);

/* The same without the reason, to be asked for every call. */
static inline bool
bs_filter_sane(const BsFilter *f, size_t size)
{
	static const uint8_t known[] = {BS_FORMAT_VERSION, BS_STRUCTURE_BLOOM, BS_HASH_SCHEME};

	return size >= sizeof(BsFilter) && memcmp(&f->version, known, sizeof(known)) == 0 &&
		   (uint8_t) (f->k - 1) < BS_MAX_K && f->block_bits - 8 <= BS_MAX_BLOCK_BITS - 8 &&
		   f->block_bits % 8 == 0 && f->m >= f->block_bits && f->m <= BS_MAX_BITS &&
		   f->m / 8 == size - sizeof(BsFilter);
}

#endif
