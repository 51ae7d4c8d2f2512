import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SILENT_LOG } from '../../src/base/log.js';
import { BodyBudget } from '../../src/server/body-intake.js';
import { type HttpServer, serve } from '../../src/server/http.js';
import type { HttpRequest, HttpResponse, Route } from '../../src/server/http.types.js';
import { openGate } from '../server/open-gate.js';

/** The program as people run it, against a server that answers from a table. */
const program = suite<{ folder: string; server: HttpServer; url: string }>('program');

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

interface Ending {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** @param watch  given the process and what it wrote to standard error so far, at every write */
function dolmen(words: readonly string[], input = '', watch?: (child: ChildProcess, err: string) => void): Promise<Ending> {
  const child = spawn(process.execPath, [MAIN, ...words], { env: { ...process.env, NO_COLOR: '1' } });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => {
    err += String(chunk);
    watch?.(child, err);
  });
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

const json = (status: number, value: unknown): HttpResponse => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
});
const bodyOf = (request: HttpRequest): Record<string, unknown> => JSON.parse(request.body.toString());

/** Task that was submitted to the fake server. */
let submitted: { spec: Record<string, unknown>; content: string } | undefined;
function submittedSpec(): unknown {
  if (submitted === undefined) throw new Error('no task was submitted');
  return submitted.spec;
}
/** So many requests about a task are still answered with 503. */
let busy = 0;
let shutdowns = 0;
let submittedSql = '';
let taskOutcome = { statusCode: 'SUCCESS', errorMsg: null as string | null };

/** Lines of what the fake server samples. */
const SERVED = ['{"when":"2001-01-01T00:00:00Z","n":1}', '{"when":"2001-01-02T00:00:00Z","n":2}'];

function answerSql(request: HttpRequest): HttpResponse {
  const { query, resultFormat } = bodyOf(request);
  if (query === 'SELECT bad') {
    return json(400, {
      error: 'Plan validation failed',
      errorMessage: `unknown column 'bad' at line 1, column 8`,
      errorClass: 'x',
      host: 'h',
    });
  }
  if (resultFormat === 'csv') return { status: 200, body: 'n\n7\n\n' };
  if (resultFormat === 'objectLines') return { status: 200, body: '{"n":7}\n\n' };
  return { status: 200, body: '[["n"],["BIGINT"],[9007199254740993]]' };
}

function routes(folder: string): readonly Route[] {
  const at = (method: Route['method'], path: string, handle: (request: HttpRequest) => HttpResponse): Route => ({
    method,
    path,
    permission: { access: 'public' },
    errors: 'map',
    handle: async (request) => handle(request),
  });
  const rowStats = { buildSegments: { processed: 2, processedWithError: 0, thrownAway: 0, unparseable: 1, processedBytes: 9 } };
  const unparseableEvents = { buildSegments: [{ details: ['no timestamp'], input: '{"n":3}', source: '/in.json', record: 3, line: 4 }] };
  return [
    at('POST', '/svc/v2/sql', answerSql),
    at('GET', '/status/properties', () => json(200, { 'svc.ingestion.local.allowedDirectories': JSON.stringify([join(folder, 'input')]) })),
    at('POST', '/svc/v2/sql/task', (request) => {
      submittedSql = String(bodyOf(request)['query']);
      return json(200, { taskId: 'task 1', state: 'RUNNING' });
    }),
    at('POST', '/svc/indexer/v1/task', (request) => {
      const spec = bodyOf(request);
      const { files = [] } = (spec as { spec: { ioConfig: { inputSource: { files?: string[] } } } }).spec.ioConfig.inputSource;
      submitted = { spec, content: files.map((file) => readFileSync(file, 'utf8')).join('') };
      return json(200, { task: 'task 1' });
    }),
    at('POST', '/svc/indexer/v1/sampler', (request) => {
      const { inputFormat } = (bodyOf(request) as { spec: { ioConfig: { inputFormat: { type: string } } } }).spec.ioConfig;
      const inputs = inputFormat.type === 'lines' ? SERVED.map((line) => ({ line })) : SERVED.map((line) => JSON.parse(line));
      return json(200, { data: inputs.map((input) => ({ input })) });
    }),
    at('GET', '/svc/indexer/v1/task/{id}/status', () =>
      busy-- > 0
        ? json(503, { error: 'no leader at the moment' })
        : json(200, { task: 'task 1', status: { ...taskOutcome, runnerStatusCode: 'NONE' } }),
    ),
    at('POST', '/svc/indexer/v1/task/{id}/shutdown', () => {
      shutdowns++;
      taskOutcome = { statusCode: 'FAILED', errorMsg: 'shut down by request' };
      return json(200, { task: 'task 1' });
    }),
    at('GET', '/svc/indexer/v1/task/{id}/reports', () =>
      json(200, {
        ingestionStatsAndErrors: { payload: { ingestionState: 'COMPLETED', rowStats, unparseableEvents, segmentsPublished: 4 } },
      }),
    ),
  ];
}

