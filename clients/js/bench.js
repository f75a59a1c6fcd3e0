// Answers per second of CPU time, for README.md.  Needs psql and, by its usual environment
// variables, a database that has the extension.
//
//   node bench.js
import { execFileSync } from 'node:child_process';
import { Filter, key } from './src/index.js';

const N = 1_000_000;

/** A filter of N keys, expressions in i. @param {string} sql @param {string} [aggregate] */
function snapshot(sql, aggregate = 'bf_agg') {
  const query = `SELECT ${aggregate}(${sql}, ${N}, 0.01) FROM generate_series(1::bigint, ${N}) AS i`;
  return execFileSync('psql', ['-XAtqc', query], { maxBuffer: 2 ** 30 });
}

/** Half of what is asked for are members. @param {string} name @param {Filter} filter @param {(i: number) => any} make */
function measure(name, filter, make) {
  const keys = Array.from({ length: 200_000 }, (_, i) => make((i * 7919 * 10 + 1) % (2 * N)));
  let yes = 0;
  for (const each of keys) yes += filter.has(each) ? 1 : 0;
  const before = process.cpuUsage();
  const rounds = 10;
  for (let round = 0; round < rounds; round++) for (const each of keys) yes += filter.has(each) ? 1 : 0;
  const { user, system } = process.cpuUsage(before);
  const perSecond = (rounds * keys.length) / (user + system);
  console.log(`${name.padEnd(40)} ${perSecond.toFixed(2).padStart(6)} million (${Math.round((100 * yes) / (rounds + 1) / keys.length)}% yes)`);
}

const uuid = (/** @type {number} */ i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
const integers = snapshot('i');
const filter = Filter.read(integers);
measure('integers: numbers', filter, (i) => i);
measure('integers: BigInts', filter, BigInt);
measure('text, 11 characters', Filter.read(snapshot("'key' || lpad(i::text, 8, '0')")), (i) => `key${String(i).padStart(8, '0')}`);
measure('uuid, as text', Filter.read(snapshot("('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid")), uuid);
measure('a Key that is there already', filter, (i) => key.integer(i));
for (const kind of ['counting', 'cuckoo']) measure(`integers, asked of a ${kind}filter`, Filter.read(snapshot('i', `bf_agg_${kind}`)), (i) => i);

const before = process.cpuUsage();
Filter.read(integers);
const { user, system } = process.cpuUsage(before);
console.log(`loading ${integers.length} characters: ${((user + system) / 1000).toFixed(0)} ms`);
