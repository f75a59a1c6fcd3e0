import hashWasm from 'hash-wasm';

// compiled once; from then on everything is synchronous
const hasher = await hashWasm.createXXHash3();

/**
 * XXH3 (64 bits, seed 0).
 * @param {Uint8Array} bytes
 * @returns {import('./u64.js').U64}
 */
export function xxh3(bytes) {
  hasher.init();
  hasher.update(bytes);
  const d = hasher.digest('binary'); // big-endian
  return {
    hi: (d[0] << 24) | (d[1] << 16) | (d[2] << 8) | d[3],
    lo: (d[4] << 24) | (d[5] << 16) | (d[6] << 8) | d[7],
  };
}
