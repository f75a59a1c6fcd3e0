// The example service with an origin behind it.  Its snapshots were made by the server:
// users 1 to 1000, and 501 to 1500, at a rate of 1%.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get as httpGet } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import test from 'node:test';
import { createGuard } from '../example/guard.js';
import { Filter } from '../src/index.js';

const [first, second] = ['users-1.copy', 'users-2.base64'].map((name) => new URL(`fixtures/${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bloomset-'));
const snapshot = join(folder, 'users.bf');
const ALL = 1500; // asked of those who are not there
// the expected number at 1%, and six standard deviations
const MOST_FALSE = ALL * 0.01 + 6 * Math.sqrt(ALL * 0.01 * 0.99);

/** Replaces the snapshot as a nightly job does. */
function replace(write) {
  write(`${snapshot}.new`);
  renameSync(`${snapshot}.new`, snapshot);
}

async function listen(server) {
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${server.address().port}`;
}

// many times lighter than fetch
const agent = new Agent({ keepAlive: true, maxSockets: 20 });

async function get(url) {
  const response = await new Promise((done, failed) => httpGet(url, { agent }, done).on('error', failed));
  let body = '';
  for await (const piece of response) body += piece;
  return { status: response.statusCode, body };
}

/** Asks for users by their numbers; how often there was which status. */
async function ask(guard, numbers) {
  const statuses = {};
  const work = [...numbers];
  const one = async () => {
    for (let number; (number = work.pop()) !== undefined; ) {
      const { status, body } = await get(`${guard}/users/user-${number}`);
      if (status === 200) assert.equal(body, `I am user-${number}`);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 20 }, one));
  return statuses;
}

const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

async function until(condition) {
  for (let i = 0; i < 500 && !condition(); i++) await setTimeout(20);
  assert.ok(condition());
}

test('a guarded origin', async () => {
  let users = new Set(range(1, 1000));
  let asked = 0;
  const origin = createServer((request, response) => {
    asked++;
    const name = request.url.slice('/users/'.length);
    if (users.has(Number(name.slice('user-'.length)))) response.writeHead(200, { 'content-type': 'text/plain' }).end(`I am ${name}`);
    else response.writeHead(404).end();
  });
  replace((file) => copyFileSync(first, file));
  const messages = [];
  const { server, counts } = await createGuard({ snapshot, origin: await listen(origin), interval: 20, log: (message) => messages.push(message) });
  const guard = await listen(server);
  try {
    // no member is refused
    const filter = await Filter.open(snapshot);
    for (const number of users) assert.ok(filter.has(`user-${number}`));
    assert.deepEqual(await ask(guard, range(601, 1000)), { 200: 400 });
    assert.deepEqual({ ...counts }, { asked: 400, saved: 0, passed: 400, falsePositives: 0, unchecked: 0, loads: 1, failedLoads: 0 });
    // of the others few get through
    asked = 0;
    assert.deepEqual(await ask(guard, range(10001, 10000 + ALL)), { 404: ALL });
    assert.equal(asked, counts.falsePositives);
    assert.equal(counts.saved + counts.falsePositives, ALL);
    assert.ok(counts.falsePositives > 0 && counts.falsePositives <= MOST_FALSE, `${counts.falsePositives} false positives`);
    assert.equal(counts.asked, counts.saved + counts.passed);
    const told = JSON.parse((await get(`${guard}/counts`)).body);
    assert.deepEqual([told.asked, told.saved, told.snapshot.keys], [400 + ALL, counts.saved, 1000]);

    // what cannot be a name is not asked for
    assert.equal((await get(`${guard}/users/a%00b`)).status, 400);
    assert.equal((await get(`${guard}/users/%ff`)).status, 400);
    assert.equal((await get(`${guard}/elsewhere`)).status, 404);

    // a damaged snapshot is not taken, and the service goes on
    replace((file) => writeFileSync(file, 'AQEBAwAAAAAwAAAACAAAAAAAAACamZmZ'));
    await until(() => counts.failedLoads > 0);
    assert.match(messages[0], /not loaded/);
    assert.deepEqual(await ask(guard, range(1, 50)), { 200: 50 });

    // the next one is
    users = new Set(range(501, 1500));
    replace((file) => copyFileSync(second, file));
    await until(() => counts.loads === 2);
    assert.deepEqual(await ask(guard, range(1001, 1200)), { 200: 200 });
    const before = counts.saved;
    assert.deepEqual(await ask(guard, range(1, 200)), { 404: 200 });
    assert.ok(counts.saved - before >= 200 - (2 + 6 * Math.sqrt(2)));

    // too old a snapshot refuses nobody
    utimesSync(snapshot, new Date('2001-01-01'), new Date('2001-01-01'));
    await until(() => counts.loads === 3);
    users = new Set(range(5001, 5010));
    assert.deepEqual(await ask(guard, users), { 200: 10 });
    assert.equal(counts.unchecked, 10);
  } finally {
    for (const one of [server, origin]) {
      one.close();
      one.closeAllConnections();
    }
    agent.destroy();
    rmSync(folder, { recursive: true });
  }
});
