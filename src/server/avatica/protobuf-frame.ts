// Result frames of Avatica in Protocol Buffers.

import { tagOf, type Writer } from './protobuf.js';
import type { Representation, WireFrame, WireType, WireValue } from './protocol.js';

/** Numbers of the representations of values. */
export const REPRESENTATIONS: ReadonlyMap<number, string> = new Map(
  [
    ...['PRIMITIVE_BOOLEAN', 'PRIMITIVE_BYTE', 'PRIMITIVE_CHAR', 'PRIMITIVE_SHORT', 'PRIMITIVE_INT', 'PRIMITIVE_LONG'],
    ...['PRIMITIVE_FLOAT', 'PRIMITIVE_DOUBLE', 'BOOLEAN', 'BYTE', 'CHARACTER', 'SHORT', 'INTEGER', 'LONG', 'FLOAT', 'DOUBLE'],
    ...['JAVA_SQL_TIME', 'JAVA_SQL_TIMESTAMP', 'JAVA_SQL_DATE', 'JAVA_UTIL_DATE', 'BYTE_STRING', 'STRING', 'NUMBER', 'OBJECT'],
    ...['NULL', 'BIG_INTEGER', 'BIG_DECIMAL', 'ARRAY', 'STRUCT', 'MULTISET'],
  ].map((name, number) => [number, name]),
);

const NUMBERS = new Map([...REPRESENTATIONS].map(([number, name]) => [name, number]));
const numberOf = (name: Representation | 'NULL'): number => NUMBERS.get(name) as number;

/** Fields of a frame, of a row, of a cell of it, and of a typed value. */
const FRAME = { offset: tagOf(1, 'Varint'), done: tagOf(2, 'Varint'), rows: tagOf(3, 'LengthDelimited') };
const ROW_CELL = tagOf(1, 'LengthDelimited');
const CELL = { array: tagOf(2, 'LengthDelimited'), isArray: tagOf(3, 'Varint'), scalar: tagOf(4, 'LengthDelimited') };
const VALUE = {
  type: tagOf(1, 'Varint'),
  bool: tagOf(2, 'Varint'),
  string: tagOf(3, 'LengthDelimited'),
  number: tagOf(4, 'Varint'),
  double: tagOf(6, 'Bit64'),
  isNull: tagOf(7, 'Varint'),
  array: tagOf(8, 'LengthDelimited'),
  componentType: tagOf(9, 'Varint'),
};

/** Cells by the million: written straight from the rows, without an object for each. */
export function writeFrame(writer: Writer, { offset, done, rows, types }: WireFrame): void {
  writer.uint32(FRAME.offset).uint64(offset);
  writer.uint32(FRAME.done).bool(done);
  const cells = types.map(cellWriter);
  for (const row of rows) {
    writer.uint32(FRAME.rows).fork();
    for (let index = 0; index < cells.length; index++) {
      writer.uint32(ROW_CELL).fork();
      cells[index]?.(writer, row[index] ?? null);
      writer.join();
    }
    writer.join();
  }
}

type ValueWriter = (writer: Writer, value: WireValue) => void;

/** A cell is one value or a list of values; an array that is null is one value. */
function cellWriter(type: WireType): ValueWriter {
  const write = valueWriter(type.type === 'array' ? type.component : type);
  return (writer, value) => {
    if (!Array.isArray(value)) {
      writer.uint32(CELL.scalar).fork();
      write(writer, value);
      writer.join();
      return;
    }
    for (const element of value as readonly WireValue[]) {
      writer.uint32(CELL.array).fork();
      write(writer, element);
      writer.join();
    }
    writer.uint32(CELL.isArray).bool(true);
  };
}

function valueWriter(type: WireType): ValueWriter {
  const write = type.type === 'array' ? arrayWriter(type.component) : SCALARS[type.rep];
  return (writer, value) => {
    if (value === null) writer.uint32(VALUE.type).uint32(numberOf('NULL')).uint32(VALUE.isNull).bool(true);
    else write(writer, value);
  };
}

function arrayWriter(component: WireType): ValueWriter {
  const write = valueWriter(component);
  return (writer, value) => {
    writer.uint32(VALUE.type).uint32(numberOf('ARRAY'));
    for (const element of value as readonly WireValue[]) {
      writer.uint32(VALUE.array).fork();
      write(writer, element);
      writer.join();
    }
    writer.uint32(VALUE.componentType).uint32(numberOf(component.rep));
  };
}

/** Writes what stands before a value: its representation, and the field that it is in. */
const begin = (writer: Writer, name: Representation, field: number): Writer =>
  writer.uint32(VALUE.type).uint32(numberOf(name)).uint32(field);

const text: ValueWriter = (writer, value) => begin(writer, 'STRING', VALUE.string).string(String(value));
const long: ValueWriter = (writer, value) => begin(writer, 'LONG', VALUE.number).sint64(value as number | bigint);

/** Writers by representation. The column states the representation; each value repeats it for clients that look there. */
const SCALARS: Readonly<Record<Representation, ValueWriter>> = {
  STRING: text,
  OBJECT: text,
  ARRAY: text,
  LONG: long,
  BOOLEAN: (writer, value) => begin(writer, 'BOOLEAN', VALUE.bool).bool(value as boolean),
  // INTEGER is a name for longs here: one that has more digits than an INTEGER is told to be a LONG.
  INTEGER: (writer, value) => {
    const number = Number(value);
    if (number !== (number | 0)) long(writer, value);
    else begin(writer, 'INTEGER', VALUE.number).sint64(number);
  },
  FLOAT: (writer, value) => begin(writer, 'FLOAT', VALUE.number).sint64(floatBits(value as number)),
  DOUBLE: (writer, value) => begin(writer, 'DOUBLE', VALUE.double).double(value as number),
};

const BITS = new DataView(new ArrayBuffer(4));

/** A FLOAT travels as the integer that has its bits. */
function floatBits(value: number): number {
  BITS.setFloat32(0, value);
  return BITS.getInt32(0);
}

/** The inverse, for parameters. */
export function floatOfBits(bits: number): number {
  BITS.setInt32(0, bits);
  return BITS.getFloat32(0);
}
