// Reads rows of datasources as blocks of input.

import { createByName } from '../../base/names.js';
import { shallowJsonText } from '../../expression/functions/json-size.js';
import { type Frame, type FrameColumn, frameColumnType } from '../../model/frame.js';
import { type ColumnType, isSketchType, TIME_COLUMN } from '../../model/schema.js';
import { inputCell } from '../column/text-reading.js';
import type { TableQuery, TaskContext } from '../contract.js';
import type { InputBlock, ValueBlock } from '../format/input-block.js';
import { SAMPLE_LENGTH_MAX } from '../format/json-scanner.js';
import type { StoredRows } from './source-kind.js';

const BLOCK_ROWS = 16_384;

export interface StoredReading {
  /** Columns that somebody reads; null: any. */
  readonly columns: ReadonlySet<string> | null;
  readonly context: Pick<TaskContext, 'readTables' | 'keepsStoredTimes'>;
  /** Told of the types of the columns before their rows; throws for one that cannot be read. */
  readonly checkTypes: (types: ReadonlyMap<string, ColumnType>) => void;
}

/** The rows of a datasource, as a Broker reads them; aggregate states are the base64 of their bytes, and never found by discovery. */
export async function* storedBlocks(
  { dataSource, interval, filter }: StoredRows,
  { columns, context, checkTypes }: StoredReading,
): AsyncGenerator<InputBlock> {
  const { keepsStoredTimes } = context;
  const plan = {
    operator: 'scan',
    dataSource,
    intervals: [interval],
    filter,
    virtualColumns: [],
    columns: columns === null ? [] : [...new Set(keepsStoredTimes ? [TIME_COLUMN, ...columns] : columns)],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [],
  } as const;
  const query: TableQuery = { plan, source: { kind: 'table', name: dataSource }, ...(columns === null ? { allColumns: true } : {}) };
  for await (const frame of context.readTables(query)) {
    checkTypes(new Map(frame.columns.map((column) => [column.name, frameColumnType(column)])));
    for (let from = 0; from < frame.rowCount; from += BLOCK_ROWS) {
      const block = blockOf(frame, from, Math.min(BLOCK_ROWS, frame.rowCount - from));
      yield keepsStoredTimes ? { ...block, hasOwnTimes: true } : block;
    }
  }
}

function blockOf(frame: Frame, from: number, rowCount: number): ValueBlock {
  const columns = new Map(frame.columns.map((column) => [column.name, column]));
  const record = (row: number): Readonly<Record<string, unknown>> => {
    const values = createByName<unknown>();
    for (const [name, column] of columns) values[name] = valueAt(column, from + row);
    return values;
  };
  return {
    kind: 'values',
    rowCount,
    columns: frame.columns.flatMap((column) => (isSketchType(frameColumnType(column)) ? [] : [column.name])),
    values(name) {
      const column = columns.get(name);
      return Array.from({ length: rowCount }, (_, row) => (column === undefined ? undefined : valueAt(column, from + row)));
    },
    record,
    sample: (row) => (shallowJsonText(record(row)) ?? '').slice(0, SAMPLE_LENGTH_MAX),
  };
}

/** A cell as JSON would hold it. */
function valueAt(column: FrameColumn, row: number): unknown {
  const cell = inputCell(column, row);
  return typeof cell === 'bigint' && Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
}
