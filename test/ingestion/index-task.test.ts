import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseGranularity } from '../../src/model/granularity.js';
import { run } from './run-task.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const EDITS = [
  { t: 1000, page: 'a', tags: ['x', 'y'], v: 1, w: 1.5 },
  { t: 1500, page: 'a', tags: ['y', 'x'], v: 2, w: 2.5 },
  { t: 2000, page: 'a', tags: ['x', 'y'], v: 4 },
  { t: 1200, page: null, tags: 'x', v: 8, w: 1 },
  { t: 1300, page: null, tags: ['x'], v: 16 },
  { t: HOUR + 1, page: 'b', v: 32 },
];

interface Shape {
  readonly data?: readonly unknown[] | string;
  readonly dataSchema?: Record<string, unknown>;
  readonly ioConfig?: Record<string, unknown>;
  readonly tuningConfig?: Record<string, unknown>;
}

function spec({ data = EDITS, dataSchema = {}, ioConfig = {}, tuningConfig = {} }: Shape): unknown {
  const text = typeof data === 'string' ? data : data.map((row) => JSON.stringify(row)).join('\n');
  return {
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'edits',
        timestampSpec: { column: 't', format: 'millis' },
        dimensionsSpec: { dimensions: ['page', 'tags'] },
        granularitySpec: { segmentGranularity: 'hour', queryGranularity: 'second', rollup: false },
        ...dataSchema,
      },
      ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data: text }, inputFormat: { type: 'json' }, ...ioConfig },
      tuningConfig: { type: 'index_parallel', ...tuningConfig },
    },
  };
}

interface Report {
  readonly ingestionStatsAndErrors: {
    readonly payload: {
      readonly ingestionState: string;
      readonly errorMsg: string | null;
      readonly rowStats: { readonly buildSegments: Record<string, number> };
      readonly unparseableEvents: { readonly buildSegments: readonly { readonly input: string; readonly details: readonly string[] }[] };
    };
  };
}

const payloadOf = (report: unknown): Report['ingestionStatsAndErrors']['payload'] => (report as Report).ingestionStatsAndErrors.payload;

const tasks = suite('index_parallel');

const METRICS = [
  { type: 'count', name: 'n' },
  { type: 'longSum', name: 'v', fieldName: 'v' },
  { type: 'doubleMax', name: 'w', fieldName: 'w' },
];

for (const maxRowsInMemory of [1000, 2, 1]) {
  tasks(`rollup by time and dimensions, lists whole, ${maxRowsInMemory} rows in memory`, async () => {
    const { rows, outcome, published } = await run(
      spec({
        dataSchema: { metricsSpec: METRICS, granularitySpec: { segmentGranularity: 'hour', queryGranularity: 'second' } },
        tuningConfig: { maxRowsInMemory },
      }),
    );
    assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
    assert.equal(rows, [
      { __time: 1000n, page: null, tags: 'x', n: 2n, v: 24n, w: 1 },
      { __time: 1000n, page: 'a', tags: ['x', 'y'], n: 2n, v: 3n, w: 2.5 },
      { __time: 2000n, page: 'a', tags: ['x', 'y'], n: 1n, v: 4n, w: null },
      { __time: BigInt(HOUR), page: 'b', tags: null, n: 1n, v: 32n, w: null },
    ]);
    assert.equal(published[0]?.mode, { kind: 'replace', intervals: [{ start: 0, end: 2 * HOUR }] });
    assert.equal(published[0]?.segments.map(({ dimensions, metrics }) => ({ dimensions, metrics }))[0], {
      dimensions: ['page', 'tags'],
      metrics: ['n', 'v', 'w'],
    });
  });
}

