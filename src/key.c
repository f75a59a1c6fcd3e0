/*
 * key.c - canonical bytes of the scalar types, and their hash.
 *
 * PostgreSQL's hash functions do not serve here: hashint8extended folds the two
 * halves of a bigint, enums hash their OID, and some have changed between
 * versions.  Only types that this file does not know are hashed by their own
 * function.
 */
#include "key.h"

#include <errno.h>
#include <sys/socket.h>

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "hash.h"

static BsKey
key_of_bytes(const BsKeyMaker *maker, const void *bytes, size_t length)
{
	BsKey key = {XXH3_64bits(bytes, length), maker->key_type, 0};

	return key;
}

static BsKey
key_of_int64(const BsKeyMaker *maker, int64 value)
{
	uint8 bytes[8];

	bs_store_le(bytes, (uint64) value, sizeof(bytes));
	return key_of_bytes(maker, bytes, sizeof(bytes));
}

/* ---- exact numbers ---- */

static BsKey
key_of_int2(BsKeyMaker *maker, Datum value)
{
	return key_of_int64(maker, DatumGetInt16(value));
}

static BsKey
key_of_int4(BsKeyMaker *maker, Datum value)
{
	return key_of_int64(maker, DatumGetInt32(value));
}

static BsKey
key_of_int8(BsKeyMaker *maker, Datum value)
{
	return key_of_int64(maker, DatumGetInt64(value));
}

/* Integral values are the same key as int8; the prefix keeps the others from
 * ever being 8 bytes long. */
static BsKey
key_of_numeric(BsKeyMaker *maker, Datum value)
{
	Numeric number = DatumGetNumeric(value);
	char *text = numeric_normalize(number);
	char *end;
	int64 integer;
	BsKey key;

	errno = 0;
	integer = strtoll(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0')
		key = key_of_int64(maker, integer);
	else
	{
		char *tagged = psprintf("numeric:%s", text);

		key = key_of_bytes(maker, tagged, strlen(tagged));
		pfree(tagged);
	}
	pfree(text);
	if ((Pointer) number != DatumGetPointer(value))
		pfree(number);
	return key;
}

/* ---- floating point ---- */

#define INFINITY_BITS UINT64CONST(0x7ff0000000000000)
#define NAN_BITS UINT64CONST(0x7ff8000000000000)

/* By the bits, not by isnan() and ==, which -ffast-math takes the meaning from. */
static BsKey
key_of_double(const BsKeyMaker *maker, double value)
{
	uint64 bits = bs_double_bits(value);
	uint64 magnitude = bits & ~(UINT64CONST(1) << 63);

	if (magnitude > INFINITY_BITS)
		bits = NAN_BITS;
	else if (magnitude == 0)
		bits = 0;
	return key_of_int64(maker, (int64) bits);
}

static BsKey
key_of_float4(BsKeyMaker *maker, Datum value)
{
	return key_of_double(maker, DatumGetFloat4(value));
}

static BsKey
key_of_float8(BsKeyMaker *maker, Datum value)
{
	return key_of_double(maker, DatumGetFloat8(value));
}

/* ---- text ---- */

/*
 * Trailing blanks do not count, whatever the type: SQL ignores them when it
 * compares char(n) with varchar, name or a literal, so any other rule would
 * answer "certainly not" for some pair of equal values.
 */
static BsKey
key_of_string(const BsKeyMaker *maker, const char *text, size_t length)
{
	int encoding = GetDatabaseEncoding();
	BsKey key;

	while (length > 0 && text[length - 1] == ' ')
		length--;
	if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
		key = key_of_bytes(maker, text, length);
	else
	{
		char *utf8 = pg_server_to_any(text, (int) length, PG_UTF8);

		if (utf8 == text)
			return key_of_bytes(maker, text, length);
		key = key_of_bytes(maker, utf8, strlen(utf8));
		pfree(utf8);
	}
	return key;
}

/* Here because its own hash function depends on whether the CPU's char is signed. */
static BsKey
key_of_char(BsKeyMaker *maker, Datum value)
{
	uint8 byte = (uint8) DatumGetChar(value);

	return key_of_bytes(maker, &byte, 1);
}

/* Works for text, varchar, char(n) alike; bytea below. */
static BsKey
key_of_text(BsKeyMaker *maker, Datum value)
{
	text *string = DatumGetTextPP(value);
	BsKey key = key_of_string(maker, VARDATA_ANY(string), VARSIZE_ANY_EXHDR(string));

	if ((Pointer) string != DatumGetPointer(value))
		pfree(string);
	return key;
}

static BsKey
key_of_name(BsKeyMaker *maker, Datum value)
{
	const char *name = NameStr(*DatumGetName(value));

	return key_of_string(maker, name, strlen(name));
}

static BsKey
key_of_cstring(BsKeyMaker *maker, Datum value)
{
	const char *string = DatumGetCString(value);

	return key_of_string(maker, string, strlen(string));
}

/* The label: an enum's OID is another one after dump and restore. */
static BsKey
key_of_enum(BsKeyMaker *maker, Datum value)
{
	HeapTuple tuple = SearchSysCache1(ENUMOID, value);
	const char *label;
	BsKey key;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid internal value for enum: %u", DatumGetObjectId(value))));
	label = NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel);
	key = key_of_string(maker, label, strlen(label));
	ReleaseSysCache(tuple);
	return key;
}