program.before(async (context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-cli-'));
  mkdirSync(join(context.folder, 'input'));
  context.server = await serve({
    routes: routes(context.folder),
    host: '127.0.0.1',
    port: 0,
    maxRequestBytes: 1_000_000,
    bodies: new BodyBudget(2 ** 30),
    allowedHosts: [],
    compressionLevel: 1,
    maxIdleMs: 60_000,
    apiName: 'svc',
    gate: openGate(),
    log: SILENT_LOG,
  });
  context.url = `http://127.0.0.1:${context.server.port}`;
});
program.after(async ({ folder, server }) => {
  await server.close(0);
  rmSync(join(tmpdir(), `dolmen-none-${process.pid}`), { recursive: true, force: true });
  rmSync(folder, { recursive: true });
});

program('sql -e prints a table, longs whole', async ({ url }) => {
  const { code, out, err } = await dolmen(['sql', url, '-e', 'SELECT n']);
  assert.is(err, '');
  assert.is(code, 0);
  assert.equal(out.split('\n'), [`${' '.repeat(16)}n `, '─'.repeat(18), ' 9007199254740993 ', '']);
});

program('sql reads statements from a pipe and stops at the first that fails, with a caret', async ({ url }) => {
  const { code, out, err } = await dolmen(['sql', url], 'SELECT 1; SELECT bad; SELECT 3;');
  assert.is(code, 1);
  assert.is(out.match(/9007199254740993/g)?.length, 1);
  assert.equal(err.split('\n'), [`Plan validation failed: unknown column 'bad' at line 1, column 8`, '  SELECT bad', '         ^', '']);
});

program('sql passes the text formats through and reads files', async ({ folder, url }) => {
  const file = join(folder, 'q.sql');
  writeFileSync(file, 'SELECT 1');
  assert.is((await dolmen(['sql', url, '--format', 'csv', '-f', file])).out, 'n\n7\n');
  assert.is((await dolmen(['sql', url, '--format', 'lines', '-e', 'SELECT 1'])).out, '{"n":7}\n');
});

const usage = [
  { words: ['nonsense'], says: /unknown command 'nonsense'/ },
  { words: ['sql', '--formt', 'csv'], says: /unknown option '--formt'[\s\S]*--format/ },
  { words: ['sql', '--format', 'xml'], says: /Allowed choices are table, csv, json, lines/ },
  { words: ['sql', 'http://:::', '-e', 'SELECT 1'], says: /is not a URL/ },
  { words: ['sql', '-f', '/nowhere.sql'], says: /cannot read \/nowhere\.sql/ },
  { words: ['ingest', '/nowhere.json'], says: /there is no file \/nowhere\.json/ },
  { words: ['start', '--roles', 'brokr', '--data-dir', '/nowhere'], says: /svc\.roles.*'brokr'/ },
  { words: ['start', '--property', 'svc.router.port=x', '--data-dir', '/nowhere'], says: /svc\.router\.port.*'x'/ },
  {
    words: ['start', '--kernels', 'nosuch', '--no-sample', '--data-dir', join(tmpdir(), `dolmen-none-${process.pid}`)],
    says: /svc\.processing\.kernels.*"nosuch".*simd/,
  },
  {
    words: ['start', '--property', 'svc.ruter.port=1', '--strict', '--data-dir', '/nowhere'],
    says: /svc\.ruter\.port.*did you mean svc\.router\.port/,
  },
];
for (const { words, says } of usage) {
  program(`dolmen ${words.join(' ')} ends with 2 and says why`, async () => {
    const { code, out, err } = await dolmen(words);
    assert.is(code, 2, err);
    assert.match(err, says);
    assert.is(out, '');
  });
}

