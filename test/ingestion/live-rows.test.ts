import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY, type Interval } from '../../src/base/instant.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { TimeRange } from '../../src/ingestion/builder/row-collector.js';
import { jsonBlock } from '../../src/ingestion/format/json-block.js';
import { RowStatistics } from '../../src/ingestion/report/row-statistics.js';
import { LiveRows } from '../../src/ingestion/stream/live/live-rows.js';
import { LazyEngine } from '../../src/ingestion/task-engine.js';
import { parseDataSchema } from '../../src/ingestion/task-spec/data-schema.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import type { SegmentId } from '../../src/model/segment.js';
import { caseCount } from '../case-count.js';
import { taskContext } from './run-task.js';

const DAY = 86_400_000;

const ROWS = {
  dataSource: 'live',
  timestampSpec: { column: 't', format: 'millis' },
  dimensionsSpec: { dimensions: ['name', { type: 'long', name: 'n' }] },
  granularitySpec: { segmentGranularity: 'day', queryGranularity: 'none', rollup: false },
};
const ROLLED_UP = {
  ...ROWS,
  dimensionsSpec: { dimensions: ['name'] },
  metricsSpec: [
    { type: 'count', name: 'count' },
    { type: 'longSum', name: 'n', fieldName: 'n' },
  ],
  granularitySpec: { segmentGranularity: 'day', queryGranularity: 'hour', rollup: true },
};
const FOUND = { ...ROWS, dimensionsSpec: { useSchemaDiscovery: true } };
const FILTERED = {
  ...ROWS,
  transformSpec: {
    transforms: [{ type: 'expression', name: 'name', expression: "concat(name, '!')" }],
    filter: { type: 'not', field: { type: 'selector', dimension: 'name', value: 'c!' } },
  },
};

interface Row {
  readonly t: number;
  readonly name: string | null;
  readonly n: number;
}

interface Live {
  readonly rows: LiveRows;
  readonly engine: LazyEngine;
  readonly statistics: RowStatistics;
  readonly changes: () => number;
  readonly folder: string;
}

