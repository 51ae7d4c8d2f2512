/**
 * Protocol Buffers as a client of Avatica speaks them, written from the public description of the encoding and from the
 * field numbers of the protocol, without a line of the server's.
 */

/** Field numbers and values in the order in which they are written; a nested message is such a list again. */
export type Fields = readonly (readonly [number: number, value: FieldValue])[];
/** A bigint or integer is a varint; `double` and `signed` (zigzag) say so. */
export type FieldValue =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | { readonly double: number }
  | { readonly signed: bigint }
  | { readonly message: Fields };

export function encode(fields: Fields): Buffer {
  return Buffer.concat(fields.flatMap(([number, value]) => encodeField(number, value)));
}

function encodeField(number: number, value: FieldValue): Buffer[] {
  if (typeof value === 'string') return sized(number, Buffer.from(value));
  if (value instanceof Uint8Array) return sized(number, Buffer.from(value));
  if (typeof value !== 'object') return [varint(BigInt(number) << 3n), varint(BigInt(value))];
  if ('message' in value) return sized(number, encode(value.message));
  if ('signed' in value) return [varint(BigInt(number) << 3n), varint((value.signed << 1n) ^ (value.signed >> 63n))];
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value.double);
  return [varint((BigInt(number) << 3n) | 1n), bytes];
}

function sized(number: number, bytes: Buffer): Buffer[] {
  return [varint((BigInt(number) << 3n) | 2n), varint(BigInt(bytes.length)), bytes];
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

/** A message that was read: the values of each field as they came, varints and doubles, or bytes. */
export class Decoded {
  readonly #fields = new Map<number, (bigint | number | Buffer)[]>();

  constructor(bytes: Buffer) {
    let at = 0;
    const next = (): bigint => {
      let value = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const byte = bytes[at++];
        if (byte === undefined) throw new Error('the message ends within a varint');
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    while (at < bytes.length) {
      const tag = Number(next());
      const values = this.#fields.get(tag >> 3) ?? [];
      this.#fields.set(tag >> 3, values);
      if ((tag & 7) === 0) values.push(next());
      else if ((tag & 7) === 1) {
        values.push(bytes.readDoubleLE(at));
        at += 8;
      } else {
        const length = Number(next());
        if (at + length > bytes.length) throw new Error('the message ends within a field');
        values.push(bytes.subarray(at, at + length));
        at += length;
      }
    }
  }

  has(number: number): boolean {
    return this.#fields.has(number);
  }

  long(number: number): bigint {
    return (this.#fields.get(number)?.at(-1) ?? 0n) as bigint;
  }

  /** Zigzag. */
  signed(number: number): bigint {
    const value = this.long(number);
    return (value >> 1n) ^ -(value & 1n);
  }

  double(number: number): number {
    return (this.#fields.get(number)?.at(-1) ?? 0) as number;
  }

  bool(number: number): boolean {
    return this.long(number) === 1n;
  }

  bytes(number: number): Buffer {
    return (this.#fields.get(number)?.at(-1) ?? Buffer.alloc(0)) as Buffer;
  }

  text(number: number): string {
    return this.bytes(number).toString('utf8');
  }

  texts(number: number): string[] {
    return ((this.#fields.get(number) ?? []) as Buffer[]).map((bytes) => bytes.toString('utf8'));
  }

  message(number: number): Decoded {
    return new Decoded(this.bytes(number));
  }

  messages(number: number): Decoded[] {
    return ((this.#fields.get(number) ?? []) as Buffer[]).map((bytes) => new Decoded(bytes));
  }
}

/** A request in its envelope. */
export function envelope(name: string, fields: Fields): Buffer {
  return encode([
    [1, `org.apache.calcite.avatica.proto.Requests$${name}`],
    [2, { message: fields }],
  ]);
}

export interface ProtobufResponse {
  /** Without the names of the classes around it. */
  readonly name: string;
  readonly message: Decoded;
}

export function openEnvelope(bytes: Buffer): ProtobufResponse {
  const outer = new Decoded(bytes);
  return { name: outer.text(1).replace('org.apache.calcite.avatica.proto.Responses$', ''), message: outer.message(2) };
}

/** Numbers of the representations that answers have. */
const REP = { BOOLEAN: 8, INTEGER: 12, LONG: 13, FLOAT: 14, DOUBLE: 15, STRING: 21, OBJECT: 23, NULL: 24, ARRAY: 27 } as const;

/** A typed value as `LONG 7`; arrays as lists of these. */
export type Typed = string | readonly Typed[];

function typedValue(value: Decoded): Typed {
  switch (Number(value.long(1))) {
    case REP.NULL:
      return `NULL ${value.bool(7)}`;
    case REP.BOOLEAN:
      return `BOOLEAN ${value.bool(2)}`;
    case REP.INTEGER:
      return `INTEGER ${value.signed(4)}`;
    case REP.LONG:
      return `LONG ${value.signed(4)}`;
    case REP.FLOAT: {
      const bits = Buffer.alloc(4);
      bits.writeInt32LE(Number(value.signed(4)));
      return `FLOAT ${bits.readFloatLE()}`;
    }
    case REP.DOUBLE:
      return `DOUBLE ${value.double(6)}`;
    case REP.STRING:
      return `STRING ${value.text(3)}`;
    case REP.ARRAY:
      return value.messages(8).map(typedValue);
    default:
      throw new Error(`an answer has a value of the representation ${value.long(1)}`);
  }
}

/** The rows of a frame. */
export function rowsOf(frame: Decoded): Typed[][] {
  return frame
    .messages(3)
    .map((row) => row.messages(1).map((cell) => (cell.bool(3) ? cell.messages(2).map(typedValue) : typedValue(cell.message(4)))));
}
