import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ErrorDetails, ServiceError } from '../../src/base/errors.js';
import type { TaskContext } from '../../src/ingestion/contract.js';
import { mayBeTriedAgain } from '../../src/ingestion/sql/query-fault.js';
import type { VisibleSegment } from '../../src/model/segment.js';
import { run, type TaskRun, taskContext } from './run-task.js';

/** Documented faults of statements that run as tasks, each by a statement, with its fields. */
const faults = suite('faults of statements');

const HOUR = 3_600_000;
const ROWS = [
  { t: 1000, s: 'a' },
  { t: 2000, s: 'b' },
  { t: 3000, s: 'a long string' },
  { t: HOUR, s: 'c' },
];

function extern(rows: readonly unknown[] = ROWS, source: Record<string, unknown> = {}): string {
  const data = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');
  return `TABLE(EXTERN('${JSON.stringify({ type: 'inline', data, ...source })}', '{"type":"json"}')) EXTEND (t BIGINT, s VARCHAR)`;
}

const insert = (from = extern(), time = 'MILLIS_TO_TIMESTAMP(t)'): string =>
  `INSERT INTO d SELECT ${time} AS __time, s FROM ${from} PARTITIONED BY HOUR`;

const FIRST_HOUR = '1970-01-01T00:00:00.000Z/1970-01-01T01:00:00.000Z';
const SECOND_HOUR = '1970-01-01T01:00:00.000Z/1970-01-01T02:00:00.000Z';

const aborted = new AbortController();
aborted.abort();
const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
const rejecting = (error: unknown) => () => Promise.reject(error);

/** A segment of a minute, which no segment of an hour can be added to. */
const minute: VisibleSegment = {
  segment: {
    id: { dataSource: 'd', interval: { start: 0, end: 60_000 }, version: '2026-01-01T00:00:00.000Z', partitionNumber: 0 },
    shardSpec: { type: 'numbered', partitionNum: 0, partitions: 1 },
    loadSpec: { type: 'local', path: '' },
    ...{ sizeBytes: 1, rowCount: 1, dimensions: [], metrics: [], columns: [] },
  },
  visible: [{ start: 0, end: 60_000 }],
};

interface Case {
  readonly fault: Record<string, unknown>;
  readonly query: string;
  readonly context?: Record<string, unknown>;
  readonly task?: Partial<TaskContext>;
}

const cases: readonly Case[] = [
  { fault: { errorCode: 'CannotParseExternalData' }, query: insert(extern(['{'])) },
  {
    fault: { errorCode: 'TooManyWarnings', maxWarnings: 1, rootErrorCode: 'CannotParseExternalData' },
    query: insert(extern(['{', '}', ...ROWS])),
    context: { maxParseExceptions: 1 },
  },
  { fault: { errorCode: 'InsertTimeNull' }, query: insert(extern(), `TIME_PARSE(s)`) },
  {
    fault: { errorCode: 'InsertTimeOutOfBounds', interval: SECOND_HOUR },
    query: insert().replace(
      'INSERT INTO d',
      "REPLACE INTO d OVERWRITE WHERE __time < TIMESTAMP '1970-01-01 01:00:00' AND __time >= TIMESTAMP '1970-01-01'",
    ),
  },
  {
    fault: { errorCode: 'InsertCannotBeEmpty', dataSource: 'd' },
    query: insert(`${extern()} WHERE t < 0`),
    context: { failOnEmptyInsert: true },
  },
  { fault: { errorCode: 'TooManyPartitions', maxPartitions: 1 }, query: insert(), context: { maxPartitions: 1 } },
  {
    fault: {
      errorCode: 'TooManySegmentsInTimeChunk',
      timeChunk: '1970-01-01T00:00:00.000Z',
      numSegments: 3,
      maxNumSegments: 2,
      segmentGranularity: 'HOUR',
    },
    query: insert(),
    context: { rowsPerSegment: 1, maxNumSegments: 2 },
  },
  { fault: { errorCode: 'RowTooLarge', maxFrameSize: 20 }, query: insert(), context: { maxFrameSize: 20 } },
  {
    fault: { errorCode: 'QueryNotSupported' },
    query: insert(extern([], { type: 'druid', dataSource: 'other', interval: '2000/2001', data: undefined })),
  },
  { fault: { errorCode: 'InsertLockPreempted' }, query: insert(), task: { publish: rejecting(new ServiceError('conflict', 'no lock')) } },
  {
    fault: { errorCode: 'InsertCannotAllocateSegment', dataSource: 'd', interval: FIRST_HOUR, allocatedInterval: null },
    query: insert(),
    task: { publish: rejecting(new ServiceError('conflict', 'no home')), visibleSegments: async () => [minute] },
  },
  { fault: { errorCode: 'UnknownError', message: 'broken' }, query: insert(), task: { publish: rejecting(new Error('broken')) } },
  {
    fault: { errorCode: 'NotEnoughTemporaryStorage', suggestedMinimumStorage: null, configuredTemporaryStorage: null },
    query: insert(),
    task: { storage: { ...taskContext('/tmp', []).storage, push: rejecting(full) } },
  },
  { fault: { errorCode: 'Canceled' }, query: insert(), task: { signal: aborted.signal } },
  {
    fault: {
      errorCode: 'NotEnoughMemory',
      suggestedServerMemory: null,
      ...{ serverMemory: 4096 + (1 << 27), usableMemory: 4096 + (1 << 27), serverWorkers: 1, serverThreads: 1 },
    },
    query: `SELECT s, ROW_NUMBER() OVER (ORDER BY s) FROM ${extern(Array.from({ length: 200 }, (_, t) => ({ t, s: 'x'.repeat(100) + t })))}`,
    task: { maxBytesInMemory: 4096, maxKernelBytes: 1 << 27 },
  },
  {
    fault: { errorCode: 'TooManyRowsInAWindow', numRows: 3, maxRows: 2 },
    query: `SELECT s, SUM(t) OVER (PARTITION BY t > 3000) FROM ${extern()}`,
    context: { maxRowsMaterializedInWindow: 2 },
  },
  {
    // A line of more bytes than lines may have.
    fault: { errorCode: 'CannotParseExternalData' },
    query: insert(extern([{ t: 1, s: 'x'.repeat(2 << 20) }])),
  },
  {
    fault: { errorCode: 'DurableStorageConfiguration' },
    query: `SELECT s FROM ${extern()}`,
    context: { selectDestination: 'durableStorage' },
  },
];

