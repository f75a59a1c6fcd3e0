// Key types: the class in the low byte, a digest in the upper three.
import { FilterError } from './errors.js';
import { xxh3 } from './xxh3.js';

/** Classes of keys, by their names in this library. */
export const CLASS = {
  integer: 1,
  float: 2,
  text: 3,
  bytes: 4,
  boolean: 5,
  uuid: 6,
  macaddr: 7,
  macaddr8: 8,
  inet: 9,
  timestamp: 10,
  timestamptz: 11,
  time: 12,
  array: 13,
  record: 14,
  range: 15,
  multirange: 16,
  char: 17,
  other: 255,
};

const NAMES = new Map([
  [1, 'integer or numeric'],
  [2, 'float'],
  [3, 'text'],
  [4, 'bytea'],
  [5, 'boolean'],
  [6, 'uuid'],
  [7, 'macaddr'],
  [8, 'macaddr8'],
  [9, 'inet'],
  [10, 'date or timestamp'],
  [11, 'timestamptz'],
  [12, 'time'],
  [13, 'array'],
  [14, 'record'],
  [15, 'range'],
  [16, 'multirange'],
  [17, '"char"'],
  [255, 'another type'],
]);

/** @param {number} type */
export function classOf(type) {
  return type & 0xff;
}

/** @param {number} type @returns {string} */
export function typeName(type) {
  const name = NAMES.get(classOf(type)) ?? 'unknown';
  const digest = type >>> 8;
  return digest === 0 ? name : `${name} (${digest.toString(16).padStart(6, '0')})`;
}

/** @param {number} type @param {Uint8Array} bytes @returns {number} with the digest of what they name */
export function withDigest(type, bytes) {
  return ((xxh3(bytes).hi & 0xffffff00) | type) >>> 0;
}

/** @param {number} type of a filter, 0 for none yet */
export function checkKeyType(type) {
  if (type === 0) return;
  const keyClass = classOf(type);
  const hasDigest = (keyClass >= CLASS.array && keyClass <= CLASS.multirange) || keyClass === CLASS.other;
  if (!NAMES.has(keyClass) || (!hasDigest && type !== keyClass)) {
    throw new FilterError(`unknown key type ${type.toString(16).padStart(8, '0')}`);
  }
}
