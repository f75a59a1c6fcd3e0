// The text forms of values, as PostgreSQL writes them and JavaScript does, to what the
// format makes of them.  What is not certainly understood is an error.
import { isIPv4, isIPv6 } from 'node:net';
import { KeyError } from './errors.js';

const DAY = 86_400_000_000n;
const LEAST = -(2n ** 63n);
const GREATEST = 2n ** 63n - 1n;
// PostgreSQL's ranges, in days since 2000-01-01: from 4713-11-24 BC to the end of 294276
// (timestamps) and of 5874897 (dates)
const FIRST_DAY = -2_451_545;
const TIMESTAMP_DAYS = 106_751_983;
const DATE_DAYS = 2_145_031_949;

/** @param {string} what @param {string} text @returns {never} */
function refuse(what, text) {
  throw new KeyError(`not a valid ${what}: ${JSON.stringify(text.slice(0, 100))}`);
}

/** @param {string} hex of an even number of digits, and nothing else @returns {Uint8Array} */
function fromHex(hex) {
  return Buffer.from(hex, 'hex');
}

/** With or without hyphens and braces. @param {string} text */
export function uuid(text) {
  const match = /^(\{)?([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})(\})?$/i.exec(text);
  if (!match || (match[1] === undefined) !== (match[3] === undefined)) refuse('uuid', text);
  return fromHex(match[2].replaceAll('-', ''));
}

/** @param {string} text @param {number} bytes @returns {Uint8Array | undefined} */
function hardware(text, bytes) {
  const half = bytes / 2;
  const forms = [
    `[0-9a-f]{2}(?::[0-9a-f]{2}){${bytes - 1}}`,
    `[0-9a-f]{2}(?:-[0-9a-f]{2}){${bytes - 1}}`,
    `[0-9a-f]{4}(?:\\.[0-9a-f]{4}){${half - 1}}`,
    `[0-9a-f]{4}(?:-[0-9a-f]{4}){${half - 1}}`,
    `[0-9a-f]{${2 * bytes}}`,
  ];
  if (bytes === 6) forms.push('[0-9a-f]{6}[:-][0-9a-f]{6}');
  return new RegExp(`^(?:${forms.join('|')})$`, 'i').test(text) ? fromHex(text.replace(/[:.-]/g, '')) : undefined;
}

/** @param {string} text */
export function macaddr(text) {
  return hardware(text, 6) ?? refuse('macaddr', text);
}

/** An address of 6 bytes becomes one of 8, as in PostgreSQL. @param {string} text */
export function macaddr8(text) {
  const short = hardware(text, 6);
  return short ? Uint8Array.of(...short.slice(0, 3), 0xff, 0xfe, ...short.slice(3)) : (hardware(text, 8) ?? refuse('macaddr8', text));
}

