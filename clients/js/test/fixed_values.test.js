// The fixed values of the format, written by another implementation: test/format.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { Filter, key } from '../src/index.js';
import { keyOf } from './sql.js';

/** Rows of a file in COPY's text format. */
function rows(name) {
  const text = readFileSync(new URL(`../../../test/format/${name}`, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').map((field) => field.replaceAll('\\\\', '\\')));
}

const filters = new Map(rows('filters.tsv').map(([name, , n, p, seed, sha256, base64]) => [name, { n, p, seed, sha256, base64 }]));
const keys = rows('keys.tsv').map(([name, sql, bfkey, , answer]) => ({ name, sql, bfkey, answer: answer === 't' }));

test('filters: read from text, from bytes and from hex, with the parameters they were made with', () => {
  assert.equal(filters.size, 36);
  for (const [name, { n, p, seed, sha256, base64 }] of filters) {
    const bytes = Buffer.from(base64, 'base64');
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256, name);
    for (const source of [base64, bytes, new Uint8Array(bytes).buffer, `\\x${bytes.toString('hex')}`]) {
      const filter = Filter.read(source);
      assert.deepEqual([filter.kind, String(filter.n), filter.p, String(filter.seed)], ['bloomfilter', n, Number(p), seed], name);
    }
  }
});

test('keys: the bfkey of every value', () => {
  let byOwnHash = 0;
  for (const { name, sql, bfkey } of keys) {
    const made = keyOf(sql);
    if (made === undefined) byOwnHash++;
    else assert.equal(String(made), bfkey, `${name}: ${sql}`);
  }
  // interval and timetz: their hashes are PostgreSQL's own
  assert.equal(byOwnHash, keys.filter(({ bfkey }) => bfkey.slice(6, 8) === 'ff').length + 2);
});

test('answers: what the filter says of each key', () => {
  assert.equal(keys.length, 290);
  for (const { name, sql, bfkey, answer } of keys) {
    const filter = Filter.read(filters.get(name).base64);
    assert.equal(filter.has(key.parse(bfkey)), answer, `${name}: ${sql}`);
    const made = keyOf(sql);
    if (made !== undefined) assert.equal(filter.has(made), answer, `${name}: ${sql}`);
  }
});
