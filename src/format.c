/*
 * format.c - the portable form of a filter, and the checks on foreign bytes.
 */
#include "format.h"

#include "bytes.h"
#include "key_type.h"

/* Offsets in the portable form: those of BsFilter less the host's word. */
#define AT(field) (offsetof(BsFilter, field) - sizeof(uint32_t))

void
bs_external_encode(const BsFilter *f, uint8_t *out)
{
	size_t bits_bytes = f->m / 8;
	uint64_t p_bits;

	memset(out, 0, BS_EXTERNAL_HEADER);
	memcpy(&p_bits, &f->p, sizeof(p_bits));
	out[AT(version)] = f->version;
	out[AT(structure)] = f->structure;
	out[AT(hash_scheme)] = f->hash_scheme;
	out[AT(k)] = f->k;
	bs_store_le(out + AT(key_type), f->key_type, 4);
	bs_store_le(out + AT(block_bits), f->block_bits, 4);
	bs_store_le(out + AT(n), f->n, 8);
	bs_store_le(out + AT(p), p_bits, 8);
	bs_store_le(out + AT(m), f->m, 8);
	bs_store_le(out + AT(seed), f->seed, 8);
	bs_bytes_copy(out + BS_EXTERNAL_HEADER, f->bits, bits_bytes);
	bs_store_le(out + BS_EXTERNAL_HEADER + bits_bytes,
				bs_bytes_hash(out, BS_EXTERNAL_HEADER + bits_bytes, 0), BS_EXTERNAL_CHECKSUM);
}

static void
decode_header(const uint8_t *in, BsFilter *header)
{
	uint64_t p_bits = bs_load_le(in + AT(p), 8);

	header->version = in[AT(version)];
	header->structure = in[AT(structure)];
	header->hash_scheme = in[AT(hash_scheme)];
	header->k = in[AT(k)];
	header->key_type = (uint32_t) bs_load_le(in + AT(key_type), 4);
	header->block_bits = (uint32_t) bs_load_le(in + AT(block_bits), 4);
	header->n = bs_load_le(in + AT(n), 8);
	memcpy(&header->p, &p_bits, sizeof(p_bits));
	header->m = bs_load_le(in + AT(m), 8);
	header->seed = bs_load_le(in + AT(seed), 8);
	memcpy(header->reserved, in + AT(reserved), sizeof(header->reserved));
}

/* What must hold of a header for any operation to stay inside the bits. */
static inline const char *
check_layout(const BsFilter *h, size_t bits_bytes)
{
	if (h->version != BS_FORMAT_VERSION)
		return "Its format version is not known here.";
	if (h->structure != BS_STRUCTURE_BLOOM)
		return "It is another kind of filter.";
	if (h->hash_scheme != BS_HASH_SCHEME)
		return "Its hash scheme is not known here.";
	if (h->k < 1 || h->k > BS_MAX_K)
		return "Its number of bits per key is out of range.";
	if (h->block_bits < 8 || h->block_bits > BS_MAX_BLOCK_BITS || h->block_bits % 8 != 0)
		return "Its block size is out of range.";
	if (h->m < h->block_bits || h->m > BS_MAX_BITS)
		return "Its number of bits is out of range.";
	if (h->m / 8 != bits_bytes)
		return "Its length does not fit its header.";
	return NULL;
}

/* What else the format promises. */
static const char *
check_fields(const BsFilter *h)
{
	static const uint8_t zero[sizeof(h->reserved)];

	if (h->m % h->block_bits != 0)
		return "Its number of bits is out of range.";
	if (h->n < 1 || h->n > INT64_MAX)
		return "Its number of keys is out of range.";
	if (!bs_rate_in(h->p, BS_MIN_P, 1))
		return "Its false-positive rate is out of range.";
	if (h->key_type != BS_KEY_NONE && !bs_key_type_valid(h->key_type))
		return "Its key type is not known here.";
	if (memcmp(h->reserved, zero, sizeof(zero)) != 0)
		return "Its reserved bytes are not zero.";
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
	decode_header(bytes, header);
	why = check_layout(header, body - BS_EXTERNAL_HEADER);
	if (why == NULL)
		why = check_fields(header);
	if (why)
		return why;
	if (bs_bytes_hash(bytes, body, 0) != bs_load_le(bytes + body, BS_EXTERNAL_CHECKSUM))
		return "Its checksum does not match.";

	/* keys of no type would be compared with keys of any type */
	if (header->key_type == BS_KEY_NONE &&
		!bs_bytes_all_zero(bytes + BS_EXTERNAL_HEADER, body - BS_EXTERNAL_HEADER))
		return "It holds keys of no type.";
	return NULL;
}

void
bs_external_decode(const uint8_t *bytes, const BsFilter *header, BsFilter *f)
{
	uint32_t host_word = f->host_word;

	*f = *header;
	f->host_word = host_word;
	bs_bytes_copy(f->bits, bytes + BS_EXTERNAL_HEADER, header->m / 8);
}

const char *
bs_filter_check(const BsFilter *f, size_t size)
{
	if (size < sizeof(BsFilter))
		return "It is shorter than a header.";
	return check_layout(f, size - sizeof(BsFilter));
}
