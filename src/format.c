/*
 * format.c - the portable form of a filter, and the checks on foreign bytes.
 */
#include "format.h"

#include "bytes.h"
#include "key_type.h"

/* Offsets in the portable form: those of BsFilter less the host's word. */
#define AT(field) (offsetof(BsFilter, field) - sizeof(uint32_t))

void
bs_header_encode(const BsFilter *h, uint8_t *out)
{
	out[AT(version)] = h->version;
	out[AT(structure)] = h->structure;
	out[AT(hash_scheme)] = h->hash_scheme;
	out[AT(k)] = h->k;
	bs_store_le(out + AT(key_type), h->key_type, 4);
	bs_store_le(out + AT(block_bits), h->block_bits, 4);
	bs_store_le(out + AT(n), h->n, 8);
	bs_store_le(out + AT(p), bs_double_bits(h->p), 8);
	bs_store_le(out + AT(m), h->m, 8);
	bs_store_le(out + AT(seed), h->seed, 8);
	bs_store_le(out + AT(own[0]), h->own[0], 8);
	bs_store_le(out + AT(own[1]), h->own[1], 8);
}

void
bs_header_decode(const uint8_t *in, BsFilter *h)
{
	uint64_t p_bits = bs_load_le(in + AT(p), 8);

	h->version = in[AT(version)];
	h->structure = in[AT(structure)];
	h->hash_scheme = in[AT(hash_scheme)];
	h->k = in[AT(k)];
	h->key_type = (uint32_t) bs_load_le(in + AT(key_type), 4);
	h->block_bits = (uint32_t) bs_load_le(in + AT(block_bits), 4);
	h->n = bs_load_le(in + AT(n), 8);
	memcpy(&h->p, &p_bits, sizeof(p_bits));
	h->m = bs_load_le(in + AT(m), 8);
	h->seed = bs_load_le(in + AT(seed), 8);
	h->own[0] = bs_load_le(in + AT(own[0]), 8);
	h->own[1] = bs_load_le(in + AT(own[1]), 8);
}

void
bs_external_encode(const BsFilter *f, size_t size, uint8_t *out)
{
	const BsStructure *structure = bs_structure_of(f);
	size_t directory = bs_directory_size(f);
	uint8_t *to = out + BS_EXTERNAL_HEADER;

	bs_header_encode(f, out);
	if (directory)
		structure->swap_directory(to, f->bits, directory);
	bs_bytes_copy(to + directory, f->bits + directory, size - sizeof(BsFilter) - directory);
	to += size - sizeof(BsFilter);
	bs_store_le(to, bs_bytes_hash(out, (size_t) (to - out), 0), BS_EXTERNAL_CHECKSUM);
}

/* What must hold of a header for any operation to stay inside the value. */
static const char *
check_header(const BsFilter *h, uint64_t after)
{
	if (h->version != BS_FORMAT_VERSION)
		return "Its format version is not known here.";
	if (bs_structure_of(h) == NULL)
		return "It is another kind of filter.";
	if (h->hash_scheme != BS_HASH_SCHEME)
		return "Its hash scheme is not known here.";
	return bs_structure_of(h)->check_header(h, after);
}

/* What else the format promises of a header. */
static const char *
check_fields(const BsFilter *h)
{
	if (h->n < 1 || h->n > INT64_MAX)
		return "Its number of keys is out of range.";
	if (!bs_rate_in(h->p, BS_MIN_P, 1))
		return "Its false-positive rate is out of range.";
	if (h->key_type != BS_KEY_NONE && !bs_key_type_valid(h->key_type))
		return "Its key type is not known here.";
	return NULL;
}

const char *
bs_external_check(const uint8_t *bytes, size_t length, BsFilter *header)
{
	const char *why;
	size_t body;

	memset(header, 0, sizeof(*header));
	if (length < BS_EXTERNAL_HEADER + BS_EXTERNAL_CHECKSUM)
		return "It is shorter than a header.";
	body = length - BS_EXTERNAL_CHECKSUM;
	bs_header_decode(bytes, header);
	why = check_header(header, body - BS_EXTERNAL_HEADER);
	if (why == NULL)
		why = check_fields(header);
	if (why)
		return why;
	if (bs_bytes_hash(bytes, body, 0) != bs_load_le(bytes + body, BS_EXTERNAL_CHECKSUM))
		return "Its checksum does not match.";
	return NULL;
}

const char *
bs_external_decode(const uint8_t *bytes, const BsFilter *header, size_t size, BsFilter *f)
{
	const BsStructure *structure = bs_structure_of(header);
	const uint8_t *from = bytes + BS_EXTERNAL_HEADER;
	uint32_t host_word = f->host_word;
	size_t directory = bs_directory_size(header);
	size_t after = size - sizeof(BsFilter);
	const char *why;

	*f = *header;
	f->host_word = host_word;
	if (directory)
		structure->swap_directory(f->bits, from, directory);
	bs_bytes_copy(f->bits + directory, from + directory, after - directory);

	why = bs_filter_check(f, size);
	if (why == NULL)
		why = structure->check_value(f, after);
	/* keys of no type would be compared with keys of any type */
	if (why == NULL && f->key_type == BS_KEY_NONE &&
		!bs_bytes_all_zero(f->bits + directory, after - directory))
		why = "It holds keys of no type.";
	return why;
}

const char *
bs_header_check(const BsFilter *header, size_t size)
{
	if (size < sizeof(BsFilter))
		return "It is shorter than a header.";
	return check_header(header, size - sizeof(BsFilter));
}

const char *
bs_filter_check(const BsFilter *f, size_t size)
{
	const char *why = bs_header_check(f, size);

	if (why == NULL && bs_structure_of(f)->check_directory)
		why = bs_structure_of(f)->check_directory(f, size - sizeof(BsFilter));
	return why;
}
