import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChildTask, TaskChildren, TaskContext } from '../../src/ingestion/contract.js';
import { folderOfJsonLines } from './json-files.js';
import { childrenOf, run, type TaskRun, taskContext } from './run-task.js';

/** Statements over files, whose work is divided over workers: the answer is that of one. */
const staged = suite<{ folder: string }>('statements in stages');

const DAY = 86_400_000;
const FILES = 5;
const ROWS_PER_FILE = 700;

interface Row {
  readonly t: number;
  readonly page: string | null;
  readonly tags: readonly string[];
  readonly v: number;
  readonly x: number | null;
}

/** Rows of a file: 3 days, 7 pages with a null among them, lists, numbers. */
function rowsOf(file: number): readonly Row[] {
  return Array.from({ length: ROWS_PER_FILE }, (_, at) => {
    const n = file * ROWS_PER_FILE + at;
    return {
      t: (n % 3) * DAY + n,
      page: n % 7 === 6 ? null : `page ${n % 7}`,
      tags: n % 5 === 0 ? [] : [`t${n % 2}`, `t${n % 3}`],
      v: n,
      x: n % 11 === 0 ? null : n / 8,
    };
  });
}

const BY_FILE = Array.from({ length: FILES }, (_, file) => rowsOf(file));
const ROWS = BY_FILE.flat();

staged.before((context) => {
  context.folder = folderOfJsonLines('dolmen-staged-', BY_FILE);
});
staged.after(({ folder }) => rmSync(folder, { recursive: true, force: true }));

function extern(folder: string): string {
  const source = JSON.stringify({ type: 'local', baseDir: folder, filter: '*.json' });
  return `TABLE(EXTERN('${source}', '{"type":"json"}')) EXTEND ("t" BIGINT, "page" VARCHAR, "tags" VARCHAR ARRAY, "v" BIGINT, "x" DOUBLE)`;
}

interface Options {
  readonly workers?: number;
  readonly context?: Record<string, unknown>;
  readonly task?: Partial<TaskContext>;
}

function runSql(folder: string, query: string, { workers = 1, context = {}, task = {} }: Options = {}): Promise<TaskRun> {
  const payload = { type: 'query_controller', spec: { query, context: { maxNumTasks: workers + 1, ...context } } };
  return run(payload, { allowedDirectories: [folder], ...task });
}

const sorted = (rows: readonly unknown[]): readonly string[] =>
  rows.map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))).sort();

interface Payload {
  readonly status: { readonly errorReport?: { readonly error: Record<string, unknown> }; readonly workers: Record<string, unknown[]> };
  readonly stages: readonly { readonly phase: string; readonly workerCount: number }[];
  readonly counters: Record<
    string,
    Record<string, Record<string, { readonly rows: readonly number[]; readonly files?: readonly number[] }>>
  >;
  readonly results: { readonly results: readonly unknown[][]; readonly resultsTruncated: boolean };
}

const payloadOf = ({ outcome }: TaskRun): Payload => (outcome.report['multiStageQuery'] as { readonly payload: Payload }).payload;

const pages = [...new Set(ROWS.map(({ page }) => page))];
const sum = (rows: readonly Row[]): number => rows.reduce((total, { v }) => total + v, 0);

