import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatInstant } from '../../src/base/time.js';
import type { ChildPayload, PublishRequest, TaskOutcome } from '../../src/ingestion/contract.js';
import { runTask } from '../../src/ingestion/task.js';
import { caseCount } from '../case-count.js';
import { withLocalChildren } from './local-children.js';
import { readBack, taskContext } from './run-task.js';

/** Loads that sub-tasks divide between them. */
const loads = suite('parallel loads');

type Row = { readonly hour: number; readonly a: string | null; readonly b: string | null; readonly n: number };

const text = fc.constantFrom(null, 'x', 'y', 'z', 'é', '10', '9');
const rowOf: fc.Arbitrary<Row> = fc.record({
  hour: fc.integer({ min: 0, max: 71 }),
  a: text,
  b: text,
  n: fc.integer({ min: -9, max: 9 }),
});

const DYNAMIC = { type: 'dynamic', maxRowsPerSegment: 7 };

interface Load {
  readonly files: readonly (readonly Row[])[];
  readonly partitionsSpec: object;
  readonly rollup: boolean;
  readonly tuning?: object;
  readonly io?: object;
  readonly failing?: (payload: ChildPayload) => void;
  /** Lines that are added to the first file. */
  readonly extra?: readonly string[];
  readonly dimensions?: object;
  /** Whether the source names all files twice. */
  readonly twice?: boolean;
}

interface Loaded {
  readonly outcome: TaskOutcome;
  readonly published: readonly PublishRequest[];
  /** Stored rows as text, sorted. */
  readonly rows: readonly string[];
  /** Types of the sub-tasks, in the order in which they were submitted. */
  readonly children: readonly string[];
}

const line = ({ hour, ...row }: Row): string => JSON.stringify({ t: formatInstant(hour * 3_600_000 + 1), ...row });

async function load({
  files,
  partitionsSpec,
  rollup,
  tuning = {},
  io = {},
  failing,
  extra = [],
  dimensions = { dimensions: ['a', 'b'] },
  twice = false,
}: Load): Promise<Loaded> {
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-parallel-'));
  try {
    const names = files.map((rows, at) => {
      const name = join(folder, `rows-${String(at).padStart(3, '0')}.json`);
      writeFileSync(name, [...rows.map(line), ...(at === 0 ? extra : [])].join('\n'));
      return name;
    });
    const source = { type: 'local', files: names };
    const inputSource = twice ? { type: 'combining', delegates: [source, source] } : source;
    const payload = {
      type: 'index_parallel',
      spec: {
        dataSchema: {
          dataSource: 'ds',
          timestampSpec: { column: 't' },
          dimensionsSpec: dimensions,
          metricsSpec: [
            { type: 'count', name: 'count' },
            { type: 'longSum', name: 'sum', fieldName: 'n' },
          ],
          granularitySpec: { segmentGranularity: 'DAY', queryGranularity: 'HOUR', rollup },
        },
        ioConfig: { inputSource, inputFormat: { type: 'json' }, ...io },
        tuningConfig: { type: 'index_parallel', partitionsSpec, splitHintSpec: { type: 'maxSize', maxNumFiles: 1 }, ...tuning },
      },
    };
    const published: PublishRequest[] = [];
    const base = { ...taskContext(folder, published), allowedDirectories: [folder] };
    const { context, children } = withLocalChildren(base, base.storage, failing);
    const outcome = await runTask(payload, context);
    const rows = published[0] === undefined ? [] : await readBack(published[0]);
    return {
      outcome,
      published,
      rows: rows
        .map((row) =>
          JSON.stringify(Object.entries(row).sort(), (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
        )
        .sort(),
      children: [...children.values()].map(({ payload: { type } }) => type),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const IN_PARALLEL = { maxNumConcurrentSubTasks: 3 };

/** Rows of one time and dimensions as one: dynamic partitions roll up within sub-tasks only. */
function grouped(rows: readonly string[]): readonly string[] {
  const groups = new Map<string, { count: number; sum: number }>();
  for (const row of rows) {
    const { count = 0, sum = 0, ...key } = Object.fromEntries(JSON.parse(row) as [string, number][]);
    const group = groups.get(JSON.stringify(key)) ?? { count: 0, sum: 0 };
    groups.set(JSON.stringify(key), { count: group.count + count, sum: group.sum + sum });
  }
  return [...groups].map((each) => JSON.stringify(each)).sort();
}

loads('dynamic partitions: the same rows as of one task, however the input is divided', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(rowOf, { maxLength: 12 }), { minLength: 2, maxLength: 6 }), fc.boolean(), async (files, rollup) => {
      const alone = await load({ files, partitionsSpec: DYNAMIC, rollup });
      const divided = await load({ files, partitionsSpec: DYNAMIC, rollup, tuning: IN_PARALLEL });
      assert.equal(alone.children, []);
      assert.is(divided.children.length, files.length);
      assert.equal(grouped(divided.rows), grouped(alone.rows));
      if (!rollup) assert.equal(divided.rows, alone.rows);
      assert.equal(rowStats(divided.outcome), rowStats(alone.outcome));
    }),
    { numRuns: caseCount(15) },
  );
});

const DIVIDED = [
  { type: 'hashed', numShards: 3 },
  { type: 'hashed', numShards: 3, partitionDimensions: ['a'] },
  { type: 'hashed', targetRowsPerSegment: 4 },
  { type: 'hashed', targetRowsPerSegment: 4, partitionDimensions: ['b'] },
  { type: 'single_dim', partitionDimension: 'a', targetRowsPerSegment: 4 },
  { type: 'range', partitionDimensions: ['b', 'a'], maxRowsPerSegment: 4 },
  { type: 'range', partitionDimensions: ['a', 'missing'], targetRowsPerSegment: 4 },
];

for (const partitionsSpec of DIVIDED)
  for (const dimensions of [{ dimensions: ['a', 'b'] }, { useSchemaDiscovery: true, dimensionExclusions: ['n'] }])
    loads(`${JSON.stringify(partitionsSpec)}, ${JSON.stringify(dimensions)}: the same segments as of one task`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(rowOf, { maxLength: 12 }), { minLength: 2, maxLength: 5 }),
          fc.boolean(),
          async (files, rollup) => {
            const one = { files, partitionsSpec, rollup, dimensions };
            const alone = await load(one);
            const divided = await load({ ...one, tuning: { ...IN_PARALLEL, totalNumMergeTasks: 2 } });
            assert.is(divided.outcome.errorMessage, null);
            assert.equal(divided.rows, alone.rows);
            assert.equal(rowStats(divided.outcome), rowStats(alone.outcome));
            const shape = ({ published }: Loaded) =>
              published.flatMap(({ segments }) => segments.map(({ interval, part, rowCount }) => ({ interval, part, rowCount })));
            assert.equal(shape(divided), shape(alone));
            assert.is(divided.children.includes('partial_index_generic_merge'), alone.rows.length > 0);
          },
        ),
        { numRuns: caseCount(3) },
      );
    });

