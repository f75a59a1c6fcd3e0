// doc/format.md: whatever breaks one of its rules is refused, before anything is
// allocated that is larger than the bytes themselves.
import { Blocks, seedMask } from './bits.js';
import { Cuckoo } from './cuckoo.js';
import { FilterError } from './errors.js';
import { checkKeyType } from './keytype.js';
import { Layers } from './layered.js';
import { toBigInt } from './u64.js';
import { xxh3 } from './xxh3.js';

const HEADER = 60;
const CHECKSUM = 8;
const LAYER_HEADER = 64;
const MOST_BITS = 2 ** 32;
const LEAST_RATE = 1e-10;

/** The kinds of filters, by the number of their structure. */
export const KINDS = [undefined, 'bloomfilter', 'countingfilter', 'cuckoofilter', 'scalablefilter', 'layeredfilter'];

/** @param {boolean} condition @param {string} message */
function require(condition, message) {
  if (!condition) throw new FilterError(message);
}

/**
 * The fields of a header, whose first byte is at `at`.
 * @param {DataView} view @param {number} at
 */
function header(view, at) {
  return {
    version: view.getUint8(at),
    structure: view.getUint8(at + 1),
    scheme: view.getUint8(at + 2),
    k: view.getUint8(at + 3),
    keyType: view.getUint32(at + 4, true),
    blockBits: view.getUint32(at + 8, true),
    n: view.getBigUint64(at + 12, true),
    p: view.getFloat64(at + 20, true),
    // m is checked to be at most 2^32; what is more only has to stay more
    m: Number(view.getBigUint64(at + 28, true)),
    seed: view.getBigUint64(at + 36, true),
    own0: view.getBigUint64(at + 44, true),
    own1: view.getBigUint64(at + 52, true),
  };
}

/** @typedef {ReturnType<typeof header>} Header */

/** Rules of every header. @param {Header} h */
function checkHeader(h) {
  require(h.version === 1, `format version ${h.version}, this reader knows version 1`);
  require(KINDS[h.structure] !== undefined, `unknown kind of filter: structure ${h.structure}`);
  require(h.scheme === 1, `unknown hash scheme ${h.scheme}`);
  require(h.n >= 1n && h.n < 2n ** 63n, `n = ${h.n} is out of range`);
  require(h.p >= LEAST_RATE && h.p < 1, `p = ${h.p} is out of range`);
}

/** Rules of the size of a standard filter and of those that have its bits. @param {Header} h @param {number} most */
function checkBits(h, most) {
  require(h.k >= 1 && h.k <= 40, `k = ${h.k} is out of range`);
  require(h.blockBits >= 8 && h.blockBits <= 65536 && h.blockBits % 8 === 0, `a block of ${h.blockBits} bits is impossible`);
  require(h.m >= h.blockBits && h.m <= most && h.m % h.blockBits === 0, `m = ${h.m} is impossible`);
}

/** @param {Header} h */
function checkReserved(h) {
  require(h.own0 === 0n && h.own1 === 0n, 'reserved bytes are not 0');
}

/** @param {Uint8Array} bytes @param {number} between length of what is between header and checksum */
function checkLength(bytes, between) {
  const length = HEADER + between + CHECKSUM;
  require(bytes.length === length, `${bytes.length} bytes instead of ${length}`);
}

/** Where a filter has no key yet, nothing is in it. @param {Header} h @param {Uint8Array} content */
function checkEmpty(h, content) {
  require(h.keyType !== 0 || content.every((byte) => byte === 0), 'there are keys without a key type');
}

/** Bytes of m bits that are padded to 8 bytes. @param {number} m */
function padded(m) {
  return 8 * Math.ceil(m / 64);
}

/** @param {Uint8Array} bytes @param {number} offset of the bits @param {number} m */
function checkPadding(bytes, offset, m) {
  require(bytes.subarray(offset + m / 8, offset + padded(m)).every((byte) => byte === 0), 'padding is not 0');
}

/** @param {Uint8Array} bytes */
function checkChecksum(bytes) {
  const end = bytes.length - CHECKSUM;
  const stored = new DataView(bytes.buffer, bytes.byteOffset + end, CHECKSUM).getBigUint64(0, true);
  require(toBigInt(xxh3(bytes.subarray(0, end))) === stored, 'the checksum is wrong: the filter is damaged');
}

/** Of bits or of counters. @param {1 | 4} width @returns {(bytes: Uint8Array, h: Header) => Blocks} */
function ofBlocks(width) {
  return (bytes, h) => {
    checkBits(h, MOST_BITS / width);
    checkReserved(h);
    checkLength(bytes, (h.m * width) / 8);
    checkChecksum(bytes);
    checkEmpty(h, bytes.subarray(HEADER, -CHECKSUM));
    return new Blocks(bytes, HEADER, h, seedMask(h.seed), width);
  };
}

/** @param {Uint8Array} bytes @param {Header} h */
function cuckoo(bytes, h) {
  require(h.k >= 8 && h.k <= 37, `fingerprints of ${h.k} bits are impossible`);
  require(h.blockBits === 4 * h.k, `a bucket of ${h.blockBits} bits is impossible`);
  require(h.m > 0 && h.m <= MOST_BITS - 64 && h.m % (2 * h.blockBits) === 0, `m = ${h.m} is impossible`);
  checkReserved(h);
  checkLength(bytes, h.m / 8 + 8);
  checkChecksum(bytes);
  const end = HEADER + h.m / 8;
  require(bytes.subarray(end, end + 8).every((byte) => byte === 0), 'padding is not 0');
  checkEmpty(h, bytes.subarray(HEADER, end));
  return new Cuckoo(bytes, HEADER, h, seedMask(h.seed));
}

