// doc/format.md, "3: cuckoofilter".
import { spread, STEP } from './bits.js';
import { fmix, mul, scale } from './u64.js';

/** @typedef {import('./u64.js').U64} U64 */

/**
 * The upper half of the 128-bit product of x and 2^f - 1.
 * @param {U64} x @param {number} f 8 to 37
 */
export function scaleToFingerprint(x, f) {
  const high = x.hi >>> 0;
  const low = x.lo >>> 0;
  // x * 2^f is `above` * 2^64 + rest; x less is one less where the rest does not reach x
  let above, restHigh, restLow;
  if (f < 32) {
    above = high >>> (32 - f);
    restHigh = ((high << f) | (low >>> (32 - f))) >>> 0;
    restLow = (low << f) >>> 0;
  } else {
    const g = f - 32;
    above = g === 0 ? high : high * 2 ** g + (low >>> (32 - g));
    restHigh = (low << g) >>> 0;
    restLow = 0;
  }
  return restHigh > high || (restHigh === high && restLow >= low) ? above : above - 1;
}

/**
 * The distance between a fingerprint's two buckets.
 * @param {number} fingerprint @param {number} f @param {number} buckets
 */
export function distance(fingerprint, f, buckets) {
  const low = fingerprint >>> 0; // modulo 2^32
  const high = Math.floor(fingerprint / 0x100000000);
  const mixed = fmix({ hi: high, lo: low });
  const mixedHigh = mixed.hi >>> 0;
  const mixedLow = mixed.lo >>> 0;
  // the fingerprint in the upper f bits, below it as many of the mixed ones as have room
  let hi, lo;
  if (f < 32) {
    hi = (low << (32 - f)) | (mixedHigh >>> f);
    lo = (mixedHigh << (32 - f)) | (mixedLow >>> f);
  } else if (f === 32) {
    hi = low;
    lo = mixedHigh;
  } else {
    hi = (high << (64 - f)) | (low >>> (f - 32));
    lo = (low << (64 - f)) | (mixedHigh >>> (f - 32));
  }
  return 2 * scale({ hi: hi | 0, lo: lo | 0 }, buckets / 2) + 1;
}

export class Cuckoo {
  /**
   * @param {Uint8Array} bytes with at least 8 bytes after the slots
   * @param {number} offset
   * @param {{ k: number, blockBits: number, m: number }} size
   * @param {U64} mask
   */
  constructor(bytes, offset, { k, blockBits, m }, mask) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset + offset, bytes.length - offset);
    this.fingerprintBits = k;
    this.buckets = m / blockBits;
    this.mask = mask;
  }

  /** @param {U64} hash */
  has(hash) {
    const f = this.fingerprintBits;
    const x = spread(hash, this.mask);
    const i = scale(x, this.buckets);
    const fingerprint = 1 + scaleToFingerprint(mul(x, STEP), f);
    const j = distance(fingerprint, f, this.buckets) - i;
    return this.bucketHas(i, fingerprint) || this.bucketHas(j < 0 ? j + this.buckets : j, fingerprint);
  }

  /** @param {number} bucket @param {number} fingerprint */
  bucketHas(bucket, fingerprint) {
    const f = this.fingerprintBits;
    for (let slot = 0; slot < 4; slot++) {
      const bit = f * (4 * bucket + slot);
      const byte = Math.floor(bit / 8);
      // 48 bits: exact in a double
      const bits = this.view.getUint32(byte, true) + this.view.getUint16(byte + 4, true) * 0x100000000;
      if (Math.floor(bits / 2 ** (bit % 8)) % 2 ** f === fingerprint) return true;
    }
    return false;
  }
}
