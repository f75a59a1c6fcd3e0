// An HTTP service before a slow origin: whoever asks for a user that is certainly not there
// is told so without asking the origin.
//
//   node example/guard.js SNAPSHOT ORIGIN [PORT]
//
//   GET /users/NAME   404 at once if the filter says no; else what the origin says
//   GET /counts       what has been asked and saved
//
// SNAPSHOT is a file with a filter of text keys; it is read again whenever it changes.
import { stat } from 'node:fs/promises';
import { unwatchFile, watchFile } from 'node:fs';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { Filter, KeyError } from '../src/index.js';

/**
 * @param {object} options
 * @param {string} options.snapshot
 * @param {string} options.origin
 * @param {number} [options.interval] milliseconds between looks at the file
 * @param {number} [options.maxAge] milliseconds: a user who is newer than the snapshot is not in it, so with an older
 * one everything is asked of the origin
 * @param {(message: string) => void} [options.log]
 */
export async function createGuard({ snapshot, origin, interval = 5000, maxAge = 36 * 3600 * 1000, log = console.error }) {
  const counts = { asked: 0, saved: 0, passed: 0, falsePositives: 0, unchecked: 0, loads: 0, failedLoads: 0 };
  /** @type {Filter} */
  let filter;
  let modified = 0;

  async function load() {
    const { mtimeMs } = await stat(snapshot);
    const loaded = await Filter.open(snapshot, { kind: 'bloomfilter', keys: 'text' });
    // only now: whatever goes wrong leaves the filter that is there
    [filter, modified] = [loaded, mtimeMs];
    counts.loads++;
  }

  async function reload() {
    try {
      await load();
    } catch (error) {
      counts.failedLoads++;
      log(`${snapshot} not loaded, the last one stays in use: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async function answer(request, response) {
    const { pathname } = new URL(request.url ?? '', 'http://guard');
    if (request.method !== 'GET') return response.writeHead(405).end();
    if (pathname === '/counts') {
      const body = { ...counts, snapshot: { modified: new Date(modified), keys: Number(filter.n), bytes: filter.byteLength } };
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
    const name = decodeURIComponent(/^\/users\/([^/]+)$/.exec(pathname)?.[1] ?? '');
    if (name === '') return response.writeHead(404).end();

    counts.asked++;
    const checked = Date.now() - modified <= maxAge;
    if (checked && !filter.has(name)) {
      counts.saved++;
      return response.writeHead(404).end();
    }
    if (checked) counts.passed++;
    else counts.unchecked++;
    const found = await fetch(new URL(pathname, origin));
    if (checked && found.status === 404) counts.falsePositives++;
    response.writeHead(found.status, { 'content-type': found.headers.get('content-type') ?? 'application/octet-stream' });
    response.end(Buffer.from(await found.arrayBuffer()));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      // a name that no text in the database can be, or a URL that is none
      const status = error instanceof KeyError || error instanceof URIError ? 400 : 502;
      if (!response.headersSent) response.writeHead(status);
      response.end();
    });
  });
  await load();
  watchFile(snapshot, { interval }, ({ nlink }) => {
    // 0: the file is away for a moment
    if (nlink !== 0) reload();
  });
  server.on('close', () => unwatchFile(snapshot));
  return { server, counts };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [snapshot, origin, port = '8080'] = process.argv.slice(2);
  if (origin === undefined) {
    console.error('usage: guard.js SNAPSHOT ORIGIN [PORT]');
    process.exit(2);
  }
  const { server } = await createGuard({ snapshot, origin });
  server.listen(Number(port), () => console.error(`listening on port ${port}`));
}
