// Derives the schema of a table from its served segments.

import { extended } from '../../base/names.js';
import type { Chunk } from '../../metadata/timeline.js';
import { chunksOfRows } from '../../metadata/tombstones.js';
import type { TypedColumn } from '../../model/plan.js';
import type { RowsPlan } from '../../model/row-source.js';
import { type ColumnSchema, type ColumnType, TIME_COLUMN, widestType } from '../../model/schema.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import type { TableSchema } from './contract.js';

/** A part of a table: chunks, in order of time. */
interface Part {
  readonly chunks: readonly Chunk<SegmentDescriptor>[];
}

/** Facts about one column from the segments of a part. */
interface SeenColumn {
  readonly name: string;
  /** Each once, that of the newest segment first. */
  readonly types: Set<ColumnType>;
  multiValue: boolean;
  hasNulls: boolean;
  segments: number;
  /** Rows of the segments that have the column. */
  rows: number;
  /** Distinct values: the most of a segment, and the sum over them; undefined when one does not tell. */
  distinct: { most: number; sum: number } | undefined;
}

/** Facts about a part; `columns` in the order in which the newest segments have them. */
interface SeenPart {
  readonly columns: Map<string, SeenColumn>;
  segments: number;
  rows: number;
  /** `Infinity` and `-Infinity` of no chunks. */
  start: number;
  end: number;
}

/** Parts never change, and a table that has changed has most of them as they were. */
const SEEN = new WeakMap<Part, SeenPart>();

/**
 * Union of the columns of all segments, newest chunk first; each with the widest of its types; of no chunks, the time alone.
 * Each column of each segment is looked at once: with 200 columns in 1,000 segments there are 200,000 of them.
 */
export function tableSchema(name: string, parts: readonly Part[]): TableSchema {
  const all = newPart();
  all.columns.set(TIME_COLUMN, newColumn({ name: TIME_COLUMN, types: ['LONG'], distinctCount: 0 }));
  for (const part of parts.toReversed()) {
    const { columns, segments, rows, start, end } = seenOf(part);
    all.segments += segments;
    all.rows += rows;
    all.start = Math.min(all.start, start);
    all.end = Math.max(all.end, end);
    for (const column of columns.values()) addColumn(all, column);
  }
  return {
    name,
    columns: [...all.columns.values()].map((column) => summaryOf(column, all.segments)),
    mixed: new Set([...all.columns.values()].flatMap((column) => (column.types.size > 1 ? [column.name] : []))),
    rowCount: all.rows,
    interval: all.segments === 0 ? { start: 0, end: 0 } : { start: all.start, end: all.end },
  };
}

/** A scan with the types of its columns that the segments of the tables have of several types. */
export function withMixedTypes(plan: RowsPlan, schemas: () => readonly Pick<TableSchema, 'columns' | 'mixed'>[]): RowsPlan {
  if (plan.operator !== 'scan') return plan;
  const tables = schemas();
  if (tables.length === 1 && tables[0]?.mixed.size === 0) return plan;
  const types = [...new Set(plan.columns)].flatMap((name): TypedColumn[] => {
    const found = new Set(tables.flatMap(({ columns }) => columns.flatMap((column) => (column.name === name ? [column.type] : []))));
    const isMixed = found.size > 1 || tables.some(({ mixed }) => mixed.has(name));
    return isMixed ? [{ name, type: widestType(found) }] : [];
  });
  return types.length === 0 ? plan : { ...plan, types };
}

function seenOf(part: Part): SeenPart {
  const known = SEEN.get(part);
  if (known !== undefined) return known;
  const seen = newPart();
  for (const { interval, segments } of chunksOfRows(part.chunks).toReversed()) {
    seen.start = Math.min(seen.start, interval.start);
    seen.end = Math.max(seen.end, interval.end);
    for (const { columns, distinctCounts, rowCount } of segments) {
      seen.segments++;
      seen.rows += rowCount;
      for (const [at, column] of columns.entries()) {
        const facts = extended(column, { types: [column.type], segments: 1, rows: rowCount });
        const count = distinctCounts?.[at] ?? -1;
        addColumn(seen, newColumn(count < 0 ? facts : extended(facts, { distinctCount: count })));
      }
    }
  }
  SEEN.set(part, seen);
  return seen;
}

function newPart(): SeenPart {
  return { columns: new Map(), segments: 0, rows: 0, start: Infinity, end: -Infinity };
}

function newColumn(facts: {
  readonly name: string;
  readonly types: readonly ColumnType[];
  readonly multiValue?: boolean;
  readonly hasNulls?: boolean;
  readonly segments?: number;
  readonly rows?: number;
  readonly distinctCount?: number;
}): SeenColumn {
  const { name, types, multiValue = false, hasNulls = false, segments = 0, rows = 0, distinctCount } = facts;
  const distinct = distinctCount === undefined ? undefined : { most: distinctCount, sum: distinctCount };
  return { name, types: new Set(types), multiValue, hasNulls, segments, rows, distinct };
}

/** Adds the facts from older segments. */
function addColumn({ columns }: SeenPart, column: SeenColumn): void {
  const seen = columns.get(column.name);
  if (seen === undefined) {
    columns.set(column.name, { ...column, types: new Set(column.types), distinct: column.distinct && { ...column.distinct } });
    return;
  }
  for (const type of column.types) seen.types.add(type);
  seen.multiValue ||= column.multiValue;
  seen.hasNulls ||= column.hasNulls;
  seen.segments += column.segments;
  seen.rows += column.rows;
  if (column.distinct === undefined || seen.distinct === undefined) seen.distinct = undefined;
  else {
    seen.distinct.most = Math.max(seen.distinct.most, column.distinct.most);
    seen.distinct.sum += column.distinct.sum;
  }
}

/** Segments have mostly the same values, unless a column has another one in nearly every row. */
function summaryOf({ name, types, multiValue, segments, rows, distinct, ...seen }: SeenColumn, segmentCount: number): ColumnSchema {
  const column = { name, type: widestType(types), multiValue, hasNulls: seen.hasNulls || segments < segmentCount };
  if (distinct === undefined) return column;
  return extended(column, { distinctCount: distinct.sum * 2 > rows ? distinct.sum : distinct.most });
}
