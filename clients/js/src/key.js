// From a value to a key: doc/format.md, "Keys".
import { KeyError } from './errors.js';
import { CLASS, classOf, typeName, withDigest } from './keytype.js';
import * as parse from './parse.js';
import { fmix, fromBigInt, scale, toBigInt } from './u64.js';
import { xxh3 } from './xxh3.js';

/** @typedef {import('./u64.js').U64} U64 */

const EPOCH = Date.UTC(2000, 0, 1);
const SHARD = fromBigInt(0x5368617264730000n);

/** A value's key type and hash: PostgreSQL's bfkey. It stands for the value in every filter. */
export class Key {
  /** @param {number} type @param {U64} hash */
  constructor(type, hash) {
    this.type = type;
    this.hash = hash;
  }

  /** The text form of bfkey. */
  toString() {
    return `${this.type.toString(16).padStart(8, '0')}:${toBigInt(this.hash).toString(16).padStart(16, '0')}`;
  }

  /**
   * As bf_shard: which of so many filters the key belongs to.
   * @param {number} shards 1 to 2^31 - 1
   */
  shard(shards) {
    if (!Number.isInteger(shards) || shards < 1 || shards > 0x7fffffff) throw new RangeError('shards must be 1 to 2147483647');
    const x = fmix({ hi: this.hash.hi ^ SHARD.hi, lo: this.hash.lo ^ SHARD.lo });
    return scale({ hi: x.hi, lo: 0 }, shards);
  }
}

const scratch = Buffer.alloc(4096);
const view = new DataView(scratch.buffer, scratch.byteOffset, scratch.length);
const eight = scratch.subarray(0, 8);
const [SPACE, LONE_SURROGATE] = [0x20, /\p{Surrogate}/u];

/** @param {number} type @param {Uint8Array} bytes */
function hashed(type, bytes) {
  return new Key(type, xxh3(bytes));
}

/** @param {unknown} value @param {string} type @param {string} what */
function expect(value, type, what) {
  if (typeof value !== type) throw new KeyError(`${what} expects a ${type}, not ${describe(value)}`);
}

/** @param {unknown} value */
export function describe(value) {
  if (value === null) return 'null';
  if (typeof value === 'object') return value.constructor?.name ?? 'an object';
  return typeof value === 'number' ? `the number ${value}` : typeof value;
}

/** @param {number} type @param {bigint} value */
function int64(type, value) {
  view.setBigInt64(0, value, true);
  return hashed(type, eight);
}

/** @param {string} number */
function otherNumber(number) {
  return hashed(CLASS.integer, Buffer.from(`numeric:${number}`));
}

/** @param {{ micros: bigint, days?: number }} when */
function moment({ micros, days }) {
  if (days === undefined) return int64(CLASS.timestamp, micros);
  view.setBigInt64(0, micros, true);
  view.setInt32(8, days, true);
  return hashed(CLASS.timestamp, scratch.subarray(0, 12));
}

/** Little-endian numbers of 4 bytes. @param {number[]} numbers */
function uint32s(numbers) {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((number, i) => bytes.writeUInt32LE(number >>> 0, 4 * i));
  return bytes;
}

/** @param {Key} key */
function hashBytes(key) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(toBigInt(key.hash));
  return bytes;
}

/** @param {Key | null} key */
function inner(key) {
  return key === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1), uint32s([key.type]), hashBytes(key)]);
}

/** @param {unknown} value @returns {Key | null} */
function keyOrNull(value) {
  if (value !== null && !(value instanceof Key)) throw new KeyError(`parts of a key must be keys or null, not ${describe(value)}`);
  return value;
}

/** The type that all have in common. @param {(Key | null)[]} keys @param {number | undefined} given */
function commonType(keys, given) {
  const type = given ?? keys.find((key) => key !== null)?.type;
  if (type === undefined) throw new KeyError('nothing tells the key type of the parts: give it as the option "type"');
  for (const key of keys) {
    if (key !== null && key.type !== type) throw new KeyError(`parts of one key are ${typeName(type)} and ${typeName(key.type)}`);
  }
  return type;
}

/**
 * Lengths of an array's dimensions; its elements are appended to `elements`.
 * @param {unknown[]} array @param {(Key | null)[]} elements @returns {number[]}
 */
function flatten(array, elements) {
  if (!array.some(Array.isArray)) {
    for (const element of array) elements.push(keyOrNull(element));
    return [array.length];
  }
  const lengths = array.map((part) => {
    if (!Array.isArray(part)) throw new KeyError('arrays and elements are mixed');
    return flatten(part, elements);
  });
  if (lengths.some((length) => length.join() !== lengths[0].join())) throw new KeyError('arrays in an array differ in their lengths');
  return [array.length, ...lengths[0]];
}

