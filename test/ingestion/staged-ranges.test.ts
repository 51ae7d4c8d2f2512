import { rmSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folderOfJsonLines } from './json-files.js';
import { run, type TaskRun } from './run-task.js';

/** One time chunk that is divided by ranges of CLUSTERED BY, written by several workers. */
const ranges = suite<{ folder: string }>('ranges by several workers');

const FILES = 6;
const ROWS_PER_FILE = 50;
/** Rows of 9 different keys, a null among them; a third of all rows have one of them. */
const ROWS = Array.from({ length: FILES * ROWS_PER_FILE }, (_, n) => ({
  n,
  key: n % 4 === 1 ? 'k07' : n % 12 === 11 ? null : `k${String(n % 12).padStart(2, '0')}`,
}));
const KEYS = [...new Set(ROWS.map(({ key }) => key))].sort((a, b) => (a ?? '').localeCompare(b ?? ''));

ranges.before((context) => {
  context.folder = folderOfJsonLines(
    'dolmen-ranges-',
    Array.from({ length: FILES }, (_, file) => ROWS.slice(file * ROWS_PER_FILE, (file + 1) * ROWS_PER_FILE)),
  );
});
ranges.after(({ folder }) => rmSync(folder, { recursive: true, force: true }));

function replace(folder: string, columns: string, workers: number, context: Record<string, unknown>): Promise<TaskRun> {
  const source = JSON.stringify({ type: 'local', baseDir: folder, filter: '*.json' });
  const from = `TABLE(EXTERN('${source}', '{"type":"json"}')) EXTEND ("n" BIGINT, "key" VARCHAR)`;
  const query = `REPLACE INTO t OVERWRITE ALL SELECT ${columns} FROM ${from} PARTITIONED BY ALL CLUSTERED BY "key"`;
  return run(
    { type: 'query_controller', spec: { query, context: { maxNumTasks: workers + 1, ...context } } },
    { allowedDirectories: [folder] },
  );
}

const workersOf = ({ outcome }: TaskRun): readonly number[] => {
  const { payload } = outcome.report['multiStageQuery'] as {
    readonly payload: { readonly stages: readonly { readonly workerCount: number }[] };
  };
  return payload.stages.map(({ workerCount }) => workerCount);
};

const numbersOf = ({ rows }: TaskRun): readonly number[] => rows.map((row) => Number(row['n'])).sort((a, b) => a - b);

for (const workers of [2, 3, 8])
  ranges(`${workers} workers: a segment for each key, each row once, ranges without gaps`, async ({ folder }) => {
    // So few rows that each key has a segment.
    const done = await replace(folder, '"n", "key"', workers, { rowsPerSegment: 10 });
    assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
    assert.equal(workersOf(done), [Math.min(workers, FILES), Math.min(workers, FILES)]);
    const segments = done.published[0]?.segments ?? [];
    assert.equal(
      segments.map(({ part, rowCount }) => [part, rowCount]),
      KEYS.map((key, at) => [
        {
          type: 'range',
          dimensions: ['key'],
          isSingle: false,
          start: at === 0 ? null : [key],
          end: at === KEYS.length - 1 ? null : [KEYS[at + 1]],
        },
        ROWS.filter((row) => row.key === key).length,
      ]),
    );
    assert.equal(
      numbersOf(done),
      ROWS.map(({ n }) => n),
    );
  });

ranges('fewer ranges than workers: as many workers as ranges; one: the chunk is whole', async ({ folder }) => {
  for (const [rowsPerSegment, writers] of [
    [150, 2],
    [10_000, 1],
  ] as const) {
    const done = await replace(folder, '"n", "key"', 4, { rowsPerSegment });
    assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
    assert.equal(workersOf(done), [4, writers]);
    assert.is(done.published[0]?.segments.length, writers);
    assert.is(numbersOf(done).length, ROWS.length);
  }
});

ranges('rows of several values have no place in an order: one worker writes the chunk', async ({ folder }) => {
  const done = await replace(folder, '"n", STRING_TO_MV("key" || \',b\', \',\') AS "key"', 3, { rowsPerSegment: 10 });
  assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
  assert.equal(workersOf(done), [3, 1]);
  assert.ok((done.published[0]?.segments ?? []).every(({ part }) => part === null));
  assert.is(numbersOf(done).length, ROWS.length);
});

ranges.run();