const cases: readonly {
  readonly name: string;
  readonly select: string;
  readonly by: string;
  readonly rows: readonly Record<string, unknown>[];
}[] = [
  {
    name: 'rows as they come, lists and nulls',
    select: 'SELECT MILLIS_TO_TIMESTAMP(t) AS __time, page, tags, v, x',
    by: 'PARTITIONED BY DAY',
    rows: ROWS.map(({ t, page, tags, v, x }) => ({
      __time: `${t}`,
      page,
      tags: tags.length === 0 ? [] : tags,
      v: `${v}`,
      x,
    })),
  },
  {
    name: 'groups of strings and times, with a null among them',
    select: `SELECT TIME_FLOOR(MILLIS_TO_TIMESTAMP(t), 'P1D') AS __time, page, SUM(v) AS total, COUNT(*) AS n, COUNT(DISTINCT x) AS different`,
    by: 'GROUP BY 1, 2 PARTITIONED BY DAY CLUSTERED BY page',
    rows: [0, 1, 2].flatMap((day) =>
      pages.map((page) => {
        const rows = ROWS.filter((row) => row.page === page && Math.floor(row.t / DAY) === day);
        const different = new Set(rows.flatMap(({ x }) => x ?? [])).size;
        return { __time: `${day * DAY}`, page, total: `${sum(rows)}`, n: `${rows.length}`, different: `${different}` };
      }),
    ),
  },
  {
    name: 'groups of numbers',
    select: 'SELECT x, v, COUNT(*) AS n',
    by: 'GROUP BY 1, 2 HAVING COUNT(*) > 0 PARTITIONED BY ALL',
    rows: ROWS.map(({ x, v }) => ({ __time: '0', x, v: `${v}`, n: '1' })),
  },
  {
    name: 'one group of all rows',
    select: 'SELECT COUNT(*) AS n, SUM(v) AS total',
    by: 'PARTITIONED BY ALL',
    rows: [{ __time: '0', n: `${ROWS.length}`, total: `${sum(ROWS)}` }],
  },
  {
    name: 'no rows of a grouping',
    select: 'SELECT page, COUNT(*) AS n',
    by: 'WHERE v < 0 GROUP BY 1 PARTITIONED BY ALL',
    rows: [],
  },
];

for (const { name, select, by, rows } of cases)
  for (const workers of [1, 2, 8])
    staged(`${name}, ${workers} workers`, async ({ folder }) => {
      const [where, rest] = by.startsWith('WHERE') ? [` ${by}`, ''] : ['', ` ${by}`];
      const done = await runSql(folder, `REPLACE INTO t OVERWRITE ALL ${select} FROM ${extern(folder)}${where}${rest}`, { workers });
      assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
      assert.equal(
        sorted(done.rows.map((row) => Object.fromEntries(Object.entries(row).sort()))),
        sorted(rows.map((row) => Object.fromEntries(Object.entries(row).sort()))),
      );
      const { stages, counters } = payloadOf(done);
      assert.ok(stages.every(({ phase }) => phase === 'FINISHED'));
      const read = Object.values(counters['0'] ?? {});
      assert.is(read.length, Math.min(workers, FILES));
      assert.is(
        read.reduce((total, { input0 }) => total + (input0?.rows[0] ?? 0), 0),
        ROWS.length,
      );
      assert.is(
        read.reduce((total, { input0 }) => total + (input0?.files?.[0] ?? 0), 0),
        FILES,
      );
    });

const totals = pages.map((page) => [page, sum(ROWS.filter((row) => row.page === page))] as const).sort(([, a], [, b]) => b - a);
const selects: readonly { readonly name: string; readonly query: (input: string) => string; readonly results: readonly unknown[][] }[] = [
  {
    name: 'the first groups of an order',
    query: (input) => `SELECT page, SUM(v) AS total FROM ${input} GROUP BY 1 ORDER BY 2 DESC LIMIT 2`,
    results: totals.slice(0, 2).map((row) => [...row]),
  },
  { name: 'a group of no rows', query: (input) => `SELECT COUNT(*), SUM(v) FROM ${input} WHERE v < 0`, results: [[0, null]] },
  { name: 'groups of no rows', query: (input) => `SELECT page, COUNT(*) FROM ${input} WHERE v < 0 GROUP BY 1`, results: [] },
  { name: 'rows of a filter', query: (input) => `SELECT v FROM ${input} WHERE v = 1234`, results: [[1234]] },
];
for (const { name, query, results } of selects)
  for (const workers of [1, 4])
    staged(`SELECT: ${name}, ${workers} workers`, async ({ folder }) => {
      const done = await runSql(folder, query(extern(folder)), { workers });
      assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
      assert.equal(payloadOf(done).results.results, results);
    });

