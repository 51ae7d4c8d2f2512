// Joins the pieces of a time chunk to one frame.

import { Buffer } from 'node:buffer';
import { cellAt, type FrameColumn, isNullAt } from '../../model/frame.js';
import { isTextType, type NumberType, type TextType, TIME_COLUMN } from '../../model/schema.js';
import { type PackedColumn, PackedEntriesBuilder, type SegmentFrame } from '../../storage/columns/packed-column.js';
import { NULL_ID } from '../column/byte-dictionary.js';
import { toText } from '../column/coercion.js';
import { DoubleColumn, LongColumn } from '../column/number-column.js';
import { allRows, rowsBetween } from '../column/run-column.js';
import { inputValue, textReading } from '../column/text-reading.js';
import type { ChunkPiece, PieceColumn } from './chunk-piece.js';
import type { ClosedDictionary, DictionaryGeneration } from './dictionary-generation.js';
import { type ColumnPlan, columnPlan } from './run-buffer.js';

/**
 * Joins pieces end to end. A piece may lack a column that was found later (null), and may hold it in another type than
 * the plan's, which is what the column ended as: a narrower one, or JSON where its values were mixed. The arrays of the
 * frame are its own, and pieces are read column by column: what was spilled is not in memory twice.
 */
export function chunkFrame(plans: readonly ColumnPlan[], pieces: readonly ChunkPiece[]): SegmentFrame {
  const rowCount = pieces.reduce((total, piece) => total + piece.rowCount, 0);
  const columns = [columnPlan(TIME_COLUMN, 'LONG'), ...plans].map((plan) => {
    const parts = pieces.map((piece) => ({ rowCount: piece.rowCount, found: piece.column(plan.name) }));
    const { type } = plan;
    if (type === 'AUTO' || type === 'AUTO_MULTI_VALUE' || (type === 'STRING' && !parts.some(holdsOtherTexts)))
      return joinStrings(plan.name, parts, rowCount);
    return isTextType(type) ? joinTexts(plan.name, type, parts, rowCount) : joinNumbers(plan.name, type, parts, rowCount);
  });
  return { rowCount, columns };
}

type NumberColumn = Extract<FrameColumn, { readonly kind: 'long' | 'double' }>;

/** Rows of one column in a piece, which may lack it. */
interface Part {
  readonly rowCount: number;
  readonly found: PieceColumn | undefined;
}

/** Whether it holds texts that are not strings. Only columns of single strings do. */
function holdsOtherTexts({ found }: Part): boolean {
  return found?.column.kind === 'ids' && found.column.type !== 'STRING';
}

function joinNumbers(name: string, type: NumberType, parts: readonly Part[], rowCount: number): FrameColumn {
  const longs = new BigInt64Array(type === 'LONG' ? rowCount : 0);
  const doubles = new Float64Array(type === 'LONG' ? 0 : rowCount);
  const nulls = new Uint32Array((rowCount + 31) >>> 5);
  let hasNulls = false;
  let to = 0;
  for (const part of parts) {
    const numbers = numbersOf(name, type, part);
    if (numbers.kind === 'long') longs.set(numbers.values, to);
    else doubles.set(numbers.values, to);
    if (numbers.nulls !== null) {
      hasNulls = true;
      for (let row = 0; row < part.rowCount; row++)
        if (isNullAt(numbers.nulls, row)) nulls[(to + row) >>> 5] = (nulls[(to + row) >>> 5] ?? 0) | (1 << ((to + row) & 31));
    }
    to += part.rowCount;
  }
  const mask = hasNulls ? nulls : null;
  return type === 'LONG'
    ? { kind: 'long', name, values: longs, nulls: mask }
    : { kind: 'double', name, type, values: doubles, nulls: mask };
}

/** Numbers of the type, converted where they are stored as others. */
function numbersOf(name: string, type: NumberType, { rowCount, found }: Part): NumberColumn {
  const stored = found?.column;
  if (type === 'LONG' ? stored?.kind === 'long' : stored?.kind === 'double' && (type === 'DOUBLE' || stored.type === type))
    return stored as NumberColumn;
  const converted = type === 'LONG' ? new LongColumn(name) : new DoubleColumn(name, type);
  // Strings in a number column are the nulls from before its first value.
  if (stored === undefined || stored.kind === 'ids') converted.appendNulls(rowCount);
  else converted.appendFrame(stored, allRows(rowCount), new Uint8Array(rowCount));
  return converted.toFrameColumn(rowsBetween(0, rowCount));
}

