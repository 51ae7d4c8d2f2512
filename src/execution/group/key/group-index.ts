// Numbers the groups of the rows of a block.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { flatMapped } from '../../../base/lists.js';
import { type Narrow, TALLY_ROWS } from '../../../kernels/contract.js';
import { type Block, clear, kernelFor } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';
import { RUN_BYTES } from '../../expression/time/runs.js';
import { expander } from './expansion.js';
import { CELLS_PER_PASSING, DENSE_CELLS_FEW, flagOf, type GroupLayout, hashIndexLayout, onlyInternedKey } from './layout.js';
import { LocalHash } from './local-hash.js';
import type { LocalKey } from './local-key.js';

/** One group index a row. */
export interface NarrowIds {
  readonly type: Narrow;
  readonly at: Address;
}

/** Largest number of groups that `tally` kernels take. */
const NARROW_GROUPS_MAX = 4096;

const DENSE_CELLS_MAX = 1 << 20;
/** More cells than that pay where all rows take part, and there are not many more cells than rows. */
const DENSE_CELLS_MANY = 1 << 24;
const CELLS_PER_ROW = 2;
/** Bytes of a cell for each aggregator, and for the count. */
const CELL_BYTES = 8;
/** Part of the memory of a thread's groups that they may take. */
const CELLS_PART = 1 / 4;

/** Number of cells up to which the groups of a segment are found by their cell rather than by hash. */
export function denseCellsMax({ view, context }: SegmentScope, { aggregators, passing }: GroupLayout, areAll: boolean): number {
  const perRow = Math.min(8, passing * CELLS_PER_PASSING);
  const few = Math.min(DENSE_CELLS_MAX, Math.max(DENSE_CELLS_FEW, view.rowCount * perRow));
  if (!areAll) return few;
  const inMemory = Math.floor((context.groupBytesMax * CELLS_PART) / CELL_BYTES / (1 + aggregators.length));
  return Math.max(few, Math.min(DENSE_CELLS_MANY, view.rowCount * CELLS_PER_ROW, inMemory));
}

/** Numbering of the groups of one segment. */
export type GroupIndex = {
  /** dense: all cells; hash: groups met so far. */
  readonly groupCount: number;
  /** dense, of run keys and constants only: rows [start, end) as runs of groups. */
  runs(block: Block, start: number, end: number, out: Address): number;
  /**
   * Gives every position its group, in pieces of at most a block. Positions are `rows` (0: all n rows from 0 on), or
   * several of a row when a key has several values.
   */
  number(block: Block, rows: Address, n: number, visit: (rows: Address, groups: Address, n: number) => void): void;
} & (
  | {
      readonly kind: 'dense';
      readonly strides: readonly number[];
      /** Groups of a block's rows for `tally` kernels; set when all keys are narrow ids and groups are few. */
      readonly narrow: ((block: Block) => NarrowIds) | undefined;
    }
  | { readonly kind: 'hash'; readonly table: LocalHash; readonly indexLayout: ReturnType<typeof hashIndexLayout> }
);

/** The key with the most values moves fastest, so that combining goes over long stretches of it. */
export function denseGroupIndex(scope: SegmentScope, keys: readonly LocalKey[]): GroupIndex {
  const { arena, context } = scope;
  const { kernels } = context;
  const strides: number[] = keys.map(() => 1);
  let cells = 1;
  for (const index of byCardDescending(keys)) {
    strides[index] = cells;
    cells *= keys[index]?.card ?? 1;
  }
  const expand = expander(scope, keys);
  const groups = arena.take(BLOCK_ROWS * 4);
  const runs = arena.take(BLOCK_ROWS * RUN_BYTES);
  const varying = flatMapped(keys, (key, index) => (key.kind === 'constant' ? [] : [{ key, index, stride: strides[index] ?? 1 }]));
  const [only] = varying;

  const number: NumberPiece = (block, rows, n, expanded, from, visit) => {
    // One key of u32 ids over whole blocks is its own group index.
    if (varying.length === 1 && only?.key.kind === 'ids' && only.key.physical === 'U32' && rows === 0) {
      visit(0, only.key.at(block), n);
      return;
    }
    let accumulate = 0;
    for (const { key, index, stride } of varying) {
      if (key.kind === 'ids') kernelFor(kernels, 'keyDense', key.physical)(key.at(block), rows, n, stride, accumulate, groups);
      else if (key.kind === 'multi') kernels.keyDenseU32((expanded[index] ?? 0) + from * 4, 0, n, stride, accumulate, groups);
      else if (key.kind === 'runs') kernels.keyRuns(runs, key.runs(block, 0, block.rows, runs), rows, n, stride, accumulate, groups);
      accumulate = 1;
    }
    if (accumulate === 0) clear(context, groups, n * 4);
    visit(rows, groups, n);
  };
  return {
    kind: 'dense',
    strides,
    narrow: cells <= NARROW_GROUPS_MAX ? narrowIds(scope, varying) : undefined,
    groupCount: cells,
    runs: combinedRuns(scope, keys, strides),
    number: checkedLoop(expand, number),
  };
}

/** @returns undefined when some key is anything but narrow ids */
function narrowIds(
  { arena, context: { kernels } }: SegmentScope,
  keys: readonly { readonly key: LocalKey; readonly stride: number }[],
): ((block: Block) => NarrowIds) | undefined {
  const columns = flatMapped(keys, ({ key, stride }) =>
    key.kind === 'ids' && key.physical !== 'U32' ? [{ type: key.physical, at: key.at, stride }] : [],
  );
  const [only, second] = columns;
  if (only === undefined || columns.length < keys.length) return undefined;
  if (second === undefined) return (block) => ({ type: only.type, at: only.at(block) });
  const composed = arena.take(TALLY_ROWS * 2);
  return (block) => {
    columns.forEach(({ type, at, stride }, index) => {
      kernelFor(kernels, 'keyNarrow', type)(at(block), block.rows, stride, index === 0 ? 0 : 1, composed);
    });
    return { type: 'U16', at: composed };
  };
}

