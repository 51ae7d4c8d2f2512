// Groups rows on a thread: its part of the work, and the stream of the thread that ends it.

import type { GroupPlan } from '../../model/plan.js';
import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import type { UploadedFrame } from '../../storage/uploaded-frame.js';
import type { RunContext } from '../block/context.js';
import type { ResultTable } from '../block/result-table.js';
import { noCounts, type RowCounts } from '../block/row-counts.js';
import type { SegmentData } from '../block/segment-data.js';
import type { KeyPool } from '../group/key/key-pool.js';
import type { GroupLayout } from '../group/key/layout.js';
import { bestOfTables, endGroups, endReduced, endsInBest, isReduced, layoutOf, writeParts } from '../group/operator.js';
import { type MorselCut, runMorsels } from '../group/run.js';
import { divideAtEnd, divideOrFree, isDivisible } from '../group/table/divided.js';
import { columnBytes, type GroupColumns, takeColumns } from '../group/table/group-columns.js';
import type { GroupTableParts } from '../group/table/group-parts.js';
import type { GroupTable } from '../group/table/group-table.js';
import { buildSideOf } from '../join/build-side.js';
import { OwnMemory } from '../join/own-memory.js';
import { type GroupReading, groupReading, readAsTheyAre, viewOfGroups } from '../join/upload-groups.js';
import { refuseMany } from '../join/upload-scan.js';
import { addUnmatched, type Builds, hasStages, keepsRight, runStagedMorsels, stagedLayout } from '../join/with-stages.js';
import type { BestRows } from '../post/parts.js';
import { morselTaker, partTaker } from './dealing.js';
import { scanStream, uploadedScan } from './scan-stream.js';
import { answered, resultFrames, type Stream, type StreamItem } from './stream-items.js';
import type { RunControl, ThreadContext } from './thread-context.js';

export interface GroupRequest {
  readonly control: RunControl;
  readonly plan: GroupPlan;
  readonly data: SegmentData;
  /** Build sides of the joins among the plan's stages. */
  readonly builds: Builds;
  readonly cut: MorselCut;
  readonly ending: 'final' | 'partial';
}

/** The request to the thread that ends the query. `awaitsParts`: others group rows too. */
export type LastRequest = GroupRequest & { readonly awaitsParts: boolean };

/** Requests to a thread for its part of a grouping, each answered once. */
export interface GroupCalls {
  readonly groupPart: {
    readonly request: GroupRequest;
    readonly response: { readonly parts: GroupTableParts; readonly counts: RowCounts };
  };
  /** Merges parts of the divided tables of all threads, as they deal them out to each other. */
  readonly groupBest: {
    readonly request: GroupRequest & { readonly tables: readonly GroupTableParts[] };
    readonly response: { readonly best: BestRows; readonly counts: RowCounts };
  };
  /** The same into columns in kernel memory. */
  readonly groupColumns: {
    readonly request: GroupRequest & { readonly tables: readonly GroupTableParts[]; readonly into: GroupColumns };
    readonly response: { readonly counts: RowCounts };
  };
}

export function groupPart(request: GroupRequest, thread: ThreadContext): GroupCalls['groupPart']['response'] {
  const counts = noCounts();
  const table = groupMorsels(request, thread, counts);
  if (isEndedInParts(table, request)) divideOrFree(table);
  return { parts: table.detach(), counts };
}

export function groupBest(
  { tables, ...request }: GroupCalls['groupBest']['request'],
  thread: ThreadContext,
): GroupCalls['groupBest']['response'] {
  const counts = noCounts();
  const context = thread.context(request.control, counts);
  return { best: bestOfTables(layoutOfRequest(request, context), context, tables, partTaker(request, thread.memory), counts), counts };
}

export function groupColumns(
  { tables, into, ...request }: GroupCalls['groupColumns']['request'],
  thread: ThreadContext,
): GroupCalls['groupColumns']['response'] {
  const counts = noCounts();
  const context = thread.context(request.control, counts);
  writeParts(layoutOfRequest(request, context), context, tables, partTaker(request, thread.memory), into, counts);
  return { counts };
}

