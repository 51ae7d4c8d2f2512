import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import type { Cell, Row } from './oracle.js';
import { arbitraryFilter, COLUMNS, frameOf, START, VIRTUAL_COLUMNS } from './random-data.js';
import { openFrames } from './segments.js';

/** Scans of pieces of rows by one engine, for tests. */
export const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
export const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
export const options = (changes: Partial<RunOptions> = {}): RunOptions => ({
  ending: 'final',
  deadlineMs: Date.now() + 60_000,
  kernels: null,
  batchRows: null,
  ...changes,
});
export const never = new AbortController().signal;

export async function rowsOf(frames: AsyncIterable<Frame>): Promise<FrameCell[][]> {
  const rows: FrameCell[][] = [];
  for await (const frame of frames)
    for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => cellAt(column, row)));
  return rows;
}

/** Cell in the form of `cellAt`: a list of one value is that value, an empty one null. */
export function plainCell(value: Cell): FrameCell {
  if (!Array.isArray(value)) return value as FrameCell;
  const list = value as readonly (string | null)[];
  return list.length === 0 ? null : list.length === 1 ? (list[0] ?? null) : list;
}

export const arbitraryPlan: fc.Arbitrary<ScanPlan> = fc.record({
  operator: fc.constant('scan' as const),
  dataSource: fc.constant('random'),
  intervals: fc.constantFrom([ETERNITY], [{ start: START + 3_600_000, end: START + 30 * 3_600_000 }]),
  filter: fc.option(arbitraryFilter, { nil: null, freq: 2 }),
  virtualColumns: fc.constant(VIRTUAL_COLUMNS),
  post: fc.constant([]),
  columns: fc.uniqueArray(fc.constantFrom('__time', ...COLUMNS, 'upper', 'mixed', 'linear', 'missing'), { minLength: 1, maxLength: 5 }),
  timeOrder: fc.constantFrom(null, 'ascending' as const, 'descending' as const),
  offset: fc.nat({ max: 20 }),
  limit: fc.option(fc.nat({ max: 50 }), { nil: null }),
});

/** A plan of all columns named and all rows. */
export const scanOf = (columns: readonly string[], changes: Partial<ScanPlan> = {}): ScanPlan => ({
  operator: 'scan',
  dataSource: 'random',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  columns,
  timeOrder: null,
  offset: 0,
  limit: null,
  post: [],
  ...changes,
});

/** A row without values but those given. */
export const rowOf = (changes: Partial<Row>): Row => ({
  __time: BigInt(START),
  plain: 'x',
  text: null,
  many: [],
  small: 0n,
  holes: null,
  large: null,
  double: null,
  ...changes,
});

/** Rows that a plan finds in pieces, of which nothing stays in memory. */
export async function foundRows(pieces: readonly Row[][], plan: ScanPlan, changes: Partial<RunOptions> = {}): Promise<FrameCell[][]> {
  const placed = pieces.map((rows) => uploadFrame(frameOf(rows), memory));
  try {
    const views = placed.map(({ view }) => view);
    return await rowsOf(engine.runViews(plan, views, options(changes), never));
  } finally {
    for (const { release } of placed) release();
    assert.is(memory.allocatedBytes, 0);
  }
}

/** The same over segments that were written and opened, whose numbers are stored in other ways. */
export async function foundStoredRows(pieces: readonly Row[][], plan: ScanPlan, changes: Partial<RunOptions> = {}): Promise<FrameCell[][]> {
  const { store, ids, close } = await openFrames(pieces.map(frameOf), memory, engine);
  try {
    return await rowsOf(engine.run(plan, store, ids, options(changes), never));
  } finally {
    await close();
    assert.is(memory.allocatedBytes, 0);
  }
}
