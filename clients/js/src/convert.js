// What a plain value means to a filter whose key type is known.  Only what leaves no
// doubt is taken: whatever else might be meant would be answered with a wrong "no".
import { KeyError } from './errors.js';
import { Key, describe, key } from './key.js';
import { CLASS, classOf, typeName } from './keytype.js';

/** @type {Record<string, (value: any) => Key>} */
const STRINGS = {
  [CLASS.text]: key.text,
  [CLASS.uuid]: key.uuid,
  [CLASS.macaddr]: key.macaddr,
  [CLASS.macaddr8]: key.macaddr8,
  [CLASS.inet]: key.inet,
  [CLASS.timestamp]: key.timestamp,
  [CLASS.timestamptz]: key.timestamptz,
  [CLASS.time]: key.time,
};

/** @type {Record<string, string>} */
const HINTS = {
  [CLASS.integer]: "give a BigInt, a safe integer, or key.numeric('...')",
  [CLASS.float]: 'give a number',
  [CLASS.bytes]: 'give a Uint8Array',
  [CLASS.uuid]: 'give a string, or key.uuid(bytes)',
  [CLASS.timestamp]: "give a string such as '2024-01-02 03:04:05': a Date has a time zone, these have none",
  [CLASS.timestamptz]: 'give a Date, or a string with its time zone',
  [CLASS.array]: 'give key.array([...])',
  [CLASS.record]: 'give key.record([...])',
  [CLASS.range]: 'give key.range(...)',
  [CLASS.multirange]: 'give key.multirange([...])',
  [CLASS.char]: 'give key.char(...)',
  [CLASS.other]: "give key.parse(...) with the server's bf_key(...)::text",
};

/** @param {unknown} value @param {number} type @returns {Key | undefined} */
function convert(value, type) {
  const keyClass = classOf(type);
  switch (typeof value) {
    case 'string':
      return STRINGS[keyClass]?.(value);
    case 'bigint':
      return keyClass === CLASS.integer ? key.integer(value) : undefined;
    case 'number':
      return keyClass === CLASS.integer ? key.integer(value) : keyClass === CLASS.float ? key.float(value) : undefined;
    case 'boolean':
      return keyClass === CLASS.boolean ? key.boolean(value) : undefined;
  }
  if (keyClass === CLASS.bytes && (value instanceof Uint8Array || value instanceof ArrayBuffer)) return key.bytes(value);
  if (keyClass === CLASS.timestamptz && value instanceof Date) return key.timestamptz(value);
  return undefined;
}

/** @param {unknown} value */
function canBeKey(value) {
  return (
    ['string', 'bigint', 'number', 'boolean'].includes(typeof value) ||
    value instanceof Uint8Array ||
    value instanceof ArrayBuffer ||
    value instanceof Date
  );
}

/**
 * @param {unknown} value
 * @param {number} type the filter's, 0 if it has none yet
 * @returns {Key | undefined} undefined where the filter has no key at all
 */
export function toKey(value, type) {
  if (value instanceof Key) {
    if (type === 0 || value.type === type) return value;
    throw new KeyError(`the filter holds keys of type ${typeName(type)}, not ${typeName(value.type)}`);
  }
  if (type === 0 && canBeKey(value)) return undefined;
  const found = convert(value, type);
  if (found) return found;
  const hint = HINTS[classOf(type)];
  throw new KeyError(`the filter holds keys of type ${typeName(type)}, not ${describe(value)}${hint ? `: ${hint}` : ''}`);
}
