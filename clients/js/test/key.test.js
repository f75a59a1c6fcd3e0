// From values to keys: what means the same is the same key, and what could mean
// something else is an error.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Filter, Key, KeyError, key, keyTypes } from '../src/index.js';
import { microseconds } from '../src/key.js';
import { fmix, fromBigInt, toBigInt } from '../src/u64.js';
import { Random } from './random.js';

const random = new Random();

function same(...keys) {
  for (const one of keys) assert.equal(String(one), String(keys[0]));
}

function refused(...calls) {
  for (const call of calls) assert.throws(call, KeyError, String(call));
}

/** An empty filter that has got a key type, by its bytes. */
function filterOf(type) {
  // m = 8, k = 1, every bit set: it says yes to every key of its type
  const bytes = Buffer.alloc(69);
  bytes.set([1, 1, 1, 1]);
  bytes.writeUInt32LE(type, 4);
  bytes.writeUInt32LE(8, 8);
  bytes.writeBigUInt64LE(1n, 12);
  bytes.writeDoubleLE(0.5, 20);
  bytes.writeBigUInt64LE(8n, 28);
  bytes[60] = type === 0 ? 0 : 0xff;
  // XXH3 by the library itself, over what precedes
  const digest = key.bytes(bytes.subarray(0, 61));
  bytes.writeBigUInt64LE(toBigInt(digest.hash), 61);
  return Filter.read(bytes);
}

test('integers: numbers, BigInts and text of any length', () => {
  for (const value of [0, -0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 32, -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
    same(key.integer(value), key.integer(BigInt(value)), key.numeric(BigInt(value).toString()));
  }
  for (let i = 0; i < 1000; i++) {
    const value = BigInt.asIntN(64, random.bits64());
    same(key.integer(value), key.numeric(`${value}.000`), key.numeric(`${value}0e-1`));
    const safe = Number(BigInt.asIntN(53, value));
    same(key.integer(safe), key.integer(BigInt(safe)));
  }
  same(key.integer(2n ** 63n), key.numeric('9223372036854775808'), key.numeric('9223372036854775.808e3'));
  assert.notEqual(String(key.integer(2n ** 63n)), String(key.integer(-(2n ** 63n))));
  refused(() => key.integer(1.5), () => key.integer(2 ** 53), () => key.integer(NaN), () => key.integer('1'), () => key.integer(null));
});

test('numeric: zeros and exponents do not count', () => {
  same(key.numeric('1.5'), key.numeric('+01.500'), key.numeric('15e-1'), key.numeric('.15E1'), key.numeric('0.00015e4'));
  same(key.numeric('-0.25'), key.numeric('-.25'), key.numeric('-25e-2'));
  same(key.numeric('0'), key.numeric('-0.00'), key.numeric('0e99999'), key.numeric('.0'), key.integer(0));
  same(key.numeric('1e30'), key.integer(10n ** 30n), key.numeric(`${10n ** 30n}.`));
  same(key.numeric('inf'), key.numeric('Infinity'));
  assert.notEqual(String(key.numeric('1.5')), String(key.float(1.5)));
  for (const bad of ['', '.', 'e1', '1e', '--1', '1 ', '0x10', '1_000', '1e131073', '1e-16384', '-NaN', '1,5']) refused(() => key.numeric(bad));
  key.numeric('1e-16383');
  // neither a hang nor an enormous number
  refused(() => key.numeric(`1${'0'.repeat(1e6)}`), () => key.numeric(`0.${'0'.repeat(1e6)}1`), () => key.numeric('1e999999'));
});

test('floats: one zero, one NaN, and real is rounded', () => {
  same(key.float(0), key.float(-0));
  same(key.real(0.5), key.float(0.5));
  assert.notEqual(String(key.real(0.1)), String(key.float(0.1)));
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, 0xfff8000000000001n);
  same(key.float(NaN), key.float(view.getFloat64(0)));
  refused(() => key.float(1n), () => key.float('1.5'));
});

test('text: trailing blanks do not count, other white space does', () => {
  same(key.text('a'), key.text('a '), key.text(`a${' '.repeat(10000)}`));
  same(key.text(''), key.text('   '));
  for (const other of [' a', 'a\t', 'a\n', 'a\u00a0', 'A']) assert.notEqual(String(key.text(other)), String(key.text('a')));
  assert.notEqual(String(key.text('\u00e9')), String(key.text('e\u0301')));
  for (const text of ['é'.repeat(1365), 'é'.repeat(1366), '日'.repeat(5000), '🐘'.repeat(3000), 'x'.repeat(100000)]) {
    // the same bytes as bytea, which is another key type with the same hash
    assert.equal(toBigInt(key.text(text).hash), toBigInt(key.bytes(Buffer.from(text)).hash));
  }
  refused(() => key.text('\ud800'), () => key.text('a\udc00b'), () => key.text('a\0'), () => key.text(5));
});