/* ---- bytes, booleans, identifiers, addresses ---- */

static BsKey
key_of_bytea(BsKeyMaker *maker, Datum value)
{
	bytea *bytes = DatumGetByteaPP(value);
	BsKey key = key_of_bytes(maker, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));

	if ((Pointer) bytes != DatumGetPointer(value))
		pfree(bytes);
	return key;
}

static BsKey
key_of_bool(BsKeyMaker *maker, Datum value)
{
	uint8 byte = DatumGetBool(value) ? 1 : 0;

	return key_of_bytes(maker, &byte, 1);
}

static BsKey
key_of_uuid(BsKeyMaker *maker, Datum value)
{
	return key_of_bytes(maker, DatumGetUUIDP(value)->data, UUID_LEN);
}

static BsKey
key_of_macaddr(BsKeyMaker *maker, Datum value)
{
	const macaddr *mac = DatumGetMacaddrP(value);
	uint8 bytes[6] = {mac->a, mac->b, mac->c, mac->d, mac->e, mac->f};

	return key_of_bytes(maker, bytes, sizeof(bytes));
}

static BsKey
key_of_macaddr8(BsKeyMaker *maker, Datum value)
{
	const macaddr8 *mac = DatumGetMacaddr8P(value);
	uint8 bytes[8] = {mac->a, mac->b, mac->c, mac->d, mac->e, mac->f, mac->g, mac->h};

	return key_of_bytes(maker, bytes, sizeof(bytes));
}

/* The IP version, the prefix length, the address. */
static BsKey
key_of_inet(BsKeyMaker *maker, Datum value)
{
	inet *address = DatumGetInetPP(value);
	uint8 bytes[2 + 16];
	BsKey key;

	bytes[0] = ip_family(address) == PGSQL_AF_INET ? 4 : 6;
	bytes[1] = ip_bits(address);
	memcpy(bytes + 2, ip_addr(address), ip_addrsize(address));
	key = key_of_bytes(maker, bytes, 2 + ip_addrsize(address));
	if ((Pointer) address != DatumGetPointer(value))
		pfree(address);
	return key;
}

/* ---- date and time ---- */

/* timestamp, timestamptz and time are microseconds; infinities are the ends. */
static BsKey
key_of_microseconds(BsKeyMaker *maker, Datum value)
{
	return key_of_int64(maker, DatumGetInt64(value));
}

/* A date is its midnight, or, past the end of timestamp, 12 bytes of its own. */
static BsKey
key_of_date(BsKeyMaker *maker, Datum value)
{
	DateADT date = DatumGetDateADT(value);
	uint8 bytes[12];

	if (DATE_IS_NOBEGIN(date))
		return key_of_int64(maker, PG_INT64_MIN);
	if (DATE_IS_NOEND(date))
		return key_of_int64(maker, PG_INT64_MAX);
	if (date < (TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE))
		return key_of_int64(maker, date * USECS_PER_DAY);
	bs_store_le(bytes, (uint64) PG_INT64_MAX, 8);
	bs_store_le(bytes + 8, (uint32) date, 4);
	return key_of_bytes(maker, bytes, sizeof(bytes));
}

/* ---- other types, and keys themselves ---- */

/* Mixed once more, so that a plain hash function does no harm. */
static BsKey
key_of_other(BsKeyMaker *maker, Datum value)
{
	return key_of_int64(maker, DatumGetInt64(FunctionCall2Coll(&maker->hash, maker->hash_collation,
															   value, Int64GetDatum(0))));
}

static BsKey
key_of_key(BsKeyMaker *maker pg_attribute_unused(), Datum value)
{
	return *(const BsKey *) DatumGetPointer(value);
}

/* The extension's type of this length, whatever it has been renamed to. */
static bool
is_bfkey(Oid type, int length)
{
	Oid extension;

	if (length != sizeof(BsKey))
		return false;
	extension = get_extension_oid("bloomset", true);
	return OidIsValid(extension) && getExtensionOfObject(TypeRelationId, type) == extension;
}