/** Groups the rows that this thread takes, and ends the query with those of others. */
export function* groupStream(request: LastRequest, thread: ThreadContext): Stream {
  const counts = noCounts();
  const table = groupMorsels(request, thread, counts);
  const { context, layout } = table;
  const reading = readingOf(layout, request);
  yield* unmatched(table, request, counts);
  let parts: readonly GroupTableParts[] = [];
  if (request.awaitsParts) {
    let isAnswered = false;
    try {
      const isShared = isEndedInParts(table, request);
      if (isShared) divideAtEnd(table);
      const waiting: StreamItem = { frame: null, isLast: false, counts };
      const isInColumns = !isReduced(table, request.ending);
      // Other threads may still read the groups when this one fails: they are the caller's to free.
      let input = yield !isShared || table.division === undefined
        ? waiting
        : { ...waiting, divided: { parts: table.moveOut(), isInColumns } };
      if (input?.kind === 'divided' && !isInColumns) {
        const own = bestOfTables(layout, context, input.parts, partTaker(request, thread.memory), counts);
        const others = yield waiting;
        const best = others?.kind === 'best' ? others.best : [];
        yield* answered(endReduced(table, [own, ...best], counts), request, context, counts);
        return;
      }
      if (input?.kind === 'divided' && reading !== undefined) {
        const tables = input.parts;
        const owner = new OwnMemory(context.memory);
        const columns = roomFor(context, layout, reading, owner)(tables.reduce((sum, { groupCount }) => sum + groupCount, 0));
        if (columns === undefined) input = yield waiting;
        else {
          // Others write to the columns: until all are through, these are the caller's to free as well.
          yield { ...waiting, columns: { columns, owned: owner.addresses } };
          writeParts(layout, context, tables, partTaker(request, thread.memory), columns, counts);
          yield waiting;
          yield* readColumns(request, reading, { context, layout, columns, owner, pools: [] }, counts);
          return;
        }
      }
      if (input?.kind === 'parts') parts = input.parts;
      isAnswered = true;
    } finally {
      if (!isAnswered) table.free();
    }
  }
  const owner = new OwnMemory(context.memory);
  const toFrames = (rows: ResultTable): Iterable<SegmentFrame> => resultFrames(request, rows, context.check);
  const room = reading && roomFor(context, layout, reading, owner);
  const frames = endGroups(table, parts, request.ending, request.control.heldRowsMax, counts, toFrames, room);
  let isRead = false;
  try {
    const first = frames.next();
    if (first.done !== true && reading !== undefined && 'groups' in first.value) {
      isRead = true;
      yield* readColumns(request, reading, { context, layout, columns: first.value.groups, owner, pools: table.pools }, counts);
      return;
    }
    yield* answered(fromFirst(first, frames), request, thread.context(request.control, counts), counts);
  } finally {
    frames.return(undefined);
    if (!isRead) owner.free();
  }
}

/** Items of which the first was asked for. */
function* fromFirst<Item>(first: IteratorResult<Item, unknown>, rest: Iterable<Item>): Generator<Item> {
  if (first.done !== true) yield first.value;
  yield* rest;
}

/** Adds the rows that only right sides have, which are known once the other threads are through. Frees the table where it is not read on. */
function* unmatched(table: GroupTable, { plan, data, builds, awaitsParts }: LastRequest, counts: RowCounts): Stream {
  if (!hasStages(plan) || !keepsRight(plan)) return;
  let isAdded = false;
  try {
    if (awaitsParts) yield { frame: null, isLast: false, counts };
    addUnmatched(table, { plan, views: data.views, builds }, counts);
    isAdded = true;
  } finally {
    if (!isAdded) table.free();
  }
}

interface InColumns {
  readonly context: RunContext;
  readonly layout: GroupLayout;
  readonly columns: GroupColumns;
  /** Has the memory of the columns. */
  readonly owner: OwnMemory;
  readonly pools: readonly KeyPool[];
}

