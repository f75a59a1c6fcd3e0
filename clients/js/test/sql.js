// Keys as SQL writes them, for the fixed values of test/format/keys.tsv.
import { key, keyTypes } from '../src/index.js';

/** Key types of SQL types, for what is NULL or empty. */
const TYPES = {
  int: keyTypes.integer,
  int2: keyTypes.integer,
  int8: keyTypes.integer,
  num: keyTypes.integer,
  name: keyTypes.text,
};

const SCALARS = {
  int2: key.numeric,
  int4: key.numeric,
  int8: key.numeric,
  numeric: key.numeric,
  float4: (text) => key.real(Number(text)),
  float8: (text) => key.float(Number(text)),
  text: key.text,
  varchar: key.text,
  'char(10)': key.text,
  name: key.text,
  mood: key.text,
  bytea: (text) => key.bytes(Buffer.from(text.slice(2), 'hex')),
  uuid: key.uuid,
  macaddr: key.macaddr,
  macaddr8: key.macaddr8,
  inet: key.inet,
  cidr: key.inet,
  date: key.date,
  timestamp: key.timestamp,
  timestamptz: key.timestamptz,
  time: key.time,
  '"char"': key.char,
};

const RANGES = {
  int4range: key.numeric,
  int8range: key.numeric,
  numrange: key.numeric,
  daterange: key.date,
  tsrange: (text) => key.timestamp(text.replaceAll('"', '')),
};

/** Split at the commas outside of parentheses and quotes. */
function split(list) {
  const parts = [''];
  let depth = 0;
  let quoted = false;
  for (const c of list) {
    if (c === "'") quoted = !quoted;
    if (!quoted && '[('.includes(c)) depth++;
    if (!quoted && '])'.includes(c)) depth--;
    if (c === ',' && depth === 0 && !quoted) parts.push('');
    else parts[parts.length - 1] += c;
  }
  return parts.map((part) => part.trim());
}

function range(text, bound, type, discrete) {
  if (text === 'empty') return key.range(null, null, { bounds: 'empty', type });
  const [, open, lower, upper, close] = /^([[(])([^,]*),([^,]*)([\])])$/.exec(text);
  let bounds = open + close;
  let last = upper;
  if (discrete && close === ']') {
    // the canonical form of a range of integers
    bounds = `${open})`;
    last = String(BigInt(upper) + 1n);
  }
  return key.range(lower === '' ? null : bound(lower), last === '' ? null : bound(last), { bounds, type });
}

/**
 * @param {string} sql
 * @returns {import('../src/index.js').Key | number | undefined} a number is the key type of a NULL; undefined: a type by its own hash function
 */
export function keyOf(sql) {
  let match;
  if (/^-?\d+$/.test(sql)) return key.integer(BigInt(sql));
  if (/^-?\d+\.\d+$/.test(sql)) return key.numeric(sql);
  if (sql === 'true' || sql === 'false') return key.boolean(sql === 'true');
  if (/interval|timetz/.test(sql)) return undefined;
  if ((match = /^\((-\d+)\)::"char"$/.exec(sql))) return key.char(256 + Number(match[1]));
  if (sql === "repeat('0123456789', 100)") return key.text('0123456789'.repeat(100));
  if ((match = /^bf_key\((.*)\)$/.exec(sql))) return keyOf(match[1]);
  if ((match = /^NULL::(\w+)$/.exec(sql))) return TYPES[match[1]];
  if ((match = /^ARRAY\[(.*)\]$/.exec(sql))) return array(match[1]);
  if ((match = /^ROW\((.*)\)$/.exec(sql))) return key.record(split(match[1]).map(keyOf));
  if ((match = /^(int4range)\((\d+), (\d+)\)$/.exec(sql))) return key.range(key.numeric(match[2]), key.numeric(match[3]));
  if (sql === "'{}'::int8[]") return key.array([], { type: keyTypes.integer });
  if (sql === "'[0:1]={5,6}'::int2[]") return key.array([key.integer(5), key.integer(6)], { lower: [0] });
  if ((match = /^(-?[\d.e]+)::(\w+)$/.exec(sql))) return SCALARS[match[2]](match[1]);
  if ((match = /^(date|timestamp|timestamptz|time) '(.*)'$/.exec(sql))) return SCALARS[match[1]](match[2]);
  if (!(match = /^(U&)?'(.*?)'(?:::(.*))?$/.exec(sql))) throw new Error(`not understood: ${sql}`);
  const text = match[1] ? match[2].replace(/\\(?:\+([0-9a-f]{6})|([0-9a-f]{4}))/gi, (_, six, four) => String.fromCodePoint(parseInt(six ?? four, 16))) : match[2];
  const type = match[3] ?? 'text';
  if (RANGES[type]) return range(text, RANGES[type], /date|ts/.test(type) ? keyTypes.timestamp : keyTypes.integer, /^int/.test(type));
  if (/multirange$/.test(type)) {
    const parts = text.match(/[[(][^)\]]*[)\]]/g) ?? [];
    return key.multirange(parts.map((part) => range(part, key.numeric, keyTypes.integer)), { type: keyTypes.integer });
  }
  return SCALARS[type](text);
}

function array(list) {
  const elements = split(list).map((part) => (part.startsWith('[') ? split(part.slice(1, -1)).map(keyOf) : part === 'NULL' ? null : keyOf(part)));
  const typeOfNull = elements.find((element) => typeof element === 'number');
  return key.array(elements.map((element) => (typeof element === 'number' ? null : element)), { type: typeOfNull });
}