tasks('rollup is arithmetic, wherever runs end', async () => {
  const row = fc.record({
    t: fc.integer({ min: 0, max: 3 * HOUR }),
    page: fc.constantFrom('a', 'b', null),
    v: fc.integer({ min: -1000, max: 1000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), fc.integer({ min: 1, max: 50 }), async (data, maxRowsInMemory) => {
      const dataSchema = {
        dimensionsSpec: { dimensions: ['page'] },
        metricsSpec: [
          { type: 'count', name: 'n' },
          { type: 'longSum', name: 'sum', fieldName: 'v' },
          { type: 'longMin', name: 'min', fieldName: 'v' },
          { type: 'longMax', name: 'max', fieldName: 'v' },
        ],
        granularitySpec: { segmentGranularity: 'hour', queryGranularity: 'thirty_minute' },
      };
      const { rows, outcome } = await run(spec({ data, dataSchema, tuningConfig: { maxRowsInMemory } }));
      const groups = new Map<string, number[]>();
      for (const { t, page, v } of data) {
        const key = JSON.stringify([Math.floor(t / 1_800_000) * 1_800_000, page]);
        groups.set(key, [...(groups.get(key) ?? []), v]);
      }
      const expected = [...groups].map(([key, values]) => [
        key,
        values.length,
        values.reduce((a, b) => a + b, 0),
        Math.min(...values),
        Math.max(...values),
      ]);
      assert.equal(
        rows
          .map((found) => [
            JSON.stringify([Number(found['__time']), found['page']]),
            Number(found['n']),
            Number(found['sum']),
            Number(found['min']),
            Number(found['max']),
          ])
          .sort(),
        expected.sort(),
      );
      assert.is(payloadOf(outcome.report).rowStats.buildSegments['processed'], data.length);
    }),
    { numRuns: 25 },
  );
});

tasks('transforms read the input, the filter sees transforms, __time can be moved', async () => {
  const transforms = [
    { type: 'expression', name: 'shout', expression: "concat(page, '!')" },
    { type: 'expression', name: 'twice', expression: 'v * 2' },
    { type: 'expression', name: 'page', expression: "nvl(page, 'none')" },
    { type: 'expression', name: '__time', expression: '__time + 1000' },
  ];
  const dataSchema = {
    dimensionsSpec: { dimensions: ['shout', 'page', { type: 'long', name: 'twice' }] },
    transformSpec: { transforms, filter: { type: 'not', field: { type: 'selector', dimension: 'page', value: 'b' } } },
  };
  const { rows, outcome } = await run(spec({ dataSchema }));
  assert.equal(rows, [
    { __time: 2000n, shout: null, page: 'none', twice: 16n },
    { __time: 2000n, shout: null, page: 'none', twice: 32n },
    { __time: 2000n, shout: 'a!', page: 'a', twice: 2n },
    { __time: 2000n, shout: 'a!', page: 'a', twice: 4n },
    { __time: 3000n, shout: 'a!', page: 'a', twice: 8n },
  ]);
  const { processed, thrownAway } = payloadOf(outcome.report).rowStats.buildSegments;
  assert.equal([processed, thrownAway], [5, 1]);
});

tasks('intervals hold for transformed times; discovery takes transforms in', async () => {
  const dataSchema = {
    dimensionsSpec: {},
    transformSpec: {
      transforms: [
        { type: 'expression', name: '__time', expression: `__time + ${DAY}` },
        { type: 'expression', name: 'more', expression: 'v + 1' },
      ],
    },
    granularitySpec: { segmentGranularity: 'day', rollup: false, intervals: [`1970-01-02T00:00:00Z/1970-01-02T01:00:00Z`] },
  };
  const { rows, outcome } = await run(
    spec({
      data: [
        { t: 0, v: 1 },
        { t: HOUR, v: 2 },
      ],
      dataSchema,
    }),
  );
  assert.equal(rows, [{ __time: BigInt(DAY), v: '1', more: '2' }]);
  assert.is(payloadOf(outcome.report).rowStats.buildSegments['thrownAway'], 1);
});

tasks('the report: counts add up, bad rows are shown', async () => {
  const data = ['{"t":0,"page":"a","v":1}', 'no json', '{"page":"b"}', '{"t":"x"}', '{"t":1,"v":"much"}', `{"t":${DAY}}`].join('\n');
  const dataSchema = {
    dimensionsSpec: { dimensions: ['page', { type: 'long', name: 'v' }] },
    granularitySpec: { segmentGranularity: 'hour', rollup: false, intervals: ['1970-01-01/1970-01-02'] },
  };
  const { outcome, rows, log } = await run(
    spec({ data, dataSchema, tuningConfig: { maxSavedParseExceptions: 3, logParseExceptions: true } }),
  );
  assert.is(rows.length, 2);
  const { rowStats, unparseableEvents, ingestionState } = payloadOf(outcome.report);
  assert.is(ingestionState, 'COMPLETED');
  assert.equal(rowStats.buildSegments, {
    processed: 1,
    processedWithError: 1,
    thrownAway: 1,
    unparseable: 3,
    processedBytes: Buffer.byteLength(data),
  });
  assert.equal(
    unparseableEvents.buildSegments.map(({ input }) => input),
    ['no json', '{"page":"b"}', '{"t":"x"}'],
  );
  assert.match(unparseableEvents.buildSegments[1]?.details[0] ?? '', /"t" is null/);
  assert.equal(
    log.flatMap((line) => /^inline data, record (\d), line (\d): /.exec(line)?.slice(1) ?? []),
    ['2', '2', '3', '3', '4', '4', '5', '5'],
  );
});

const failures: readonly { readonly name: string; readonly shape: Shape; readonly message: RegExp }[] = [
  {
    name: 'too many bad rows',
    shape: { data: 'x\ny\n{"t":0}', tuningConfig: { maxParseExceptions: 1 } },
    message: /more than 1 rows could not be parsed \(maxParseExceptions\).*: y/,
  },
  { name: 'reportParseExceptions', shape: { data: 'x\n', tuningConfig: { reportParseExceptions: true } }, message: /more than 0 rows/ },
  {
    name: 'more chunks than maxAllowedLockCount',
    shape: { tuningConfig: { maxAllowedLockCount: 1 } },
    message: /2 time chunks, more than tuningConfig\.maxAllowedLockCount/,
  },
  {
    name: 'a file outside',
    shape: { ioConfig: { inputSource: { type: 'local', files: ['/etc/passwd'] } } },
    message: /svc\.ingestion\.local\.allowedDirectories/,
  },
];
for (const { name, shape, message } of failures) {
  tasks(`fails and publishes nothing: ${name}`, async () => {
    const { outcome, published } = await run(spec(shape));
    assert.is(outcome.succeeded, false);
    assert.match(outcome.errorMessage ?? '', message);
    assert.equal(published, []);
    assert.is(payloadOf(outcome.report).errorMsg, outcome.errorMessage);
  });
}

tasks('no row at all: succeeds, publishes nothing; with dropExisting it empties the intervals', async () => {
  const nothing = await run(spec({ data: '' }));
  assert.ok(nothing.outcome.succeeded);
  assert.equal(nothing.published, []);
  const granularitySpec = { segmentGranularity: 'day', rollup: false, intervals: ['1970-01-01T05/1970-01-02'] };
  const drop = await run(spec({ data: '', dataSchema: { granularitySpec }, ioConfig: { dropExisting: true } }));
  assert.equal(
    drop.published.map(({ mode, segments }) => ({ mode, segments })),
    [
      {
        mode: { kind: 'replace', intervals: [{ start: 0, end: DAY }], granularity: parseGranularity('day', 'segmentGranularity') },
        segments: [],
      },
    ],
  );
});

tasks('appendToExisting appends; maxRowsPerSegment cuts; phases come in order', async () => {
  const { published, progress } = await run(
    spec({ ioConfig: { appendToExisting: true }, tuningConfig: { partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 2 } } }),
  );
  assert.equal(published[0]?.mode, { kind: 'append' });
  assert.equal(
    published[0]?.segments.map(({ rowCount }) => rowCount),
    [1, 2, 2, 1],
  );
  assert.equal(
    progress.map(({ phase }) => phase),
    ['reading', 'building', 'publishing', 'completed'],
  );
});