staged('SELECT: the report shows the first 3000 rows, and that there are more', async ({ folder }) => {
  for (const workers of [1, 3]) {
    const all = await runSql(folder, `SELECT v FROM ${extern(folder)} WHERE v < 2000`, { workers });
    assert.equal([payloadOf(all).results.results.length, payloadOf(all).results.resultsTruncated], [2000, false]);
    const most = await runSql(folder, `SELECT v FROM ${extern(folder)}`, { workers });
    assert.equal([payloadOf(most).results.results.length, payloadOf(most).results.resultsTruncated], [3000, true]);
  }
});

const COUNT = (folder: string): string => `SELECT COUNT(*), SUM(v) FROM ${extern(folder)}`;
const COUNTED = [[ROWS.length, sum(ROWS)]];

/** Children of which some end as the test says. */
function childrenThat(
  input: string,
  change: (child: ChildTask, children: TaskChildren) => ChildTask,
): {
  readonly task: Partial<TaskContext>;
  readonly submitted: string[];
} {
  const submitted: string[] = [];
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-children-'));
  const context: TaskContext = { ...taskContext(folder, []), allowedDirectories: [input] };
  const children = childrenOf(() => context);
  const changed: TaskChildren = {
    ...children,
    async submit(payloads) {
      for (const payload of payloads) submitted.push((payload as { readonly id: string }).id);
      await children.submit(payloads);
    },
    list: async () => (await children.list()).map((child) => change(child, children)),
  };
  return { submitted, task: { ...context, children: changed } };
}

/** The process of a worker died: it has told nothing. */
const died = (input: string, ids: readonly string[]) =>
  childrenThat(input, (child, children) => {
    if (!ids.some((id) => child.id.endsWith(id))) return child;
    const { documents } = children;
    children.documents = async (id) => (id === child.id ? { ...(await documents(id)), report: null } : documents(id));
    return { ...child, state: 'FAILED', error: 'the process of the task ended by SIGKILL' };
  });

staged('the work of a worker that died is done again where faultTolerance says so', async ({ folder }) => {
  const { task, submitted } = died(folder, ['worker1_0', 'worker1_1']);
  const done = await runSql(folder, COUNT(folder), { workers: 2, context: { faultTolerance: true }, task });
  assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
  assert.equal(payloadOf(done).results.results, COUNTED);
  assert.equal(
    submitted,
    ['0_0', '1_0', '1_1', '1_2'].map((id) => `task-1-stage0-worker${id}`),
  );
  assert.is(payloadOf(done).status.workers['1']?.length, 3);
});

const faults: readonly {
  readonly name: string;
  readonly dies: readonly string[];
  readonly faultTolerance: boolean;
  readonly error: Record<string, unknown>;
}[] = [
  {
    name: 'a worker that died fails the statement',
    dies: ['worker1_0'],
    faultTolerance: false,
    error: {
      errorCode: 'WorkerFailed',
      errorMsg: 'the process of the task ended by SIGKILL',
      workerTaskId: 'task-1-stage0-worker1_0',
    },
  },
  {
    name: 'a worker that dies three times fails the statement',
    dies: ['worker1_0', 'worker1_1', 'worker1_2'],
    faultTolerance: true,
    error: {
      errorCode: 'TooManyAttemptsForWorker',
      maxPerWorkerRelaunchCount: 2,
      workerNumber: 1,
      taskId: 'task-1-stage0-worker1_2',
      rootErrorMessage: 'the process of the task ended by SIGKILL',
    },
  },
];
for (const { name, dies, faultTolerance, error } of faults)
  staged(name, async ({ folder }) => {
    const done = await runSql(folder, COUNT(folder), { workers: 2, context: { faultTolerance }, task: died(folder, dies).task });
    assert.not.ok(done.outcome.succeeded);
    const { errorMessage, ...fields } = payloadOf(done).status.errorReport?.error ?? {};
    assert.equal(fields, error);
    assert.is(typeof errorMessage, 'string');
  });