/** @param {string} address valid */
function ipv6(address) {
  // an IPv4 address at the end is two groups
  const groups = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`);
  const [before, after] = groups.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const all = after === undefined ? before : [...before, ...Array(8 - before.length - after.length).fill('0'), ...after];
  return all.flatMap((group) => [parseInt(group, 16) >>> 8, parseInt(group, 16) & 0xff]);
}

/** Address, with or without the length of a prefix. @param {string} text */
export function inet(text) {
  const [, address, prefix] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(text) ?? refuse('inet', text);
  const [family, bytes] = isIPv4(address) ? [4, address.split('.').map(Number)] : isIPv6(address) ? [6, ipv6(address)] : refuse('inet', text);
  const length = prefix === undefined ? 8 * bytes.length : Number(prefix);
  if (length > 8 * bytes.length) refuse('inet', text);
  return Uint8Array.of(family, length, ...bytes);
}

/** Days since 2000-01-01 in the Gregorian calendar. @param {number} year @param {number} month @param {number} day */
function days(year, month, day) {
  // years begin in March, so that the leap day is a year's last
  const y = month > 2 ? year : year - 1;
  const era = Math.floor(y / 400);
  const ofEra = y - 400 * era;
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return 146097 * era + 365 * ofEra + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 730425;
}

/** @param {number} year @param {number} month */
function lastDay(year, month) {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** @param {string | undefined} hour @param {string} minute @param {string | undefined} second @param {string | undefined} fraction */
function ofDay(hour, minute, second = '0', fraction = '') {
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  const micros = ((h * 60 + m) * 60 + s) * 1e6 + Number(fraction.slice(0, 6).padEnd(6, '0'));
  return h <= 24 && m <= 59 && s <= 59 && micros <= 86400e6 && /^0*$/.test(fraction.slice(6)) ? micros : undefined;
}

const TIME = '(\\d{2}):(\\d{2})(?::(\\d{2})(?:\\.(\\d{1,9}))?)?';
const WHEN = new RegExp(`^([+-]\\d{6}|\\d{4,7})-(\\d{2})-(\\d{2})(?:[T ]${TIME})?\\s*(Z|[+-]\\d{2}(?::?\\d{2}(?::?\\d{2})?)?)?( BC)?$`);

/**
 * @param {string} what @param {string} text
 * @returns {{ day: number, time: number | undefined, zone: string | undefined }}
 */
function parts(what, text) {
  const match = WHEN.exec(text) ?? refuse(what, text);
  const [, written, month, day, hour, minute, second, fraction, zone, bc] = match;
  const number = Number(written);
  // there is no year 0: the one before 1 is 1 BC, and -000001 of ISO 8601 is 2 BC
  if (bc && (number < 1 || /^[+-]/.test(written))) refuse(what, text);
  if (!bc && number === 0 && !/^[+-]/.test(written)) refuse(what, text);
  const year = bc ? 1 - number : number;
  const time = hour === undefined ? undefined : ofDay(hour, minute, second, fraction);
  if (hour !== undefined && time === undefined) refuse(what, text);
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > lastDay(year, Number(month))) refuse(what, text);
  return { day: days(year, Number(month), Number(day)), time, zone };
}

/** @param {string} text @returns {bigint | undefined} */
function infinity(text) {
  return text === 'infinity' ? GREATEST : text === '-infinity' ? LEAST : undefined;
}

/** @param {bigint} micros @param {string} what @param {string} text */
export function checkTimestamp(micros, what, text) {
  if (micros < BigInt(FIRST_DAY) * DAY || micros >= BigInt(TIMESTAMP_DAYS) * DAY) refuse(what, text);
  return micros;
}

/**
 * @param {string} text with a time of day or without
 * @returns {{ micros: bigint, days?: number }} days where they do not fit a timestamp
 */
export function timestamp(text) {
  const infinite = infinity(text);
  if (infinite !== undefined) return { micros: infinite };
  const { day, time, zone } = parts('date or timestamp without time zone', text);
  if (zone !== undefined) refuse('date or timestamp without time zone', text);
  if (time === undefined && day >= TIMESTAMP_DAYS && day < DATE_DAYS) return { micros: GREATEST, days: day };
  return { micros: checkTimestamp(BigInt(day) * DAY + BigInt(time ?? 0), 'date or timestamp', text) };
}

/** @param {string} text without a time of day @returns {{ micros: bigint, days?: number }} */
export function date(text) {
  if (text.includes(':')) refuse('date', text);
  return timestamp(text);
}

/** @param {string} text with a time zone @returns {bigint} */
export function timestamptz(text) {
  const infinite = infinity(text);
  if (infinite !== undefined) return infinite;
  const { day, time, zone } = parts('timestamp with time zone', text);
  if (zone === undefined || time === undefined) refuse('timestamp with time zone', text);
  let offset = 0;
  if (zone !== 'Z') {
    const [h, m, s] = [zone.slice(1, 3), ...(zone.slice(3).match(/\d\d/g) ?? [])].map(Number);
    if (h > 15 || m > 59 || s > 59) refuse('timestamp with time zone', text);
    offset = (zone[0] === '-' ? -1 : 1) * (h * 3600 + (m ?? 0) * 60 + (s ?? 0)) * 1e6;
  }
  return checkTimestamp(BigInt(day) * DAY + BigInt(time - offset), 'timestamp with time zone', text);
}

/** @param {string} text @returns {bigint} microseconds since midnight */
export function time(text) {
  const match = new RegExp(`^${TIME}$`).exec(text) ?? refuse('time', text);
  return BigInt(ofDay(match[1], match[2], match[3], match[4]) ?? refuse('time', text));
}

/**
 * @param {string} text decimal, with an exponent or without
 * @returns {bigint | string} a string, without superfluous zeros, where it is not integral
 */
export function numeric(text) {
  const special = /^([+-]?)(?:(nan)|(?:inf|infinity))$/i.exec(text);
  if (special) {
    if (special[2]) return special[1] === '' ? 'NaN' : refuse('numeric', text);
    return special[1] === '-' ? '-Infinity' : 'Infinity';
  }
  const match = /^([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:e([+-]?\d{1,6}))?$/i.exec(text) ?? refuse('numeric', text);
  const sign = match[1] === '-' ? '-' : '';
  const fraction = match[3] ?? match[4] ?? '';
  const digits = (match[2] ?? '') + fraction;
  // the value is 0.DIGITS * 10^point, without the zeros on both sides
  let first = 0;
  while (digits[first] === '0') first++;
  let end = digits.length;
  while (end > first && digits[end - 1] === '0') end--;
  if (first === end) return 0n;
  const significant = digits.slice(first, end);
  const point = digits.length - fraction.length - first + Number(match[5] ?? 0);
  // what numeric has room for
  if (point > 131072 || significant.length - point > 16383) refuse('numeric', text);
  if (significant.length <= point) return BigInt(sign + significant.padEnd(point, '0'));
  return point > 0
    ? `${sign}${significant.slice(0, point)}.${significant.slice(point)}`
    : `${sign}0.${'0'.repeat(-point)}${significant}`;
}
