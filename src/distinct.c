/*
 * distinct.c - a set of distinct keys (mixed hashes) in bounded memory.
 */
#include "distinct.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "hash.h"

#define FIRST_SLOTS 64
#define MAX_SLOTS (1 << 19) /* 4 MB: a larger table would be slower than several passes */
#define PART_BITS 5			/* files: each has a buffer of 8 kB */
#define PARTS (1 << PART_BITS)
#define CHUNK_KEYS 2046			 /* 16 kB with the chunk's header */
#define PIECE 1024				 /* keys read or written at a time */
#define PENDING 256				 /* keys whose slots are loaded at a time... */
#define PENDING_FROM_SLOTS 32768 /* ...where the table is larger than the CPU's near cache */

/* Keys put aside in memory, as far as the limit allows. */
typedef struct Chunk
{
	struct Chunk *next;
	size_t count;
	uint64 keys[CHUNK_KEYS];
} Chunk;

/* Keys of one range of values that were put aside: in chunks, then in a file. */
typedef struct Part
{
	Chunk *first;
	Chunk *last;
	BufFile *file;
	uint64 keys;	/* in all */
	uint64 in_file; /* of these, in the file */
	int end_fileno; /* where to write on */
	off_t end_offset;
} Part;

struct BsDistinct
{
	MemoryContext context;
	uint64 *slots; /* 0 is an empty slot; the key 0 is has_zero */
	uint64 nslots; /* a power of two */
	int shift;	   /* position >> shift is the slot where to look first */
	uint64 used;
	uint64 max_slots;
	bool has_zero;
	bool may_spill;
	uint64 *pending; /* keys to be inserted together; NULL for a small table */
	int npending;
	size_t chunk_bytes; /* still allowed for chunks */
	Part *parts;		/* PARTS of them once keys were put aside */
	bool has_files;
};

