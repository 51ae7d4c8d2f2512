import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pruneByPartition } from '../../src/cluster/broker/partition-pruning.js';
import { bucketOfText } from '../../src/expression/partition-bucket.js';
import { keyFrame, type Part, partsOf } from '../../src/ingestion/builder/partitions.js';
import { sortedBounds } from '../../src/ingestion/builder/range-bounds.js';
import { LazyEngine } from '../../src/ingestion/task-engine.js';
import type { HashedPartitions, RangePartitions } from '../../src/ingestion/task-spec/partitions-spec.js';
import type { VisibleChunk } from '../../src/metadata/timeline.js';
import type { Filter } from '../../src/model/filter.js';
import type { Frame } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { listOf } from '../../src/model/value-list.js';
import { caseCount } from '../case-count.js';
import { taskContext } from './run-task.js';

/** Rows divided by their values, and segments left out by them: no row is lost, none is kept twice. */
const partitions = suite('partitions');

type Row = readonly [string | null, string | null];
const NAMES = ['a', 'b'] as const;

const text = fc.constantFrom(null, '', 'a', 'aa', 'b', 'B', 'z', 'é', '\u{1F600}', '10', '9');
const rowsOf = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 60 });

const specOf: fc.Arbitrary<HashedPartitions | RangePartitions> = fc.oneof(
  fc.record({
    kind: fc.constant('hashed' as const),
    numShards: fc.option(fc.integer({ min: 1, max: 9 })),
    targetRowsPerSegment: fc.integer({ min: 1, max: 30 }),
    dimensions: fc.subarray([...NAMES, 'missing']),
  }),
  fc.record({
    kind: fc.constant('range' as const),
    dimensions: fc.shuffledSubarray([...NAMES, 'missing'], { minLength: 1 }),
    isSingle: fc.constant(false),
    rowsPerSegment: fc.integer({ min: 1, max: 30 }),
    isLimit: fc.boolean(),
    refusesMultiValues: fc.constant(true),
  }),
);

const filterOf: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    fc.record({ kind: fc.constant('null' as const), column: fc.constantFrom(...NAMES, 'missing') }),
    fc.record({
      kind: fc.constant('equals' as const),
      column: fc.constantFrom(...NAMES),
      type: fc.constant('STRING' as const),
      value: text,
    }),
    fc.record({
      kind: fc.constant('in' as const),
      column: fc.constantFrom(...NAMES, 'missing'),
      type: fc.constant('STRING' as const),
      values: fc.array(text, { maxLength: 4 }).map(listOf),
    }),
    fc.record({
      kind: fc.constant('range' as const),
      column: fc.constantFrom(...NAMES),
      type: fc.constant('STRING' as const),
      ordering: fc.constant('lexicographic' as const),
      lower: text,
      upper: text,
      lowerStrict: fc.boolean(),
      upperStrict: fc.boolean(),
    }),
    fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), filters: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ kind: fc.constant('not' as const), filter: tie('filter') }),
  ),
})).filter;

/** Whether a row passes: true, false, or unknown (null), in a form of its own. */
function passes(filter: Filter, row: Row): boolean | null {
  const valueOf = (column: string): string | null => row[NAMES.indexOf(column as 'a')] ?? null;
  switch (filter.kind) {
    case 'null':
      return valueOf(filter.column) === null;
    case 'equals':
      return valueOf(filter.column) === null || filter.value === null ? null : valueOf(filter.column) === filter.value;
    case 'in':
      return (filter.values as readonly (string | null)[]).includes(valueOf(filter.column));
    case 'range': {
      const value = valueOf(filter.column);
      if (value === null) return null;
      const lower = filter.lower as string | null;
      const upper = filter.upper as string | null;
      const isAbove = lower === null || (filter.lowerStrict ? value > lower : value >= lower);
      return isAbove && (upper === null || (filter.upperStrict ? value < upper : value <= upper));
    }
    case 'and':
    case 'or': {
      const found = filter.filters.map((each) => passes(each, row));
      const decides = filter.kind === 'or';
      return found.includes(decides) ? decides : found.includes(null) ? null : !decides;
    }
    case 'not': {
      const found = passes(filter.filter, row);
      return found === null ? null : !found;
    }
    default:
      throw new Error(filter.kind);
  }
}

function frameOf(rows: readonly Row[]): Frame {
  return {
    rowCount: rows.length,
    columns: NAMES.map((name, at) => {
      // Entries repeat, as they may in frames.
      const dictionary = [null, ...rows.map((row) => row[at] ?? null)];
      return { kind: 'string', name, dictionary, ids: Uint32Array.from(rows, (_, row) => row + 1) };
    }),
  };
}

/** The rows in two frames, as the pieces of a chunk. */
function inTwo(rows: readonly Row[]): () => Frame[] {
  const half = Math.floor(rows.length / 2);
  return () => [frameOf(rows.slice(0, half)), frameOf(rows.slice(half))];
}

function segmentOf(partitionNum: number, partitions: number, part: Part['part']): SegmentDescriptor {
  return {
    id: { dataSource: 'ds', interval: { start: 0, end: 10 }, version: 'v', partitionNumber: partitionNum },
    shardSpec: { ...part, partitionNum, partitions },
    loadSpec: { type: 'local', path: String(partitionNum) },
    ...{ sizeBytes: 1, rowCount: 1, dimensions: NAMES, metrics: [] },
    columns: NAMES.map((name) => ({ name, type: 'STRING', multiValue: false, hasNulls: true })),
  };
}

