// Frames of window functions: which rows belong to each.

import { assert } from '../../../base/errors.js';
import type { FrameBound, WindowFrame } from '../../../model/window.js';
import { type Check, checkedLoop } from '../../block/checked-loops.js';
import { reachEdges } from './reach-edges.js';
import { eachPiece, edgesOfRuns } from './runs.js';
import type { Spans, WindowRows } from './window-rows.js';

/** The rows of frames, which functions with the same frame have in common. */
export function framesOfRows(rows: WindowRows, frame: WindowFrame): readonly Spans[] {
  const name = JSON.stringify([frame.unit, frame.start, frame.end, frame.exclude]);
  const spans = rows.frames.get(name) ?? spansOf(rows, frame);
  rows.frames.set(name, spans);
  return spans;
}

/** The rows of frames: each one's are those of its one to three spans, of which later ones have later rows. */
function spansOf(rows: WindowRows, frame: WindowFrame): readonly Spans[] {
  const [starts, ends] = [edges(rows, frame, 'start'), edges(rows, frame, 'end')];
  const { exclude } = frame;
  // Values that bounds reach to may come in any order.
  const isMoving = (typeof frame.start !== 'object' && typeof frame.end !== 'object') || areMoving({ starts, ends }, rows.check);
  if (exclude === null) return [{ starts, ends, isMoving }];
  const [from, to] = exclude === 'row' ? [rowEdges(rows, 0), rowEdges(rows, 1)] : [runEdges(rows, 0), runEdges(rows, 1)];
  const before = { starts, ends: least(ends, from, rows.check), isMoving };
  const after = { starts: largest(starts, to, rows.check), ends, isMoving };
  if (exclude !== 'ties') return [before, after];
  const own = { starts: largest(starts, rowEdges(rows, 0), rows.check), ends: least(ends, rowEdges(rows, 1), rows.check), isMoving };
  return [before, own, after];
}

type Side = 'start' | 'end';

function edges(rows: WindowRows, { unit, ...bounds }: WindowFrame, side: Side): Uint32Array {
  const bound: FrameBound = bounds[side];
  if (bound === 'unbounded') return partitionEdges(rows, side);
  const behind = side === 'end' ? 1 : 0;
  if (typeof bound === 'object') return reachEdges(rows, bound.reach, side, runEdges(rows, behind));
  if (unit === 'rows') return rowEdges(rows, bound + behind);
  if (unit === 'range' || bound === 0) return runEdges(rows, behind);
  return groupEdges(rows, bound, side);
}

function partitionEdges({ partitions, check }: WindowRows, side: Side): Uint32Array {
  return edgesOfRuns(partitions, side, check);
}

/** Rows that are so far away, within the partition. */
function rowEdges({ table, partitions, check }: WindowRows, distance: number): Uint32Array {
  const found = new Uint32Array(table.rowCount);
  eachPiece(partitions, check, (from, to, start, end) => {
    for (let row = from; row < to; row++) {
      const at = row + distance;
      found[row] = at < start ? start : at > end ? end : at;
    }
  });
  return found;
}

/** First rows of peers, or those behind them. */
function runEdges({ peers, check }: WindowRows, behind: 0 | 1): Uint32Array {
  return edgesOfRuns(peers(), behind === 1 ? 'end' : 'start', check);
}

/** Edges of the groups of peers that are so far away, within the partition. */
function groupEdges({ table, partitions, peers, check }: WindowRows, distance: number, side: Side): Uint32Array {
  const found = new Uint32Array(table.rowCount);
  const groups = peers();
  // The first and the last group of the partition that a group is in.
  let [partition, first, last] = [-1, 0, -1];
  eachPiece(groups, check, (from, to, _start, _end, group) => {
    if (group > last) {
      partition++;
      first = group;
      const end = partitions[partition + 1] ?? table.rowCount;
      for (last = group; (groups[last + 1] ?? end) < end; ) last++;
    }
    const target = group + distance;
    const [start, end] = [partitions[partition] ?? 0, partitions[partition + 1] ?? table.rowCount];
    if (side === 'start') found.fill(target > last ? end : (groups[Math.max(first, target)] ?? end), from, to);
    else found.fill(target < first ? start : (groups[Math.min(last, target) + 1] ?? end), from, to);
  });
  return found;
}

function least(numbers: Uint32Array, others: Uint32Array, check: Check): Uint32Array {
  return joined(numbers, others, check, false);
}

function largest(numbers: Uint32Array, others: Uint32Array, check: Check): Uint32Array {
  return joined(numbers, others, check, true);
}

function joined(numbers: Uint32Array, others: Uint32Array, check: Check, larger: boolean): Uint32Array {
  const found = new Uint32Array(numbers.length);
  checkedLoop(numbers.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const one = numbers[row] ?? 0;
      const other = others[row] ?? 0;
      found[row] = one > other === larger ? one : other;
    }
  });
  return found;
}

/** Whether the starts, and the ends, of spans never go back. */
function areMoving({ starts, ends }: Omit<Spans, 'isMoving'>, check: Check): boolean {
  let [start, end] = [0, 0];
  let moving = true;
  checkedLoop(starts.length, check, (from, to) => {
    for (let row = from; row < to; row++) {
      const first = starts[row] ?? 0;
      const last = ends[row] ?? 0;
      if (first < start || last < end) moving = false;
      start = first;
      end = last;
    }
  });
  return moving;
}

/** The rows of the frame of one row, in at most three stretches that are not empty. */
export function stretchesOf(spans: readonly Spans[], row: number): number[] {
  assert(spans.length <= 3, 'a frame has up to three spans');
  const bounds: number[] = [];
  for (const { starts, ends } of spans) {
    const start = starts[row] ?? 0;
    const end = ends[row] ?? 0;
    if (start < end) bounds.push(start, end);
  }
  return bounds;
}
