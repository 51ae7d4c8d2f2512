#!/usr/bin/env node
// Runs the tutorials of the original's documentation unchanged against a server of this tree, and counts what they say that is so:
//   node scripts/tutorials.mjs FOLDER [WORD...]
// FOLDER is the original's source tree, or a bare repository of it; words choose tutorials by their names. Nothing of it lies in this repository.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ROOT } from './stamp.mjs';
import { NATIVE_TUTORIALS } from './tutorials/native-tutorials.mjs';
import { Session } from './tutorials/session.mjs';
import { CAUSES, SPEC_TESTS, unusedResources } from './tutorials/spec-tests.mjs';
import { SQL_TUTORIALS } from './tutorials/sql-tutorials.mjs';
import { WIKIPEDIA_TUTORIALS } from './tutorials/wikipedia-tutorials.mjs';

const PORT_OFFSET = 31_000;
const DOCUMENTED_ADDRESS = 'https://druid.apache.org/data/wikipedia.json.gz';
/** The sampled file begins so long after midnight; its stand-in for the one on the web begins at midnight, in the week of that one. */
const SHIFT_MS = Date.parse('2016-06-27T00:00:00Z') - Date.parse('2015-09-12T00:46:00Z');

const [folder, ...words] = process.argv.slice(2);
if (folder === undefined || !existsSync(folder)) {
  console.log('skipped: give the folder of a source tree of the original, or of a bare repository of it');
  process.exit(0);
}

const work = mkdtempSync(join(tmpdir(), 'dolmen-tutorials-'));
const tree = existsSync(join(folder, 'docs')) ? resolve(folder) : unpacked(folder);
const examples = join(work, 'examples');
cpSync(join(tree, 'examples/quickstart/tutorial'), join(examples, 'quickstart/tutorial'), { recursive: true });
cpSync(join(tree, 'embedded-tests/src/test/resources/data'), join(examples, 'data'), { recursive: true });
const web = await serveStandIn();
const server = await startServer();
/** Tutorials and tests that are met, missed by a known cause, and missed. */
const tests = { '✓': 0, '◦': 0, '✗': 0 };
try {
  for (const [name, tutorial] of Object.entries({ ...SQL_TUTORIALS, ...NATIVE_TUTORIALS, ...WIKIPEDIA_TUTORIALS, ...SPEC_TESTS })) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    const session = new Session({
      tree,
      url: server.url,
      examples,
      segments: join(work, 'data', 'deep-storage'),
      rehomed: (text) => text.replaceAll(DOCUMENTED_ADDRESS, web.url),
    });
    const begin = Date.now();
    await tutorial(session).catch((error) => session.misses.push({ step: 'the tutorial', expected: 'its end', found: error.stack }));
    tests[tell(name, session, Date.now() - begin)]++;
  }
  console.log(`${tests['✓']} met, ${tests['◦']} missed by a known cause, ${tests['✗']} missed`);
  if (words.length === 0) console.log(`resources of the original's tests that are not run: ${unusedResources(tree).join(', ')}`);
} finally {
  await server.stop();
  web.close();
  rmSync(work, { recursive: true, force: true });
}
process.exit(tests['✗'] === 0 ? 0 : 1);

/** Prints what a tutorial or test has met and missed; gives its mark. */
function tell(name, { met, misses }, ms) {
  const told = misses.map((miss) => ({ ...miss, cause: CAUSES.find(({ what }) => what.test(`${name}: ${miss.step}`))?.cause }));
  const unexplained = told.filter(({ cause }) => cause === undefined);
  const mark = misses.length === 0 ? '✓' : unexplained.length === 0 ? '◦' : '✗';
  console.log(`${mark} ${name}: ${met} of ${met + misses.length} (${(ms / 1000).toFixed(1)} s)`);
  for (const cause of new Set(told.flatMap(({ cause }) => cause ?? []))) console.log(`    ${cause}`);
  for (const { step, expected, found } of unexplained) console.log(`    ${step}\n      expected ${expected}\n      found    ${found}`);
  return mark;
}

/** The parts of a repository that are read, as files. */
function unpacked(repository) {
  const to = join(work, 'tree');
  mkdirSync(to);
  const archive = spawnSync(
    'git',
    ['-C', repository, 'archive', 'master', 'docs', 'examples/quickstart/tutorial', 'embedded-tests/src/test/resources'],
    {
      maxBuffer: 2 ** 28,
    },
  );
  if (archive.status !== 0) throw new Error(`${repository}: ${archive.stderr}`);
  const tar = spawnSync('tar', ['x', '-C', to], { input: archive.stdout });
  if (tar.status !== 0) throw new Error(String(tar.stderr));
  return to;
}

/** Serves the sampled file under the column names and times of the file that the documentation loads from the web. */
async function serveStandIn() {
  const sampled = gunzipSync(readFileSync(join(examples, 'quickstart/tutorial/wikiticker-2015-09-12-sampled.json.gz'))).toString();
  const lines = sampled
    .trim()
    .split('\n')
    .map((line) => {
      const { time, ...row } = JSON.parse(line);
      return JSON.stringify({ ...row, timestamp: new Date(Date.parse(time) + SHIFT_MS).toISOString() });
    });
  const body = gzipSync(lines.join('\n'));
  const files = createServer((_request, answer) => answer.writeHead(200, { 'content-length': body.length }).end(body));
  await new Promise((done) => files.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${files.address().port}/data/wikipedia.json.gz`, close: () => files.close() };
}

/** A server whose working folder is that of the original's examples: tutorials name their files relative to it. */
async function startServer() {
  const properties = {
    'svc.server.http.apiName': 'druid',
    'svc.export.storage.baseDir': '/tmp/druid',
    'svc.ingestion.http.allowedAddresses': '["127.0.0.1"]',
    'svc.coordinator.period': 'PT1S',
    // The spec that appends is of a time when rows of a datasource always kept their times.
    'svc.indexer.task.ignoreTimestampSpecForDruidInputSource': 'true',
    'svc.ingestion.local.allowedDirectories': JSON.stringify([examples]),
  };
  const flags = Object.entries(properties).flatMap(([name, value]) => ['--property', `${name}=${value}`]);
  const command = [
    join(ROOT, 'bin/dolmen.mjs'),
    'start',
    '--data-dir',
    join(work, 'data'),
    '--port-offset',
    String(PORT_OFFSET),
    '--no-sample',
    ...flags,
  ];
  const child = spawn(process.execPath, command, { cwd: examples, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.once('exit', done));
  const url = await Promise.race([
    new Promise((ready) =>
      createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('ready ') && ready(line.slice(6).trim())),
    ),
    ended.then((code) => Promise.reject(new Error(`the server ended with ${code}`))),
  ]);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, stop };
}