/**
 * Keys of values of each type.
 */
export const key = {
  /** smallint, integer, bigint and integral numeric. @param {bigint | number} value a number must be a safe integer */
  integer(value) {
    if (typeof value === 'number') {
      if (!Number.isSafeInteger(value)) {
        throw new KeyError(`the number ${value} is not a safe integer: take a BigInt, key.numeric('...') or key.float(...)`);
      }
      view.setInt32(0, value | 0, true);
      view.setInt32(4, Math.floor(value / 0x100000000), true);
      return hashed(CLASS.integer, eight);
    }
    expect(value, 'bigint', 'key.integer');
    return BigInt.asIntN(64, value) === value ? int64(CLASS.integer, value) : otherNumber(value.toString());
  },

  /** numeric, and integers as text. @param {string | bigint} value such as '1.50', '-3e7', 'NaN' */
  numeric(value) {
    if (typeof value === 'bigint') return key.integer(value);
    expect(value, 'string', 'key.numeric');
    const number = parse.numeric(value);
    return typeof number === 'bigint' ? key.integer(number) : otherNumber(number);
  },

  /** double precision. @param {number} value */
  float(value) {
    expect(value, 'number', 'key.float');
    if (Number.isNaN(value)) view.setBigUint64(0, 0x7ff8000000000000n, true);
    else view.setFloat64(0, value === 0 ? 0 : value, true);
    return hashed(CLASS.float, eight);
  },

  /** real: the double that the nearest real is. @param {number} value */
  real(value) {
    expect(value, 'number', 'key.real');
    return key.float(Math.fround(value));
  },

  /** text, varchar, char(n), name; enums by their label. @param {string} value */
  text(value) {
    expect(value, 'string', 'key.text');
    if (LONE_SURROGATE.test(value)) throw new KeyError('the string has half of a surrogate pair');
    if (value.includes('\0')) throw new KeyError('PostgreSQL has no text with the character 0');
    // at most 3 bytes for each unit of UTF-16
    const bytes = 3 * value.length <= scratch.length ? scratch : Buffer.allocUnsafe(3 * value.length);
    let length = bytes.write(value, 'utf8');
    while (length > 0 && bytes[length - 1] === SPACE) length--;
    return hashed(CLASS.text, bytes.subarray(0, length));
  },

  /** bytea. @param {Uint8Array | ArrayBuffer} value */
  bytes(value) {
    if (value instanceof Uint8Array) return hashed(CLASS.bytes, value);
    if (value instanceof ArrayBuffer) return hashed(CLASS.bytes, new Uint8Array(value));
    throw new KeyError(`key.bytes expects a Uint8Array, not ${describe(value)}`);
  },

  /** @param {boolean} value */
  boolean(value) {
    expect(value, 'boolean', 'key.boolean');
    return hashed(CLASS.boolean, Uint8Array.of(value ? 1 : 0));
  },

  /** @param {string | Uint8Array} value text, or the 16 bytes */
  uuid(value) {
    if (value instanceof Uint8Array) {
      if (value.length !== 16) throw new KeyError(`a uuid has 16 bytes, not ${value.length}`);
      return hashed(CLASS.uuid, value);
    }
    expect(value, 'string', 'key.uuid');
    return hashed(CLASS.uuid, parse.uuid(value));
  },

  /** @param {string} value */
  macaddr(value) {
    expect(value, 'string', 'key.macaddr');
    return hashed(CLASS.macaddr, parse.macaddr(value));
  },

  /** @param {string} value */
  macaddr8(value) {
    expect(value, 'string', 'key.macaddr8');
    return hashed(CLASS.macaddr8, parse.macaddr8(value));
  },

  /** inet and cidr. @param {string} value such as '10.1.2.3', '2001:db8::/32' */
  inet(value) {
    expect(value, 'string', 'key.inet');
    return hashed(CLASS.inet, parse.inet(value));
  },

  /** @param {string} value such as '2024-01-02', '0044-03-15 BC', 'infinity' */
  date(value) {
    expect(value, 'string', 'key.date');
    return moment(parse.date(value));
  },

  /** timestamp without time zone; a date is its midnight. @param {string} value such as '2024-01-02 03:04:05.678901' */
  timestamp(value) {
    expect(value, 'string', 'key.timestamp');
    return moment(parse.timestamp(value));
  },

  /** @param {Date | string} value a string needs its time zone: '2024-01-02T03:04:05Z' */
  timestamptz(value) {
    return int64(CLASS.timestamptz, microseconds(value));
  },

  /** @param {string} value such as '03:04:05.678' */
  time(value) {
    expect(value, 'string', 'key.time');
    return int64(CLASS.time, parse.time(value));
  },

  /** The type "char". @param {string | number} value an ASCII character, or the byte @returns {Key} */
  char(value) {
    if (typeof value === 'string' && value.length <= 1 && value <= '\x7f') return key.char(value === '' ? 0 : value.charCodeAt(0));
    if (typeof value !== 'number' || !Number.isInteger(value) || value < -128 || value > 255) throw new KeyError('key.char expects an ASCII character or a byte');
    return hashed(CLASS.char, Uint8Array.of(value));
  },

  /**
   * @param {unknown[]} elements keys and nulls, in arrays of arrays if there are more dimensions
   * @param {{ type?: number, lower?: number[] }} [options] the elements' key type, where none of them tells it; the
   * lower bounds, if they are not 1
   */
  array(elements, { type, lower = [] } = {}) {
    /** @type {(Key | null)[]} */
    const keys = [];
    const lengths = flatten(elements, keys);
    const dimensions = keys.length === 0 ? [] : lengths.flatMap((length, i) => [length, lower[i] ?? 1]);
    const digested = withDigest(CLASS.array, uint32s([commonType(keys, type)]));
    return hashed(digested, Buffer.concat([uint32s([dimensions.length / 2, ...dimensions]), ...keys.map(inner)]));
  },

  /**
   * Composite types and ROW(...).
   * @param {(Key | number)[]} columns keys; of a column that is NULL its key type
   */
  record(columns) {
    if (columns.some((column) => column === null)) throw new KeyError('of a column that is NULL its key type is needed');
    const keys = columns.map((column) => (typeof column === 'number' ? null : /** @type {Key} */ (keyOrNull(column))));
    const types = columns.map((column) => (typeof column === 'number' ? column : column.type));
    return hashed(withDigest(CLASS.record, uint32s(types)), Buffer.concat([uint32s([keys.length]), ...keys.map(inner)]));
  },

  /**
   * In PostgreSQL's canonical form: of discrete types '[)', and 'empty' where there is nothing in it.
   * @param {Key | null} lower null: none
   * @param {Key | null} upper
   * @param {{ bounds?: '[)' | '[]' | '()' | '(]' | 'empty', type?: number }} [options] type: the bounds' key type, where
   * neither of them tells it
   */
  range(lower, upper, { bounds = '[)', type } = {}) {
    const digested = withDigest(CLASS.range, uint32s([commonType([keyOrNull(lower), keyOrNull(upper)], type)]));
    if (bounds === 'empty') return hashed(digested, Buffer.of(1));
    if (!/^[[(][\])]$/.test(bounds)) throw new KeyError(`bounds must be one of [) [] () (] empty`);
    const flags =
      (lower === null ? 8 : bounds[0] === '[' ? 2 : 0) + (upper === null ? 16 : bounds[1] === ']' ? 4 : 0);
    return hashed(digested, Buffer.concat([Buffer.of(flags), inner(lower), inner(upper)]));
  },

  /**
   * @param {Key[]} ranges ascending, not touching each other, as PostgreSQL keeps them
   * @param {{ type?: number }} [options] the bounds' key type, where there is no range
   */
  multirange(ranges, { type } = {}) {
    const common = commonType(ranges.map(keyOrNull), ranges.length === 0 && type !== undefined ? withDigest(CLASS.range, uint32s([type])) : undefined);
    if (classOf(common) !== CLASS.range) throw new KeyError(`parts of a multirange must be ranges, not ${typeName(common)}`);
    // the digest is that of the ranges
    return hashed(((common & ~0xff) | CLASS.multirange) >>> 0, Buffer.concat([uint32s([ranges.length]), ...ranges.map(hashBytes)]));
  },

  /** A bfkey's text form, as bf_key('...')::text gives it: the way to ask for a type that has no function here. @param {string} text */
  parse(text) {
    const match = /^([0-9a-f]{8}):([0-9a-f]{16})$/i.exec(text);
    if (!match) throw new KeyError(`not a valid bfkey: ${JSON.stringify(String(text).slice(0, 100))}`);
    return new Key(parseInt(match[1], 16), fromBigInt(BigInt(`0x${match[2]}`)));
  },
};

/**
 * @param {unknown} value Date, or text with a time zone
 * @returns {bigint} since 2000-01-01 00:00 UTC
 */
export function microseconds(value) {
  if (value instanceof Date) {
    const milliseconds = value.getTime();
    if (Number.isNaN(milliseconds)) throw new KeyError('the Date is invalid');
    return parse.checkTimestamp(BigInt(milliseconds - EPOCH) * 1000n, 'timestamp with time zone', String(milliseconds));
  }
  if (typeof value !== 'string') throw new KeyError(`a time must be a Date or a string, not ${describe(value)}`);
  return parse.timestamptz(value);
}
