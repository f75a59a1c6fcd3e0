// Where the bits of a key lie: doc/format.md, "Where the bits of a key lie".
import { fmix, fromBigInt, mul, mulHigh, scale } from './u64.js';

/** @typedef {import('./u64.js').U64} U64 */

const SPREAD = fromBigInt(0x9e3779b97f4a7c15n);
export const STEP = fromBigInt(0xf1357aea2e62a9c5n);

/** What is mixed into every hash. @param {bigint} seed @returns {U64} */
export function seedMask(seed) {
  return seed === 0n ? { hi: 0, lo: 0 } : fmix(fromBigInt(seed));
}

/** x, before the first of its k steps. @param {U64} hash @param {U64} mask @returns {U64} */
export function spread(hash, mask) {
  const x = mul({ hi: hash.hi ^ mask.hi, lo: hash.lo ^ mask.lo }, SPREAD);
  return { hi: x.hi, lo: x.lo ^ x.hi };
}

/** Blocks of bits, or of wider counters, somewhere in a larger array. */
export class Blocks {
  /**
   * @param {Uint8Array} bytes
   * @param {number} offset where the blocks begin in them
   * @param {{ k: number, blockBits: number, m: number }} size in positions
   * @param {U64} mask
   * @param {1 | 4} [width] bits of a position
   */
  constructor(bytes, offset, { k, blockBits, m }, mask, width = 1) {
    this.bytes = bytes;
    this.offset = offset;
    this.k = k;
    this.blockBits = blockBits;
    this.blocks = m / blockBits;
    this.mask = mask;
    this.width = width;
  }

  /** Whether none of a key's positions is 0. @param {U64} hash */
  has(hash) {
    const { bytes, k, blockBits, width } = this;
    const ones = (1 << width) - 1;
    const x = spread(hash, this.mask);
    const start = this.offset + scale(x, this.blocks) * ((blockBits * width) / 8);
    let { hi, lo } = x;
    for (let i = 0; i < k; i++) {
      hi = (mulHigh(lo, STEP.lo) + Math.imul(hi, STEP.lo) + Math.imul(lo, STEP.hi)) | 0;
      lo = Math.imul(lo, STEP.lo);
      // a product below 2^48 and a division by a power of two: exact
      const at = Math.floor(((hi >>> 0) * blockBits) / 0x100000000) * width;
      if ((bytes[start + (at >>> 3)] & (ones << (at & 7))) === 0) return false;
    }
    return true;
  }
}