function errorOf({ outcome }: TaskRun): ErrorDetails & { readonly errorMessage?: string } {
  const report = outcome.report as {
    readonly multiStageQuery: {
      readonly payload: { readonly status: { readonly errorReport?: { readonly error: ErrorDetails } } };
    };
  };
  return report.multiStageQuery.payload.status.errorReport?.error ?? { errorCode: 'none' };
}

for (const { fault, query, context = {}, task = {} } of cases)
  faults(String(fault['errorCode']), async () => {
    const done = await run({ type: 'query_controller', spec: { query, context } }, task);
    const { errorMessage, ...fields } = errorOf(done);
    const error = Object.fromEntries(Object.entries(fields).filter(([key]) => key !== 'message' || fault['message'] !== undefined));
    assert.equal(error, fault, String(errorMessage));
    assert.ok(String(errorMessage).length > 0);
    assert.equal(done.published, []);
  });

const ROOT = path.join(import.meta.dirname, '..', '..', '..');

faults('strings of EXTERN lose their NUL characters where that is asked for', async () => {
  const rows = [
    { t: 0, s: 'a\u0000b' },
    { t: 1, s: '\u0000' },
    { t: 2, s: '\\u0000' },
  ];
  for (const [removeNullBytes, expected] of [
    [true, ['ab', '', '\\u0000']],
    [false, ['a\u0000b', '\u0000', '\\u0000']],
  ] as const) {
    const done = await run({ type: 'query_controller', spec: { query: insert(extern(rows)), context: { removeNullBytes } } });
    assert.equal(
      done.rows.map((row) => row['s']),
      expected,
    );
  }
  const { tags } = (
    await run({
      type: 'query_controller',
      spec: {
        query: `INSERT INTO d SELECT MILLIS_TO_TIMESTAMP(0) AS __time, tags FROM TABLE(EXTERN('${JSON.stringify({ type: 'inline', data: JSON.stringify({ tags: ['x\u0000y', '\\u0000'] }) })}', '{"type":"json"}')) EXTEND (tags VARCHAR ARRAY) PARTITIONED BY ALL`,
        context: { removeNullBytes: true },
      },
    })
  ).rows[0] as { readonly tags: unknown };
  assert.equal(tags, ['xy', '\\u0000']);
});

faults('of two names for one limit the newer counts', async () => {
  const spec = { query: insert(), context: { rowsInMemory: 0 } };
  assert.match((await run({ type: 'query_controller', spec })).outcome.errorMessage ?? '', /rowsInMemory/);
  const context = { maxRowsInMemory: 1, rowsInMemory: 1000 };
  const { log, outcome } = await run({ type: 'query_controller', spec: { query: insert(), context } });
  assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  assert.ok(
    log.some((line) => line.startsWith('spilled ')),
    'rows were written as soon as there was one',
  );
});

faults('an error of none of the documented kinds tells its own code, who can mend it, and whether to try again', async () => {
  for (const [code, druidErrorCode, persona, category, passes] of [
    ['segments_unavailable', 'segmentsUnavailable', 'OPERATOR', 'RUNTIME_FAILURE', true],
    ['unavailable', 'unavailable', 'OPERATOR', 'SERVICE_UNAVAILABLE', true],
    ['forbidden', 'forbidden', 'USER', 'FORBIDDEN', false],
  ] as const) {
    const done = await run({ type: 'query_controller', spec: { query: insert() } }, { publish: rejecting(new ServiceError(code, 'why')) });
    const error = errorOf(done);
    const expected = { errorCode: 'DruidException', druidErrorCode, persona, category, context: { canBeTriedAgain: String(passes) } };
    assert.equal(error, { ...expected, errorMessage: 'why' });
    assert.is(mayBeTriedAgain(error), passes);
  }
  assert.ok(mayBeTriedAgain({ errorCode: 'WorkerFailed' }));
  assert.not.ok(mayBeTriedAgain({ errorCode: 'CannotParseExternalData' }));
});

faults('the documentation lists every code that is raised', () => {
  const page = readFileSync(path.join(ROOT, 'docs', 'sql-statements.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (yes|no) \|/gm)];
  const raised = new Set(rows.flatMap(([, code, isRaised]) => (isRaised === 'yes' ? [code] : [])));
  const folder = path.join(ROOT, 'src');
  const isRun = (name: string): boolean => /^(ingestion|execution)[\\/].*\.ts$/.test(name);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isRun);
  const text = files.map((name) => readFileSync(path.join(folder, name), 'utf8')).join('\n');
  const codes = readFileSync(path.join(folder, 'ingestion', 'sql', 'query-fault.ts'), 'utf8');
  const written = [...text.matchAll(/errorCode: '([A-Z]\w+)'/g), ...codes.matchAll(/^ {2}[a-z_]+: '([A-Z]\w+)',$/gm)].map(
    ([, code]) => code,
  );
  assert.equal([...new Set(written)].sort(), [...raised].sort());
});

faults.run();
