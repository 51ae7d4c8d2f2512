import { intersect } from '../../../src/base/interval.js';
import { parseJson, stringifyJson } from '../../../src/base/json.js';
import type { RunOptions } from '../../../src/execution/run/engine.js';
import { createEngine } from '../../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import { cellAt, type Frame, type FrameCell, type FrameColumn } from '../../../src/model/frame.js';
import { planNative } from '../../../src/planner/native/plan-native.js';
import type { KnownTables } from '../../../src/planner/plan.js';
import { uploadFrame } from '../../../src/storage/uploaded-frame.js';

/** A small table in kernel memory, asked in native queries through the planner and the engine, with nothing between. */
export interface Edit {
  readonly time: string;
  readonly page: string | null;
  readonly tags: readonly string[];
  readonly added: bigint | null;
  readonly price: number | null;
}

export const EDITS: readonly Edit[] = [
  { time: '2024-01-01T00:10:00.000Z', page: 'Paris', tags: ['a', 'b'], added: 10n, price: 1.5 },
  { time: '2024-01-01T13:50:00.000Z', page: null, tags: ['b'], added: 20n, price: 2.25 },
  { time: '2024-01-01T23:59:59.999Z', page: '', tags: [], added: 5n, price: null },
  { time: '2024-01-02T00:00:00.000Z', page: 'parrot', tags: ['ab', 'c', 'a'], added: -7n, price: 0 },
  { time: '2024-01-02T12:30:00.000Z', page: '2024-03-05', tags: ['c'], added: null, price: -2.5 },
];

export const TABLES: KnownTables = {
  table: (name) =>
    name !== 'edits'
      ? undefined
      : {
          interval: { start: Date.UTC(2024, 0, 1), end: Date.UTC(2024, 0, 3) },
          columns: [
            { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
            { name: 'page', type: 'STRING', multiValue: false, hasNulls: true },
            { name: 'tags', type: 'STRING', multiValue: true, hasNulls: true },
            { name: 'added', type: 'LONG', multiValue: false, hasNulls: true },
            { name: 'price', type: 'DOUBLE', multiValue: false, hasNulls: true },
          ],
        },
};

function editsFrame(edits: readonly Edit[]): Frame {
  const texts = (name: string, values: readonly (string | null)[]): FrameColumn => ({
    kind: 'string',
    name,
    ids: Uint32Array.from(values.keys()),
    dictionary: values,
  });
  const nulls = (values: readonly unknown[]): Uint32Array => {
    const bits = new Uint32Array(Math.ceil(values.length / 64) * 2);
    values.forEach((value, row) => {
      if (value === null) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
    });
    return bits;
  };
  const added = edits.map((edit) => edit.added);
  const price = edits.map((edit) => edit.price);
  const tags = edits.flatMap((edit) => edit.tags);
  const offsets = new Uint32Array(edits.length + 1);
  edits.forEach((edit, row) => {
    offsets[row + 1] = (offsets[row] ?? 0) + edit.tags.length;
  });
  return {
    rowCount: edits.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(edits, ({ time }) => BigInt(Date.parse(time))), nulls: null },
      texts(
        'page',
        edits.map(({ page }) => page),
      ),
      { kind: 'multi', name: 'tags', offsets, ids: Uint32Array.from(tags.keys()), dictionary: tags },
      { kind: 'long', name: 'added', values: BigInt64Array.from(added, (value) => value ?? 0n), nulls: nulls(added) },
      { kind: 'double', name: 'price', type: 'DOUBLE', values: Float64Array.from(price, (value) => value ?? 0), nulls: nulls(price) },
    ],
  };
}

const SPAN = { start: Date.UTC(2024, 0, 1), end: Date.UTC(2024, 0, 3) };

export const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'reference', threads: 0 });

export interface Asking {
  readonly kernels?: string;
  readonly batchRows?: number;
  /** Pieces the rows are in. */
  readonly pieces?: readonly (readonly Edit[])[];
}

/** The rows of a query's answer, as arrays of cells, of all its plans one after the other; `null` plans give none. */
export async function ask(query: unknown, { kernels, batchRows, pieces = [EDITS] }: Asking = {}): Promise<FrameCell[][]> {
  const { plans } = planNative(parseJson(stringifyJson(query)), false, TABLES);
  const options: RunOptions = {
    ending: 'final',
    deadlineMs: Date.now() + 60_000,
    kernels: kernels ?? null,
    batchRows: batchRows ?? null,
  };
  const placed = pieces.map((edits) => uploadFrame(editsFrame(edits), memory));
  const rows: FrameCell[][] = [];
  try {
    const views = placed.map(({ view }) => view);
    for (const plan of plans) {
      if (plan.operator === 'segmentMetadata') continue;
      // The broker does the same: empty buckets exist only where there are segments.
      const intervals =
        plan.operator === 'group' && plan.withinData === true
          ? plan.intervals.flatMap((each) => intersect(each, SPAN) ?? [])
          : plan.intervals;
      if (intervals.length === 0) continue;
      for await (const frame of engine.runViews({ ...plan, intervals }, views, options, new AbortController().signal)) {
        for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => cellAt(column, row)));
      }
    }
    return rows;
  } finally {
    for (const { release } of placed) release();
  }
}