static void
other_maker(BsKeyMaker *maker, Oid type)
{
	HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	TypeCacheEntry *cache;
	char *name;
	int length;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	name = pstrdup(NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname));
	length = ((Form_pg_type) GETSTRUCT(tuple))->typlen;
	ReleaseSysCache(tuple);
	if (is_bfkey(type, length))
	{
		maker->make = key_of_key;
		return;
	}

	cache = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);
	if (!OidIsValid(cache->hash_extended_proc))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
						errmsg("could not identify an extended hash function for type %s",
							   format_type_be(maker->sql_type)),
						errhint("Cast the value to a type that has one, such as text or bytea.")));
	fmgr_info_cxt(cache->hash_extended_proc, &maker->hash, maker->context);
	maker->hash_collation =
		OidIsValid(maker->collation) ? maker->collation : get_typcollation(type);
	maker->key_type = BS_KEY_OTHER | bs_key_type_digest(name, strlen(name));
	maker->make = key_of_other;
}

/* ---- choosing ---- */

static const struct
{
	Oid type;
	BsKeyClass key_class;
	BsKey (*make)(BsKeyMaker *maker, Datum value);
} scalar_types[] = {
	{INT8OID, BS_KEY_NUMBER, key_of_int8},
	{INT4OID, BS_KEY_NUMBER, key_of_int4},
	{INT2OID, BS_KEY_NUMBER, key_of_int2},
	{NUMERICOID, BS_KEY_NUMBER, key_of_numeric},
	{FLOAT4OID, BS_KEY_FLOAT, key_of_float4},
	{FLOAT8OID, BS_KEY_FLOAT, key_of_float8},
	{TEXTOID, BS_KEY_TEXT, key_of_text},
	{VARCHAROID, BS_KEY_TEXT, key_of_text},
	{BPCHAROID, BS_KEY_TEXT, key_of_text},
	{NAMEOID, BS_KEY_TEXT, key_of_name},
	{CHAROID, BS_KEY_CHAR, key_of_char},
	{BYTEAOID, BS_KEY_BYTEA, key_of_bytea},
	{BOOLOID, BS_KEY_BOOLEAN, key_of_bool},
	{UUIDOID, BS_KEY_UUID, key_of_uuid},
	{MACADDROID, BS_KEY_MACADDR, key_of_macaddr},
	{MACADDR8OID, BS_KEY_MACADDR8, key_of_macaddr8},
	{INETOID, BS_KEY_INET, key_of_inet},
	{CIDROID, BS_KEY_INET, key_of_inet},
	{DATEOID, BS_KEY_TIMESTAMP, key_of_date},
	{TIMESTAMPOID, BS_KEY_TIMESTAMP, key_of_microseconds},
	{TIMESTAMPTZOID, BS_KEY_TIMESTAMPTZ, key_of_microseconds},
	{TIMEOID, BS_KEY_TIME, key_of_microseconds},
};

/* A record in a variable can outlive the types and collations of its columns. */
static void
check_exists(Oid type, Oid collation)
{
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						errmsg("type with OID %u does not exist", type)));
	if (OidIsValid(collation) && !SearchSysCacheExists1(COLLOID, ObjectIdGetDatum(collation)))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						errmsg("collation with OID %u does not exist", collation)));
}

static void
check_collation(Oid type, Oid collation)
{
	if (OidIsValid(collation) && OidIsValid(get_typcollation(type)) &&
		!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nondeterministic collations are not supported for keys of filters"),
				 errdetail("What collation \"%s\" calls equal can change with the version of ICU.",
						   get_collation_name(collation)),
				 errhint("Use COLLATE \"C\" or another deterministic collation,"
						 " on lower() of the value if case must not matter.")));
}

BsKeyMaker *
bs_key_maker(Oid sql_type, Oid collation, MemoryContext context)
{
	BsKeyMaker *maker = MemoryContextAllocZero(context, sizeof(BsKeyMaker));
	Oid type;
	Oid element_type;

	/* arrays of domains over arrays of ... */
	check_stack_depth();
	check_exists(sql_type, collation);
	type = getBaseType(sql_type);
	check_collation(type, collation);
	maker->sql_type = sql_type;
	maker->collation = collation;
	maker->context = context;
	for (size_t i = 0; i < lengthof(scalar_types); i++)
		if (type == scalar_types[i].type)
		{
			maker->key_type = scalar_types[i].key_class;
			maker->make = scalar_types[i].make;
			return maker;
		}

	if (type_is_enum(type))
	{
		maker->key_type = BS_KEY_TEXT;
		maker->make = key_of_enum;
	}
	else if (OidIsValid(element_type = get_element_type(type)))
		bs_nested_array_maker(maker, element_type);
	else if (type_is_rowtype(type))
		bs_nested_record_maker(maker);
	else if (type_is_range(type))
		bs_nested_range_maker(maker, type, false);
#if PG_VERSION_NUM >= 140000
	else if (type_is_multirange(type))
		bs_nested_range_maker(maker, type, true);
#endif
	else
		other_maker(maker, type);
	return maker;
}

BsKeyMaker *
bs_literal_key_maker(Oid collation, MemoryContext context)
{
	BsKeyMaker *maker = bs_key_maker(TEXTOID, collation, context);

	maker->make = key_of_cstring;
	return maker;
}
