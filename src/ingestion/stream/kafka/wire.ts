// Primitive values of the protocol of Kafka, big-endian, as its requests carried them before their flexible versions.
//
// string: length 2 and UTF-8; a nullable one: length -1. bytes: length 4 (-1: null). array: count 4 (-1: null), and its elements.

/** Writes a request. */
export class WireWriter {
  #bytes = Buffer.allocUnsafe(256);
  #size = 0;

  int8(value: number): this {
    this.#bytes.writeInt8(value, this.#room(1));
    return this;
  }

  int16(value: number): this {
    this.#bytes.writeInt16BE(value, this.#room(2));
    return this;
  }

  int32(value: number): this {
    this.#bytes.writeInt32BE(value, this.#room(4));
    return this;
  }

  int64(value: number): this {
    this.#bytes.writeBigInt64BE(BigInt(value), this.#room(8));
    return this;
  }

  string(value: string): this {
    const bytes = Buffer.from(value);
    this.int16(bytes.length);
    bytes.copy(this.#bytes, this.#room(bytes.length));
    return this;
  }

  bytes(value: Uint8Array): this {
    this.int32(value.length);
    this.#bytes.set(value, this.#room(value.length));
    return this;
  }

  /** @param values  null: a null array */
  array<Value>(values: readonly Value[] | null, write: (to: this, value: Value) => void): this {
    this.int32(values === null ? -1 : values.length);
    for (const value of values ?? []) write(this, value);
    return this;
  }

  /** The bytes that were written, behind their length. */
  framed(): Buffer {
    const frame = Buffer.allocUnsafe(4 + this.#size);
    frame.writeInt32BE(this.#size);
    this.#bytes.copy(frame, 4, 0, this.#size);
    return frame;
  }

  /** Place of the next `size` bytes, which are there from then on. */
  #room(size: number): number {
    const at = this.#size;
    this.#size += size;
    if (this.#size > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#size, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}

/** Reads an answer. Each method throws RangeError behind its end. */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int8(): number {
    return this.#bytes.readInt8(this.#next(1));
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#next(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#next(4));
  }

  bigint64(): bigint {
    return this.#bytes.readBigInt64BE(this.#next(8));
  }

  int64(): number {
    return Number(this.bigint64());
  }

  string(): string {
    return this.nullableString() ?? '';
  }

  nullableString(): string | null {
    const length = this.int16();
    if (length < 0) return null;
    const at = this.#next(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  /** A view of the answer; null is empty. */
  bytes(): Buffer {
    const length = Math.max(0, this.int32());
    const at = this.#next(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** null is empty. */
  array<Value>(read: (from: this) => Value): Value[] {
    const count = this.int32();
    // Every element has a byte at least.
    if (count > this.#bytes.length - this.#at) throw new RangeError(`${count} elements in ${this.#bytes.length - this.#at} bytes`);
    return Array.from({ length: Math.max(0, count) }, () => read(this));
  }

  #next(size: number): number {
    const at = this.#at;
    if (at + size > this.#bytes.length) throw new RangeError(`${size} bytes at ${at} of ${this.#bytes.length}`);
    this.#at = at + size;
    return at;
  }
}