/** The result of the plan over its groups, which are freed but for what stays in memory. */
function* readColumns(
  { control }: GroupRequest,
  reading: GroupReading,
  { context, layout, columns, owner, pools }: InColumns,
  counts: RowCounts,
): Stream {
  const { plan, upload } = reading;
  let isTaken = false;
  try {
    const view = viewOfGroups(context, layout, columns, owner, pools);
    const placed: UploadedFrame = { view, addresses: owner.addresses, bytes: owner.bytes, release: () => owner.free() };
    counts.rowsToFinish += view.rowCount;
    const whole = owner.bytes <= upload.bytesMax ? readAsTheyAre(reading, placed) : undefined;
    if (whole !== undefined) {
      refuseMany(upload, view.rowCount, 0);
      isTaken = true;
      counts.rowsFinished += view.rowCount;
      yield { frame: null, isLast: true, counts, built: buildSideOf(context, whole, upload) };
      return;
    }
    const found = uploadedScan(plan, { views: [view], dictionaries: {}, builds: {}, pieces: [view] }, context, noCounts());
    if (found !== undefined) {
      isTaken = true;
      counts.rowsFinished += found.view.rowCount;
      // Dictionaries are those of the groups.
      for (const column of Object.values(view.columns)) {
        if (column.kind === 'string') continue;
        owner.give(column.values);
        owner.give(column.nulls);
      }
      const built = { ...found, bytes: found.bytes + owner.bytes, owned: [...found.owned, ...owner.addresses] };
      yield { frame: null, isLast: true, counts, built };
      return;
    }
    const { upload: _, ...asFrames } = plan;
    yield* scanStream({ control, plan: asFrames, data: { views: [view], dictionaries: {} }, builds: {}, ending: 'final' }, context, counts);
  } finally {
    if (!isTaken) owner.free();
  }
}

/** Room for so many groups in columns; undefined: there is none. */
function roomFor(
  context: RunContext,
  layout: GroupLayout,
  { wanted, upload }: GroupReading,
  owner: OwnMemory,
): (capacity: number) => GroupColumns | undefined {
  return (capacity) => {
    const bytes = columnBytes(context, layout, wanted, capacity);
    if (upload.rowsMax !== null && capacity > upload.rowsMax) return undefined;
    if (bytes > upload.bytesMax || !context.memory.hasRoom(bytes)) return undefined;
    try {
      return takeColumns(context, layout, wanted, capacity, (size) => owner.take(size));
    } catch (error) {
      owner.free();
      throw error;
    }
  };
}

/** Reader of the groups from columns; undefined: they are read as rows. */
function readingOf(layout: GroupLayout, { plan, ending }: GroupRequest): GroupReading | undefined {
  return ending === 'final' ? groupReading(layout, plan) : undefined;
}

/** Whether the groups leave the table part by part: the best of them, or as columns. */
function isEndedInParts(table: GroupTable, request: GroupRequest): boolean {
  if (isReduced(table, request.ending)) return true;
  return !table.hasSpilled && isDivisible(table.layout) && readingOf(table.layout, request) !== undefined;
}

function groupMorsels(request: GroupRequest, thread: ThreadContext, counts: RowCounts): GroupTable {
  const { control, plan, data, builds } = request;
  const [context, next] = [thread.context(control, counts), morselTaker(request, thread.memory)];
  const layout = layoutOfRequest(request, context);
  if (!hasStages(plan)) return runMorsels(layout, context, next, counts);
  return runStagedMorsels(layout, context, { plan, views: data.views, builds }, next, counts);
}

function layoutOfRequest(request: GroupRequest, context: RunContext): GroupLayout {
  const { control, plan, data, builds, ending } = request;
  const { groupBytesMax } = control;
  const layout = hasStages(plan) ? stagedLayout(plan, data, builds, groupBytesMax) : layoutOf({ plan, ...data }, context, groupBytesMax);
  return { ...layout, endsInParts: endsInBest(layout, ending) || (isDivisible(layout) && readingOf(layout, request) !== undefined) };
}
