import type { Chunk } from '../../metadata/timeline.js';
import { type ColumnSchema, TIME_COLUMN, widestType } from '../../model/schema.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import type { TableSchema } from './contract.js';

/** Union of the columns of all segments, newest chunk first; each with the widest of its types. `chunks` is not empty. */
export function tableSchema(name: string, chunks: readonly Chunk<SegmentDescriptor>[]): TableSchema {
  const columns = new Map<string, ColumnSchema>([[TIME_COLUMN, { name: TIME_COLUMN, type: 'LONG', multiValue: false, hasNulls: false }]]);
  const segments = chunks.toReversed().flatMap((chunk) => chunk.segments);
  for (const segment of segments) for (const column of segment.columns) columns.set(column.name, widen(columns.get(column.name), column));
  for (const [columnName, { distinctCount: _, ...column }] of columns) {
    const everywhere = segments.every((segment) => segment.columns.some((each) => each.name === columnName));
    const distinctCount = distinctOf(columnName, segments);
    columns.set(columnName, {
      ...column,
      hasNulls: column.hasNulls || !everywhere,
      ...(distinctCount === undefined ? {} : { distinctCount }),
    });
  }
  return {
    name,
    columns: [...columns.values()],
    rowCount: segments.reduce((rows, segment) => rows + segment.rowCount, 0),
    interval: {
      start: Math.min(...chunks.map((chunk) => chunk.interval.start)),
      end: Math.max(...chunks.map((chunk) => chunk.interval.end)),
    },
  };
}

/** Segments have mostly the same values, unless a column has another one in nearly every row. */
function distinctOf(name: string, segments: readonly SegmentDescriptor[]): number | undefined {
  let [most, sum, rows] = [0, 0, 0];
  for (const { columns, rowCount } of segments) {
    const column = columns.find((each) => each.name === name);
    if (column === undefined) continue;
    if (column.distinctCount === undefined) return undefined;
    most = Math.max(most, column.distinctCount);
    sum += column.distinctCount;
    rows += rowCount;
  }
  return sum * 2 > rows ? sum : most;
}

function widen(known: ColumnSchema | undefined, column: ColumnSchema): ColumnSchema {
  if (known === undefined) return column;
  return {
    name: column.name,
    type: widestType([known.type, column.type]),
    multiValue: known.multiValue || column.multiValue,
    hasNulls: known.hasNulls || column.hasNulls,
  };
}
