// The only file that calls avsc: rows of Avro as plain values.

import { Buffer, isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import type { Type } from 'avsc';
import { createByName, own } from '../../../base/names.js';
import type { JsonObject } from '../flatten.js';
import { REPLACEMENT } from '../not-text.js';

/** Options that decide what values become. */
export interface AvroValues {
  /** Bytes are UTF-8; else they are read as base64. */
  readonly binaryAsString: boolean;
}

/** Reads the rows of a file. */
export interface RowReader {
  /** @throws Error for data that are not of the schema */
  read(
    data: Buffer,
    rowCount: number,
  ): Generator<{ readonly row: JsonObject; readonly typed: JsonObject | null; readonly isText: boolean }>;
}

type Convert = (value: unknown) => unknown;

interface Tap {
  readonly buf: Buffer;
  pos: number;
  /** Whether some string that was read is not UTF-8. */
  hasNotText: boolean;
  unpackLongBytes(): Buffer;
}

interface Typed {
  readonly type?: unknown;
}

interface Library {
  readonly Type: { forSchema(schema: unknown, options: object): Type };
  readonly types: { readonly LongType: { __with(methods: object): Type } };
}

/** Lengths and counts may be as many as bytes are left, and these more: numbers of branches of unions are read alike. */
const COUNT_FREE = 1000;
/** A key that the library's objects lose. */
const LOST_NAME = '__proto__';
const MAP_TYPE = 'map';
/** Longs with methods of our own. */
const LONG_TYPE = 'abstract:long';

/** @throws Error for what is not the schema of a record */
export function recordType(schema: unknown): Type {
  const { Type: Types, types } = createRequire(import.meta.url)('avsc') as Library;
  const long = types.LongType.__with({
    fromBuffer: (bytes: Buffer) => numberOf(bytes.readBigInt64LE()),
    toBuffer(value: number | bigint) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(value));
      return bytes;
    },
    fromJSON: (value: unknown) => value,
    toJSON: (value: unknown) => value,
    isValid: (value: unknown) => typeof value === 'bigint' || Number.isInteger(value),
    compare: (left: bigint, right: bigint) => (left < right ? -1 : Number(left > right)),
  });
  const typeHook = (part: unknown): Type | undefined => (part === 'long' || (part as Typed | null)?.type === 'long' ? long : undefined);
  const type = Types.forSchema(schema, { typeHook, wrapUnions: true, omitRecordMethods: true });
  if (type.typeName !== 'record') throw new Error(`the schema is that of a ${type.typeName}, not of a record`);
  return type;
}

/**
 * Rows written by one schema and read by another, or by the same. Logical types are what they are made of.
 * @param wantsTyped  whether rows are also read with the members of unions under the names of their types
 * @throws Error when the schemas do not fit, or the schema cannot be read
 */
export function rowReader(
  writer: Type,
  reader: Type,
  { binaryAsString, wantsTyped }: AvroValues & { readonly wantsTyped: boolean },
): RowReader {
  checkType(writer, new Set());
  const resolver = reader === writer ? null : reader.createResolver(writer);
  const source = (resolver ?? writer) as unknown as { _read(tap: Tap): unknown };
  let hasNotText = false;
  const binary: Convert = (value) => {
    if (binaryAsString && !isUtf8(value as Buffer)) hasNotText = true;
    return (value as Buffer).toString(binaryAsString ? 'utf8' : 'base64');
  };
  const convert = converters(reader, binary, false);
  const convertTyped = wantsTyped ? converters(reader, binary, true) : null;
  const names = { written: typeNames(writer), read: typeNames(reader) };
  const hasMaps = names.written.has(MAP_TYPE);
  const StrictTap = strictTap(resolver !== null && names.written.has(LONG_TYPE) && (names.read.has('float') || names.read.has('double')));
  return {
    *read(data, rowCount) {
      if (hasMaps && data.includes(LOST_NAME)) throw new Error(`it may have the key "${LOST_NAME}" in a map, which is not supported`);
      const tap = new StrictTap(data);
      for (let row = 0; row < rowCount; row++) {
        tap.hasNotText = hasNotText = false;
        const value = source._read(tap);
        const plain = convert(value) as JsonObject;
        const typed = convertTyped === null ? null : (convertTyped(value) as JsonObject);
        yield { row: plain, typed, isText: !tap.hasNotText && !hasNotText };
      }
      if (tap.pos < data.length) throw new Error('there are bytes behind its last row');
    },
  };
}

/** Methods that the library reads by. */
const READS = [
  'readBoolean',
  'readInt',
  'readLong',
  'readFloat',
  'readDouble',
  'readFixed',
  'readBytes',
  'readString',
  'unpackLongBytes',
] as const;
const SKIPS = ['skipBoolean', 'skipInt', 'skipLong', 'skipFloat', 'skipDouble', 'skipFixed', 'skipBytes', 'skipString'] as const;

/**
 * A reader of bytes that refuses what lies beyond the end, which the library notices too late: it would make a list of 2^50 items first.
 * @param readsLongsAsDoubles  values are read as counts are, so that counts cannot be told from them
 */
