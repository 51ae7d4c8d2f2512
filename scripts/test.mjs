#!/usr/bin/env node
// npm test [-- words]: builds, checks format and types, then runs every test file (or those whose path has one of the
// words) in a process of its own. The last line counts everything: N passed, N failed, N skipped.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { build } from './build.mjs';
import { prepare } from './prepare.mjs';
import { filesBelow, ROOT, readStamp, writeStamp } from './stamp.mjs';
import { StepFailed, step } from './steps.mjs';

/** Longer than any honest test file on a slow machine; TEST_CASES is the factor of test/case-count.ts. */
const FILE_TIMEOUT_MS = 600_000 * Math.max(1, Number(process.env.TEST_CASES ?? 1));
/** A file whose tests are through, but whose process stays, leaks a server, a thread or a timer. */
const LINGER_MS = 15_000;
/** Another program may have the port of a test for a while. */
const PORT_TAKEN = /cannot listen on \S+: the port is in use/;

/** Flags of servers that tests start: hundreds of them, none of which is asked long enough for practice to be worth its time. */
const UNPRACTISED = JSON.stringify(['--property', 'svc.processing.practiceQueries=0']);

const counts = { passed: 0, failed: 0, skipped: 0 };
/** The output of what failed from its first failure on: who sees but the end of the run learns it too. */
const failures = [];
/** So many lines of each. */
const FAILURE_LINES = 60;

await prepare([]);
await check(() => build(['wasm']));
await check(() => build(['zones']));
await check(() => build(['ts']));
await check(() => build(['program']));
await check(() => step('format and lint', join(ROOT, 'node_modules', '.bin', 'biome'), ['check', '--error-on-warnings', '.']));

/** Processor seconds of the children that have been reported. */
let countedSeconds = endedChildrenSeconds();
const words = process.argv.slice(2);
const files = filesBelow(['test'], (path) => path.endsWith('.test.ts')).filter(
  (file) => words.length === 0 || words.some((word) => file.includes(word)),
);
// End-to-end tests start servers and take a while: one at a time, beside the others.
const isEndToEnd = (file) => ['api', 'differential'].some((folder) => file.startsWith(join('test', folder)));
const endToEnd = files.filter(isEndToEnd);
// The slowest of the last run first, so that no long one is left for the end.
const lastSeconds = JSON.parse(readStamp('test-seconds') ?? '{}');
const others = files.filter((file) => !isEndToEnd(file)).sort((a, b) => (lastSeconds[b] ?? Infinity) - (lastSeconds[a] ?? Infinity));
const lanes = Array.from({ length: Math.max(1, availableParallelism() - 1) }, () => runLane(others));
await Promise.all([runLane(endToEnd).then(() => runLane(others)), ...lanes]);
writeStamp('test-seconds', JSON.stringify(lastSeconds));

if (files.length === 0) {
  counts.failed++;
  process.stderr.write(`no test file matches ${words.join(' or ')}\n`);
}
if (failures.length > 0) process.stdout.write(`\nWhat failed, told above in full:\n${failures.join('')}`);
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** A step that counts as one test. */
async function check(run) {
  try {
    await run();
    counts.passed++;
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    counts.failed++;
    failures.push(`✗ ${error.message}\n`);
  }
}

async function runLane(queue) {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    let result = await runFile(file);
    if (result.failed > 0 && (PORT_TAKEN.test(result.output) || hidesWhy(result))) {
      process.stdout.write(`${file}: its port was taken, or a before hook threw; once more\n`);
      result = await runFile(file);
    }
    report(file, result);
  }
}