tasks('chunks of more rows than are written on the thread of the task', async () => {
  const count = 250_000;
  const lines = Array.from({ length: count }, (_, row) => `${(row % 2) * HOUR + row},page ${row % 1000},${row}`);
  const dataSchema = { dimensionsSpec: { dimensions: ['page', { type: 'long', name: 'v' }] } };
  const ioConfig = { inputFormat: { type: 'csv', columns: ['t', 'page', 'v'] } };
  const { rows, published } = await run(spec({ data: lines.join('\n'), dataSchema, ioConfig, tuningConfig: { maxRowsInMemory: 100_000 } }));
  assert.equal(
    published[0]?.segments.map(({ rowCount, interval }) => [rowCount, interval.start]),
    [
      [count / 2, 0],
      [count / 2, HOUR],
    ],
  );
  assert.is(
    rows.reduce((sum, { v }) => sum + Number(v), 0),
    (count * (count - 1)) / 2,
  );
  assert.ok(rows.every(({ v, page }) => page === `page ${Number(v) % 1000}`));
});

tasks('deep storage that fails fails the task', async () => {
  const push = async (): Promise<never> => {
    throw new Error('no space left');
  };
  const { outcome, published } = await run(spec({}), {
    storage: { push, pull: push, async *read() {} },
  });
  assert.is(outcome.errorMessage, 'no space left');
  assert.equal(published, []);
});

tasks('several CSV files, each with its header, in another order of columns', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-index-'));
  try {
    writeFileSync(path.join(folder, '1.csv'), 't,page\n0,a\n');
    writeFileSync(path.join(folder, '2.csv'), 'page,tags,t\n"b",x,1000\n');
    const { rows } = await run(
      spec({
        ioConfig: {
          inputSource: { type: 'local', baseDir: folder, filter: '*.csv' },
          inputFormat: { type: 'csv', findColumnsFromHeader: true },
        },
      }),
      { allowedDirectories: [folder] },
    );
    assert.equal(rows, [
      { __time: 0n, page: 'a', tags: null },
      { __time: 1000n, page: 'b', tags: 'x' },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

tasks('cancelled: at once, by name, with nothing published', async () => {
  const cancellation = new AbortController();
  cancellation.abort();
  const { outcome, published } = await run(spec({}), { signal: cancellation.signal });
  assert.is(outcome.succeeded, false);
  assert.match(outcome.errorMessage ?? '', /cancelled/);
  assert.equal(published, []);
});
tasks.run();