function strictTap(readsLongsAsDoubles: boolean): new (data: Buffer) => Tap {
  const { Tap: LibraryTap } = createRequire(import.meta.url)('avsc/lib/utils') as { readonly Tap: new (data: Buffer) => Tap };
  class StrictTap extends LibraryTap {}
  const methods = LibraryTap.prototype as Readonly<Record<string, (this: Tap, length?: number) => unknown>>;
  for (const name of [...READS, ...SKIPS]) {
    const method = own(methods, name);
    if (method === undefined) throw new Error(`avsc has no ${name}`);
    const readsLongs = name === 'readLong' && readsLongsAsDoubles;
    const countsToo = name === 'readLong' && !readsLongsAsDoubles;
    Object.defineProperty(StrictTap.prototype, name, {
      value(this: Tap, length?: number): unknown {
        // The library's loses the sign beyond 2^53.
        const value = readsLongs ? Number(this.unpackLongBytes().readBigInt64LE()) : method.call(this, length);
        const left = this.buf.length - this.pos;
        // A string that decoding had to mend has U+FFFD; so may one that is UTF-8, whose bytes are then the same again.
        if (name === 'readString' && typeof value === 'string' && value.includes(REPLACEMENT)) this.hasNotText ||= !endsWith(this, value);
        if (left < 0) throw new Error('a row goes on behind the end of the block');
        if (countsToo && Math.abs(value as number) > left + COUNT_FREE)
          throw new Error(`a count or length of ${value} is more than there are bytes`);
        return value;
      },
    });
  }
  return StrictTap;
}

/** Whether the bytes before the position of a reader are those of a string. */
function endsWith({ buf, pos }: Tap, text: string): boolean {
  const bytes = Buffer.from(text, 'utf8');
  return pos >= bytes.length && buf.subarray(pos - bytes.length, pos).equals(bytes);
}

function numberOf(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

interface Parts {
  readonly fields?: readonly { readonly name: string; readonly type: Type }[];
  readonly itemsType?: Type;
  readonly valuesType?: Type;
  readonly types?: readonly Type[];
  readonly size?: number;
}

function partsOf(type: Type): Parts {
  return type as unknown as Parts;
}

function childrenOf(type: Type): readonly Type[] {
  const { fields = [], itemsType, valuesType, types = [] } = partsOf(type);
  return [
    ...fields.map((field) => field.type),
    ...types,
    ...(itemsType === undefined ? [] : [itemsType]),
    ...(valuesType === undefined ? [] : [valuesType]),
  ];
}

function typeNames(type: Type, seen = new Set<Type>()): Set<string> {
  const names = new Set([type.typeName as string]);
  if (seen.has(type)) return names;
  seen.add(type);
  for (const child of childrenOf(type)) for (const name of typeNames(child, seen)) names.add(name);
  return names;
}

/** Refuses what a few bytes make any number of, and names that the library's objects lose. */
function checkType(type: Type, seen: Set<Type>): void {
  if (seen.has(type)) return;
  if (seen.size === 0 && !takesBytes(type, new Set())) throw new Error('its rows have no bytes');
  seen.add(type);
  const { fields = [], itemsType } = partsOf(type);
  if (itemsType !== undefined && !takesBytes(itemsType, new Set()))
    throw new Error('it has lists whose items have no bytes, which are not supported');
  if (fields.some(({ name }) => name === LOST_NAME)) throw new Error(`it has the field "${LOST_NAME}", which is not supported`);
  for (const child of childrenOf(type)) checkType(child, seen);
}

function takesBytes(type: Type, seen: Set<Type>): boolean {
  const { fields, size } = partsOf(type);
  if (type.typeName === 'null') return false;
  if (type.typeName === 'fixed') return size !== 0;
  if (fields === undefined) return true;
  if (seen.has(type)) return false;
  seen.add(type);
  return fields.some((field) => takesBytes(field.type, seen));
}

/** Conversion of the library's values to plain ones. `isTyped`: a value of a union of several types becomes `{type: value}`. */
function converters(type: Type, binary: Convert, isTyped: boolean): Convert {
  const made = new Map<Type, Convert>();
  const of = (part: Type): Convert => {
    const known = made.get(part);
    if (known !== undefined) return known;
    // Records may contain themselves.
    let convert: Convert = (value) => value;
    made.set(part, (value) => convert(value));
    convert = make(part);
    made.set(part, convert);
    return convert;
  };
  const make = (part: Type): Convert => {
    const { fields, itemsType, valuesType, types } = partsOf(part);
    if (part.typeName === 'bytes' || part.typeName === 'fixed') return binary;
    if (fields !== undefined) {
      const members = fields.map((field) => ({ name: field.name, convert: of(field.type) }));
      return (value) => {
        const record = createByName<unknown>();
        for (const { name, convert } of members) record[name] = convert(own(value as Readonly<Record<string, unknown>>, name));
        return record;
      };
    }
    if (itemsType !== undefined) {
      const convert = of(itemsType);
      return (value) => (value as readonly unknown[]).map(convert);
    }
    if (valuesType !== undefined) {
      const convert = of(valuesType);
      return (value) => {
        const map = createByName<unknown>();
        for (const [key, member] of Object.entries(value as object)) map[key] = convert(member);
        return map;
      };
    }
    if (types !== undefined) return unionConverter(types, of, isTyped);
    return (value) => value;
  };
  return of(type);
}

function unionConverter(types: readonly Type[], of: (type: Type) => Convert, isTyped: boolean): Convert {
  const isPlain = !isTyped || types.filter(({ typeName }) => typeName !== 'null').length < 2;
  const branches = new Map(types.map((type) => [type.branchName ?? type.typeName, { convert: of(type), name: nameOf(type) }]));
  return (value) => {
    if (value === null) return null;
    const [[name, member] = ['', null]] = Object.entries(value as object) as [string, unknown][];
    const branch = branches.get(name);
    if (branch === undefined) throw new Error(`a union has no type ${name}`);
    const plain = branch.convert(member);
    if (isPlain) return plain;
    const typed = createByName<unknown>();
    typed[branch.name] = plain;
    return typed;
  };
}

/** Short names of records, enums and fixed ones; others go by their types. */
function nameOf(type: Type): string {
  return type.name?.split('.').at(-1) ?? type.branchName ?? type.typeName;
}