program('exit code 3 and a hint when the server cannot be reached', async () => {
  const { code, err } = await dolmen(['sql', 'http://127.0.0.1:9', '-e', 'SELECT 1']);
  assert.is(code, 3);
  assert.match(err, /nothing answers at http:\/\/127\.0\.0\.1:9 \(.+\); is 'dolmen start' running\?/);
});

program('help teaches: commands, properties, exit codes', async () => {
  const { code, out } = await dolmen(['--help']);
  assert.is(code, 0);
  for (const word of ['start', 'sql', 'ingest', 'Examples:', 'Exit codes:']) assert.ok(out.includes(word), word);
  assert.ok((await dolmen(['start', '--help'])).out.includes('svc.processing.numThreads'));
  assert.match((await dolmen(['--version'])).out, /^\d+\.\d+\.\d+\n$/);
});

program('ingest guesses, lends the file to the server, and ends with rows, segments, rejected lines', async ({ folder, url }) => {
  const file = join(folder, 'my events.json');
  writeFileSync(file, '{"when":"2001-01-01T00:00:00Z","n":1}\n{"when":"2001-01-02T00:00:00Z","n":2}\n{"n":3}\n');
  taskOutcome = { statusCode: 'SUCCESS', errorMsg: null };
  const { code, out, err } = await dolmen(['ingest', file, '--url', url, '--granularity', 'day']);
  assert.is(code, 0, err);
  assert.match(err, /as json; time from "when" \(iso\); into "my_events"/);
  assert.match(
    out,
    /^loaded 2 rows into 4 segments of "my_events" in .*; 1 rejected line\n {2}\/in\.json, record 3, line 4: no timestamp: \{"n":3\}\n$/,
  );
  assert.is(submitted?.content, readFileSync(file, 'utf8'));
  const { spec } = submittedSpec() as {
    spec: { dataSchema: { dataSource: string; timestampSpec: unknown; granularitySpec: { segmentGranularity: string } } };
  };
  assert.is(spec.dataSchema.dataSource, 'my_events');
  assert.equal(spec.dataSchema.timestampSpec, { column: 'when', format: 'iso' });
  assert.is(spec.dataSchema.granularitySpec.segmentGranularity, 'day');
  assert.equal(readdirSync(join(folder, 'input')), []);
});

program('ingest leaves a file below the allowed folders where it is', async ({ folder, url }) => {
  const file = join(folder, 'input', 'here.csv');
  writeFileSync(file, 'day,n\n2001-01-01,1\n');
  assert.is((await dolmen(['ingest', file, '--url', url, '--datasource', 't', '--append'])).code, 0);
  assert.ok(existsSync(file));
  const { spec } = submittedSpec() as { spec: { ioConfig: Record<string, unknown> } };
  assert.equal(spec.ioConfig['inputFormat'], { type: 'csv', findColumnsFromHeader: true, tryParseNumbers: true });
  assert.is(spec.ioConfig['appendToExisting'], true);
  rmSync(file);
});

program('ingest of a failed task ends with 1 and its reason; nothing is left behind', async ({ folder, url }) => {
  const file = join(folder, 'x.json');
  writeFileSync(file, '{"t":"2001-01-01"}\n');
  taskOutcome = { statusCode: 'FAILED', errorMsg: 'disk full' };
  const { code, err } = await dolmen(['ingest', file, '--url', url]);
  assert.is(code, 1);
  assert.match(err, /failed: disk full/);
  assert.equal(readdirSync(join(folder, 'input')), []);
});

