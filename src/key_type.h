/*
 * key_type.h - the numbers that say what kind of keys a filter holds.
 *
 * Part of the format: never renumbered.  Pure C.  The low byte is the class, the
 * upper 24 bits a digest of what makes two types of one class differ (an array's
 * elements, a record's columns, an "other" type's name), 0 where nothing does.
 * SQL types of one key type have equal keys where SQL calls the values equal.
 */
#ifndef BS_KEY_TYPE_H
#define BS_KEY_TYPE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum BsKeyClass
{
	BS_KEY_NONE = 0,   /* no key yet: such a filter fits any key type */
	BS_KEY_NUMBER = 1, /* int2, int4, int8, numeric */
	BS_KEY_FLOAT = 2,  /* float4, float8 */
	BS_KEY_TEXT = 3,   /* text, varchar, char(n), name, enums, untyped literals */
	BS_KEY_BYTEA = 4,
	BS_KEY_BOOLEAN = 5,
	BS_KEY_UUID = 6,
	BS_KEY_MACADDR = 7,
	BS_KEY_MACADDR8 = 8,
	BS_KEY_INET = 9,	   /* inet, cidr */
	BS_KEY_TIMESTAMP = 10, /* date, timestamp */
	BS_KEY_TIMESTAMPTZ = 11,
	BS_KEY_TIME = 12,
	BS_KEY_ARRAY = 13,		/* digest of the element's key type */
	BS_KEY_RECORD = 14,		/* digest of the columns' key types */
	BS_KEY_RANGE = 15,		/* digest of the bounds' key type */
	BS_KEY_MULTIRANGE = 16, /* digest of the bounds' key type */
	BS_KEY_CHAR = 17,		/* "char", one byte */
	BS_KEY_OTHER = 255,		/* digest of the type's name */
} BsKeyClass;

#define BS_KEY_CLASS(key_type) ((BsKeyClass) ((key_type) &0xff))

static inline bool
bs_key_type_valid(uint32_t key_type)
{
	BsKeyClass key_class = BS_KEY_CLASS(key_type);

	if ((key_class >= BS_KEY_ARRAY && key_class <= BS_KEY_MULTIRANGE) || key_class == BS_KEY_OTHER)
		return true;
	return key_class != BS_KEY_NONE && key_class <= BS_KEY_CHAR && key_type >> 8 == 0;
}

#endif
