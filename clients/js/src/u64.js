// 64-bit numbers in two halves of 32 bits, since BigInt is many times slower.

/**
 * Both halves are signed 32-bit integers, which engines keep unboxed; `>>> 0` gives
 * the unsigned value.
 * @typedef {{ hi: number, lo: number }} U64
 */

/** @param {bigint} value @returns {U64} */
export function fromBigInt(value) {
  return { hi: Number(BigInt.asIntN(32, value >> 32n)), lo: Number(BigInt.asIntN(32, value)) };
}

/** @param {U64} x @returns {bigint} unsigned */
export function toBigInt({ hi, lo }) {
  return (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}

/**
 * The upper 32 bits of the product of two unsigned 32-bit numbers.
 * @param {number} a @param {number} b @returns {number} signed
 */
export function mulHigh(a, b) {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  // none of the sums exceeds 2^32 - 1
  const t = a1 * b0 + ((a0 * b0) >>> 16);
  const u = a0 * b1 + (t & 0xffff);
  return (a1 * b1 + (t >>> 16) + (u >>> 16)) | 0;
}

/** x * y modulo 2^64. @param {U64} x @param {U64} y @returns {U64} */
export function mul(x, y) {
  return {
    hi: (mulHigh(x.lo, y.lo) + Math.imul(x.hi, y.lo) + Math.imul(x.lo, y.hi)) | 0,
    lo: Math.imul(x.lo, y.lo),
  };
}

/**
 * The upper half of the 128-bit product of x and n.
 * @param {U64} x @param {number} n below 2^32
 */
export function scale(x, n) {
  const middle = (Math.imul(x.hi, n) >>> 0) + (mulHigh(x.lo, n) >>> 0);
  return (mulHigh(x.hi, n) >>> 0) + (middle >= 0x100000000 ? 1 : 0);
}

const FMIX_1 = fromBigInt(0xff51afd7ed558ccdn);
const FMIX_2 = fromBigInt(0xc4ceb9fe1a85ec53n);

/** x xor (x >> 33) @param {U64} x @returns {U64} */
function fold(x) {
  return { hi: x.hi, lo: x.lo ^ (x.hi >>> 1) };
}

/** MurmurHash3's finaliser. @param {U64} x @returns {U64} */
export function fmix(x) {
  return fold(mul(fold(mul(fold(x), FMIX_1)), FMIX_2));
}
