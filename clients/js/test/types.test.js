// index.d.ts, which nothing here compiles, has the names that there are.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import * as reader from '../src/index.js';

const types = readFileSync(new URL('../index.d.ts', import.meta.url), 'utf8');

test('what is exported', () => {
  const declared = [...types.matchAll(/^export (?:class|const) (\w+)/gm)].map((match) => match[1]);
  assert.deepEqual(declared.sort(), Object.keys(reader).sort());
});

test('key and keyTypes', () => {
  const part = (name) => new RegExp(`^export const ${name}: \\{\\n(.*?)^\\};`, 'ms').exec(types)[1];
  assert.deepEqual([...part('key').matchAll(/^ {2}(\w+)\(/gm)].map((match) => match[1]), Object.keys(reader.key));
  assert.deepEqual(Object.fromEntries([...part('keyTypes').matchAll(/(\w+): (\d+);/g)].map((match) => [match[1], Number(match[2])])), { ...reader.keyTypes });
});

test('a filter', () => {
  const filter = reader.Filter.read(readFileSync(new URL('fixtures/users-2.base64', import.meta.url)));
  const declared = [.../^export class Filter \{\n(.*?)^\}/ms.exec(types)[1].matchAll(/^ {2}readonly (\w+)/gm)].map((match) => match[1]);
  assert.deepEqual(declared.sort(), Object.keys(filter).sort());
});
