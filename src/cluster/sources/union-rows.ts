// Subqueries of a union that stay in kernel memory, each as one alone would.

import { selectColumns, type WantedColumn } from '../../execution/join/rows.js';
import type { Frame } from '../../model/frame.js';
import type { RowSource } from '../../model/row-source.js';
import { type ColumnSchema, TIME_COLUMN } from '../../model/schema.js';
import type { Upload } from '../../model/upload.js';
import { mapped, NO_FRAMES, type PeekedFrames, peekUploaded } from './frame-streams.js';
import { isWhole } from './source-plans.js';
import { stepsOf } from './source-steps.js';

type QuerySource = Extract<RowSource, { kind: 'query' }>;

/** Reads the rows of subqueries. */
export interface UnionReader {
  readonly columnsOf: (source: RowSource) => readonly ColumnSchema[];
  /** An upload of columns. @param used  bytes that others take of its limit */
  upload(names: readonly string[], used: number): Upload;
  /** Rows of a subquery: left in memory where an upload is asked for, or as frames. */
  rows(source: QuerySource, names: readonly string[], upload: Upload | undefined): AsyncIterable<Frame>;
  /** Rows that were left in memory as frames. */
  kept(names: readonly string[], id: string): AsyncIterable<Frame>;
}

/**
 * The rows of all sources in memory; as frames from the first on that comes as frames. Undefined: not all are subqueries whose rows come at
 * once, with these columns as they are.
 */
export async function unionUploaded(
  given: readonly RowSource[],
  asked: readonly (WantedColumn & ColumnSchema)[],
  reader: UnionReader,
): Promise<PeekedFrames | undefined> {
  const columns = asked.filter(({ name }) => name !== TIME_COLUMN);
  const sources = wholeSources(given, columns, reader.columnsOf);
  if (sources === undefined || columns.length === 0) return undefined;
  const names = columns.map(({ name }) => name);
  const rowsOf = (source: QuerySource, upload?: Upload): AsyncIterable<Frame> =>
    mapped(reader.rows(source, names, upload), (frame) => (frame.uploaded === undefined ? selectColumns(frame, columns) : frame));
  const ids: string[] = [];
  let bytes = 0;
  for (const [at, source] of sources.entries()) {
    const found = await peekUploaded(rowsOf(source, reader.upload(names, bytes)));
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

function wholeSources(
  sources: readonly RowSource[],
  columns: readonly ColumnSchema[],
  columnsOf: UnionReader['columnsOf'],
): readonly QuerySource[] | undefined {
  const found: QuerySource[] = [];
  for (const source of sources) {
    const { base, steps } = stepsOf(source);
    if (base.kind !== 'query' || steps.length > 0 || !isWhole(base.plan)) return undefined;
    const types = new Map(columnsOf(base).map((column) => [column.name, column]));
    const isAlike = ({ name, type }: ColumnSchema): boolean => types.get(name)?.type === type && types.get(name)?.multiValue === false;
    if (types.has(TIME_COLUMN) || !columns.every(isAlike)) return undefined;
    found.push(base);
  }
  return found;
}

/** Rows of the sources of a union, one after the other. */
export async function* unionFrames(
  sources: readonly RowSource[],
  rowsOf: (source: RowSource) => AsyncIterable<Frame>,
): AsyncGenerator<Frame> {
  for (const source of sources) yield* rowsOf(source);
}