staged('where workers find no slots, the controller does their work', async ({ folder }) => {
  let nowMs = 0;
  const here = new Set<string>();
  const { task } = childrenThat(folder, (child) => (here.has(child.id) ? child : { ...child, state: 'PENDING' }));
  const { children } = task;
  assert.ok(children !== undefined);
  const begun: number[] = [];
  const runHere = async ({ id }: { readonly id: string }): Promise<boolean> => {
    begun.push(nowMs);
    return here.add(id).size > 0;
  };
  const done = await runSql(folder, COUNT(folder), {
    workers: 3,
    task: { ...task, children: { ...children, runHere }, now: () => (nowMs += 1000) },
  });
  assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
  assert.equal(payloadOf(done).results.results, COUNTED);
  assert.equal(
    [...here],
    ['0_0', '1_0', '2_0'].map((id) => `task-1-stage0-worker${id}`),
  );
  // It waits for slots once, not before each of them: of the clock, which goes on by a second a look, one look lies between two.
  const [first = 0, ...others] = begun;
  assert.ok(first >= 3000, String(first));
  assert.equal(
    others.map((at, index) => at - (begun[index] ?? 0)),
    [1000, 1000],
  );
});

staged('a run after a lost one takes over what its workers have done', async ({ folder }) => {
  const { task, submitted } = childrenThat(folder, (child) => child);
  const query = `SELECT COUNT(*), SUM(v) FROM ${extern(folder)}`;
  const first = await runSql(folder, query, { workers: 3, task: { ...task, attempt: 1 } });
  assert.equal(payloadOf(first).results.results, COUNTED);
  const orders = submitted.length;
  const second = await runSql(folder, query, { workers: 3, task: { ...task, attempt: 2 } });
  assert.equal(payloadOf(second).results.results, COUNTED);
  // The same tasks are asked for again, and stay as they were.
  assert.equal(submitted.slice(orders), submitted.slice(0, orders));
});

