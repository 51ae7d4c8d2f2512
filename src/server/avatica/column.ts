// Types and values of columns in Avatica.

import { findZone, UTC, type Zone } from '../../base/calendar.js';
import { stringifyJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import { type ArrayElement, arrayElements } from '../../model/array-text.js';
import { cellAt, type FrameCell, type FrameColumn } from '../../model/frame.js';
import { isArrayType } from '../../model/schema.js';
import type { OutputColumn, SqlType } from '../../model/statement.js';
import { elementOf, isArray } from '../../planner/sql/parse/sql-type.js';
import type { ColumnMetaData, Representation, WireType, WireValue } from './protocol.js';

/** JDBC's description of a type: its number in java.sql.Types, the word for its values on the wire, digits, characters. */
interface TypeFacts {
  readonly id: number;
  readonly name: string;
  readonly rep: Representation;
  readonly className: string;
  readonly precision: number;
  readonly scale: number;
  readonly displaySize: number;
  readonly signed: boolean;
}

const fact = (id: number, name: string, rep: Representation, className: string, precision = 0, scale = 0): TypeFacts => ({
  id,
  name,
  rep,
  className: `java.${className}`,
  precision,
  scale,
  displaySize: own(DISPLAY_SIZES, name) ?? 40,
  signed: ['INTEGER', 'BIGINT', 'FLOAT', 'DOUBLE', 'DECIMAL'].includes(name),
});

/** Characters of the longest text; of types without one, what shells of databases usually show. */
const DISPLAY_SIZES: Readonly<Record<string, number>> = {
  BOOLEAN: 5,
  INTEGER: 11,
  BIGINT: 20,
  DATE: 10,
  TIMESTAMP: 23,
  FLOAT: 24,
  DOUBLE: 24,
};

/** Instants are numbers of their wall clock: clients take these apart in their own zone. */
const FACTS: Readonly<Record<string, TypeFacts>> = {
  VARCHAR: fact(12, 'VARCHAR', 'STRING', 'lang.String'),
  BOOLEAN: fact(16, 'BOOLEAN', 'BOOLEAN', 'lang.Boolean', 1),
  INTEGER: fact(4, 'INTEGER', 'INTEGER', 'lang.Integer', 10),
  BIGINT: fact(-5, 'BIGINT', 'LONG', 'lang.Long', 19),
  FLOAT: fact(6, 'FLOAT', 'FLOAT', 'lang.Float', 15),
  DOUBLE: fact(8, 'DOUBLE', 'DOUBLE', 'lang.Double', 15),
  // Kept as doubles, and sent as such.
  DECIMAL: fact(8, 'DOUBLE', 'DOUBLE', 'lang.Double', 15),
  DATE: fact(91, 'DATE', 'INTEGER', 'sql.Date'),
  TIMESTAMP: fact(93, 'TIMESTAMP', 'LONG', 'sql.Timestamp', 3),
  OTHER: fact(1111, 'OTHER', 'OBJECT', 'lang.Object'),
};
const ARRAY = fact(2003, 'ARRAY', 'ARRAY', 'sql.Array');

function factsOf(type: SqlType): TypeFacts {
  if (isArray(type)) return { ...ARRAY, name: `${factsOf(elementOf(type)).name} ARRAY` };
  return own(FACTS, type) ?? (FACTS['OTHER'] as TypeFacts);
}

export function wireType(type: SqlType): WireType {
  const { id, name, rep } = factsOf(type);
  return isArray(type) ? { type: 'array', id, name, rep, component: wireType(elementOf(type)) } : { type: 'scalar', id, name, rep };
}

/** The description of a column of a result. */
export function columnMetaData({ name, sqlType }: OutputColumn, ordinal: number): ColumnMetaData {
  const { precision, scale, displaySize, signed, className } = factsOf(sqlType);
  return {
    ordinal,
    autoIncrement: false,
    caseSensitive: true,
    searchable: true,
    currency: false,
    nullable: 1,
    signed,
    displaySize,
    label: name,
    columnName: name,
    schemaName: '',
    precision,
    scale,
    tableName: '',
    catalogName: '',
    type: wireType(sqlType),
    readOnly: true,
    writable: false,
    definitelyWritable: false,
    columnClassName: className,
  };
}

/** Reads the cells of a column of a frame; decided once for all of its rows. */
export function wireReader({ sqlType }: OutputColumn, column: FrameColumn, timeZone: string): (row: number) => WireValue {
  const convert = converter(sqlType, column, findZone(timeZone) ?? UTC);
  return (row) => {
    const cell = cellAt(column, row);
    return cell === null ? null : convert(cell);
  };
}

const MS_PER_DAY = 86_400_000;

function converter(sqlType: SqlType, column: FrameColumn, zone: Zone): (cell: NonNullable<FrameCell>) => WireValue {
  const wallClock = (instant: number) => instant + zone.offsetAt(instant);
  if (sqlType === 'TIMESTAMP') return (cell) => wallClock(Number(cell));
  if (sqlType === 'DATE') return (cell) => Math.floor(wallClock(Number(cell)) / MS_PER_DAY);
  if (sqlType === 'BOOLEAN') return (cell) => Number(cell) !== 0;
  if (column.kind === 'string' && isArrayType(column.type)) {
    const { type } = column;
    return (cell) => arrayElements(String(cell), type).map(elementValue);
  }
  return (cell) => (Array.isArray(cell) ? stringifyJson(cell) : (cell as string | number | bigint));
}

function elementValue(element: ArrayElement): WireValue {
  return element !== null && typeof element === 'object' ? element.map(elementValue) : element;
}
