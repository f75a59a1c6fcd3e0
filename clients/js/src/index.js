// A reader of bloomset's filters, written from doc/format.md.
import { toKey } from './convert.js';
import { FilterError } from './errors.js';
import { KINDS, parse } from './format.js';
import { microseconds } from './key.js';
import { CLASS, typeName } from './keytype.js';
import { Layers } from './layered.js';
import { readFile, unwrap } from './load.js';

export { FilterError, ForgottenError, KeyError } from './errors.js';
export { Key, key } from './key.js';
export { CLASS as keyTypes } from './keytype.js';

const LAYERED = 'layeredfilter';

/** @typedef {{ kind?: string, keys?: keyof typeof CLASS }} Expected */

/** A filter; it never changes. */
export class Filter {
  #content;
  #type;

  /**
   * @param {Uint8Array} bytes the portable form, which is kept
   * @param {Expected} expected
   */
  constructor(bytes, { kind, keys } = {}) {
    if (kind !== undefined && !KINDS.includes(kind)) throw new RangeError(`unknown kind of filter: ${kind}`);
    if (keys !== undefined && CLASS[keys] === undefined) throw new RangeError(`unknown key type: ${keys}`);
    const parsed = parse(bytes);
    if (kind !== undefined && parsed.kind !== kind) throw new FilterError(`a ${parsed.kind} instead of a ${kind}`);
    if (keys !== undefined && parsed.keyType !== 0 && (parsed.keyType & 0xff) !== CLASS[keys]) {
      throw new FilterError(`keys of type ${typeName(parsed.keyType)} instead of ${typeName(CLASS[keys])}`);
    }
    this.#content = parsed.content;
    this.#type = parsed.keyType;
    /** @readonly bloomfilter, countingfilter, cuckoofilter, scalablefilter or layeredfilter */
    this.kind = parsed.kind;
    /** @readonly what the keys are; null before the first key */
    this.keyType = parsed.keyType === 0 ? null : typeName(parsed.keyType);
    /** @readonly number of distinct keys it was made for, a BigInt */
    this.n = parsed.n;
    /** @readonly rate of false positives it was made for */
    this.p = parsed.p;
    /** @readonly a BigInt */
    this.seed = parsed.seed;
    /** @readonly length of the portable form */
    this.byteLength = bytes.length;
    Object.freeze(this);
  }

  /**
   * From the bytes of `f::bytea`, its text (\x...), the text form of f (base64), or binary COPY of one row with one
   * column. Bytes are copied.
   * @param {Uint8Array | ArrayBuffer | string} source
   * @param {Expected} [expected] what it has to be: its kind, the class of its keys
   */
  static read(source, expected) {
    if (typeof source === 'string' || source instanceof Uint8Array) return new Filter(unwrap(Buffer.from(source)), expected);
    if (source instanceof ArrayBuffer) return new Filter(unwrap(Buffer.from(source.slice(0))), expected);
    throw new TypeError('a filter is read from a Uint8Array, an ArrayBuffer or a string');
  }

  /**
   * From a file with any of these.
   * @param {string | URL} path
   * @param {Expected} [expected]
   */
  static async open(path, expected) {
    return new Filter(unwrap(await readFile(path)), expected);
  }

  /**
   * False: the key was certainly not added. True: it probably was. The server's bf_contains says the same.
   * @param {unknown} value a plain value, if it can only mean one key of the filter's key type; or a Key
   * @param {{ at?: Date | string }} [options] of a layeredfilter: the time asked for; without it now, or its newest
   * span if that is later
   * @returns {boolean}
   * @throws {import('./errors.js').KeyError} where the value cannot be a key of this filter
   * @throws {import('./errors.js').ForgottenError} where a layer that was alive then has been dropped
   */
  has(value, { at } = {}) {
    const key = toKey(value, this.#type);
    if (this.#content instanceof Layers) {
      const hash = key?.hash ?? { hi: 0, lo: 0 };
      return at === undefined
        ? this.#content.has(hash, microseconds(new Date()), true)
        : this.#content.has(hash, microseconds(at), false);
    }
    if (at !== undefined) throw new TypeError(`a ${this.kind} knows no time, only a ${LAYERED} does`);
    return key !== undefined && this.#type !== 0 && this.#content.has(key.hash);
  }
}