staged('one file of lines is read by several workers, in ranges', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-lines-'));
  try {
    const pad = 'x'.repeat(400);
    const lines = Array.from({ length: 8000 }, (_, v) => JSON.stringify({ v, page: v % 3 === 0 ? pad : `${pad}\nö`, t: v }));
    writeFileSync(path.join(folder, 'all.json'), lines.join('\n'));
    const done = await runSql(folder, `SELECT COUNT(*), SUM(v), COUNT(DISTINCT v) FROM ${extern(folder)}`, { workers: 3 });
    assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
    assert.equal(payloadOf(done).results.results, [[8000, (8000 * 7999) / 2, 8000]]);
    const read = Object.values(payloadOf(done).counters['0'] ?? {}).map(({ input0 }) => input0);
    assert.is(read.length, 3);
    for (const input of read) assert.ok((input?.rows[0] ?? 0) > 2000);
    assert.equal(
      read.map((input) => input?.files),
      [[1], [0], [0]],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

staged('one chunk is written by several workers, where any rows make a segment', async ({ folder }) => {
  const query = `INSERT INTO t SELECT v, page FROM ${extern(folder)} PARTITIONED BY ALL CLUSTERED BY page`;
  const done = await runSql(folder, query, { workers: 3, context: { rowsPerSegment: 1000 } });
  assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
  assert.equal(
    done.rows.map(({ v }) => Number(v)).sort((a, b) => a - b),
    ROWS.map(({ v }) => v),
  );
  assert.is(payloadOf(done).stages[1]?.workerCount, 3);
  for (const { rowCount } of done.published[0]?.segments ?? []) assert.ok(rowCount <= 1000);
});

staged('rows that are many times the memory of a task', async ({ folder }) => {
  const query = `REPLACE INTO t OVERWRITE ALL SELECT v, page, COUNT(*) AS n FROM ${extern(folder)} GROUP BY 1, 2 PARTITIONED BY ALL`;
  for (const workers of [1, 3]) {
    const done = await runSql(folder, query, { workers, task: { maxBytesInMemory: 1 << 14 } });
    assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
    assert.equal(
      done.rows.map(({ v }) => Number(v)).sort((a, b) => a - b),
      ROWS.map(({ v }) => v),
    );
  }
});

staged('rows that cannot be parsed count over all workers together', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bad-'));
  try {
    for (const name of ['a', 'b', 'c']) writeFileSync(path.join(folder, `${name}.json`), '{"v": 1}\nbad\nworse\n{"v": 2}');
    for (const workers of [1, 3])
      for (const [maxParseExceptions, error] of [
        [6, undefined],
        [-1, undefined],
        [5, { errorCode: 'TooManyWarnings', maxWarnings: 5, rootErrorCode: 'CannotParseExternalData' }],
        [1, { errorCode: 'TooManyWarnings', maxWarnings: 1, rootErrorCode: 'CannotParseExternalData' }],
        [0, { errorCode: 'CannotParseExternalData' }],
      ] as const) {
        const done = await runSql(folder, COUNT(folder), { workers, context: { maxParseExceptions } });
        const { errorMessage: _, ...fault } = payloadOf(done).status.errorReport?.error ?? {};
        assert.equal(fault, error ?? {}, `${workers} workers, ${maxParseExceptions}`);
        if (error === undefined) assert.equal(payloadOf(done).results.results, [[6, 9]]);
      }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const refused: readonly { readonly context: Record<string, unknown>; readonly message: RegExp }[] = [
  { context: { maxNumTasks: 1 }, message: /context\.maxNumTasks: .*1/ },
  { context: { maxNumTasks: 5000 }, message: /context\.maxNumTasks: found 5000, expected at most 1001/ },
  { context: { taskAssignment: 'some' }, message: /context\.taskAssignment/ },
  { context: { faultTolerance: true, durableShuffleStorage: false }, message: /context\.faultTolerance: true needs durableShuffleStorage/ },
  { context: { sqlJoinAlgorithm: 'hash' }, message: /context\.sqlJoinAlgorithm: .*broadcast/ },
  { context: { includeSegmentSource: 'REALTIME' }, message: /context\.includeSegmentSource: .*expected NONE/ },
  { context: { includeAllCounters: 'maybe' }, message: /context\.includeAllCounters/ },
  { context: { maxFrameSize: 0 }, message: /context\.maxFrameSize/ },
  { context: { maxThreads: 'two' }, message: /context\.maxThreads/ },
  { context: { indexSpec: '[1]' }, message: /context\.indexSpec/ },
  { context: { indexSpec: { bitmap: { type: 'roaring' } } }, message: /context\.indexSpec: .*one format, in which bitmap is not/ },
  {
    context: { indexSpec: '{"dimensionCompression":"lz4"}' },
    message: /context\.indexSpec: .*dimensionCompression is not "lz4"; .*"zstd"/,
  },
  { context: { skipTypeVerification: 3 }, message: /context\.skipTypeVerification/ },
];
const nested: readonly { readonly query: string; readonly rows: readonly unknown[][]; readonly stages: number }[] = [
  {
    // Each page of a week has about as many rows; the null is one of them.
    query: 'SELECT COUNT(*) AS pages, SUM(n) AS n FROM (SELECT page, COUNT(*) AS n FROM $ GROUP BY 1)',
    rows: [[pages.length, ROWS.length]],
    stages: 4,
  },
  {
    query:
      'SELECT day, COUNT(*) AS groups, SUM(total) AS total FROM (SELECT MOD(t, 86400000) AS day, page, SUM(v) AS total FROM $ WHERE v < 900 GROUP BY 1, 2) GROUP BY 1',
    rows: ROWS.filter(({ v }) => v < 900).map(({ t, v }) => [t % DAY, 1, v]),
    stages: 4,
  },
  {
    // Rows of a subquery that all of its rows are sorted for.
    query: 'SELECT SUM(v) AS v FROM (SELECT v FROM $ ORDER BY v DESC LIMIT 3)',
    rows: [[3 * ROWS.length - 6]],
    stages: 4,
  },
];
for (const { query, rows, stages } of nested)
  for (const workers of [2, 8])
    staged(`${query} by ${workers} workers`, async ({ folder }) => {
      const done = await runSql(folder, query.replace('$', extern(folder)), { workers });
      assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
      assert.equal(sorted(payloadOf(done).results.results), sorted(rows));
      assert.is(payloadOf(done).stages.length, stages);
    });

staged('an indexSpec of what segments are is accepted', async ({ folder }) => {
  for (const indexSpec of [{}, { dimensionCompression: 'zstd', stringDictionaryEncoding: { type: 'utf8' } }, '{"longEncoding":"auto"}']) {
    const { outcome } = await runSql(folder, COUNT(folder), { context: { indexSpec } });
    assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
  }
});

staged('durableShuffleStorage: false: rows stay with the controller, which has no workers', async ({ folder }) => {
  for (const [durableShuffleStorage, workerCounts] of [
    [true, [2, 2]],
    [false, [1]],
  ] as const) {
    const { task, submitted } = childrenThat(folder, (child) => child);
    const query = `SELECT page, SUM(v) FROM ${extern(folder)} GROUP BY 1`;
    const done = await runSql(folder, query, { workers: 2, context: { durableShuffleStorage }, task });
    assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
    assert.equal(
      payloadOf(done).stages.map(({ workerCount }) => workerCount),
      workerCounts,
    );
    assert.is(submitted.length > 0, durableShuffleStorage);
    assert.is(payloadOf(done).results.results.length, pages.length);
  }
});

for (const { context, message } of refused)
  staged(`refused: ${JSON.stringify(context)}`, async ({ folder }) => {
    const { outcome } = await runSql(folder, COUNT(folder), { context });
    assert.match(outcome.errorMessage ?? '', message);
  });

staged('more files than workers may read, and more segments than a statement may make', async ({ folder }) => {
  const files = await runSql(folder, COUNT(folder), { workers: 2, context: { maxInputFilesPerWorker: 2 } });
  const { errorMessage: _, ...error } = payloadOf(files).status.errorReport?.error ?? {};
  assert.equal(error, { errorCode: 'TooManyInputFiles', numInputFiles: FILES, maxInputFiles: 2, minNumWorker: 3 });
  const query = `REPLACE INTO t OVERWRITE ALL SELECT MILLIS_TO_TIMESTAMP(t) AS __time, v FROM ${extern(folder)} PARTITIONED BY DAY`;
  for (const workers of [1, 3]) {
    const segments = await runSql(folder, query, { workers, context: { maxPartitions: 2 } });
    const { errorMessage: __, ...fault } = payloadOf(segments).status.errorReport?.error ?? {};
    assert.equal(fault, { errorCode: 'TooManyPartitions', maxPartitions: 2 });
    assert.equal(segments.published, []);
  }
});

staged('rows in more time chunks than a statement may write', async ({ folder }) => {
  const rows = path.join(folder, 'chunks');
  mkdirSync(rows);
  const hours = Array.from({ length: 5001 }, (_, hour) => `{"t":${hour * 3_600_000},"v":1}`);
  for (const [file, from, to] of [['a.json', 0, 2500] as const, ['b.json', 2500, 5001] as const])
    writeFileSync(path.join(rows, file), hours.slice(from, to).join('\n'));
  const query = `INSERT INTO t SELECT MILLIS_TO_TIMESTAMP(t) AS __time, v FROM ${extern(rows)} PARTITIONED BY HOUR`;
  for (const workers of [1, 2]) {
    const made = await runSql(rows, query, { workers });
    const { errorMessage: _, ...fault } = payloadOf(made).status.errorReport?.error ?? {};
    assert.equal(fault, { errorCode: 'TooManyBuckets', maxBuckets: 5000 });
    assert.equal(made.published, []);
  }
});

staged.run();