const ROW: Row = { hour: 1, a: 'x', b: 'y', n: 1 };

loads('a sub-task that fails is tried again, and what it did before counts once', async () => {
  const failed: string[] = [];
  const failing = ({ id, numAttempts }: ChildPayload): void => {
    if (numAttempts === 0 && failed.push(id) === 2) throw new Error('lost');
  };
  const { outcome, rows, children } = await load({
    files: [[ROW], [ROW], [ROW]],
    partitionsSpec: DYNAMIC,
    rollup: false,
    tuning: IN_PARALLEL,
    failing,
  });
  assert.is(outcome.errorMessage, null);
  assert.is(rows.length, 3);
  assert.is(children.length, 4);
});

loads('work that fails too often fails the task, which publishes nothing', async () => {
  const failing = (): never => {
    throw new Error('as always');
  };
  const { outcome, published, children } = await load({
    files: [[ROW], [ROW]],
    partitionsSpec: DYNAMIC,
    rollup: false,
    tuning: { ...IN_PARALLEL, maxRetry: 2 },
    failing,
  });
  assert.match(
    outcome.errorMessage ?? '',
    /sub-task single_phase_sub_task_ds_\w+_2 failed, and 2 before it \(tuningConfig.maxRetry\): Error: as always/,
  );
  assert.is(published.length, 0);
  assert.ok(children.length >= 3);
});

loads('rows that cannot be parsed are counted over all sub-tasks, and so is their limit', async () => {
  const files = [[ROW], [ROW]];
  const extra = ['{"t": "never"}', 'not json'];
  const kept = await load({ files, partitionsSpec: DYNAMIC, rollup: false, tuning: { ...IN_PARALLEL, maxSavedParseExceptions: 1 }, extra });
  assert.equal(rowStats(kept.outcome), { processed: 2, processedWithError: 0, thrownAway: 0, unparseable: 2 });
  const { unparseableEvents } = payloadOf(kept.outcome);
  assert.is((unparseableEvents as { buildSegments: unknown[] }).buildSegments.length, 1);
  const limited = await load({
    files: [[ROW], [ROW], [ROW]],
    partitionsSpec: DYNAMIC,
    rollup: false,
    tuning: { ...IN_PARALLEL, maxParseExceptions: 1, maxRetry: 0 },
    extra,
  });
  assert.match(limited.outcome.errorMessage ?? '', /maxParseExceptions/);
});

loads('without sub-tasks: one at a time, one split, a source that cannot be divided', async () => {
  const one = { files: [[ROW], [ROW]], partitionsSpec: DYNAMIC, rollup: false };
  for (const each of [
    { ...one, tuning: { maxNumConcurrentSubTasks: 1 } },
    { ...one, tuning: { ...IN_PARALLEL, splitHintSpec: { type: 'maxSize', maxNumFiles: 2 } } },
    { ...one, tuning: IN_PARALLEL, io: { inputSource: { type: 'inline', data: `${line(ROW)}\n${line(ROW)}` } } },
  ]) {
    const { children, rows } = await load(each);
    assert.equal([children.length, rows.length], [0, 2]);
  }
});

function payloadOf({ report }: TaskOutcome): Readonly<Record<string, unknown>> {
  return (report['ingestionStatsAndErrors'] as { readonly payload: Readonly<Record<string, unknown>> }).payload;
}

function rowStats(outcome: TaskOutcome): unknown {
  const { processedBytes: _bytes, ...counts } = (payloadOf(outcome)['rowStats'] as { readonly buildSegments: Record<string, unknown> })
    .buildSegments;
  return counts;
}

loads('files that a source names twice are read twice', async () => {
  const rows = [{ hour: 1, a: 'x', b: null, n: 4 }];
  for (const partitionsSpec of [DYNAMIC, { type: 'hashed', numShards: 2 }]) {
    const once = await load({ files: [rows, rows], partitionsSpec, rollup: false });
    const twice = await load({ files: [rows], partitionsSpec, rollup: false, tuning: IN_PARALLEL, twice: true });
    assert.equal(twice.outcome.errorMessage, null);
    assert.equal(twice.rows, once.rows);
  }
});

loads.run();
