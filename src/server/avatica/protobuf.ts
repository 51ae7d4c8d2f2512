// Reads and writes Protocol Buffers.

import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { ServiceError } from '../../base/errors.js';
import { createByName, own } from '../../base/names.js';

/**
 * The bytes of Protocol Buffers, version 3. A message is a table of its fields: each has a number, and a kind that says
 * how its value is written. What has its kind's default value (0, false, an empty text) need not be written, so that
 * reading leaves it out.
 */
export type Message = Readonly<Record<string, Field>>;

export interface Field {
  readonly number: number;
  readonly kind: Kind;
  readonly repeated: boolean;
}

type ScalarKind = 'string' | 'bytes' | 'bool' | 'int32' | 'uint32' | 'int64' | 'uint64' | 'sint64' | 'double';
/** A function gives a message, which may contain itself. */
type Kind = ScalarKind | Enumeration | (() => Message) | Writing;

/** Names by their numbers. */
export type Enumeration = ReadonlyMap<number, string>;

/** A message that is written by hand, and never read. */
interface Writing {
  write(writer: Writer, value: unknown): void;
}

/** The part of the writer that hand-written messages use: `tag` and a value, or `tag`, `fork`, fields, `join`. */
export type Writer = Pick<BinaryWriter, 'uint32' | 'sint64' | 'uint64' | 'double' | 'bool' | 'string' | 'fork' | 'join'>;

export const field = (number: number, kind: Kind): Field => ({ number, kind, repeated: false });
export const list = (number: number, kind: Kind): Field => ({ number, kind, repeated: true });
export const tagOf = (number: number, wireType: keyof typeof WireType): number => (number << 3) | WireType[wireType];

const WIRE_TYPES: Readonly<Record<ScalarKind, WireType>> = {
  string: WireType.LengthDelimited,
  bytes: WireType.LengthDelimited,
  bool: WireType.Varint,
  int32: WireType.Varint,
  uint32: WireType.Varint,
  int64: WireType.Varint,
  uint64: WireType.Varint,
  sint64: WireType.Varint,
  double: WireType.Bit64,
};

/** Messages in messages, beyond what any client sends. */
const DEPTH_MAX = 32;

/** @param value  its members by the names of the table; those that are null, undefined or not in the table are left out */
export function encodeMessage(message: Message, value: object): Uint8Array {
  const writer = new BinaryWriter();
  writeMessage(writer, message, value as Readonly<Record<string, unknown>>);
  return writer.finish();
}

function writeMessage(writer: BinaryWriter, message: Message, value: Readonly<Record<string, unknown>>): void {
  for (const [name, { number, kind, repeated }] of Object.entries(message)) {
    const member = own(value, name);
    if (member === undefined || member === null) continue;
    for (const each of repeated ? (member as readonly unknown[]) : [member]) writeField(writer, number, kind, each);
  }
}

function writeField(writer: BinaryWriter, number: number, kind: Kind, value: unknown): void {
  if (typeof kind === 'string') {
    writer.tag(number, WIRE_TYPES[kind]);
    writeScalar(writer, kind, value);
  } else if (kind instanceof Map) {
    writer.tag(number, WireType.Varint).int32(numberOf(kind, value));
  } else {
    writer.tag(number, WireType.LengthDelimited).fork();
    if (typeof kind === 'function') writeMessage(writer, kind(), value as Readonly<Record<string, unknown>>);
    else (kind as Writing).write(writer, value);
    writer.join();
  }
}

/** Unsigned integers carry the bits of signed ones: what Java calls unsigned is as negative as any other. */
function writeScalar(writer: BinaryWriter, kind: ScalarKind, value: unknown): void {
  if (kind === 'string') writer.string(value as string);
  else if (kind === 'bytes') writer.bytes(value as Uint8Array);
  else if (kind === 'bool') writer.bool(value as boolean);
  else if (kind === 'int32') writer.int32(value as number);
  else if (kind === 'uint32') writer.uint32((value as number) >>> 0);
  else if (kind === 'double') writer.double(value as number);
  else if (kind === 'uint64') writer.uint64(BigInt.asUintN(64, BigInt(value as bigint)));
  else writer[kind](value as bigint);
}

function numberOf(names: Enumeration, value: unknown): number {
  for (const [number, name] of names) if (name === value) return number;
  throw new ServiceError('internal', `the protocol has no number for ${String(value)}`);
}

/**
 * @returns the members that are there, by the names of the table; integers of 64 bits as bigints where numbers are not
 *          exact, and numbers of an enumeration without a name as they are
 * @throws ServiceError `input_invalid` for bytes that are no such message
 */
export function decodeMessage(message: Message, bytes: Uint8Array, path: string): Readonly<Record<string, unknown>> {
  return readMessage(message, bytes, path, 0);
}

function readMessage(message: Message, bytes: Uint8Array, path: string, depth: number): Readonly<Record<string, unknown>> {
  if (depth > DEPTH_MAX) throw new ServiceError('input_invalid', `${path}: messages are nested deeper than ${DEPTH_MAX} levels`);
  const names = namesOf(message);
  const value = createByName<unknown>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = guarded(path, () => reader.tag());
    const name = names.get(number);
    if (name === undefined) {
      guarded(path, () => reader.skip(wireType, number));
      continue;
    }
    const { kind, repeated } = own(message, name) as Field;
    const at = path === '' ? name : `${path}.${name}`;
    const expected = wireTypeOf(kind);
    if (wireType !== expected)
      throw new ServiceError('input_invalid', `${at}: expected ${WireType[expected]}, found ${WireType[wireType]} in field ${number}`);
    const member = readField(reader, kind, at, depth);
    if (repeated) ((value[name] ??= []) as unknown[]).push(member);
    else value[name] = member;
  }
  return value;
}

function readField(reader: BinaryReader, kind: Kind, path: string, depth: number): unknown {
  if (typeof kind === 'string') return guarded(path, () => readScalar(reader, kind));
  if (kind instanceof Map) {
    const number = guarded(path, () => reader.int32());
    return kind.get(number) ?? number;
  }
  if (typeof kind !== 'function') throw new ServiceError('internal', `${path} is only ever written`);
  return readMessage(
    kind(),
    guarded(path, () => reader.bytes()),
    path,
    depth + 1,
  );
}

function readScalar(reader: BinaryReader, kind: ScalarKind): unknown {
  if (kind === 'string') return reader.string(true);
  if (kind !== 'int64' && kind !== 'uint64' && kind !== 'sint64') return reader[kind]();
  const value = BigInt(reader[kind]());
  return BigInt(Number.MIN_SAFE_INTEGER) <= value && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

function wireTypeOf(kind: Kind): WireType {
  if (typeof kind === 'string') return WIRE_TYPES[kind];
  return kind instanceof Map ? WireType.Varint : WireType.LengthDelimited;
}

/** Runs a decoder; its exceptions mean that the client sent truncated or invalid bytes. */
function guarded<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ServiceError('input_invalid', `${path === '' ? 'body' : path}: expected a message of Protocol Buffers: ${message}`, error);
  }
}

const NAMES = new WeakMap<Message, ReadonlyMap<number, string>>();

function namesOf(message: Message): ReadonlyMap<number, string> {
  let names = NAMES.get(message);
  if (names === undefined) {
    names = new Map(Object.entries(message).map(([name, { number }]) => [number, name]));
    NAMES.set(message, names);
  }
  return names;
}
