// The ways in which a filter's bytes arrive: as they are, as text, or inside what COPY
// in binary writes.
import { open } from 'node:fs/promises';
import { FilterError } from './errors.js';

const COPY = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
// 512 MiB in hexadecimal and a little more
const LARGEST = 2 ** 30 + 2 ** 20;
const CHUNK = 1 << 20; // a multiple of 4

/** The one value of a binary COPY. @param {Buffer} bytes */
function fromCopy(bytes) {
  const damaged = () => new FilterError('COPY in binary: cut short or damaged');
  if (bytes.length < COPY.length + 8) throw damaged();
  if ((bytes.readUInt32BE(COPY.length) & 0xffff0000) !== 0) throw new FilterError('COPY in binary: unknown flags');
  let at = COPY.length + 8 + bytes.readUInt32BE(COPY.length + 4);
  if (at + 2 > bytes.length) throw damaged();
  const columns = bytes.readInt16BE(at);
  if (columns === -1) throw new FilterError('COPY in binary: no row, so no filter');
  if (columns !== 1) throw new FilterError(`COPY in binary: ${columns} columns instead of one`);
  if (at + 6 > bytes.length) throw damaged();
  const length = bytes.readInt32BE(at + 2);
  if (length === -1) throw new FilterError('COPY in binary: the filter is NULL');
  at += 6;
  if (length < 0 || at + length + 2 > bytes.length) throw damaged();
  if (bytes.readInt16BE(at + length) !== -1) throw new FilterError('COPY in binary: more than one row');
  return bytes.subarray(at, at + length);
}

/** @param {number} byte */
function isBlank(byte) {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * Text without blanks and line breaks, decoded piece by piece: a string has room for half a gigabyte only.
 * @param {Buffer} text @param {'base64' | 'hex'} encoding @param {RegExp} valid
 */
function decode(text, encoding, valid) {
  const dense = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) if (!isBlank(text[i])) dense[length++] = text[i];
  const bad = () => new FilterError(`neither the bytes of a filter nor text in ${encoding}`);
  if (length % (encoding === 'hex' ? 2 : 4) !== 0) throw bad();
  // in place: what is written never overtakes what is read
  let written = 0;
  for (let at = 0; at < length; at += CHUNK) {
    const last = at + CHUNK >= length;
    const piece = dense.toString('latin1', at, Math.min(at + CHUNK, length));
    if (!valid.test(last && encoding === 'base64' ? piece.replace(/={1,2}$/, '') : piece)) throw bad();
    written += Buffer.from(piece, encoding).copy(dense, written);
  }
  return dense.subarray(0, written);
}

/** @param {Buffer} bytes of a file or a string @returns {Buffer} the portable form, if it is one */
export function unwrap(bytes) {
  if (bytes.length === 0) throw new FilterError('nothing there: no filter');
  if (bytes.subarray(0, COPY.length).equals(COPY)) return fromCopy(bytes);
  // format version 1, where text cannot begin
  if (bytes[0] < 0x20 && !isBlank(bytes[0])) return bytes;
  const start = bytes.findIndex((byte) => !isBlank(byte));
  if (start < 0) throw new FilterError('nothing there: no filter');
  // COPY in text doubles the backslash
  const prefix = /^\\{1,2}x/.exec(bytes.toString('latin1', start, start + 3));
  if (prefix) return decode(bytes.subarray(start + prefix[0].length), 'hex', /^[0-9a-f]*$/i);
  return decode(bytes.subarray(start), 'base64', /^[A-Za-z0-9+/]*$/);
}

/** @param {string | URL} path */
export async function readFile(path) {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > LARGEST) throw new FilterError(`${size} bytes are more than any filter has`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}
