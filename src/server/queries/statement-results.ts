// Results of a statement that ran as a task, read back from its report.

import type { ObjectReader } from '../../base/json-reader.js';
import { parseInstant } from '../../base/time.js';
import type { Frame } from '../../model/frame.js';
import { type ColumnType, isNumberType, parseColumnType } from '../../model/schema.js';
import type { OutputColumn, SqlType } from '../../model/statement.js';
import { readInline } from '../../planner/native/query/inline-rows.js';

/** The rows that a statement's report holds. */
export interface StatementResults {
  readonly columns: readonly OutputColumn[];
  /** Rows as the report has them. */
  readonly rows: readonly unknown[];
  /** Whether the statement gave more rows than the report holds. */
  readonly isTruncated: boolean;
}

/** Columns of a SELECT as its task's payload has them; null for statements that write. */
export function columnsOfPayload(payload: ObjectReader): readonly OutputColumn[] | null {
  const spec = payload.object('spec');
  if (!spec.has('columns')) return null;
  return spec.list('columns', (value, path): OutputColumn => {
    const column = spec.reader(value, path);
    const nativeType = parseColumnType(column.string('nativeType'));
    if (nativeType === undefined) throw column.mismatch('nativeType', 'a type of columns');
    // Written by the planner, which knows these types.
    return { name: column.string('name'), sqlType: column.string('sqlType') as SqlType, nativeType };
  });
}

/** @param report  the payload of a `multiStageQuery` report; null for one without results */
export function resultsOfReport(report: ObjectReader, columns: readonly OutputColumn[]): StatementResults | null {
  if (!report.has('results')) return null;
  const results = report.object('results');
  if (!results.has('results')) return null;
  return { columns, rows: results.array('results'), isTruncated: results.boolean('resultsTruncated', false) };
}

/** The rows as a frame whose columns go by position: their names need not differ. */
export function frameOfResults({ columns, rows }: StatementResults, reader: (inline: object) => ObjectReader): Frame {
  const names = columns.map((_, index) => `column ${index}`);
  const cells = rows.map((row) => (Array.isArray(row) ? columns.map((column, index) => cellOf(row[index] ?? null, column)) : row));
  const frame = readInline(
    reader({ columnNames: names, columnTypes: columns.map(({ nativeType }) => inlineType(nativeType)), rows: cells }),
  );
  return { rowCount: frame.rowCount, columns: frame.columns.map((column, index) => ({ ...column, name: columns[index]?.name ?? '' })) };
}

/** States are shown as their texts. */
function inlineType(type: ColumnType): ColumnType {
  return type.startsWith('COMPLEX<') && type !== 'COMPLEX<json>' ? 'STRING' : type;
}

/** Reports have times as text, and numbers that JSON has not as their names. */
function cellOf(cell: unknown, { sqlType, nativeType }: OutputColumn): unknown {
  if (typeof cell !== 'string') return cell;
  if (sqlType === 'TIMESTAMP' || sqlType === 'DATE') return parseInstant(cell);
  return isNumberType(nativeType) && nativeType !== 'LONG' ? Number(cell) : cell;
}
