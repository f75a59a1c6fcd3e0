/*
 * structure.h - what the shared parts (reading, format, SQL functions) ask of a
 * kind of filter.  Pure C, as bloom.h.
 *
 * Every value is a header (BsFilter), a directory if the structure has one, and
 * the payload.  A key is looked for in a few places of the payload, so that a
 * stored filter can be asked by reading header, directory and those places.
 */
#ifndef BS_STRUCTURE_H
#define BS_STRUCTURE_H

#include "bloom.h"

#define BS_MAX_SIZE (sizeof(BsFilter) + BS_MAX_BITS / 8) /* of a value of any structure */

/* A key to be added or asked for. */
typedef struct BsProbe
{
	uint64_t hash;
	int64_t at; /* when: microseconds since 2000-01-01 UTC, for layered filters */
} BsProbe;

/* A place where a key may be: bytes from f->bits on. */
typedef struct BsPlace
{
	size_t start;
	size_t length;
	uint32_t shift;		  /* bits before it in the first byte, where it is of no whole bytes */
	const BsFilter *part; /* what describes it: the filter, or one of its layers */
} BsPlace;

typedef enum BsAdded
{
	BS_ADDED,
	BS_UNCHANGED,
	BS_FULL, /* no place; the filter is as it was */
} BsAdded;

/* NULL for a function that the structure does not need. */
typedef struct BsStructure
{
	uint8_t number;
	const char *type_name; /* in SQL */
	bool is_set;		   /* adding a key that is in changes nothing */

	/*
	 * From n, p, seed and own in the header: the other fields, and the size of an
	 * empty value.  Where that is too large the size tells how large.
	 */
	BsSizing (*plan)(BsFilter *header, uint64_t *size);

	/* Bytes of the directory at f->bits; only the header is at hand. */
	size_t (*directory_size)(const BsFilter *header);

	/* The directory between native and little-endian order, in both directions. */
	void (*swap_directory)(uint8_t *to, const uint8_t *from, size_t size);

	/*
	 * Why operations could leave the value, NULL if they cannot: by the header and
	 * the number of bytes after it, then by the directory.
	 */
	const char *(*check_header)(const BsFilter *header, uint64_t after);
	const char *(*check_directory)(const BsFilter *f, uint64_t after);

	/* What else the format promises, of a complete value. */
	const char *(*check_value)(const BsFilter *f, uint64_t after);

	/* The i-th place of a key, false if there is none; and whether it is there. */
	bool (*place)(const BsFilter *f, const BsProbe *probe, uint32_t i, BsPlace *place);
	bool (*holds)(const BsPlace *place, const uint8_t *bytes, const BsProbe *probe);

	/* Whether a key is in a whole value, if that is quicker told than place by place. */
	bool (*contains)(const BsFilter *f, const BsProbe *probe);

	/* Growing structures: the size with room for the key, and the filter with it.
	 * UINT64_MAX: it cannot grow any more. */
	uint64_t (*size_with)(const BsFilter *f, size_t size, const BsProbe *probe);
	void (*make_room)(BsFilter *to, size_t to_size, const BsFilter *from, const BsProbe *probe);
	BsAdded (*add)(BsFilter *f, const BsProbe *probe);

	/* Takes a key out; false, and no change, where it is certainly not in. */
	bool (*remove)(BsFilter *f, const BsProbe *probe);

	/* Whether two may be united; the size of the union (NULL: that of both); and
	 * the union in "to", which may be a.  False: no room, "to" is undefined, or with
	 * slots a filter of as much as there was room for. */
	bool (*compatible)(const BsFilter *a, const BsFilter *b);
	uint64_t (*united_size)(const BsFilter *a, const BsFilter *b);
	bool (*unite)(BsFilter *to, const BsFilter *a, const BsFilter *b);

	/* Where keys take up slots: their number; and how many copies of a key there are
	 * if it is they that leave no room for another, else 0. */
	uint64_t (*slots)(const BsFilter *f);
	uint32_t (*crowd)(const BsFilter *f, const BsProbe *probe);

	/* Estimated number of distinct keys, and the rate at the present fill. */
	double (*count)(const BsFilter *f);
	double (*rate)(const BsFilter *f);
} BsStructure;

extern const BsStructure bs_bloom, bs_counting, bs_cuckoo, bs_scalable, bs_layered;

/* NULL: not known here. */
extern const BsStructure *bs_structure(uint8_t number);

/* Of a filter that has been checked. */
static inline const BsStructure *
bs_structure_of(const BsFilter *f)
{
	return bs_structure(f->structure);
}

extern bool bs_probe_contains(const BsFilter *f, const BsProbe *probe);

/* The same seed, and layout where all of a filter is laid out alike. */
extern bool bs_same_layout(const BsFilter *a, const BsFilter *b);

/* The header that a op b and b op a agree on: the larger n with its p. */
extern void bs_merge_headers(BsFilter *to, const BsFilter *from);

/*
 * Shared by structures of blocks (bloom.c).  The checks of k, block_bits and m; of
 * whole blocks, and own being unused; "holds" for a block of bits; and the rate,
 * from the number of positions set in each block.
 */
extern const char *bs_check_blocks(const BsFilter *header, uint64_t max_bits);
extern const char *bs_check_whole_blocks(const BsFilter *f, uint64_t after);
extern double bs_blocks_rate(const BsFilter *header, const uint8_t *blocks, size_t block_bytes,
							 uint64_t (*count)(const uint8_t *block, size_t bytes));
extern uint64_t bs_count_bits(const uint8_t *bytes, size_t length);
extern uint64_t bs_count_bits_polled(const uint8_t *bytes, size_t length);
extern bool bs_block_holds(const BsPlace *place, const uint8_t *bytes, const BsProbe *probe);

/* For a plan that is too large: the least number of equal shares of n that fit. */
extern uint64_t bs_shares(const BsStructure *structure, const BsFilter *header);

#endif