static uint64 *
new_slots(const BsDistinct *set, uint64 nslots)
{
	return MemoryContextAllocExtended(set->context, nslots * sizeof(uint64),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

static int
shift_for(uint64 nslots)
{
	int shift = 64;

	while (nslots > 1)
	{
		nslots >>= 1;
		shift--;
	}
	return shift;
}

BsDistinct *
bs_distinct_create(MemoryContext context, bool may_spill)
{
	BsDistinct *set = MemoryContextAllocZero(context, sizeof(BsDistinct));

	set->context = context;
	set->may_spill = may_spill;
	set->nslots = FIRST_SLOTS;
	set->shift = shift_for(FIRST_SLOTS);
	set->slots = new_slots(set, FIRST_SLOTS);

	/* while the table grows the old one is there too */
	set->max_slots = FIRST_SLOTS;
	while (set->max_slots < MAX_SLOTS &&
		   set->max_slots * 2 * sizeof(uint64) * 3 / 2 <= bs_hash_memory_limit())
		set->max_slots *= 2;
	set->chunk_bytes = bs_hash_memory_limit() - set->max_slots * sizeof(uint64);
	return set;
}

/* False if the key was there.  Position: where among 2^64 it is to be looked for,
 * which has to be spread evenly over the keys that the table holds. */
static inline bool
insert(BsDistinct *set, uint64 key, uint64 position)
{
	uint64 slot = position >> set->shift;

	while (set->slots[slot] != 0 && set->slots[slot] != key)
		slot = (slot + 1) & (set->nslots - 1);
	if (set->slots[slot] == key)
		return false;
	set->slots[slot] = key;
	set->used++;
	return true;
}

static void
grow(BsDistinct *set)
{
	uint64 *old = set->slots;
	uint64 nold = set->nslots;

	set->slots = new_slots(set, nold * 2);
	set->nslots = nold * 2;
	set->shift--;
	set->used = 0;
	for (uint64 i = 0; i < nold; i++)
	{
		if (old[i] != 0)
			insert(set, old[i], old[i]);
		/* keys that were made up can crowd one place */
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	pfree(old);
}

static void
clear(BsDistinct *set)
{
	memset(set->slots, 0, set->nslots * sizeof(uint64));
	set->used = 0;
}

/* ---- keys put aside ---- */

/* Room for more keys in the part's last chunk, NULL if memory is used up. */
static Chunk *
chunk_with_room(BsDistinct *set, Part *part)
{
	Chunk *chunk;

	if (part->last && part->last->count < CHUNK_KEYS)
		return part->last;
	if (part->file || set->chunk_bytes < sizeof(Chunk))
		return NULL;
	chunk = MemoryContextAlloc(set->context, sizeof(Chunk));
	chunk->next = NULL;
	chunk->count = 0;
	set->chunk_bytes -= sizeof(Chunk);
	if (part->last)
		part->last->next = chunk;
	else
		part->first = chunk;
	part->last = chunk;
	return chunk;
}

static void
write_file(BsDistinct *set, Part *part, uint64 *keys, size_t count)
{
	if (!set->may_spill)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("too many keys to be collected in a window"),
						errhint("Pass the number of keys: bf_agg(key, n, p).")));
	if (part->file == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(set->context);

		set->has_files = true;
		part->file = BufFileCreateTemp(false);
		MemoryContextSwitchTo(caller);
	}
	BufFileWrite(part->file, keys, count * sizeof(uint64));
	part->in_file += count;
}

static void
put_aside(BsDistinct *set, Part *part, uint64 *keys, size_t count)
{
	Chunk *chunk;

	part->keys += count;
	while (count > 0 && (chunk = chunk_with_room(set, part)) != NULL)
	{
		size_t taken = Min(count, CHUNK_KEYS - chunk->count);

		memcpy(chunk->keys + chunk->count, keys, taken * sizeof(uint64));
		chunk->count += taken;
		keys += taken;
		count -= taken;
	}
	if (count > 0)
		write_file(set, part, keys, count);
}

/* A piece of keys of one part on its way there. */
typedef struct Writer
{
	BsDistinct *set;
	uint64 part;
	size_t count;
	uint64 keys[PIECE];
} Writer;

static void
start_writing(Writer *writer, BsDistinct *set)
{
	if (set->parts == NULL)
		set->parts = MemoryContextAllocZero(set->context, PARTS * sizeof(Part));
	writer->set = set;
	writer->part = 0;
	writer->count = 0;
}

static void
write_out(Writer *writer)
{
	put_aside(writer->set, &writer->set->parts[writer->part], writer->keys, writer->count);
	writer->count = 0;
}

/* Best in order, when keys of one part come together. */
static inline void
write_key(Writer *writer, uint64 key)
{
	uint64 part = key >> (64 - PART_BITS);

	if (writer->count == PIECE || part != writer->part)
	{
		write_out(writer);
		writer->part = part;
		CHECK_FOR_INTERRUPTS();
	}
	writer->keys[writer->count++] = key;
}

/* Empties the table into the parts. */
static void
spill(BsDistinct *set)
{
	Writer writer;

	start_writing(&writer, set);
	for (uint64 i = 0; i < set->nslots; i++)
		if (set->slots[i] != 0)
			write_key(&writer, set->slots[i]);
	write_out(&writer);
	clear(set);
}

/* Goes through the keys of a part. */
typedef struct Reader
{
	Part *part;
	Chunk *chunk;
	uint64 left_in_file;
	uint64 buffer[PIECE];
} Reader;

/* The end of the file is remembered, to write on there. */
static void
start_reading(Reader *reader, Part *part)
{
	reader->part = part;
	reader->chunk = part->first;
	reader->left_in_file = part->in_file;
	if (part->file == NULL)
		return;
	BufFileTell(part->file, &part->end_fileno, &part->end_offset);
	if (BufFileSeek(part->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind a temporary file")));
}

/* The next keys, NULL after the last. */
static const uint64 *
next_piece(Reader *reader, size_t *count)
{
	CHECK_FOR_INTERRUPTS();
	if (reader->chunk)
	{
		const Chunk *chunk = reader->chunk;

		reader->chunk = chunk->next;
		*count = chunk->count;
		return chunk->keys;
	}
	if (reader->left_in_file == 0)
		return NULL;
	*count = (size_t) Min(reader->left_in_file, PIECE);
	if (BufFileRead(reader->part->file, reader->buffer, *count * sizeof(uint64)) !=
		*count * sizeof(uint64))
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not read from a temporary file")));
	reader->left_in_file -= *count;
	return reader->buffer;
}

static void
stop_reading(Reader *reader)
{
	Part *part = reader->part;

	if (part->file && BufFileSeek(part->file, part->end_fileno, part->end_offset, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not seek in a temporary file")));
}

/* ---- adding ---- */

static inline void
insert_growing(BsDistinct *set, uint64 key)
{
	if (key == 0)
		set->has_zero = true;
	else if (insert(set, key, key) && set->used > set->nslots / 4 * 3)
	{
		if (set->nslots < set->max_slots)
			grow(set);
		else
			spill(set);
	}
}

/* Loads the slots of all pending keys before it looks at the first. */
static void
flush(BsDistinct *set)
{
	for (int i = 0; i < set->npending; i++)
		bs_prefetch(&set->slots[set->pending[i] >> set->shift]);
	for (int i = 0; i < set->npending; i++)
		insert_growing(set, set->pending[i]);
	set->npending = 0;
}

void
bs_distinct_add(BsDistinct *set, uint64 key)
{
	if (set->pending == NULL)
	{
		insert_growing(set, key);
		if (set->nslots >= PENDING_FROM_SLOTS)
			set->pending = MemoryContextAlloc(set->context, PENDING * sizeof(uint64));
		return;
	}
	set->pending[set->npending++] = key;
	if (set->npending == PENDING)
		flush(set);
}

/*
 * Keys that come in order, as from another set, would crowd the first slots of a
 * table that has yet to grow, so it is made large enough first; what cannot fit
 * is put aside at once.
 */
void
bs_distinct_add_many(BsDistinct *set, const uint8 *keys, size_t count)
{
	Writer writer;

	flush(set);
	while (set->used + count > set->nslots / 4 * 3 && set->nslots < set->max_slots)
		grow(set);
	if (set->used + count <= set->nslots / 4 * 3)
	{
		for (size_t i = 0; i < count; i++)
		{
			/* keys that crowd one part of the table take long to place */
			if (i % 1024 == 0)
				CHECK_FOR_INTERRUPTS();
			insert_growing(set, bs_load_le(keys + 8 * i, 8));
		}
		return;
	}

	start_writing(&writer, set);
	for (size_t i = 0; i < count; i++)
	{
		uint64 key = bs_load_le(keys + 8 * i, 8);

		if (key == 0)
			set->has_zero = true;
		else
			write_key(&writer, key);
	}
	write_out(&writer);
}

bool
bs_distinct_spilled(const BsDistinct *set)
{
	return set->has_files;
}

void
bs_distinct_close(BsDistinct *set)
{
	for (int i = 0; set->parts && i < PARTS; i++)
		if (set->parts[i].file)
		{
			BufFileClose(set->parts[i].file);
			set->parts[i].file = NULL;
		}
}

/* ---- counting and reading ---- */

/*
 * Fills the table with the distinct keys of the share-th of so many equal shares
 * of a part's values; false if they do not fit it.
 */
static bool
load_share(BsDistinct *set, Part *part, uint64 share, uint64 shares)
{
	Reader reader;
	const uint64 *keys;
	size_t piece;
	bool fits = true;

	clear(set);
	start_reading(&reader, part);
	while (fits && (keys = next_piece(&reader, &piece)) != NULL)
		for (size_t i = 0; i < piece && fits; i++)
		{
			/* share and position in it: whole and fraction of a multiple of shares */
			uint64 scaled = (keys[i] << PART_BITS >> 32) * shares;

			if (scaled >> 32 == share && insert(set, keys[i], scaled << 32))
				fits = set->used <= set->nslots / 8 * 7;
		}
	stop_reading(&reader);
	return fits;
}

/* Hands out the keys in the table. */
static void
each_in_table(const BsDistinct *set, BsTakeKeys take, void *target)
{
	uint64 piece[PIECE];
	size_t count = 0;

	for (uint64 i = 0; i < set->nslots; i++)
	{
		if (set->slots[i] == 0)
			continue;
		piece[count++] = set->slots[i];
		if (count == PIECE)
		{
			take(target, piece, count);
			count = 0;
			CHECK_FOR_INTERRUPTS();
		}
	}
	take(target, piece, count);
}

static int
compare_keys(const void *a, const void *b)
{
	uint64 x = *(const uint64 *) a;
	uint64 y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/* The same sorted: in the table neighbours stand as they came. */
static void
each_sorted(const BsDistinct *set, BsTakeKeys take, void *target)
{
	uint64 *keys = palloc(set->used * sizeof(uint64));
	size_t count = 0;

	for (uint64 i = 0; i < set->nslots; i++)
		if (set->slots[i] != 0)
			keys[count++] = set->slots[i];
	qsort(keys, count, sizeof(uint64), compare_keys);
	for (size_t at = 0; at < count; at += PIECE)
	{
		take(target, keys + at, Min(count - at, PIECE));
		CHECK_FOR_INTERRUPTS();
	}
	pfree(keys);
}

/* How the keys in the table are handed out. */
typedef void (*EachKey)(const BsDistinct *set, BsTakeKeys take, void *target);

/* Counts the distinct keys of a share and, if take is given, hands them out; a
 * share that does not fit the table is halved. */
static uint64
each_of_share(BsDistinct *set, Part *part, uint64 share, uint64 shares, EachKey each,
			  BsTakeKeys take, void *target)
{
	if (load_share(set, part, share, shares))
	{
		if (take)
			each(set, take, target);
		return set->used;
	}
	/* more than can be by chance, so keys that were made up */
	if (shares >= UINT64CONST(1) << 31)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("keys are too unevenly distributed to be counted"),
						errhint("Pass the number of keys: bf_agg(key, n, p).")));
	share *= 2;
	shares *= 2;
	return each_of_share(set, part, share, shares, each, take, target) +
		   each_of_share(set, part, share + 1, shares, each, take, target);
}

static uint64
each_once(BsDistinct *set, EachKey each, BsTakeKeys take, void *target)
{
	uint64 zero = 0;
	uint64 count;

	flush(set);
	count = set->has_zero ? 1 : 0;
	if (take && set->has_zero)
		take(target, &zero, 1);
	if (set->parts == NULL)
	{
		if (take)
			each(set, take, target);
		return count + set->used;
	}
	spill(set);
	for (int i = 0; i < PARTS; i++)
		if (set->parts[i].keys > 0)
			count += each_of_share(set, &set->parts[i], 0, 1, each, take, target);
	clear(set);
	return count;
}

uint64
bs_distinct_each_once(BsDistinct *set, BsTakeKeys take, void *target)
{
	return each_once(set, each_in_table, take, target);
}

uint64
bs_distinct_each_in_order(BsDistinct *set, BsTakeKeys take, void *target)
{
	return each_once(set, each_sorted, take, target);
}

void
bs_distinct_each(BsDistinct *set, BsTakeKeys take, void *target)
{
	uint64 zero = 0;

	flush(set);
	if (set->has_zero)
		take(target, &zero, 1);
	for (int i = 0; set->parts && i < PARTS; i++)
	{
		Reader reader;
		const uint64 *keys;
		size_t piece;

		start_reading(&reader, &set->parts[i]);
		while ((keys = next_piece(&reader, &piece)) != NULL)
			take(target, keys, piece);
		stop_reading(&reader);
	}
	each_in_table(set, take, target);
}
