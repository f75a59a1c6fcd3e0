/*
 * io.c - text, binary and bytea forms of filters.
 */
#include "io.h"

#include "common/base64.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"

#include "fetch.h"
#include "format.h"

PG_FUNCTION_INFO_V1(bs_in);
PG_FUNCTION_INFO_V1(bs_out);
PG_FUNCTION_INFO_V1(bs_recv);
PG_FUNCTION_INFO_V1(bs_send);
PG_FUNCTION_INFO_V1(bs_from_bytea);

/* base64 in pieces, so that a filter of half a gigabyte can be cancelled */
#define PIECE_BYTES (3 << 20)
#define PIECE_TEXT (4 << 20)

/* PostgreSQL 18 made the bytes unsigned. */
#if PG_VERSION_NUM >= 180000
typedef uint8 Base64Byte;
#else
typedef char Base64Byte;
#endif

/*
 * A filter from its portable form, of any kind if structure is NULL.  NULL, and
 * the reason in *why, where the bytes are not one.
 */
static BsFilter *
load(const BsStructure *structure, const uint8 *bytes, size_t length, const char **why)
{
	BsFilter header;
	BsFilter *f;
	size_t size;

	*why = bs_external_check(bytes, length, &header);
	if (*why == NULL && structure && header.structure != structure->number)
		*why = "It is another kind of filter.";
	if (*why)
		return NULL;
	size = bs_internal_size(length);
	f = palloc(size);
	SET_VARSIZE(f, size);
	*why = bs_external_decode(bytes, &header, size, f);
	return *why ? NULL : f;
}

static BsFilter *
load_or_fail(const BsStructure *structure, const char *bytes, size_t length)
{
	const char *why;
	BsFilter *f = load(structure, (const uint8 *) bytes, length, &why);

	if (why)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid %s value", structure ? structure->type_name : "bloomset filter"),
				 errdetail("%s", why)));
	return f;
}

bytea *
bs_filter_to_external(const BsFilter *f)
{
	size_t size = VARHDRSZ + bs_external_size(VARSIZE(f));
	bytea *result = palloc(size);

	SET_VARSIZE(result, size);
	bs_external_encode(f, VARSIZE(f), (uint8 *) VARDATA(result));
	return result;
}

BsFilter *
bs_filter_from_external(const BsStructure *structure, const bytea *bytes)
{
	return load_or_fail(structure, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
}

/* Of every kind of filter. */
Datum
bs_out(PG_FUNCTION_ARGS)
{
	bytea *bytes = bs_filter_to_external(bs_fetch_once(PG_GETARG_DATUM(0)));
	size_t length = VARSIZE(bytes) - VARHDRSZ;
	size_t text_length = (length + 2) / 3 * 4;
	char *text = palloc(text_length + 1);
	char *to = text;

	for (size_t at = 0; at < length; at += PIECE_BYTES)
	{
		to += pg_b64_encode((const Base64Byte *) VARDATA(bytes) + at,
							(int) Min(length - at, PIECE_BYTES), to,
							(int) (text_length - (size_t) (to - text)));
		CHECK_FOR_INTERRUPTS();
	}
	*to = '\0';
	pfree(bytes);
	PG_RETURN_CSTRING(text);
}

Datum
bs_read_text(FunctionCallInfo fcinfo, const BsStructure *structure)
{
	const char *text = PG_GETARG_CSTRING(0);
	size_t text_length = strlen(text);
	size_t room = text_length / 4 * 3;
	uint8 *bytes = palloc(room + 1);
	size_t length = 0;
	bool valid = text_length % 4 == 0;
	const char *why;
	BsFilter *f;

	for (size_t at = 0; valid && at < text_length; at += PIECE_TEXT)
	{
		int decoded = pg_b64_decode(text + at, (int) Min(text_length - at, PIECE_TEXT),
									(Base64Byte *) bytes + length, (int) (room - length));

		/* padding may only end the whole text */
		valid = decoded >= 0 && (decoded == PIECE_BYTES || text_length - at <= PIECE_TEXT);
		length += valid ? (size_t) decoded : 0;
		CHECK_FOR_INTERRUPTS();
	}
	if (!valid || text_length == 0)
		bs_input_error(fcinfo,
					   (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						errmsg("invalid input syntax for type %s", structure->type_name),
						errdetail("The text form of a %s is base64.", structure->type_name)));
	f = load(structure, bytes, length, &why);
	if (why)
		bs_input_error(fcinfo,
					   (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
						errmsg("invalid %s value", structure->type_name), errdetail("%s", why)));
	pfree(bytes);
	PG_RETURN_POINTER(f);
}

Datum
bs_read_binary(FunctionCallInfo fcinfo, const BsStructure *structure)
{
	StringInfo buffer = (StringInfo) PG_GETARG_POINTER(0);
	int length = buffer->len - buffer->cursor;

	PG_RETURN_POINTER(load_or_fail(structure, pq_getmsgbytes(buffer, length), length));
}

Datum
bs_in(PG_FUNCTION_ARGS)
{
	return bs_read_text(fcinfo, &bs_bloom);
}

Datum
bs_recv(PG_FUNCTION_ARGS)
{
	return bs_read_binary(fcinfo, &bs_bloom);
}

Datum
bs_from_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(bs_filter_from_external(&bs_bloom, PG_GETARG_BYTEA_PP(0)));
}

/* Of every kind of filter; also the cast to bytea. */
Datum
bs_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(bs_filter_to_external(bs_fetch_once(PG_GETARG_DATUM(0))));
}
