// Items of the streams between threads, and the steps that make them.

import { ServiceError } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import type { Frame } from '../../model/frame.js';
import type { RowPlan } from '../../model/plan.js';
import type { Upload } from '../../model/upload.js';
import { plainFrame, type SegmentFrame } from '../../storage/columns/packed-column.js';
import type { Check } from '../block/checked-loops.js';
import { concatFrames } from '../block/concat-frames.js';
import type { RunContext } from '../block/context.js';
import { frameBytes } from '../block/frame-bytes.js';
import { ownNow } from '../block/own-time.js';
import { FRAME_ROWS, framesOf, packedFramesOf, type ResultTable, tableOf } from '../block/result-table.js';
import type { RowCounts } from '../block/row-counts.js';
import type { GroupColumns } from '../group/table/group-columns.js';
import type { GroupTableParts } from '../group/table/group-parts.js';
import { type BuildSide, uploadBuildSide } from '../join/build-side.js';
import { uploadedColumns } from '../join/rows.js';
import { refuseMany } from '../join/upload-scan.js';
import type { BestRows } from '../post/parts.js';

/** Columns of groups, and their memory. */
export interface SharedColumns {
  readonly columns: GroupColumns;
  readonly owned: readonly Address[];
}

/** One answer of a stream. One that is not the last and has no frame means that the stream waits for input. */
export interface StreamItem {
  readonly frame: Frame | null;
  readonly isLast: boolean;
  readonly counts: RowCounts;
  /** The last of `build`, and of a plan that asks for an upload. */
  readonly built?: BuildSide;
  /** The divided groups of `group`, which all threads may merge parts of; they are the reader's from then on. `isInColumns`: into columns, which come next. */
  readonly divided?: { readonly parts: GroupTableParts; readonly isInColumns: boolean };
  /** Columns that all threads are to write to; they are the reader's to free until all are through. */
  readonly columns?: SharedColumns;
}

/**
 * Input of a stream: tables of other threads (`group`), to be merged alone or, all of them, with other threads, whose best rows come
 * next; or into columns, which come first; the next rows, or null after the last of them.
 */
export type StreamInput =
  | { readonly kind: 'parts'; readonly parts: readonly GroupTableParts[] }
  | { readonly kind: 'divided'; readonly parts: readonly GroupTableParts[] }
  | { readonly kind: 'best'; readonly best: readonly BestRows[] }
  | { readonly kind: 'rows'; readonly frame: Frame | null }
  | undefined;

export type Stream = Generator<StreamItem, void, StreamInput>;

/** The same steps; the time that each takes is added to the counts. */
export function* timed<Item>(steps: Iterable<Item>, counts: RowCounts, part: 'readMs' | 'finishMs'): Generator<Item> {
  let startMs = ownNow();
  for (const item of steps) {
    counts[part] += ownNow() - startMs;
    yield item;
    startMs = ownNow();
  }
  counts[part] += ownNow() - startMs;
}

/** Asks for the next frame of the input; null after the last one. */
export function* nextFrame(counts: RowCounts): Generator<StreamItem, Frame | null, StreamInput> {
  const input = yield { frame: null, isLast: false, counts };
  return input?.kind === 'rows' ? input.frame : null;
}

/** The remaining frames, then those at the end of the steps. */
export function* counted<Ended extends SegmentFrame>(
  left: readonly Frame[],
  end: Iterable<Ended>,
  counts: RowCounts,
): Generator<Ended | Frame> {
  yield* left;
  for (const frame of end) {
    counts.rowsFinished += frame.rowCount;
    yield frame;
  }
}

/** The frames as they come; of a plan that asks for it, all of them placed as a build side. */
export function* answered(
  frames: Iterable<SegmentFrame>,
  { plan: { upload }, ending }: Asked,
  context: RunContext,
  counts: RowCounts,
): Stream {
  if (upload === undefined || ending === 'partial') {
    yield* items(plainFrames(frames, context), counts);
    return;
  }
  const held: SegmentFrame[] = [];
  let [rows, bytes] = [0, 0];
  const left = frames[Symbol.iterator]();
  try {
    for (let next = left.next(); next.done !== true; next = left.next()) {
      const frame = next.value;
      rows += frame.rowCount;
      bytes += frameBytes(frame);
      held.push(frame);
      if (upload.orFrames && bytes > upload.bytesMax * NARROWED) {
        yield* items(plainFrames(chained(held, left), context), counts);
        return;
      }
      // Bytes are those of frames; in kernel memory there are fewer.
      refuseMany(upload, rows, upload.orFrames ? 0 : bytes);
    }
  } finally {
    left.return?.();
  }
  const [only] = held;
  const whole = held.length === 1 && only !== undefined ? only : concatFrames(held.map(plainFrame), context.check);
  const built = placedRows(context, whole, upload);
  if (built === undefined) yield* items(plainFrames(held, context), counts);
  else yield { frame: null, isLast: true, counts, built };
}

/** The rows in kernel memory. Undefined: they take more than they may, or than is left there, and may come as frames. */
function placedRows(context: RunContext, rows: SegmentFrame, upload: Upload): BuildSide | undefined {
  try {
    return uploadBuildSide(context, uploadedColumns(rows, upload), upload);
  } catch (error) {
    if (upload.orFrames && error instanceof ServiceError && error.code === 'resource_limit') return undefined;
    throw error;
  }
}

/** Rows of so many times the bytes may fit into kernel memory, where numbers and ids are narrow. */
const NARROWED = 2;

/** Least bytes of a value, in kernel memory. */
const VALUE_BYTES = 4;

interface Asked {
  readonly plan: RowPlan;
  readonly ending: 'final' | 'partial';
}

/** The rows of a result: all in one frame, strings as bytes, where they may be left in memory. */
export function resultFrames(asked: Asked, rows: ResultTable, check: Check): Iterable<SegmentFrame> {
  return (mayBeUploaded(asked, rows) ? packedFramesOf : framesOf)(rows, check);
}

/** Whether the rows of a result are not too many to be left in kernel memory, before their strings are counted. */
function mayBeUploaded({ plan: { upload }, ending }: Asked, { rowCount, columns }: ResultTable): boolean {
  if (upload === undefined || ending === 'partial') return false;
  return rowCount <= (upload.rowsMax ?? Infinity) && rowCount * columns.length * VALUE_BYTES <= upload.bytesMax;
}

/** Frames of as many rows as others have. */
function* plainFrames(frames: Iterable<SegmentFrame>, { check }: RunContext): Generator<Frame> {
  for (const frame of frames) {
    if (frame.rowCount > FRAME_ROWS) yield* framesOf(tableOf(plainFrame(frame)), check);
    else yield plainFrame(frame);
  }
}

function* chained(held: readonly SegmentFrame[], left: Iterator<SegmentFrame>): Generator<SegmentFrame> {
  yield* held;
  for (let next = left.next(); next.done !== true; next = left.next()) yield next.value;
}

/** Each frame is held back until it is known whether it is the last. */
export function* items(frames: Iterable<Frame>, counts: RowCounts): Stream {
  let held: Frame | null = null;
  for (const frame of frames) {
    if (held !== null) yield { frame: held, isLast: false, counts };
    held = frame;
  }
  yield { frame: held, isLast: true, counts };
}