/** @returns how it ended; `trouble` is set when the numbers alone do not tell */
async function runFile(file) {
  const compiled = join(ROOT, 'dist', file.replace(/\.ts$/, '.js'));
  if (!existsSync(compiled))
    return { passed: 0, failed: 1, skipped: 0, output: '', trouble: 'was not compiled', seconds: 0, processorSeconds: 0 };
  const begin = Date.now();
  // A process group of its own, so that what a test leaves behind can be ended with it.
  const child = spawn(process.execPath, ['--enable-source-maps', compiled], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { DOLMEN_START_FLAGS: UNPRACTISED, ...process.env },
  });
  let output = '';
  let trouble;
  const end = (why) => {
    trouble = why;
    process.kill(-child.pid, 'SIGKILL');
  };
  let timer = setTimeout(() => end(`did not end within ${FILE_TIMEOUT_MS / 1000} s`), FILE_TIMEOUT_MS);
  const take = (chunk) => {
    output += chunk;
    if (!readSummary(output)) return;
    clearTimeout(timer);
    timer = setTimeout(() => end(`its process went on for ${LINGER_MS / 1000} s after its tests`), LINGER_MS);
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  let processorSeconds = 0;
  child.once('exit', () => {
    processorSeconds = endedChildrenSeconds() - countedSeconds;
    countedSeconds += processorSeconds;
  });
  const [code, signal] = await new Promise((resolve) => child.once('close', (...ending) => resolve(ending)));
  clearTimeout(timer);

  const summary = readSummary(output);
  if (summary === undefined) trouble ??= `ended with ${signal ?? code} before its tests were through`;
  else if (summary.total + summary.skipped === 0) trouble = 'ran no test: is a .run() missing?';
  else if (code !== 0 && summary.passed === summary.total) trouble ??= `ended with ${signal ?? code} although its tests passed`;
  else if (summary.skipped > 0 && skipReasons(output).length === 0) trouble ??= 'skips tests without saying why';
  const { passed = 0, total = 0, skipped = 0 } = summary ?? {};
  return {
    passed,
    failed: total - passed + (trouble === undefined ? 0 : 1),
    skipped,
    output,
    trouble,
    seconds: (Date.now() - begin) / 1000,
    processorSeconds,
  };
}

/** Whether a `before` hook threw, which uvu keeps to itself: that no server could listen on its port, maybe. */
function hidesWhy({ passed, output }) {
  return passed === 0 && readSummary(output) !== undefined && !output.includes('FAIL');
}

/** Processor seconds of all processes below this one that have ended; 0 on systems other than Linux. */
function endedChildrenSeconds() {
  if (!existsSync('/proc/self/stat')) return 0;
  // The name of the program, which may hold spaces, ends with the last parenthesis.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
  const [userTicks, systemTicks] = fields.slice(13, 15);
  return (Number(userTicks) + Number(systemTicks)) / 100;
}

/** The counts that uvu prints last, or undefined while it has not. */
function readSummary(output) {
  const plain = stripVTControlCharacters(output);
  const [, total, passed, skipped] = /^ {2}Total: +(\d+)\s+Passed: +(\d+)\s+Skipped: +(\d+)\s+Duration:/m.exec(plain) ?? [];
  return total === undefined ? undefined : { total: Number(total), passed: Number(passed), skipped: Number(skipped) };
}

/** Lines that a file with skipped tests prints: `skipped: why`. */
function skipReasons(output) {
  return output.split('\n').filter((line) => line.startsWith('skipped: '));
}

function report(file, { passed, failed, skipped, output, trouble, seconds, processorSeconds }) {
  lastSeconds[file] = seconds;
  counts.passed += passed;
  counts.failed += failed;
  counts.skipped += skipped;
  const numbers = [`${passed} passed`, failed > 0 ? `${failed} failed` : '', skipped > 0 ? `${skipped} skipped` : '']
    .filter((part) => part !== '')
    .join(', ');
  const line = `${failed > 0 ? '✗' : '✓'} ${file}: ${numbers} (${seconds.toFixed(1)} s, processor ${processorSeconds.toFixed(1)} s)${trouble === undefined ? '' : `; ${trouble}`}\n`;
  process.stdout.write(line);
  if (skipped > 0) for (const reason of skipReasons(output)) process.stdout.write(`    ${reason}\n`);
  if (failed > 0 && hidesWhy({ passed, output })) process.stdout.write('    a before hook threw\n');
  if (failed === 0) return;
  process.stdout.write(`${indented(output)}\n`);
  const firstFailure = Math.max(output.search(/^.*FAIL/m), 0);
  failures.push(`${line}${indented(output.slice(firstFailure).split('\n').slice(0, FAILURE_LINES).join('\n'))}\n`);
}

function indented(text) {
  return text.replace(/^/gm, '    ');
}