program('INSERT and REPLACE run as tasks', async ({ url }) => {
  taskOutcome = { statusCode: 'SUCCESS', errorMsg: null };
  const done = await dolmen(['sql', url, '-e', '-- load\nINSERT INTO t SELECT 1; SELECT n']);
  assert.is(done.code, 0, done.err);
  assert.is(submittedSql, '-- load\nINSERT INTO t SELECT 1');
  assert.match(done.err, /done: task task 1/);
  assert.match(done.out, /9007199254740993/);
  taskOutcome = { statusCode: 'FAILED', errorMsg: 'disk full' };
  const failed = await dolmen(['sql', url, '-e', 'REPLACE INTO t OVERWRITE ALL SELECT 1']);
  assert.is(failed.code, 1);
  assert.match(failed.err, /failed: disk full/);
});

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.log('skipped: the shell in a terminal needs tmux');
(hasTmux ? program : program.skip)('the shell in a terminal: Control-C, Up, quit and its history', async ({ folder, url }) => {
  const history = join(folder, 'history');
  const terminal = `dolmen-test-${process.pid}`;
  const tmux = (...words: readonly string[]): string => String(spawnSync('tmux', ['-L', terminal, ...words]).stdout);
  const screen = (): string => tmux('capture-pane', '-p', '-t', 'shell');
  const shows = async (pattern: RegExp): Promise<void> => {
    for (let tries = 0; tries < 300 && !pattern.test(screen()); tries++) await new Promise((resolve) => setTimeout(resolve, 100));
    assert.match(screen(), pattern);
  };
  // A semicolon at the end would end the command of tmux.
  const type = (...keys: readonly string[]): string => tmux('send-keys', '-t', 'shell', ...keys.map((key) => key.replace(/;$/, '\\;')));
  const command = `env NO_COLOR=1 DOLMEN_HISTORY=${history} ${process.execPath} ${MAIN} sql ${url}; sleep 60`;
  tmux('new-session', '-d', '-s', 'shell', '-x', '120', '-y', '50', command);
  try {
    await shows(/dolmen>\s*$/m);
    type('SELECT oops', 'C-c');
    await shows(/\^C\s+dolmen>\s*$/m);
    type('SELECT 3;', 'Enter');
    await shows(/1 row in/);
    assert.not.match(screen(), /oopsSELECT/);
    type('SELECT -- a note', 'Enter', '4;', 'Enter');
    await shows(/1 row in[\s\S]*1 row in[\s\S]*dolmen>\s*$/m);
    type('Up');
    await shows(/dolmen> SELECT \/\* a note \*\/ 4;/);
    type('C-c', 'help;', 'Enter');
    await shows(/list the tables/);
    type('quit', 'Enter');
    await shows(/dolmen> quit/);
    assert.equal(readFileSync(history, 'utf8').trim().split('\n'), ['SELECT 3;', 'SELECT /* a note */ 4;', 'help;', 'quit']);
  } finally {
    tmux('kill-server');
  }
});

program('ingest goes on while the server answers 503', async ({ folder, url }) => {
  const file = join(folder, 'x.json');
  writeFileSync(file, '{"t":"2001-01-01"}\n');
  taskOutcome = { statusCode: 'SUCCESS', errorMsg: null };
  busy = 2;
  const { code, err } = await dolmen(['ingest', file, '--url', url]);
  assert.is(code, 0, err);
  assert.ok(busy < 0);
});

program('Control-C stops the task and says so', async ({ folder, url }) => {
  const file = join(folder, 'x.json');
  writeFileSync(file, '{"t":"2001-01-01"}\n');
  taskOutcome = { statusCode: 'RUNNING', errorMsg: null };
  let sent = false;
  const { code, err } = await dolmen(['ingest', file, '--url', url], '', (child, written) => {
    if (sent || !written.includes('x: ')) return; // the task is being followed
    sent = child.kill('SIGINT');
  });
  assert.is(code, 1);
  assert.match(err, /stopping task task 1\n[\s\S]*failed: task task 1 was stopped/);
  assert.is(shutdowns, 1);
  assert.equal(readdirSync(join(folder, 'input')), []);
});

program('ingest gives the rows of a file without a time column one constant time', async ({ folder, url }) => {
  const file = join(folder, 'y.json');
  writeFileSync(file, '{"a":"x","b":2}\n');
  taskOutcome = { statusCode: 'SUCCESS', errorMsg: null };
  const { code, err } = await dolmen(['ingest', file, '--url', url]);
  assert.is(code, 0, err);
  assert.match(err, /no column reads as time, all rows get 1970-01-01/);
  const { spec } = submittedSpec() as {
    spec: { dataSchema: { timestampSpec: { missingValue: string }; granularitySpec: { segmentGranularity: string } } };
  };
  assert.is(spec.dataSchema.timestampSpec.missingValue, '1970-01-01T00:00:00Z');
  assert.is(spec.dataSchema.granularitySpec.segmentGranularity, 'all');
});

