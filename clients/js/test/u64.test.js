// Arithmetic in halves against BigInt.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Blocks } from '../src/bits.js';
import { distance, scaleToFingerprint } from '../src/cuckoo.js';
import { fmix, fromBigInt, mul, mulHigh, scale, toBigInt } from '../src/u64.js';
import { Random } from './random.js';

const M = 2n ** 64n - 1n;
const random = new Random();
const EDGES = [0n, 1n, 0x7fffffffn, 0x80000000n, 0xffffffffn, 0x100000000n, 2n ** 63n - 1n, 2n ** 63n, M - 1n, M];
const values = [...EDGES, ...Array.from({ length: 3000 }, () => random.bits64())];

function fmixBig(x) {
  x ^= x >> 33n;
  x = (x * 0xff51afd7ed558ccdn) & M;
  x ^= x >> 33n;
  x = (x * 0xc4ceb9fe1a85ec53n) & M;
  return x ^ (x >> 33n);
}

test('halves and products', () => {
  for (const [i, x] of values.entries()) {
    const y = values[(i * 7 + 3) % values.length];
    assert.equal(toBigInt(fromBigInt(x)), x);
    assert.equal(toBigInt(mul(fromBigInt(x), fromBigInt(y))), (x * y) & M);
    const [a, b] = [x & 0xffffffffn, y & 0xffffffffn];
    assert.equal(mulHigh(Number(a) | 0, Number(b)) >>> 0, Number((a * b) >> 32n));
    assert.equal(scale(fromBigInt(x), Number(b)), Number((x * b) >> 64n));
    assert.equal(toBigInt(fmix(fromBigInt(x))), fmixBig(x));
  }
});

test('fingerprints of every length, and the distance of their buckets', () => {
  for (let f = 8; f <= 37; f++) {
    const F = BigInt(f);
    for (const x of values.slice(0, 400)) {
      const fingerprint = 1n + ((x * (2n ** F - 1n)) >> 64n);
      assert.equal(1 + scaleToFingerprint(fromBigInt(x), f), Number(fingerprint));
      const buckets = 2 * (1 + random.below(2 ** 26));
      const sum = fingerprint * 2n ** (64n - F) + (fmixBig(fingerprint) >> F);
      assert.ok(sum <= M);
      assert.equal(distance(Number(fingerprint), f, buckets), 2 * Number((sum * BigInt(buckets / 2)) >> 64n) + 1);
    }
  }
});

test('the bits of a key, by the document in BigInt: each of them decides, no other does', () => {
  for (const [i, hash] of values.slice(0, 300).entries()) {
    const blockBits = [8, 24, 512, 1024, 65536][i % 5];
    const blocks = BigInt(1 + random.below(5));
    const k = 1 + random.below(40);
    const seed = i % 3 ? random.bits64() : 0n;
    const s = seed === 0n ? 0n : fmixBig(seed);
    let x = ((hash ^ s) * 0x9e3779b97f4a7c15n) & M;
    x ^= x >> 32n;
    const base = ((x * blocks) >> 64n) * BigInt(blockBits);
    const bits = new Set();
    for (let j = 0; j < k; j++) {
      x = (x * 0xf1357aea2e62a9c5n) & M;
      bits.add(Number(base + (((x >> 32n) * BigInt(blockBits)) >> 32n)));
    }
    const size = { k, blockBits, m: blockBits * Number(blocks) };
    const filter = new Blocks(new Uint8Array(size.m / 8), 0, size, fromBigInt(s));
    const counters = new Blocks(new Uint8Array(size.m / 2), 0, size, fromBigInt(s), 4);
    for (const bit of bits) {
      filter.bytes[bit >> 3] |= 1 << (bit & 7);
      counters.bytes[bit >> 1] |= 8 << (bit & 1 ? 4 : 0);
    }
    assert.ok(filter.has(fromBigInt(hash)) && counters.has(fromBigInt(hash)));
    for (const bit of bits) {
      filter.bytes[bit >> 3] ^= 1 << (bit & 7);
      counters.bytes[bit >> 1] ^= 8 << (bit & 1 ? 4 : 0);
      assert.ok(!filter.has(fromBigInt(hash)) && !counters.has(fromBigInt(hash)));
      filter.bytes[bit >> 3] ^= 1 << (bit & 7);
      counters.bytes[bit >> 1] ^= 8 << (bit & 1 ? 4 : 0);
    }
  }
});