export function hashGroupIndex(scope: SegmentScope, layout: GroupLayout, keys: readonly LocalKey[]): GroupIndex {
  const { arena, context } = scope;
  const { kernels, memory } = context;
  const indexLayout = hashIndexLayout(layout.keys.map((key) => key.domain));
  const { words, places, flagWord } = indexLayout;
  const only = onlyInternedKey({ keys: layout.keys, indexLayout });
  const ids = only === undefined ? undefined : keys[only];
  // Ids that are numbered as rows are met are fewer than these.
  const table = new LocalHash(scope, words, ids?.card === Infinity && ids.valueCount !== undefined ? () => ids.valueCount ?? 0 : undefined);
  const expand = expander(scope, keys);
  const packed = arena.take(BLOCK_ROWS * words * 8);
  const groups = arena.take(BLOCK_ROWS * 4);
  const wide = arena.take(BLOCK_ROWS * 8);
  const runs = arena.take(BLOCK_ROWS * RUN_BYTES);
  const oneRun = arena.take(RUN_BYTES);

  const number: NumberPiece = (block, rows, n, expanded, from, visit) => {
    clear(context, packed, n * words * 8);
    keys.forEach((key, index) => {
      const place = places[index];
      if (place === undefined || place.kind === 'none') return;
      const { word } = place;
      if (place.kind === 'word') {
        if (key.kind === 'numbers') {
          const { vector } = key;
          const values = vector.values(block);
          if (vector.physical === 'F32' || vector.physical === 'F64')
            kernelFor(kernels, 'keyWord', vector.physical)(values, rows, n, words, word, packed);
          else {
            kernelFor(kernels, 'toI64', vector.physical)(values, rows, n, vector.base, wide);
            kernels.keyWordI64(wide, 0, n, words, word, 0, 1, packed);
          }
          const nulls = vector.nulls(block);
          if (nulls !== 0) kernels.keyNulls(nulls, rows, n, words, word, flagWord ?? 0, flagOf(place), packed);
        } else {
          // Null for every row.
          memory.u32(oneRun, 3).set([1, 0, BLOCK_ROWS]);
          kernels.keyWordRuns(oneRun, 1, 0, n, words, flagWord ?? 0, flagOf(place), 0, packed);
        }
        return;
      }
      if (key.kind === 'ids') kernelFor(kernels, 'keyWord', key.physical)(key.at(block), rows, n, words, word, place.shift, 0, packed);
      else if (key.kind === 'multi') kernels.keyWordU32((expanded[index] ?? 0) + from * 4, 0, n, words, word, place.shift, 0, packed);
      else if (key.kind === 'runs')
        kernels.keyWordRuns(runs, key.runs(block, 0, block.rows, runs), rows, n, words, word, place.shift, 0, packed);
    });
    table.find(packed, n, groups);
    visit(rows, groups, n);
  };
  return {
    kind: 'hash',
    table,
    indexLayout,
    get groupCount() {
      return table.count;
    },
    runs: () => 0,
    number: checkedLoop(expand, number),
  };
}

type NumberPiece = (
  block: Block,
  rows: Address,
  n: number,
  expanded: readonly Address[],
  from: number,
  visit: (rows: Address, groups: Address, n: number) => void,
) => void;

function checkedLoop(expand: ReturnType<typeof expander>, number: NumberPiece): GroupIndex['number'] {
  if (expand === undefined) return (block, rows, n, visit) => number(block, rows, n, [], 0, visit);
  return (block, rows, n, visit) => {
    const expanded = expand(block, rows, n);
    for (let from = 0; from < expanded.n; from += BLOCK_ROWS)
      number(block, expanded.rows + from * 4, Math.min(BLOCK_ROWS, expanded.n - from), expanded.ids, from, visit);
  };
}

/** Runs of several keys are cut at each other's ends. */
function combinedRuns(scope: SegmentScope, keys: readonly LocalKey[], strides: readonly number[]): GroupIndex['runs'] {
  const { memory } = scope.context;
  const cutters = flatMapped(keys, (key, index) => (key.kind === 'runs' ? [{ runs: key.runs, stride: strides[index] ?? 1 }] : []));
  const [first] = cutters;
  if (first === undefined) {
    return (_block, start, end, out) => {
      memory.u32(out, 3).set([0, start, end]);
      return 1;
    };
  }
  if (cutters.length === 1 && first.stride === 1) return first.runs;
  return (block, start, end, out) => {
    let combined: [group: number, start: number, end: number][] = [[0, start, end]];
    for (const { runs, stride } of cutters) {
      const count = runs(block, start, end, out);
      const words = memory.u32(out, count * 3);
      const next: typeof combined = [];
      let at = 0;
      for (const [group, from, to] of combined) {
        while (at < words.length && (words[at + 2] ?? 0) <= from) at += 3;
        for (let run = at; run < words.length && (words[run + 1] ?? 0) < to; run += 3) {
          next.push([group + (words[run] ?? 0) * stride, Math.max(from, words[run + 1] ?? 0), Math.min(to, words[run + 2] ?? 0)]);
        }
      }
      combined = next;
    }
    memory.u32(out, combined.length * 3).set(combined.flat());
    return combined.length;
  };
}

export function byCardDescending(keys: readonly { readonly card: number }[]): number[] {
  return keys.map((_, index) => index).sort((a, b) => (keys[b]?.card ?? 0) - (keys[a]?.card ?? 0) || a - b);
}