/**
 * Half of what the layers of a scalable filter share out: the rate of the first.
 * @param {number} p
 */
function firstRate(p) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, p);
  // by its exponent, as logarithms are rounded
  const reserve = Math.min(2 ** -28, 2 ** ((view.getUint16(0) >>> 4) - 1023) / 4);
  return (p - reserve) / 2;
}

/**
 * The rates of its layers up to a generation.
 * @param {number} p @param {number} generation
 */
function layerRates(p, generation) {
  const rates = [];
  let rate = firstRate(p);
  for (let i = 0; i <= generation; i++, rate /= 2) rates.push(Math.max(rate, LEAST_RATE));
  return rates;
}

/** @param {Uint8Array} bytes @param {Header} h @param {DataView} view */
function scalable(bytes, h, view) {
  require(h.k === 0 && h.blockBits === 0 && h.own1 === 0n, 'k, block and own1 of a scalable filter are not 0');
  require(firstRate(h.p) >= LEAST_RATE, `p = ${h.p} is out of range`);
  const count = Number(h.own0);
  require(count * LAYER_HEADER <= bytes.length - HEADER - CHECKSUM, `${h.own0} layers have no room in ${bytes.length} bytes`);

  /** @type {Header[]} */
  const headers = [];
  let size = count * LAYER_HEADER;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const at = HEADER + i * LAYER_HEADER;
    const layer = header(view, at + 4);
    const last = i === 0 ? 0n : headers[i - 1].own1;
    require(view.getUint32(at, true) === 0, 'the first bytes of a layer are not 0');
    checkHeader(layer);
    require(layer.structure === 1 && layer.keyType === 0 && layer.seed === h.seed, 'the header of a layer is not in order');
    checkBits(layer, MOST_BITS);
    require(layer.own1 === last || (i > 0 && layer.own1 === last + 1n), 'generations of layers are not in order');
    require(layer.n === h.n << layer.own1, 'the capacity of a layer is wrong');
    const rates = layerRates(h.p, Number(layer.own1));
    require(rates.reduce((a, b) => a + b) <= h.p, 'there are more layers than the rate allows');
    require(layer.p === rates.at(-1), 'the rate of a layer is wrong');
    require(layer.own0 >= 1n && layer.own0 <= layer.n, 'the number of keys in a layer is wrong');
    headers.push(layer);
    size += padded(layer.m);
    sum += layer.m;
  }
  require(size <= MOST_BITS / 8, 'the layers are larger than any filter');
  require(h.m === sum, `m = ${h.m} is not the sum of the layers`);
  require(h.keyType !== 0 || count === 0, 'there are keys without a key type');
  checkLength(bytes, size);
  checkChecksum(bytes);

  let offset = HEADER + count * LAYER_HEADER;
  const mask = seedMask(h.seed);
  const layers = headers.map((layer) => {
    checkPadding(bytes, offset, layer.m);
    const bits = new Blocks(bytes, offset, layer, mask);
    offset += padded(layer.m);
    return bits;
  });
  // most keys are in the last layers
  layers.reverse();
  return { has: (/** @type {import('./u64.js').U64} */ hash) => layers.some((layer) => layer.has(hash)) };
}

/** @param {Uint8Array} bytes @param {Header} h @param {DataView} view */
function layered(bytes, h, view) {
  const most = Number(h.own1 & 0xffffffffn);
  const present = Number(h.own1 >> 32n);
  checkBits(h, MOST_BITS);
  require(h.own0 >= 1n && h.own0 < 2n ** 63n, `a span of ${h.own0} microseconds is impossible`);
  require(most >= 1 && most <= 1000 && present <= most, `${present} of ${most} layers are impossible`);
  const stride = padded(h.m);
  checkLength(bytes, 8 + present * (8 + stride));
  checkChecksum(bytes);

  const spans = [];
  for (let i = 0; i < present; i++) {
    const span = view.getBigInt64(HEADER + 8 + 8 * i, true);
    require(i === 0 || span > spans[i - 1], 'layers are not in the order of their spans');
    const start = span * h.own0;
    require(BigInt.asIntN(64, start) === start, 'the span of a layer is out of range');
    spans.push(span);
  }
  require(present === 0 || spans[present - 1] - spans[0] < BigInt(most), 'layers are farther apart than they live');
  const mask = seedMask(h.seed);
  const layers = spans.map((span, i) => {
    const offset = HEADER + 8 + 8 * present + i * stride;
    checkPadding(bytes, offset, h.m);
    return { span, bits: new Blocks(bytes, offset, h, mask) };
  });
  checkEmpty(h, bytes.subarray(HEADER + 8 + 8 * present, -CHECKSUM));
  const forgotten = view.getBigUint64(HEADER, true);
  return new Layers(layers, {
    span: h.own0,
    most: BigInt(most),
    forgotten: forgotten === 0n ? undefined : forgotten - 2n ** 63n,
  });
}

/**
 * Judges the bytes of a filter's portable form.
 * @param {Uint8Array} bytes which are kept, and must not change from then on
 */
export function parse(bytes) {
  require(bytes.length >= HEADER + CHECKSUM, `${bytes.length} bytes are too few for a filter`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const h = header(view, 0);
  checkHeader(h);
  checkKeyType(h.keyType);
  const judge = /** @type {typeof scalable} */ ([undefined, ofBlocks(1), ofBlocks(4), cuckoo, scalable, layered][h.structure]);
  return {
    kind: /** @type {string} */ (KINDS[h.structure]),
    keyType: h.keyType,
    n: h.n,
    p: h.p,
    seed: BigInt.asIntN(64, h.seed),
    content: judge(bytes, h, view),
  };
}
