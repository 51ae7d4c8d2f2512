// Subqueries of a union that stay in kernel memory, each as one alone would.

import { ETERNITY } from '../../base/instant.js';
import { selectColumns, type WantedColumn } from '../../execution/join/rows.js';
import type { Frame } from '../../model/frame.js';
import type { RowSource } from '../../model/row-source.js';
import { type ColumnSchema, TIME_COLUMN } from '../../model/schema.js';
import type { Upload } from '../../model/upload.js';
import { leftInMemory, mapped, NO_FRAMES, type PeekedFrames, peekUploaded } from './frame-streams.js';
import { unlessFull } from './row-limits.js';
import type { SourceRunnerOptions } from './runner-options.js';
import { countRows } from './source-counts.js';
import { endsEarly, isWhole, scanOf, tablesOf } from './source-plans.js';
import { isBesideTables, stepsOf } from './source-steps.js';

type QuerySource = Extract<RowSource, { kind: 'query' }>;

/** Reads the rows of subqueries. */
export interface UnionReader {
  readonly columnsOf: (source: RowSource) => readonly ColumnSchema[];
  /** Whether kernels may gather these columns of subqueries where their rows are read, and there is room for all of them. */
  readonly canGather: (sources: readonly QuerySource[], names: readonly string[]) => boolean;
  /** An upload of columns. @param used  bytes that others take of its limit */
  upload(names: readonly string[], used: number): Upload;
  /** Rows of a subquery: left in memory where an upload is asked for, or as frames. */
  rows(source: QuerySource, names: readonly string[], upload: Upload | undefined): AsyncIterable<Frame>;
  /** Rows that were left in memory as frames. */
  kept(names: readonly string[], id: string): AsyncIterable<Frame>;
}

/**
 * The rows of all sources in memory; as frames from the first on that comes as frames. Undefined: not all are subqueries whose rows come at
 * once, or are gathered by kernels, with these columns as they are.
 */
export async function unionUploaded(
  given: readonly RowSource[],
  asked: readonly (WantedColumn & ColumnSchema)[],
  reader: UnionReader,
): Promise<PeekedFrames | undefined> {
  const columns = asked.filter(({ name }) => name !== TIME_COLUMN);
  const names = columns.map(({ name }) => name);
  const sources = subqueriesOf(given, columns, reader);
  if (sources === undefined || columns.length === 0) return undefined;
  const rowsOf = (source: QuerySource, upload?: Upload): AsyncIterable<Frame> =>
    mapped(reader.rows(source, names, upload), (frame) => (frame.uploaded === undefined ? selectColumns(frame, columns) : frame));
  const ids: string[] = [];
  let bytes = 0;
  for (const [at, source] of sources.entries()) {
    const upload = reader.upload(names, bytes);
    const found = isWhole(source.plan) ? await peekUploaded(rowsOf(source, upload)) : await gathered(rowsOf, source, upload);
    if (found.uploaded === undefined) {
      const frames = async function* (): AsyncGenerator<Frame> {
        for (const id of ids) yield* reader.kept(names, id);
        yield* found.frames;
        for (const later of sources.slice(at + 1)) yield* rowsOf(later);
      };
      return { frames: frames(), end: found.end };
    }
    await found.end();
    ids.push(found.uploaded.id);
    bytes += found.uploaded.bytes;
  }
  return { ids, frames: NO_FRAMES, end: async () => undefined };
}

/** Rows that kernels gather; as frames where they cannot, or where these are too many. */
async function gathered(
  rowsOf: (source: QuerySource, upload?: Upload) => AsyncIterable<Frame>,
  source: QuerySource,
  upload: Upload,
): Promise<PeekedFrames> {
  const uploaded = await unlessFull(() => leftInMemory(rowsOf(source, { ...upload, orFrames: false, orNothing: true })));
  return uploaded === undefined
    ? { frames: rowsOf(source), end: async () => undefined }
    : { uploaded, ids: [uploaded.id], frames: NO_FRAMES, end: async () => undefined };
}

function subqueriesOf(
  sources: readonly RowSource[],
  columns: readonly ColumnSchema[],
  { columnsOf, canGather }: UnionReader,
): readonly QuerySource[] | undefined {
  const found: QuerySource[] = [];
  const names = columns.map(({ name }) => name);
  for (const source of sources) {
    const query: QuerySource = source.kind === 'query' ? source : { kind: 'query', plan: scanOf(names, [ETERNITY], []), source };
    const types = new Map(columnsOf(query).map((column) => [column.name, column]));
    // Kernels that gather rows find out by themselves whether these have several values.
    const isSingle = (name: string): boolean => !isWhole(query.plan) || types.get(name)?.multiValue === false;
    const isAlike = ({ name, type }: ColumnSchema): boolean => types.get(name)?.type === type && isSingle(name);
    if (types.has(TIME_COLUMN) || !columns.every(isAlike)) return undefined;
    found.push(query);
  }
  const rows = found.filter(({ plan }) => !isWhole(plan));
  return rows.length === 0 || canGather(rows, names) ? found : undefined;
}

/** Least bytes of a value in kernel memory. */
const LEAST_BYTES = 4;

/** Whether the rows of all subqueries are read from tables of this process, and one column of them may fit into so many bytes. */
export function areGathered(
  options: Pick<SourceRunnerOptions, 'isServedHere' | 'rowsOfTable' | 'lookup'>,
  subqueries: readonly QuerySource[],
  bytesMax: number,
): boolean {
  let rows = 0;
  for (const { plan, source } of subqueries) {
    const { base, steps } = stepsOf(source);
    const tables = tablesOf(base);
    if (tables === undefined || !isBesideTables(steps) || endsEarly(plan) || !options.isServedHere(tables)) return false;
    rows += countRows(options, base) ?? Infinity;
  }
  return rows * LEAST_BYTES <= bytesMax;
}

/** Rows of the sources of a union, one after the other. */
export async function* unionFrames(
  sources: readonly RowSource[],
  rowsOf: (source: RowSource) => AsyncIterable<Frame>,
): AsyncGenerator<Frame> {
  for (const source of sources) yield* rowsOf(source);
}
