/*
 * key_type.c - key types in words, and filters that insist on theirs.
 */
#include "key.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "hash.h"

static const struct
{
	BsKeyClass key_class;
	const char *name;
	const char *cast; /* a type to cast to, for the hint */
} key_classes[] = {
	{BS_KEY_NUMBER, "integer or numeric", "bigint"},
	{BS_KEY_FLOAT, "float", "float8"},
	{BS_KEY_TEXT, "text", "text"},
	{BS_KEY_BYTEA, "bytea", "bytea"},
	{BS_KEY_BOOLEAN, "boolean", "boolean"},
	{BS_KEY_UUID, "uuid", "uuid"},
	{BS_KEY_MACADDR, "macaddr", "macaddr"},
	{BS_KEY_MACADDR8, "macaddr8", "macaddr8"},
	{BS_KEY_INET, "inet", "inet"},
	{BS_KEY_TIMESTAMP, "date or timestamp", "timestamp"},
	{BS_KEY_TIMESTAMPTZ, "timestamptz", "timestamptz"},
	{BS_KEY_TIME, "time", "time"},
	{BS_KEY_ARRAY, "array", NULL},
	{BS_KEY_RECORD, "record", NULL},
	{BS_KEY_RANGE, "range", NULL},
	{BS_KEY_MULTIRANGE, "multirange", NULL},
	{BS_KEY_CHAR, "\"char\"", "\"char\""},
};

uint32
bs_key_type_digest(const void *bytes, size_t length)
{
	return (uint32) (XXH3_64bits(bytes, length) >> 40) << 8;
}

uint32
bs_key_type_with(BsKeyClass key_class, uint32 inner)
{
	uint8 bytes[4];

	bs_store_le(bytes, inner, sizeof(bytes));
	return key_class | bs_key_type_digest(bytes, sizeof(bytes));
}

/* The first type of this name's digest; a scan, but only for messages. */
static const char *
other_type_name(uint32 key_type)
{
	Relation types = table_open(TypeRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(types, InvalidOid, false, NULL, 0, NULL);
	HeapTuple tuple;
	const char *found = NULL;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		const char *name = NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname);

		if ((BS_KEY_OTHER | bs_key_type_digest(name, strlen(name))) == key_type)
		{
			found = pstrdup(name);
			break;
		}
	}
	systable_endscan(scan);
	table_close(types, AccessShareLock);
	return found;
}

/* "text array" for an array whose elements are of a class of the table. */
static const char *
nested_type_name(uint32 key_type, const char *class_name)
{
	for (size_t i = 0; i < lengthof(key_classes); i++)
		if (key_type == bs_key_type_with(BS_KEY_CLASS(key_type), key_classes[i].key_class))
			return psprintf("%s %s", key_classes[i].name, class_name);
	return class_name;
}

const char *
bs_key_type_short_name(uint32 key_type)
{
	BsKeyClass key_class = BS_KEY_CLASS(key_type);

	if (key_class == BS_KEY_OTHER)
		return other_type_name(key_type);
	for (size_t i = 0; i < lengthof(key_classes); i++)
		if (key_classes[i].key_class == key_class)
			return key_class == BS_KEY_ARRAY || key_class == BS_KEY_RANGE ||
						   key_class == BS_KEY_MULTIRANGE
					   ? nested_type_name(key_type, key_classes[i].name)
					   : key_classes[i].name;
	return NULL;
}

const char *
bs_key_type_name(uint32 key_type)
{
	const char *name = bs_key_type_short_name(key_type);

	return name ? psprintf("%s keys", name) : "keys of a type that does not exist here";
}

static const char *
cast_for(uint32 key_type)
{
	for (size_t i = 0; i < lengthof(key_classes); i++)
		if ((uint32) key_classes[i].key_class == key_type)
			return key_classes[i].cast;
	return NULL;
}

void
bs_key_type_mismatch(const BsFilter *f, const BsKey *key, const BsKeyMaker *maker)
{
	const char *cast = cast_for(f->key_type);
	const char *kind = bs_structure_of(f)->type_name;
	const char *holds = bs_key_type_name(f->key_type);
	/* where the SQL type alone does not tell, the key's type does */
	const char *given = maker && key->type == maker->key_type ? format_type_be(maker->sql_type)
															  : bs_key_type_name(key->type);

	if (strcmp(holds, given) == 0)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("%s holds %s of another composition", kind, holds),
						errdetail("The number or the types of their columns differ.")));
	if (key->type == bs_key_type_with(BS_KEY_ARRAY, f->key_type))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("%s holds %s, not %s", kind, holds, given),
						errhint("To ask for or add the elements of an array, use bf_contains_any,"
								" bf_contains_all or bf_add_all.")));
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("%s holds %s, not %s", kind, holds, given),
			 cast ? errhint("Cast the value, for example to %s.", cast)
				  : errhint("Cast the value to the type that the filter was built from.")));
}
