// Whatever bytes come: a filter or a FilterError, at once and without more memory than
// they take themselves.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { Filter, FilterError, ForgottenError, Key } from '../src/index.js';
import { toBigInt } from '../src/u64.js';
import { xxh3 } from '../src/xxh3.js';

const corpus = new URL('../../../test/fuzz/corpus/', import.meta.url);
const files = readdirSync(corpus).map((name) => readFileSync(new URL(name, corpus)));

function sealed(bytes) {
  const copy = Buffer.from(bytes);
  if (copy.length >= 8) copy.writeBigUInt64LE(toBigInt(xxh3(copy.subarray(0, -8))), copy.length - 8);
  return copy;
}

/** The filter, or undefined where it is refused. */
function read(bytes) {
  try {
    return Filter.read(bytes);
  } catch (error) {
    if (error instanceof FilterError) return undefined;
    throw error;
  }
}

/** Asks for keys of its own type; there must be an answer. */
function ask(filter, bytes) {
  const type = Buffer.from(bytes).readUInt32LE(4) || 1;
  for (let i = 0; i < 20; i++) {
    try {
      assert.equal(typeof filter.has(new Key(type, { hi: Math.imul(i, 0x9e3779b9) | 0, lo: i })), 'boolean');
    } catch (error) {
      if (!(error instanceof ForgottenError)) throw error;
    }
  }
}

const samples = files.map(sealed).filter((bytes) => read(bytes));

test('the inputs that the fuzzer of the extension has kept', () => {
  const kinds = new Map();
  for (const file of files) {
    for (const bytes of [file, sealed(file)]) {
      const filter = read(bytes);
      if (!filter) continue;
      kinds.set(filter.kind, (kinds.get(filter.kind) ?? 0) + 1);
      ask(filter, bytes);
    }
  }
  assert.equal(kinds.size, 5, [...kinds].join(' '));
});

test('every bit of a filter is guarded, and each byte that is cut off or added', () => {
  const seen = new Set();
  for (const bytes of samples) {
    if (bytes.length > 400 || seen.has(bytes[1])) continue;
    seen.add(bytes[1]);
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] ^= 1 << (bit & 7);
      assert.equal(read(changed), undefined, `bit ${bit}`);
    }
    for (let length = 0; length < bytes.length; length++) {
      assert.equal(read(bytes.subarray(0, length)), undefined);
      assert.equal(read(sealed(bytes.subarray(0, length))), undefined, `sealed again at ${length}`);
    }
    assert.equal(read(sealed(Buffer.concat([bytes, Buffer.alloc(8)]))), undefined);
  }
  assert.ok(seen.size >= 4, `kinds: ${[...seen]}`);
});

test('fields of a header with extreme values, sealed', () => {
  for (const bytes of samples) {
    for (const [at, length] of [[3, 1], [4, 4], [8, 4], [12, 8], [20, 8], [28, 8], [36, 8], [44, 8], [52, 4], [56, 4], [60, 8], [112, 8]]) {
      if (at + length > bytes.length - 8) continue;
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(bytes);
        changed.fill(value, at, at + length);
        const again = sealed(changed);
        const filter = read(again);
        if (filter) ask(filter, again);
      }
    }
  }
});

test('what claims half a gigabyte is refused without taking it', () => {
  const before = process.memoryUsage();
  for (const structure of [1, 2, 3, 5]) {
    const bytes = Buffer.from(samples.find((sample) => sample[1] === structure));
    bytes.writeBigUInt64LE(2n ** 32n, 28);
    assert.equal(read(sealed(bytes)), undefined);
  }
  const growing = Buffer.from(samples.find((sample) => sample[1] === 4));
  growing.writeBigUInt64LE(2n ** 64n - 1n, 44);
  assert.equal(read(sealed(growing)), undefined);
  const { arrayBuffers, heapTotal } = process.memoryUsage();
  assert.ok(arrayBuffers + heapTotal - before.arrayBuffers - before.heapTotal < 2 ** 26);
});

/** What COPY (FORMAT binary) writes. */
function copied(values, { columns = 1, flags = 0, extension = 0 } = {}) {
  const parts = [Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8 + extension)];
  parts[1].writeUInt32BE(flags, 0);
  parts[1].writeUInt32BE(extension, 4);
  for (const value of values) {
    const head = Buffer.alloc(6);
    head.writeInt16BE(columns, 0);
    head.writeInt32BE(value === null ? -1 : value.length, 2);
    parts.push(head, value ?? Buffer.alloc(0));
  }
  return Buffer.concat([...parts, Buffer.of(0xff, 0xff)]);
}