function planOf(filter: Filter): ScanPlan {
  return {
    ...{ operator: 'scan', dataSource: 'ds', intervals: [{ start: 0, end: 10 }], filter, virtualColumns: [], post: [], columns: ['a'] },
    ...{ timeOrder: null, offset: 0, limit: null },
  };
}

partitions('every row is in one part; no segment that has a row of the answer is left out', () => {
  let leftOut = 0;
  fc.assert(
    fc.property(rowsOf, specOf, filterOf, (rows, spec, filter) => {
      const parts = partsOf(spec, rows.length, inTwo(rows)) ?? [];
      const seen = parts.flatMap((part) => [...part.rows]).sort((a, b) => a - b);
      assert.equal(seen, [...rows.keys()]);
      for (const { rows: own } of parts) assert.ok(own.every((row, at) => at === 0 || row > (own[at - 1] ?? 0)));
      const segments = parts.map(({ part }, at) => segmentOf(at, parts.length, part));
      const chunks: readonly VisibleChunk<SegmentDescriptor>[] = [
        { interval: { start: 0, end: 10 }, version: 'v', visible: [{ start: 0, end: 10 }], segments },
      ];
      const pruned = pruneByPartition(chunks, planOf(filter));
      const kept = new Set(pruned.chunks.flatMap((chunk) => chunk.segments.map(({ id }) => id.partitionNumber)));
      assert.is(pruned.leftOut, segments.length - kept.size);
      leftOut += pruned.leftOut;
      for (const [at, { rows: own }] of parts.entries())
        if (!kept.has(at)) for (const row of own) assert.is.not(passes(filter, rows[row] ?? [null, null]), true);
    }),
    { numRuns: caseCount(500) },
  );
  assert.ok(leftOut > 0, 'nothing was ever left out');
});

partitions('keys of ranges come in order, none is in two segments, and sizes are as asked', () => {
  fc.assert(
    fc.property(rowsOf, fc.integer({ min: 1, max: 30 }), fc.boolean(), (rows, rowsPerSegment, isLimit) => {
      const parts =
        partsOf(
          { kind: 'range', dimensions: ['b', 'a'], isSingle: false, rowsPerSegment, isLimit, refusesMultiValues: true },
          rows.length,
          inTwo(rows),
        ) ?? [];
      const keyOf = (row: number) => JSON.stringify([rows[row]?.[1], rows[row]?.[0]]);
      const keys = parts.map((part) => new Set([...part.rows].map(keyOf)));
      assert.is(
        new Set(keys.flatMap((set) => [...set])).size,
        keys.reduce((sum, set) => sum + set.size, 0),
      );
      for (const [at, { part, rows: own }] of parts.entries()) {
        assert.ok(part.type === 'range');
        const after = parts[at + 1]?.part;
        assert.equal(part.end, after?.type === 'range' ? after.start : null);
        if (at > 0) assert.ok(keys[at]?.has(JSON.stringify(part.start)));
        if (isLimit && own.length > rowsPerSegment) assert.is(keys[at]?.size, 1);
      }
      assert.is(parts[0]?.part.type === 'range' && parts[0].part.start, null);
    }),
    { numRuns: caseCount(300) },
  );
});

partitions('keys that outgrow memory divide the rows just so, by way of the disk', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-partitions-'));
  const engine = new LazyEngine({ ...taskContext(folder, []), maxBytesInMemory: 4096 });
  const dimensions = ['b', 'missing', 'a'];
  async function* keys(frames: readonly Frame[]): AsyncGenerator<Frame> {
    for (const frame of frames) yield keyFrame(frame, dimensions);
  }
  try {
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.integer({ min: 1, max: 30 }), fc.boolean(), async (rows, rowsPerSegment, isLimit) => {
        const spec = { kind: 'range', dimensions, isSingle: false, rowsPerSegment, isLimit, refusesMultiValues: true } as const;
        assert.is(partsOf(spec, rows.length, inTwo(rows), 100), null);
        const bounds = await sortedBounds(spec, rows.length, keys(inTwo(rows)()), engine.get());
        assert.equal(partsOf({ ...spec, bounds }, rows.length, inTwo(rows)), partsOf(spec, rows.length, inTwo(rows)));
      }),
      { numRuns: caseCount(60) },
    );
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

partitions('rows of several values have no place in an order', () => {
  const frame: Frame = {
    rowCount: 1,
    columns: [{ kind: 'multi', name: 'tags', offsets: Uint32Array.of(0, 2), ids: Uint32Array.of(0, 1), dictionary: ['x', 'y'] }],
  };
  const range = {
    kind: 'range',
    dimensions: ['tags'],
    isSingle: true,
    rowsPerSegment: 1,
    isLimit: true,
    refusesMultiValues: true,
  } as const;
  assert.throws(() => partsOf(range, 1, () => [frame]), /partitionsSpec: the column "tags" has rows of several values/);
  const [part] = partsOf({ kind: 'hashed', numShards: 2, targetRowsPerSegment: 1, dimensions: ['tags'] }, 1, () => [frame]) ?? [];
  assert.is(part?.rows.length, 1);
});

// Values of Murmur3 with seed 0 as its public implementations print them.
for (const [input, hash] of [
  ['', 0],
  ['hello', 0x248bfa47],
  ['hello, world', 0x149bbb7f],
  ['The quick brown fox jumps over the lazy dog', 0x2e4ff723],
] as const)
  partitions(`the hash of '${input}'`, () => assert.is(bucketOfText(input, 2 ** 31), hash));

partitions.run();
