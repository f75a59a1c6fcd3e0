// Bytes that somebody changed and sealed again: what this reader says of them, for the
// server to be compared with.
//
//   node mutants.js SAMPLES CORPUS SEED COUNT OUT
//
// SAMPLES: filters in hexadecimal, one a line.  CORPUS: a folder of more.  OUT, for COPY: kind,
// the bytes, were they accepted, and eight keys with the answers (t, f, or e for an error).
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Filter, FilterError, ForgottenError, key } from '../../src/index.js';
import { toBigInt } from '../../src/u64.js';
import { xxh3 } from '../../src/xxh3.js';

const [samplesFile, corpus, seed, count, out] = process.argv.slice(2);
const KINDS = ['bloomfilter', 'countingfilter', 'cuckoofilter', 'scalablefilter', 'layeredfilter'];
// some of the times that the samples' layers are of
const TIMES = ['2024-01-01 00:30:00Z', '2024-01-01 06:59:59.999999Z', '2024-01-02 00:00:00Z', '1999-12-31 23:00:00Z'];

let state = BigInt(seed);

/** The next of a series that the seed decides; below `limit`. */
function random(limit) {
  state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
  return Number((state >> 33n) % BigInt(limit));
}

function pick(list) {
  return list[random(list.length)];
}

/** With the right checksum. */
function seal(bytes) {
  if (bytes.length >= 8) {
    const end = bytes.length - 8;
    bytes.writeBigUInt64LE(toBigInt(xxh3(bytes.subarray(0, end))), end);
  }
  return bytes;
}

const samples = readFileSync(samplesFile, 'utf8')
  .trim()
  .split('\n')
  .map((line) => Buffer.from(line, 'hex'));
const files = readdirSync(corpus).map((name) => readFileSync(join(corpus, name)));

// position and length of what means something, in headers and in those of layers
const FIELDS = [[0, 1], [1, 1], [2, 1], [3, 1], [4, 1], [4, 4], [5, 3], [8, 4], [12, 8], [20, 8], [28, 8], [36, 8], [44, 8], [52, 4], [56, 4]];
const MORE = [[60, 8], [60, 4], [64, 1], [65, 1], [66, 1], [67, 1], [68, 4], [68, 8], [72, 4], [76, 8], [84, 8], [92, 8], [100, 8], [108, 8], [116, 8]];

function setField(bytes, [at, length]) {
  if (at + length > bytes.length - 8) return;
  const field = bytes.subarray(at, at + length);
  switch (random(6)) {
    case 0:
      field.fill(pick([0, 0xff, 0x7f]));
      break;
    case 1: // a little more or less
      field[0] += pick([1, -1, 8, -8, 64]);
      break;
    case 2: // a small number
      field.fill(0);
      field[0] = random(48);
      break;
    case 3: // a bit of it
      field[random(length)] ^= 1 << random(8);
      break;
    case 4: // a power of two
      field.fill(0);
      field[random(length)] = 1 << random(8);
      break;
    default: // that of another
      field.set(pick(samples).subarray(at, at + length));
  }
}

function mutant() {
  let bytes = Buffer.from(pick(samples));
  for (let i = random(2); i >= 0; i--) {
    const how = random(10);
    if (how < 4) setField(bytes, pick(FIELDS));
    else if (how < 6) setField(bytes, pick(MORE));
    else if (how === 6) bytes[random(bytes.length)] ^= 1 << random(8);
    else if (how === 7) bytes = bytes.subarray(0, random(bytes.length));
    else if (how === 8) bytes = Buffer.concat([bytes, Buffer.alloc(pick([1, 8, 64]), pick([0, 1]))]);
    else {
      // the last bytes before the checksum, where padding is
      const at = bytes.length - 9 - random(8);
      if (at >= 60) bytes[at] ^= 1 << random(8);
    }
    if (bytes.length === 0) break;
  }
  return seal(Buffer.from(bytes));
}

const inputs = [...samples, ...samples.flatMap((sample) => [sample.subarray(0, -1), sample.subarray(0, 60)]), ...files];
inputs.push(...files.map((file) => seal(Buffer.from(file))));
while (inputs.length < Number(count)) inputs.push(mutant());

const lines = inputs.map((bytes) => {
  let filter;
  try {
    filter = Filter.read(bytes);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
  }
  const kind = filter?.kind ?? KINDS[(bytes[1] ?? 0) - 1] ?? 'bloomfilter';
  const keyType = filter && bytes.readUInt32LE(4) !== 0 ? bytes.readUInt32LE(4) : 1;
  const asked = [];
  for (let i = 0; filter && i < 8; i++) {
    const hash = toBigInt(xxh3(Buffer.from(`${random(1e9)}`)));
    const bfkey = key.parse(`${keyType.toString(16).padStart(8, '0')}:${hash.toString(16).padStart(16, '0')}`);
    const at = TIMES[i % TIMES.length];
    let answer;
    try {
      answer = filter.has(bfkey, kind === 'layeredfilter' ? { at } : {}) ? 't' : 'f';
    } catch (error) {
      if (!(error instanceof ForgottenError)) throw error;
      answer = 'e';
    }
    asked.push(`${bfkey}|${at}|${answer}`);
  }
  return `${kind}\t\\\\x${bytes.toString('hex')}\t${filter ? 't' : 'f'}\t{${asked.map((one) => `"${one}"`).join(',')}}\n`;
});
writeFileSync(out, lines.join(''));
