/*
 * key.h - from an SQL value to a key: key type and 64-bit hash.
 *
 * A key depends on the SQL value alone: equal values (in the sense of SQL's "=")
 * of one key type have equal keys on every machine, version and database
 * encoding.  doc/format.md lists the bytes that are hashed for each type.
 */
#ifndef BS_KEY_H
#define BS_KEY_H

#include "bloomset.h"
#include "key_type.h"

/* A key; also the SQL type bfkey as it is stored. */
typedef struct BsKey
{
	uint64 hash;
	uint32 type;   /* see key_type.h */
	uint32 unused; /* 0 */
} BsKey;

/* How values of one SQL type become keys: looked up once per call site. */
typedef struct BsKeyMaker BsKeyMaker;
struct BsKeyMaker
{
	BsKey (*make)(BsKeyMaker *maker, Datum value);
	uint32 key_type;  /* of its keys, unless has_records; of a bfkey each tells */
	bool has_records; /* a record or made of records: see key_nested.c */
	Oid sql_type;	  /* as declared */
	Oid collation;
	MemoryContext context; /* where the maker and its children live */
	FmgrInfo hash;		   /* other types: their own hash function... */
	Oid hash_collation;	   /* ...and what it is called with */
	BsKeyMaker *element;   /* arrays and ranges: what they are made of */
	int ncolumns;		   /* records: the columns of the last value, -1: none yet */
	BsKeyMaker **columns;  /* NULL for a dropped column */
	MemoryContext column_context;
	struct TypeCacheEntry *range; /* ranges and multiranges */
};

/*
 * A maker for the type, in the memory context.  Errors: 42883 for a type
 * without a suitable hash function, 0A000 for a nondeterministic collation.
 */
extern BsKeyMaker *bs_key_maker(Oid sql_type, Oid collation, MemoryContext context);

/* The same for an untyped literal, which arrives as a C string and is text. */
extern BsKeyMaker *bs_literal_key_maker(Oid collation, MemoryContext context);

/* Makers for what is made of other values (key_nested.c). */
extern void bs_nested_array_maker(BsKeyMaker *maker, Oid element_type);
extern void bs_nested_record_maker(BsKeyMaker *maker);
extern void bs_nested_range_maker(BsKeyMaker *maker, Oid range_type, bool multirange);

static inline BsKey
bs_make_key(BsKeyMaker *maker, Datum value)
{
	return maker->make(maker, value);
}

/* The upper 24 bits of a key type, from what the type is made of. */
extern uint32 bs_key_type_digest(const void *bytes, size_t length);

/* The class with the digest of one key type: arrays and ranges. */
extern uint32 bs_key_type_with(BsKeyClass key_class, uint32 inner);

/* What keys of a key type are called: "text keys", or in short "text", NULL where
 * nothing is known.  Looks into pg_type for types without a number. */
extern const char *bs_key_type_name(uint32 key_type);
extern const char *bs_key_type_short_name(uint32 key_type);

/* Error 42804.  The maker (NULL if the key is a bfkey) names the SQL type. */
extern void bs_key_type_mismatch(const BsFilter *f, const BsKey *key, const BsKeyMaker *maker);

/*
 * True if keys of this type may be looked for in the filter, false if it holds
 * none yet; an error if it holds keys of another type.
 */
static inline bool
bs_check_key_type(const BsFilter *f, const BsKey *key, const BsKeyMaker *maker)
{
	if (likely(f->key_type == key->type))
		return true;
	if (f->key_type != BS_KEY_NONE)
		bs_key_type_mismatch(f, key, maker);
	return false;
}

/* The same before adding; the filter takes over the first key's type. */
static inline void
bs_adopt_key_type(BsFilter *f, const BsKey *key, const BsKeyMaker *maker)
{
	if (!bs_check_key_type(f, key, maker))
		f->key_type = key->type;
}

#endif
