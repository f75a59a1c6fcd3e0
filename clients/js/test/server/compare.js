// Answers of this reader beside those of the server.
//
//   node compare.js FILTERS PROBES
//
// Both files are in COPY's text format.  FILTERS: name, the filter.  PROBES: name of the
// filter, how the key is written, the key in JSON, its bfkey, the time asked for or \N,
// was it added, the server's answer (t, f, or e for an error).  Writes a line for each
// filter: name, kind, keys asked for, members, false positives, different answers, the
// first of them.
import { readFileSync } from 'node:fs';
import { Filter, ForgottenError, key } from '../../src/index.js';

const [filtersFile, probesFile] = process.argv.slice(2);

/** @param {string} file */
function rows(file) {
  const text = readFileSync(file, 'utf8').trimEnd();
  return text.split('\n').map((line) => line.split('\t').map((field) => (field === '\\N' ? undefined : field.replaceAll('\\\\', '\\'))));
}

/** @param {unknown} value from JSON @param {(text: any) => any} make */
function nullOr(value, make) {
  return value === null ? null : make(value);
}

const range = ({ lower, upper, bounds }, make, options) => key.range(nullOr(lower, make), nullOr(upper, make), { bounds, ...options });

// what has() is given, by how the key is written
const FORMS = {
  // a number where it is exact, as a user would have either
  integer: (text) => (Number.isSafeInteger(Number(text)) && Number(text) % 3 !== 0 ? Number(text) : BigInt(text)),
  numeric: key.numeric,
  real: (text) => key.real(Number(text.replace('inf', 'Inf'))),
  float: (text) => Number(text),
  text: (text) => text,
  bytea: (text) => Buffer.from(text.slice(2), 'hex'),
  boolean: (text) => text === 'true',
  uuid: (text) => text,
  macaddr: (text) => text,
  macaddr8: (text) => text,
  inet: (text) => text,
  timestamp: (text) => text,
  timestamptz: (text) => text,
  // milliseconds since 1970
  instant: (text) => new Date(Number(text)),
  time: (text) => text,
  char: (text) => key.char(Number(text)),
  integers: (list) => key.array(nested(list, key.integer), { type: key.integer(0).type }),
  texts: (list) => key.array(nested(list, key.text), { type: key.text('').type }),
  // (integer, text)
  row: ({ f1, f2 }) => key.record([key.integer(f1), f2 === null ? key.text('').type : key.text(f2)]),
  range: (parts) => range(parts, key.numeric, { type: key.integer(0).type }),
  dates: (parts) => range(parts, key.date, { type: key.date('2000-01-01').type }),
  multirange: (list) => key.multirange(list.map((parts) => range(parts, key.numeric)), { type: key.integer(0).type }),
  bfkey: undefined,
};

function nested(list, make) {
  return list.map((element) => (Array.isArray(element) ? nested(element, make) : nullOr(element, make)));
}

const filters = new Map(rows(filtersFile).map(([name, text]) => [name, { filter: Filter.read(text), asked: 0, members: 0, falsePositives: 0, wrong: 0, first: '' }]));

for (const [name, form, json, bfkey, at, member, expected] of rows(probesFile)) {
  const count = filters.get(name);
  const value = FORMS[form] ? FORMS[form](JSON.parse(json)) : key.parse(bfkey);
  const ask = (what) => {
    try {
      return count.filter.has(what, at === undefined ? {} : { at }) ? 't' : 'f';
    } catch (error) {
      if (!(error instanceof ForgottenError)) throw error;
      return 'e';
    }
  };
  const [answer, again] = [ask(value), ask(key.parse(bfkey))];
  count.asked++;
  if (member === 't') count.members++;
  else if (answer === 't') count.falsePositives++;
  if (answer !== expected || again !== expected) {
    count.wrong++;
    count.first ||= `${form} ${json}: ${answer}, by its bfkey ${again}, the server says ${expected}`;
  }
}
for (const [name, { filter, asked, members, falsePositives, wrong, first }] of filters) {
  console.log([name, filter.kind, asked, members, falsePositives, wrong, first].join('\t'));
}