async function withLive(schema: unknown, run: (live: Live) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-live-'));
  const context = taskContext(folder, []);
  const engine = new LazyEngine(context);
  const dataSchema = parseDataSchema(new ObjectReader(schema, 'dataSchema', readContextOf('input_invalid', 'the task')));
  const limits = { logParseExceptions: false, maxParseExceptions: 1000, maxSavedParseExceptions: 10 };
  const statistics = new RowStatistics(
    limits,
    () => undefined,
    () => 0,
  );
  let changes = 0;
  const allocated = new Map<string, SegmentId>();
  const rows = new LiveRows({
    dataSchema,
    range: new TimeRange([], dataSchema.granularity.queryGranularity),
    statistics,
    engine,
    store: engine.segments(),
    workDirectory: context.workDirectory,
    maxColumns: 100,
    async allocate(sequence: string, interval: Interval) {
      const key = `${sequence} ${interval.start}`;
      const id = allocated.get(key) ?? {
        dataSource: 'live',
        interval,
        version: '2026-01-01T00:00:00.000Z',
        partitionNumber: allocated.size,
      };
      allocated.set(key, id);
      return id;
    },
    changed: () => changes++,
  });
  rows.begin('first');
  try {
    await run({ rows, engine, statistics, changes: () => changes, folder });
  } finally {
    await rows.close();
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const SCAN: ScanPlan = {
  operator: 'scan',
  dataSource: 'live',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  columns: ['__time', 'name', 'n'],
  timeOrder: null,
  offset: 0,
  limit: null,
  post: [],
};

/** Sums of `n` by name. */
const SUMS: GroupPlan = {
  operator: 'group',
  dataSource: 'live',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  keys: [{ kind: 'column', name: 'name', column: 'name', type: null }],
  aggregators: [{ kind: 'sum', type: 'LONG', name: 'n', column: 'n', filter: null }],
  emptyGroup: false,
  post: [],
};

async function framesOf({ rows, engine }: Live, plan: ScanPlan | GroupPlan): Promise<readonly Frame[]> {
  const ids = rows.describe().map((each) => `${each.loadSpec.path}`);
  const held = rows.hold(ids);
  const frames: Frame[] = [];
  try {
    const parts = [...held.parts.values()].flat();
    if (parts.length > 0) for await (const frame of engine.get().runSegments(plan, engine.segments(), parts)) frames.push(frame);
  } finally {
    held.release();
  }
  return frames;
}

async function scanned(live: Live): Promise<readonly string[]> {
  const rows: string[] = [];
  for (const { rowCount, columns } of await framesOf(live, SCAN))
    for (let row = 0; row < rowCount; row++) rows.push(columns.map((column) => String(cellAt(column, row))).join());
  return rows.sort();
}

const written = (rows: readonly Row[]): readonly string[] => rows.map(({ t, name, n }) => `${t},${name},${n}`).sort();

const live = suite('rows of live segments');

live('are read from the first one on, in the segment of their time chunk', () =>
  withLive(ROWS, async (each) => {
    const rows = [
      { t: 5, name: 'a', n: 1 },
      { t: DAY + 5, name: null, n: 2 },
      { t: 3, name: 'b', n: 3 },
    ];
    assert.equal(await scanned(each), []);
    await each.rows.add(jsonBlock(rows, null));
    assert.equal(await scanned(each), [], 'rows wait for a reader');
    await each.rows.settle();
    assert.equal(await scanned(each), written(rows));
    assert.equal(
      each.rows.describe().map(({ id, rowCount, isPublished }) => [id.interval.start, rowCount, isPublished]),
      [
        [0, 2, false],
        [DAY, 1, false],
      ],
    );
    assert.is(each.changes(), 1);
    await each.rows.add(jsonBlock([{ t: 7, name: 'a', n: 9 }], null));
    await each.rows.settle();
    assert.is(each.changes(), 1, 'further rows of known columns are no change');
  }),
);

live('wait for more while the task is behind, a quarter of a second at most, and until it has caught up', () =>
  withLive(ROWS, async (each) => {
    const row = (n: number) => ({ t: n, name: 'a', n });
    await each.rows.add(jsonBlock([row(1)], null));
    await each.rows.settle();
    each.rows.isBehind = true;
    await each.rows.add(jsonBlock([row(2)], null));
    await each.rows.settle();
    assert.equal(await scanned(each), written([row(1)]));
    while ((await scanned(each)).length < 2) await new Promise((done) => setTimeout(done, 20));
    await each.rows.add(jsonBlock([row(3)], null));
    await each.rows.settle();
    assert.equal(await scanned(each), written([row(1), row(2)]));
    each.rows.isBehind = false;
    await each.rows.settle();
    assert.equal(await scanned(each), written([row(1), row(2), row(3)]));
    each.rows.isBehind = true;
    await each.rows.add(jsonBlock([row(4)], null));
    await each.rows.persist();
    assert.equal(await scanned(each), written([row(1), row(2), row(3), row(4)]), 'all are written');
    await each.rows.add(jsonBlock([row(5)], null));
    await each.rows.seal();
    assert.equal(await scanned(each), written([row(1), row(2), row(3), row(4), row(5)]), 'none is left out of its sequence');
  }),
);

live('are parts of 16 MiB of messages at most while the task is behind, and of 8,192 rows otherwise', () =>
  withLive(ROWS, async (each) => {
    const block = jsonBlock(
      Array.from({ length: 8192 }, (_, n) => ({ t: n, name: 'a', n })),
      null,
    );
    const counts = (): readonly number[] => [each.rows.describe().reduce((sum, { rowCount }) => sum + rowCount, 0), each.rows.heldRows];
    await each.rows.add(block);
    assert.equal(counts(), [8192, 8192]);
    each.rows.isBehind = true;
    for (const held of [16_384, 24_576, 32_768, 40_960]) {
      await each.rows.add(block);
      assert.equal(counts(), [8192, held]);
    }
    each.statistics.bytesRead += 2 ** 24;
    await each.rows.add(block);
    assert.equal(counts(), [49_152, 49_152]);
  }),
);

live('are written in parts of 262,144 rows at most, those of one segment joined', () =>
  withLive(ROWS, async (each) => {
    const rowsOf = (count: number, from: number) => Array.from({ length: count }, (_, n) => ({ t: from + n, name: `${n % 7}`, n }));
    const counts = [100_000, 150_000, 100_000, 300_000, 5];
    let total = 0;
    for (const count of counts) {
      await each.rows.add(jsonBlock(rowsOf(count, total), null));
      await each.rows.settle();
      total += count;
    }
    assert.is(each.rows.heldRows, total);
    // Rows take a time, a number and the id of a name each, and as many again as they are read.
    assert.ok(each.rows.heldBytes > total * 20 && each.rows.heldBytes < total * 40, `${each.rows.heldBytes} bytes of ${total} rows`);
    await each.rows.persist();
    assert.equal([each.rows.heldRows, each.rows.heldBytes], [0, 0]);
    const ids = each.rows.describe().map(({ loadSpec }) => loadSpec.path);
    const held = each.rows.hold(ids);
    const parts = [...held.parts.values()].flat();
    held.release();
    assert.is(parts.length, 4, '250,000, 100,000, 300,000 and 5 rows');
    assert.is(held.rowCount, total);
    let sum = 0n;
    for (const { rowCount, columns } of await framesOf(each, SUMS))
      for (let row = 0; row < rowCount; row++) sum += BigInt(String(columns[1] === undefined ? 0 : cellAt(columns[1], row)));
    assert.is(
      Number(sum),
      counts.reduce((before, count) => before + (count * (count - 1)) / 2, 0),
    );
  }),
);

live('are those of one moment for a query that goes on while rows come, are joined, written and dropped', () =>
  withLive(ROWS, async (each) => {
    await each.rows.add(jsonBlock([{ t: 1, name: 'a', n: 1 }], null));
    await each.rows.settle();
    const ids = each.rows.describe().map(({ loadSpec }) => loadSpec.path);
    const held = each.rows.hold(ids);
    for (let n = 2; n < 40; n++) {
      await each.rows.add(jsonBlock([{ t: n, name: 'b', n }], null));
      await each.rows.settle();
    }
    await each.rows.persist();
    await each.rows.seal();
    await each.rows.drop('first');
    const parts = [...held.parts.values()].flat();
    const found: unknown[] = [];
    for await (const { rowCount, columns } of each.engine.get().runSegments(SCAN, each.engine.segments(), parts))
      for (let row = 0; row < rowCount; row++) found.push(columns.map((column) => cellAt(column, row)));
    held.release();
    assert.equal(found, [[1n, 'a', 1n]]);
    assert.equal(each.rows.describe(), []);
    assert.not(each.engine.segments().has(parts[0] ?? ''));
  }),
);

live('roll up within their parts, and when these are joined', () =>
  withLive(ROLLED_UP, async (each) => {
    for (let n = 1; n <= 64; n++) {
      await each.rows.add(
        jsonBlock(
          [
            { t: n, name: n % 2 === 0 ? 'even' : 'odd', n },
            { t: n + 1, name: 'odd', n: 0 },
          ],
          null,
        ),
      );
      await each.rows.settle();
    }
    const [{ rowCount } = { rowCount: 0 }] = each.rows.describe();
    assert.ok(rowCount < 40, `${rowCount} rows are left`);
    const sums = (await framesOf(each, SUMS)).flatMap(({ rowCount: count, columns }) =>
      Array.from({ length: count }, (_, row) => columns.map((column) => cellAt(column, row))),
    );
    assert.equal(sums, [
      ['even', 1056n],
      ['odd', 1024n],
    ]);
  }),
);

live('pass transforms and filters as those of a file do', () =>
  withLive(FILTERED, async (each) => {
    await each.rows.add(
      jsonBlock(
        [
          { t: 1, name: 'a', n: 1 },
          { t: 2, name: 'c', n: 2 },
          { t: 'x', name: 'd', n: 3 },
        ],
        null,
      ),
    );
    await each.rows.settle();
    assert.equal(await scanned(each), ['1,a!,1']);
    assert.equal(each.statistics.counts(), { processed: 1, processedWithError: 0, thrownAway: 1, unparseable: 1 });
  }),
);

live('list a column with each type that it has', () =>
  withLive(FOUND, async (each) => {
    await each.rows.add(jsonBlock([{ t: 1, name: 'a', n: 1 }], null));
    await each.rows.settle();
    await each.rows.add(jsonBlock([{ t: 1, name: 'a', n: 'text' }], null));
    await each.rows.settle();
    const [descriptor] = each.rows.describe();
    assert.equal(
      descriptor?.columns.map(({ name, type, hasNulls }) => [name, type, hasNulls]),
      [
        ['__time', 'LONG', false],
        ['name', 'STRING', false],
        ['n', 'LONG', true],
        ['n', 'STRING', true],
      ],
    );
    assert.is(each.changes(), 2);
  }),
);

const row = fc.record({
  t: fc.integer({ min: 0, max: 3 * DAY - 1 }),
  name: fc.option(fc.constantFrom('a', 'b', 'ü', '')),
  n: fc.integer(),
});
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('rows' as const), rows: fc.array(row, { minLength: 1, maxLength: 20 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('settle' as const, 'persist' as const, 'seal' as const) }) },
);

live(
  'are all those that came before the last settling, in any order of rows, persists and sequences, and what is pushed is what was read',
  () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        await withLive(ROWS, async (each) => {
          const all: Row[] = [];
          const sequences = ['first'];
          for (const next of steps) {
            if (next.kind === 'rows') {
              await each.rows.add(jsonBlock(next.rows, null));
              for (const added of next.rows) all.push(added);
              continue;
            }
            if (next.kind === 'settle') await each.rows.settle();
            else if (next.kind === 'persist') await each.rows.persist();
            else {
              await each.rows.seal();
              sequences.push(`sequence ${sequences.length}`);
              each.rows.begin(sequences.at(-1) ?? '');
            }
            assert.equal(await scanned(each), written(all));
          }
          await each.rows.seal();
          let pushed = 0;
          const { storage } = taskContext(each.folder, []);
          for (const sequence of sequences)
            for (const { rowCount } of (await each.rows.push(sequence, storage)).values()) pushed += rowCount;
          assert.is(pushed, all.length);
        });
      }),
      { numRuns: caseCount(30) },
    ),
);

live.run();
