// Leaves the rows of a scan in kernel memory, gathered by kernels where they are read.

import { ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { createByName, extended, own } from '../../base/names.js';
import type { ScanPlan } from '../../model/plan.js';
import type { Upload } from '../../model/upload.js';
import { type ColumnView, type DictionaryView, NO_ROWS, type NumberColumnView, type SegmentView } from '../../storage/view.js';
import { blockAt, kernelFor, type RunContext } from '../block/context.js';
import { type Chunk, joinChunks, zeroNulls } from '../block/joined-chunks.js';
import type { RowCounts } from '../block/row-counts.js';
import { meets, rowsWithin } from '../block/row-ranges.js';
import type { SegmentData } from '../block/segment-data.js';
import { gatherColumn, type RowNumbers } from '../block/view-rows.js';
import { openScope } from '../expression/open-scope.js';
import { type SegmentScope, storedName, storedSource, type VirtualColumns, virtualColumnsByName } from '../expression/scope.js';
import type { NumberVector } from '../expression/vector.js';
import { bindPlanFilter } from '../filter/plan-filter.js';
import { type BuildSide, buildSideOf } from './build-side.js';
import { OwnMemory } from './own-memory.js';
import { isPlainColumn } from './plain-doubles.js';
import { selectRows } from './select-rows.js';
import { ownNumbers, type Remaps, remapsOf, sharedNumbers } from './text-numbers.js';
import type { Builds } from './with-stages.js';

/*
 * Columns are gathered as they are stored: ids of a dictionary, numbers as narrow as they lie there; dictionaries of several segments become one.
 * What has no such form (texts that are computed, types that differ between segments) takes the way over frames.
 */

/** Rows of a scan, and what they are read from. */
export interface ScannedRows {
  /** Segments, which outlive the result. */
  readonly views: readonly SegmentView[];
  /** Dictionaries of columns whose ids have to be comparable between the views. */
  readonly dictionaries: SegmentData['dictionaries'];
  /** Right sides of joins, which outlive the result too. */
  readonly builds: Builds;
  /** The rows; each view is void when the next one is asked for. */
  readonly pieces: Iterable<SegmentView>;
}

/**
 * The result of a scan as the build side that its plan asks for.
 * @returns       undefined where columns have to be read as values, and for rows that may be left out (`orNothing`) and are too many; nothing is left in memory then
 * @throws ServiceError `resource_limit`
 */
export function uploadScan(
  plan: ScanPlan,
  given: Upload,
  { views, dictionaries, builds, pieces }: ScannedRows,
  context: RunContext,
  counts: RowCounts,
): BuildSide | undefined {
  const upload = beforeNames(plan, given);
  if (upload === undefined || plan.timeOrder !== null || plan.offset > 0 || plan.limit !== null) return undefined;
  const virtualColumns = virtualColumnsByName(plan.virtualColumns);
  const remaps = remapsOf(views, dictionaries);
  const lasting = dictionariesOf([...views, ...Object.values(builds).map(({ view }) => view)]);
  const memory = new OwnMemory(context.memory);
  const chunks: Chunk[] = [];
  let rowCount = 0;
  try {
    for (const piece of pieces) {
      if (!meets(piece, plan.intervals)) continue;
      const chunk = gatherChunk(context, plan, upload, piece, { virtualColumns, lasting, memory, remaps, counts });
      if (chunk === undefined) {
        memory.free();
        return undefined;
      }
      rowCount += chunk.rowCount;
      if (upload.orNothing === true && memory.bytes > upload.bytesMax) {
        memory.free();
        return undefined;
      }
      if (upload.orNothing !== true) refuseMany(upload, rowCount, memory.bytes);
      if (chunk.rowCount > 0) chunks.push(chunk);
    }
    const columns = upload.columns.map((_, at) => joinChunks(context, memory, chunks, at));
    if (columns.includes(null) || (upload.orNothing === true && memory.bytes > upload.bytesMax)) {
      memory.free();
      return undefined;
    }
    if (upload.orNothing !== true) refuseMany(upload, rowCount, memory.bytes);
    const named = createByName<ColumnView>();
    upload.columns.forEach(({ name, isNumbered }, at) => {
      const column = columns[at];
      if (column !== undefined && column !== null) named[name] = isNumbered === true ? ownNumbers(column) : column;
    });
    const view: SegmentView = { ...NO_ROWS, rowCount, columns: named };
    const { addresses, bytes } = memory;
    const request = upload.orNothing === true ? { ...upload, bytesMax: Infinity } : upload;
    return buildSideOf(context, { view, addresses, bytes, release: () => memory.free() }, request);
  } catch (error) {
    memory.free();
    throw error;
  }
}

/** The upload by the columns that the scan reads, where the steps after it do no more than rename these. */
function beforeNames({ post }: ScanPlan, upload: Upload): Upload | undefined {
  const [step, ...others] = post;
  if (step === undefined) return upload;
  if (step.step !== 'project' || others.length > 0) return undefined;
  const origins = new Map(step.columns.map(({ name, from }) => [name, from]));
  const columns = upload.columns.flatMap(({ name, from, ...rest }) => {
    const origin = origins.get(from);
    return origin === undefined ? [] : [{ ...rest, name, from: origin }];
  });
  return columns.length === upload.columns.length ? { ...upload, columns } : undefined;
}

export function refuseMany({ rowsMax, bytesMax, subject, limit }: Upload, rows: number, bytes: number): void {
  if (rowsMax !== null && rows > rowsMax)
    throw new ServiceError('resource_limit', `${subject} gives more than the ${rowsMax} rows of context.maxSubqueryRows`);
  if (bytes > bytesMax) throw new ServiceError('resource_limit', `${subject} gives more than the ${bytesMax} bytes of ${limit}`);
}

/** Identities, because addresses are reused. */
function dictionariesOf(views: readonly SegmentView[]): ReadonlySet<DictionaryView> {
  return new Set(
    views.flatMap(({ columns }) => Object.values(columns).flatMap((each) => (each.kind === 'string' ? [each.dictionary] : []))),
  );
}

interface Gathering {
  readonly virtualColumns: VirtualColumns;
  /** Dictionaries that outlive the result; those of unnested values may be gone with their piece. */
  readonly lasting: ReadonlySet<DictionaryView>;
  readonly memory: OwnMemory;
  readonly remaps: Remaps;
  readonly counts: RowCounts;
}

/** Undefined: a column has to be read as values. */
function gatherChunk(context: RunContext, plan: ScanPlan, upload: Upload, view: SegmentView, gathering: Gathering): Chunk | undefined {
  const { virtualColumns, memory, remaps, counts } = gathering;
  const arena = context.memory.arena();
  try {
    context.beginSegment();
    const scope = openScope(context, view, virtualColumns, arena);
    const predicate = bindPlanFilter(scope, plan.filter);
    const rows = selectRows(context, arena, view, predicate, rowsWithin(context, view, plan.intervals));
    counts.rowsScanned += view.rowCount;
    counts.rowsMatched += rows.count;
    const columns: (ColumnView | undefined)[] = [];
    for (const { from, isNumbered, isPlain } of upload.columns) {
      const gathered = gatherSource(scope, gathering, from, rows);
      if (gathered === null || (isPlain === true && !isPlainColumn(context, gathered, rows.count))) return undefined;
      const column =
        isNumbered === true && gathered !== undefined ? sharedNumbers(context, memory, remaps, gathered, rows.count) : gathered;
      columns.push(column);
    }
    return { rowCount: rows.count, columns };
  } finally {
    arena.release();
  }
}

/** Null: it has to be read as values; undefined: there is no such column. */
function gatherSource(
  scope: SegmentScope,
  { virtualColumns, lasting, memory }: Gathering,
  name: string,
  rows: RowNumbers,
): ColumnView | null | undefined {
  const origin = storedName(virtualColumns, name);
  const stored = storedSource(scope.view, origin);
  const wanted = Object.hasOwn(virtualColumns, name) ? own(virtualColumns, name)?.outputType : undefined;
  const isStored = !Object.hasOwn(virtualColumns, origin);
  if (isStored && stored.kind === 'missing') return undefined;
  if (isStored && (stored.kind === 'number' || stored.kind === 'string') && (wanted ?? stored.column.type) === stored.column.type)
    return stored.kind === 'string' && (stored.column.offsets !== 0 || !lasting.has(stored.column.dictionary))
      ? null
      : gatherColumn(scope.context, memory, extended(stored.column, { blockRanges: 0 }) as ColumnView, rows);
  const source = scope.source(name);
  if (source.kind !== 'computed' || source.vector.kind !== 'number' || source.vector.type === 'FLOAT') return null;
  return gatherVector(scope, memory, source.vector, rows);
}

/** Computed numbers of the rows. */
function gatherVector({ context, view, arena }: SegmentScope, memory: OwnMemory, vector: NumberVector, rows: RowNumbers): NumberColumnView {
  const { kernels } = context;
  const own = formOf(vector);
  const bytes = PHYSICAL_BYTES[own.physical];
  const all = arena.take(Math.ceil(view.rowCount / 64) * 64 * bytes);
  const nulls = arena.take(Math.ceil(view.rowCount / 64) * 8);
  let anyNull = false;
  for (let start = 0; start < view.rowCount; start += BLOCK_ROWS) {
    context.check();
    const block = blockAt(start, view.rowCount);
    const from = vector.values(block);
    writeForm(context, vector, from, block.rows, all + start * bytes);
    const bits = vector.nulls(block);
    const words = Math.ceil(block.rows / 64);
    if (bits === 0) kernels.bitsFill(nulls + start / 8, words, 0, 0);
    else kernels.bitsAnd(bits, bits, words, nulls + start / 8);
    anyNull ||= bits !== 0;
  }
  const column: NumberColumnView = {
    kind: 'number',
    type: vector.type,
    ...own,
    power: 0,
    values: all,
    nulls: anyNull ? nulls : 0,
    blockRanges: 0,
  };
  const gathered = gatherColumn(context, memory, column, rows) as NumberColumnView;
  zeroNulls(context, gathered, rows.count);
  return gathered;
}

/** Longs that were computed narrow stay so, with their base and the bounds that they have; other numbers are as wide as their type is. */
function formOf({ type, physical, base }: NumberVector): Pick<NumberColumnView, 'physical' | 'base' | 'min' | 'max'> {
  if (type !== 'LONG') return { physical: 'F64', base: 0n, min: null, max: null };
  const isNarrow = physical === 'U8' || physical === 'U16' || physical === 'U32';
  if (!isNarrow) return { physical: 'I64', base: 0n, min: null, max: null };
  return { physical, base, min: base, max: base + (1n << BigInt(PHYSICAL_BYTES[physical] * 8)) - 1n };
}

function writeForm(
  { kernels, memory }: RunContext,
  { type, physical, base }: NumberVector,
  from: Address,
  rows: number,
  to: Address,
): void {
  if (type !== 'LONG') kernelFor(kernels, 'toF64', physical)(from, 0, rows, base, to);
  else if (physical === 'I64') kernelFor(kernels, 'toI64', physical)(from, 0, rows, base, to);
  else memory.u8(to, rows * PHYSICAL_BYTES[physical]).set(memory.u8(from, rows * PHYSICAL_BYTES[physical]));
}