function joinStrings(name: string, parts: readonly Part[], rowCount: number): PackedColumn {
  const lists = new Map<DictionaryGeneration, Uint32Array[]>();
  for (const { found } of parts) {
    if (found?.column.kind !== 'ids') continue;
    const { ids } = found.column;
    const others = lists.get(found.generation);
    if (others === undefined) lists.set(found.generation, [ids]);
    else others.push(ids);
  }
  const entries = new PackedEntriesBuilder();
  const places = new Map([...lists].map(([generation, ids]) => [generation, placeUsed(generation.dictionary(name), ids, entries)]));
  const isMulti = parts.some(({ found }) => found?.column.kind === 'ids' && found.column.offsets !== null);
  const isSorted = places.size <= 1 && parts.every(({ found }) => found === undefined || found.column.kind === 'ids');
  const idCount = parts.reduce(
    (total, part) => total + (part.found?.column.kind === 'ids' ? part.found.column.ids.length : part.rowCount),
    0,
  );
  const ids = new Uint32Array(idCount);
  const offsets = new Uint32Array(isMulti ? rowCount + 1 : 0);
  let row = 0;
  let to = 0;
  for (const { rowCount: rows, found } of parts) {
    if (!isMulti && found?.column.kind === 'ids') {
      const placed = places.get(found.generation) ?? new Uint32Array(1);
      const { ids: stored } = found.column;
      for (let at = 0; at < stored.length; at++) ids[to++] = placed[stored[at] ?? 0] ?? 0;
      continue;
    }
    const { values, starts } = partIds(found, rows, places, entries);
    if (!isMulti) {
      ids.set(values, to);
      to += values.length;
      continue;
    }
    for (let at = 0; at < rows; at++) {
      const end = starts === null ? at + 1 : (starts[at + 1] ?? 0);
      for (let from = starts === null ? at : (starts[at] ?? 0); from < end; from++) {
        const id = values[from] ?? 0;
        // A null row is an empty list; a null among several values stays one.
        if (starts !== null || id !== NULL_ID) ids[to++] = id;
      }
      offsets[++row] = to;
    }
  }
  const dictionary = entries.entries(isSorted);
  return { kind: 'packed', name, type: 'STRING', ids: ids.subarray(0, to), offsets: isMulti ? offsets : null, dictionary };
}

/** One id a row; values from before the column widened to its type are converted, each distinct one once. */
function joinTexts(name: string, type: TextType, parts: readonly Part[], rowCount: number): FrameColumn {
  const dictionary: (string | null)[] = [null];
  const ids = new Uint32Array(rowCount);
  const read = textReading(type);
  const places = new Map<string, number>();
  const placeOf = (text: string | null | undefined): number => {
    if (text === null || text === undefined) return NULL_ID;
    let place = places.get(text);
    if (place === undefined) {
      place = dictionary.push(text) - 1;
      places.set(text, place);
    }
    return place;
  };
  let to = 0;
  for (const part of parts) {
    const { found } = part;
    if (found?.column.kind === 'ids') {
      const { column, generation } = found;
      const closed = generation.dictionary(name);
      const isSame = column.type === type;
      const known = new Int32Array(closed?.count ?? 1).fill(-1);
      known[NULL_ID] = NULL_ID;
      for (let row = 0; row < part.rowCount; row++) {
        const id = column.ids[row] ?? NULL_ID;
        if ((known[id] ?? NULL_ID) < 0) {
          const text = closed?.textOf(id) ?? null;
          known[id] = placeOf(isSame ? text : read(inputValue(text, column.type)));
        }
        ids[to + row] = known[id] ?? NULL_ID;
      }
    } else if (found !== undefined) {
      for (let row = 0; row < part.rowCount; row++) ids[to + row] = placeOf(read(cellAt(found.column, row)));
    }
    to += part.rowCount;
  }
  return { kind: 'string', name, type, ids, dictionary };
}

/** Adds the entries that occur, sorted; gives the place of each id. */
function placeUsed(closed: ClosedDictionary | undefined, lists: readonly Uint32Array[], entries: PackedEntriesBuilder): Uint32Array {
  const places = new Uint32Array(closed?.count ?? 1);
  if (closed === undefined) return places;
  for (const ids of lists) for (let at = 0; at < ids.length; at++) places[ids[at] ?? 0] = 1;
  places[NULL_ID] = 0;
  const { order } = closed;
  // Entries are kept in their order, so those that follow each other and all occur are added together.
  for (let from = 0; from < order.length; from++) {
    if (places[order[from] ?? 0] === 0) continue;
    let to = from + 1;
    while (to < order.length && places[order[to] ?? 0] !== 0) to++;
    const first = entries.addRun(closed.entries, from + 1, to + 1);
    for (let at = from; at < to; at++) places[order[at] ?? 0] = first + at - from;
    from = to;
  }
  return places;
}

function partIds(
  found: PieceColumn | undefined,
  rows: number,
  places: ReadonlyMap<DictionaryGeneration, Uint32Array>,
  entries: PackedEntriesBuilder,
): { readonly values: Uint32Array; readonly starts: Uint32Array | null } {
  if (found === undefined) return { values: new Uint32Array(rows), starts: null };
  const { column } = found;
  if (column.kind === 'ids') {
    const placed = places.get(found.generation) ?? new Uint32Array(1);
    const values = new Uint32Array(column.ids.length);
    for (let at = 0; at < values.length; at++) values[at] = placed[column.ids[at] ?? 0] ?? 0;
    return { values, starts: column.offsets };
  }
  // Numbers from before the column turned out to be strings.
  const known = new Map<string, number>();
  const values = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) {
    const text = toText(cellAt(column, row));
    if (text === null) continue;
    let place = known.get(text);
    if (place === undefined) {
      const bytes = Buffer.from(text, 'utf8');
      place = entries.add(bytes, 0, bytes.length);
      known.set(text, place);
    }
    values[row] = place;
  }
  return { values, starts: null };
}
