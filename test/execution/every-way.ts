import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { AggregateState } from '../../src/model/aggregate-state.js';
import type { Aggregator } from '../../src/model/aggregator.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import type { Row } from './oracle.js';
import { frameOf } from './random-data.js';
import { openFrames } from './segments.js';

/** Grouped aggregates of the same rows, read in every way there is. */

export const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
export const never = new AbortController().signal;
export const options = (changes: Partial<RunOptions> = {}): RunOptions => ({
  ending: 'final',
  deadlineMs: Date.now() + 60_000,
  kernels: null,
  batchRows: null,
  ...changes,
});

/** Rows of a fixed sequence: four texts as groups, numbers with holes, lists. */
export function rowsOf(count: number): Row[] {
  let seed = 12345;
  const next = (below: number): number => {
    seed = (seed + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(seed ^ (seed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
  return Array.from({ length: count }, (_, index) => ({
    __time: BigInt(Date.UTC(2024, 0, 1) + Math.floor(index / 3) * 1000),
    text: ['a', 'b', 'c', null][next(4)] ?? null,
    plain: `user ${next(500)}`,
    many: Array.from({ length: next(3) }, () => `tag ${next(20)}`),
    small: BigInt(next(200)),
    holes: next(5) === 0 ? null : BigInt(next(100_000)),
    large: BigInt(next(1000)) * 1_000_000_007n,
    double: next(7) === 0 ? null : next(1_000_000) / 8,
  }));
}

export function planOf(aggregators: readonly Aggregator[], byText = true): GroupPlan {
  return {
    operator: 'group',
    dataSource: 'random',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [],
    keys: byText ? [{ kind: 'column', name: 'text', column: 'text', type: null }] : [],
    aggregators,
    emptyGroup: true,
    post: [],
  };
}

export function collect(
  aggregateState: AggregateState,
  columns: readonly string[],
  changes: Partial<Extract<Aggregator, { kind: 'state' }>> = {},
): Aggregator {
  return { kind: 'state', name: 'x', filter: null, aggregateState, columns, input: 'values', output: 'value', type: 'DOUBLE', ...changes };
}

async function tableOf(frames: AsyncIterable<Frame>): Promise<Map<string, readonly FrameCell[]>> {
  const groups = new Map<string, readonly FrameCell[]>();
  for await (const frame of frames) {
    for (let row = 0; row < frame.rowCount; row++) {
      const cells = frame.columns.map((column) => cellAt(column, row));
      groups.set(String(cells[0]), cells.slice(1));
    }
  }
  return groups;
}

/** The same rows in several layouts, batch sizes, kernel sets and thread counts; and merged from partial results. */
export async function everyWay(
  plan: GroupPlan,
  rows: readonly Row[],
): Promise<{ way: string; groups: Map<string, readonly FrameCell[]> }[]> {
  const results: { way: string; groups: Map<string, readonly FrameCell[]> }[] = [];
  const engine = createEngine({ memory, kernels: 'reference', threads: 0 });
  const pieces = [rows.slice(0, 1000), rows.slice(1000, 1001), rows.slice(1001)].filter((piece) => piece.length > 0);
  const placed = pieces.map((piece) => uploadFrame(frameOf(piece), memory));
  const whole = uploadFrame(frameOf(rows), memory);
  const views = placed.map(({ view }) => view);
  try {
    for (const kernels of ['reference', 'scalar-debug', 'simd-debug'])
      for (const batchRows of [1, 7, 4096, null])
        results.push({
          way: `${kernels} by ${batchRows}`,
          groups: await tableOf(engine.runViews(plan, views, options({ kernels, batchRows }), never)),
        });
    results.push({ way: 'one segment', groups: await tableOf(engine.runViews(plan, [whole.view], options(), never)) });
    const partials = () => views.map((view) => engine.runViews(plan, [view], options({ ending: 'partial' }), never));
    results.push({ way: 'merged', groups: await tableOf(engine.merge(plan, partials(), options(), never)) });
    results.push({ way: 'merged in chunks', groups: await tableOf(engine.merge(plan, partials(), options({ batchRows: 1 }), never)) });
    const twice = [engine.merge(plan, partials().slice(0, 2), options({ ending: 'partial' }), never), ...partials().slice(2)];
    results.push({ way: 'merged twice', groups: await tableOf(engine.merge(plan, twice, options(), never)) });
  } finally {
    for (const { release } of [...placed, whole]) release();
  }
  const threaded = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 256 });
  const { store, ids, close } = await openFrames(pieces.map(frameOf), memory, threaded);
  try {
    results.push({ way: 'segments here', groups: await tableOf(engine.run(plan, store, ids, options(), never)) });
    for (let repeat = 0; repeat < 3; repeat++)
      results.push({ way: 'two threads', groups: await tableOf(threaded.run(plan, store, ids, options(), never)) });
  } finally {
    await close();
    await threaded.close();
  }
  assert.is(memory.allocatedBytes, 0);
  return results;
}

export function groupsOf(rows: readonly Row[], column: string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(String(row[column]), [...(groups.get(String(row[column])) ?? []), row]);
  return groups;
}

export function near(actual: FrameCell | undefined, expected: number, relative: number, what: string): void {
  assert.type(actual, 'number', what);
  assert.ok(Math.abs(Number(actual) - expected) <= relative * Math.abs(expected), `${what}: ${String(actual)} is not ${expected}`);
}