test('uuid, macaddr, inet: all ways to write them', () => {
  const id = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';
  same(key.uuid(id), key.uuid(id.toUpperCase()), key.uuid(`{${id}}`), key.uuid(id.replaceAll('-', '')), key.uuid(Buffer.from(id.replaceAll('-', ''), 'hex')));
  refused(() => key.uuid(`${id}0`), () => key.uuid(`{${id}`), () => key.uuid(`${id} `), () => key.uuid(id.replace('a', 'g')), () => key.uuid(Buffer.alloc(15)));
  same(...['08:00:2b:01:02:03', '08-00-2B-01-02-03', '08002b:010203', '08002b-010203', '0800.2b01.0203', '0800-2b01-0203', '08002b010203'].map(key.macaddr));
  same(...['08:00:2b:ff:fe:01:02:03', '08:00:2b:01:02:03', '0800.2bff.fe01.0203', '08002bfffe010203'].map(key.macaddr8));
  refused(() => key.macaddr('08:00:2b:01:02'), () => key.macaddr('08:00-2b:01:02:03'), () => key.macaddr('08:00:2b:ff:fe:01:02:03'), () => key.macaddr8('08:00:2b:ff:fe:01:02'));
  same(...['10.1.2.3', '10.1.2.3/32'].map(key.inet));
  same(...['2001:db8::1', '2001:0db8:0:0:0:0:0:1', '2001:DB8::0.0.0.1', '2001:db8::1/128'].map(key.inet));
  assert.notEqual(String(key.inet('::ffff:10.1.2.3')), String(key.inet('10.1.2.3')));
  assert.notEqual(String(key.inet('10.1.2.3/8')), String(key.inet('10.0.0.0/8')));
  for (const bad of ['10.1.2', '10.1.2.256', '010.1.2.3', '10.1.2.3/33', '::1/129', 'fe80::1%eth0', '1::2::3', '', '/8', 'host']) refused(() => key.inet(bad));
});

test('times: as a Date counts them, and in every zone', () => {
  const epoch = Date.UTC(2000, 0, 1);
  for (let i = 0; i < 3000; i++) {
    // years 0 to 9999, which toISOString writes with four digits
    const ms = random.below(Date.UTC(9999, 11, 31) - Date.UTC(0, 0, 1) + 62167219200000) - 62135596800000;
    const when = new Date(ms);
    const micros = BigInt(ms - epoch) * 1000n;
    assert.equal(microseconds(when), micros, when.toISOString());
    const iso = when.toISOString().slice(0, -1);
    if (!/^\d{4}-/.test(iso) || iso.startsWith('0000')) continue;
    const local = new Date(ms + (5 * 60 + 45) * 60000).toISOString().slice(0, -1);
    if (/^\d{4}-/.test(local)) same(key.timestamptz(when), key.timestamptz(`${iso}+00`), key.timestamptz(`${local.replace('T', ' ')}+05:45`));
    // the same number under another key type
    assert.equal(toBigInt(key.timestamp(iso).hash), toBigInt(key.timestamptz(when).hash));
    same(key.date(iso.slice(0, 10)), key.timestamp(`${iso.slice(0, 10)} 00:00`), key.timestamp(`${iso.slice(0, 10)}T00:00:00.000000`));
  }
  same(key.timestamptz('0001-01-01 00:00:00+00 BC'), key.timestamptz(new Date('0000-01-01T00:00:00Z')));
  same(key.date('4713-11-24 BC'), key.timestamp('4713-11-24 00:00:00 BC'));
  same(key.time('24:00'), key.time('24:00:00.000000'));
  same(key.timestamp('2024-01-02 24:00'), key.date('2024-01-03'));
  same(key.timestamp('infinity'), key.date('infinity'));
  refused(
    ...['2023-02-29', '1900-02-29', '2024-13-01', '2024-00-01', '2024-01-00', '2024-04-31', '0000-01-01', '24-01-02', '2024-1-2', '4714-01-01 BC', '5874898-01-01', '2024-01-02Z', 'now', 'today', '', '20240102'].map((text) => () => key.date(text)),
    ...['294277-01-01 00:00', '2024-01-02 24:00:01', '2024-01-02 03:60', '2024-01-02 03:04:60', '2024-01-02 03:04:05Z', '2024-01-02 03:04:05.1234567'].map((text) => () => key.timestamp(text)),
    ...['2024-01-02 03:04:05', '2024-01-02', '2024-01-02Z', '2024-01-02 03:04:05+16', '2024-01-02 03:04:05 Europe/Berlin'].map((text) => () => key.timestamptz(text)),
    ...['24:00:00.1', '3:04', '03:04:05+00', '25:00'].map((text) => () => key.time(text)),
    () => key.timestamptz(new Date(NaN)),
    () => key.date(new Date()),
    () => key.date('2024-01-02 00:00'),
  );
  key.timestamp('2024-01-02 03:04:05.123456000');
  // the last timestamp, and the first date beyond
  assert.notEqual(String(key.timestamp('294276-12-31 23:59:59.999999')), String(key.date('294277-01-01')));
});