test('files: all forms are the same filter, and what is something else is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bloomset-'));
  const file = join(folder, 'filter');
  try {
    const bytes = samples[0];
    const base64 = bytes.toString('base64');
    const forms = [
      bytes,
      base64,
      `${base64}\n`,
      `  ${base64.replace(/.{76}/g, '$&\n')}\r\n`,
      `\\x${bytes.toString('hex')}\n`,
      `\\\\x${bytes.toString('hex').toUpperCase()}\n`,
      copied([bytes]),
      copied([bytes], { extension: 5 }),
    ];
    const expected = Filter.read(bytes);
    for (const form of forms) {
      writeFileSync(file, form);
      assert.deepEqual({ ...(await Filter.open(file)) }, { ...expected });
      assert.deepEqual({ ...Filter.read(Buffer.from(form), { kind: expected.kind }) }, { ...expected });
    }
    const wrong = [
      '',
      '\n',
      'null',
      `${base64}!`,
      `=${base64}`,
      base64.slice(1),
      `${base64}${base64}`,
      `${base64.slice(0, 20)}-_${base64.slice(22)}`,
      `\\x${bytes.toString('hex')}0`,
      `\\x${bytes.toString('hex')}zz`,
      copied([]),
      copied([null]),
      copied([bytes, bytes]),
      copied([bytes], { columns: 2 }),
      copied([bytes], { flags: 1 << 16 }),
      copied([bytes]).subarray(0, -2),
      copied([bytes]).subarray(0, 20),
      copied([bytes]).subarray(0, 12),
      copied([bytes.subarray(1)]),
    ];
    for (const form of wrong) {
      writeFileSync(file, form);
      await assert.rejects(Filter.open(file), FilterError, String(form).slice(0, 50));
    }
    // a file of two gigabytes, all of them a hole
    truncateSync(file, 2 ** 31);
    await assert.rejects(Filter.open(file), /more than any filter has/);
    await assert.rejects(Filter.open(join(folder, 'missing')), { code: 'ENOENT' });
    assert.throws(() => Filter.read(undefined), TypeError);
    assert.throws(() => Filter.read(base64, { kind: expected.kind === 'bloomfilter' ? 'cuckoofilter' : 'bloomfilter' }), FilterError);
    assert.throws(() => Filter.read(base64, { kind: 'blomfilter' }), RangeError);
    assert.throws(() => Filter.read(base64, { keys: 'strings' }), RangeError);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('bytes that change after they were read change no answer', () => {
  const bytes = Buffer.from(samples.find((sample) => sample[1] === 1 && sample.readUInt32LE(4) !== 0));
  const type = bytes.readUInt32LE(4);
  const filter = Filter.read(bytes);
  const answers = () => Array.from({ length: 200 }, (_, i) => filter.has(new Key(type, { hi: Math.imul(i, 0x9e3779b9) | 0, lo: i }))).join();
  const before = answers();
  bytes.fill(before.includes('true') ? 0 : 0xff);
  assert.equal(answers(), before);
});

test('a filter of four megabytes: its text is decoded in pieces', () => {
  const bytes = Buffer.alloc(68 + 2 ** 22);
  samples.find((sample) => sample[1] === 1 && sample.readUInt32LE(4) === 1).copy(bytes, 0, 0, 60);
  bytes.writeUInt32LE(1024, 8);
  bytes.writeBigUInt64LE(2n ** 25n, 28);
  for (let i = 60; i < bytes.length - 8; i += 4) bytes.writeUInt32LE((Math.imul(i, 0x9e3779b9) ^ Math.imul(i >>> 9, 0x85ebca6b)) >>> 0, Math.min(i, bytes.length - 12));
  const whole = sealed(bytes);
  const base64 = whole.toString('base64');
  // whatever is decoded wrongly is noticed by the checksum
  for (const form of [whole, base64, base64.replace(/.{76}/g, '$&\n'), `\\x${whole.toString('hex')}`]) {
    assert.equal(Filter.read(form).byteLength, whole.length);
  }
  for (const at of [2 ** 20 - 1, 2 ** 20, 2 ** 21 + 5]) {
    for (const wrong of ['-', '=', '\u00e9', '\0']) {
      assert.equal(read(base64.slice(0, at) + wrong + base64.slice(at + 1)), undefined);
    }
  }
});
