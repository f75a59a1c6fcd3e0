/*
 * format.h - the portable form of a filter: what leaves and enters the database.
 *
 * Little-endian header, bits, checksum; doc/format.md has it to the byte.  Pure
 * C, like bloom.h.  bs_external_check is the one judge of foreign bytes.
 */
#ifndef BS_FORMAT_H
#define BS_FORMAT_H

#include <string.h>

#include "structure.h"

#define BS_EXTERNAL_HEADER (sizeof(BsFilter) - sizeof(uint32_t))
#define BS_EXTERNAL_CHECKSUM 8

/* Bytes of the portable form of a filter of this size, and the other way round. */
static inline size_t
bs_external_size(size_t size)
{
	return size - sizeof(uint32_t) + BS_EXTERNAL_CHECKSUM;
}

static inline size_t
bs_internal_size(size_t length)
{
	return length - BS_EXTERNAL_CHECKSUM + sizeof(uint32_t);
}

static inline size_t
bs_directory_size(const BsFilter *header)
{
	const BsStructure *structure = bs_structure_of(header);

	return structure->directory_size ? structure->directory_size(header) : 0;
}

/* Writes bs_external_size(size) bytes. */
extern void bs_external_encode(const BsFilter *f, size_t size, uint8_t *out);

/*
 * Judges header, length and checksum without allocating.  NULL: they are right, and
 * the header now stands in *header (host_word excepted).  Otherwise: why not, as a
 * sentence.
 */
extern const char *bs_external_check(const uint8_t *bytes, size_t length, BsFilter *header);

/*
 * Fills f, size = bs_internal_size(length) bytes, from bytes that bs_external_check
 * has passed with this header; leaves host_word alone.  The result as there: only
 * now everything has been judged.
 */
extern const char *bs_external_decode(const uint8_t *bytes, const BsFilter *header, size_t size,
									  BsFilter *f);

/* The header alone, BS_EXTERNAL_HEADER bytes. */
extern void bs_header_encode(const BsFilter *header, uint8_t *out);
extern void bs_header_decode(const uint8_t *in, BsFilter *header);

/*
 * Judges a filter in memory, or header and directory of one of this size: whether
 * any operation stays inside the value.  As bs_external_check.
 */
extern const char *bs_filter_check(const BsFilter *f, size_t size);

/* The first half of it: whether the directory may be read by this header. */
extern const char *bs_header_check(const BsFilter *header, size_t size);

/* The same of the standard filter without the reason, to be asked for every call. */
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