test('keys in keys', () => {
  const [one, two] = [key.integer(1), key.integer(2)];
  same(key.array([], { type: keyTypes.integer }), key.array([[], []], { type: keyTypes.integer }));
  assert.notEqual(String(key.array([one, two])), String(key.array([two, one])));
  assert.notEqual(String(key.array([one, two])), String(key.array([[one, two]])));
  assert.notEqual(String(key.array([one])), String(key.array([one], { lower: [0] })));
  refused(
    () => key.array([]),
    () => key.array([null]),
    () => key.array([one, key.text('a')]),
    () => key.array([[one], [one, two]]),
    () => key.array([one, [two]]),
    () => key.array([1, 2]),
    () => key.array([one], { type: keyTypes.text }),
    () => key.record([null]),
    () => key.range(one, key.text('a')),
    () => key.range(null, null),
    () => key.range(one, two, { bounds: '<>' }),
    () => key.multirange([one]),
    () => key.multirange([]),
    () => key.parse('00000001:1'),
  );
  const made = key.range(one, two);
  same(made, key.parse(String(made)));
  assert.ok(key.parse(String(made)) instanceof Key);
});

test('shards: as the document has them', () => {
  for (let i = 0; i < 1000; i++) {
    const one = key.integer(BigInt.asIntN(64, random.bits64()));
    const shards = 1 + random.below(0x7fffffff);
    const mixed = toBigInt(fmix(fromBigInt(toBigInt(one.hash) ^ 0x5368617264730000n)));
    assert.equal(one.shard(shards), Number(((mixed >> 32n) * BigInt(shards)) >> 32n));
  }
  assert.equal(key.text('apple').shard(1000), 626);
  for (const bad of [0, -1, 1.5, 2 ** 31, '5', undefined]) assert.throws(() => key.text('apple').shard(bad), RangeError);
});

test('plain values: taken where they can mean one thing only', () => {
  const taken = {
    integer: [1, -5, 7n, 2n ** 70n],
    float: [1.5, 1, NaN, -Infinity],
    text: ['a', ''],
    bytes: [Buffer.from('a'), new Uint8Array(3), new ArrayBuffer(2)],
    boolean: [true, false],
    uuid: ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    macaddr: ['08:00:2b:01:02:03'],
    macaddr8: ['08:00:2b:01:02:03:04:05'],
    inet: ['10.0.0.0/8', '::1'],
    timestamp: ['2024-01-02', '2024-01-02 03:04:05.6'],
    timestamptz: ['2024-01-02 03:04:05Z', new Date()],
    time: ['03:04:05'],
    array: [],
    record: [],
    range: [],
    multirange: [],
    char: [],
    other: [],
  };
  const all = [...Object.values(taken).flat(), 1.5, 'word', {}, [], () => 1, Symbol('s'), null, undefined, 2 ** 60];
  assert.deepEqual(Object.keys(taken), Object.keys(keyTypes));
  for (const [name, values] of Object.entries(taken)) {
    const filter = filterOf(keyTypes[name]);
    for (const value of values) assert.equal(filter.has(value), true, `${name}: ${String(value)}`);
    for (const value of all) {
      if (values.some((one) => typeof one === typeof value && (one === null) === (value === null))) continue;
      assert.throws(() => filter.has(value), KeyError, `${name}: ${String(value)}`);
    }
    for (const other of Object.keys(keyTypes)) {
      const given = new Key(keyTypes[other], { hi: 1, lo: 2 });
      if (other === name) assert.equal(filter.has(given), true);
      else assert.throws(() => filter.has(given), KeyError, `${name}, asked with ${other}`);
    }
    // the same class with another digest is another type
    assert.throws(() => filter.has(new Key(keyTypes[name] | 0x100, { hi: 1, lo: 2 })), KeyError);
  }
  // of a class, but not a value of it
  assert.throws(() => filterOf(keyTypes.uuid).has('word'), KeyError);
  assert.throws(() => filterOf(keyTypes.integer).has(1.5), KeyError);
  assert.throws(() => filterOf(keyTypes.timestamptz).has('2024-01-02 03:04'), KeyError);
  assert.throws(() => filterOf(keyTypes.text).has('a', { at: new Date() }), TypeError);
});

test('an empty filter: no to every key, whatever its type', () => {
  const filter = filterOf(0);
  assert.equal(filter.keyType, null);
  for (const value of [1, 1n, 1.5, 'a', true, new Date(), Buffer.alloc(1), key.char('a')]) assert.equal(filter.has(value), false);
  for (const value of [null, undefined, {}, []]) assert.throws(() => filter.has(value), KeyError);
});