const INPUTS: readonly {
  readonly name: string;
  readonly words: readonly string[];
  readonly input?: string;
  readonly dataSource: string;
  readonly content: string;
  readonly source: (inputSource: Record<string, unknown>) => boolean;
}[] = [
  {
    name: 'a folder',
    words: ['many'],
    dataSource: 'many',
    content: SERVED.join('\n'),
    source: ({ files }) => (files as string[]).length === 2,
  },
  {
    name: 'a pattern',
    words: ['many/*.json', '--datasource', 't'],
    dataSource: 't',
    content: SERVED.join('\n'),
    source: ({ type }) => type === 'local',
  },
  {
    name: 'standard input',
    words: ['-', '--datasource', 't'],
    input: SERVED.join('\n'),
    dataSource: 't',
    content: SERVED.join('\n'),
    source: ({ type }) => type === 'local',
  },
  {
    name: 'a URL',
    words: ['http://files.example/some/events.json.gz?day=1'],
    dataSource: 'events',
    content: '',
    source: ({ type, uris }) => type === 'http' && String(uris) === 'http://files.example/some/events.json.gz?day=1',
  },
  {
    name: 'URLs whose names tell nothing',
    words: ['https://h/1', 'https://h/2', '--datasource', 't', '--format', 'json'],
    dataSource: 't',
    content: '',
    source: ({ uris }) => (uris as string[]).length === 2,
  },
  { name: 'a URL by its beginning', words: ['https://h/stream'], dataSource: 'stream', content: '', source: ({ type }) => type === 'http' },
];
for (const { name, words, input, dataSource, content, source } of INPUTS)
  program(`ingest takes ${name}`, async ({ folder, url }) => {
    const many = join(folder, 'many');
    mkdirSync(many, { recursive: true });
    for (const [at, line] of SERVED.entries()) writeFileSync(join(many, `${at}.json`), at === 0 ? `${line}\n` : line);
    taskOutcome = { statusCode: 'SUCCESS', errorMsg: null };
    const [first = '', ...rest] = words;
    const word = first.startsWith('many') ? join(folder, first) : first;
    const { code, err } = await dolmen(['ingest', word, ...rest, '--url', url], input);
    assert.is(code, 0, err);
    const { spec } = submittedSpec() as {
      spec: { dataSchema: Record<string, unknown>; ioConfig: { inputSource: Record<string, unknown>; inputFormat: { type: string } } };
    };
    assert.is(submitted?.content, content);
    assert.is(spec.ioConfig.inputFormat.type, 'json');
    assert.is(spec.dataSchema['dataSource'], dataSource);
    assert.equal(spec.dataSchema['timestampSpec'], { column: 'when', format: 'iso' });
    assert.ok(source(spec.ioConfig.inputSource), JSON.stringify(spec.ioConfig.inputSource));
    assert.equal(readdirSync(join(folder, 'input')), []);
  });

for (const { name, words, says } of [
  { name: 'a folder without files', words: ['nothing'], says: /nothing has no files/ },
  { name: 'several inputs without a name', words: ['y.json', 'http://h/y.json'], says: /--datasource: say/ },
  { name: 'inputs of several formats', words: ['mixed'], says: /the first of the inputs is csv, and .*b\.json is json/ },
  { name: 'a time column that is not there', words: ['y.json', '--time-column', 'c'], says: /no column c; it has a, b/ },
  {
    name: 'an unknown format',
    words: ['y.json', '--format', 'orc'],
    says: /--format: expected one of json, csv, tsv, parquet.*, found orc/,
  },
]) {
  program(`ingest refuses ${name}`, async ({ folder, url }) => {
    mkdirSync(join(folder, 'nothing'), { recursive: true });
    mkdirSync(join(folder, 'mixed'), { recursive: true });
    writeFileSync(join(folder, 'mixed', 'a.csv'), 'day,n\n2001-01-01,1\n');
    writeFileSync(join(folder, 'mixed', 'b.json'), '{}\n');
    const [file = '', ...flags] = words;
    const { code, err } = await dolmen(['ingest', join(folder, file), ...flags, '--url', url]);
    assert.is(code, 2);
    assert.match(err, says);
  });
}

program.run();
