// Reads the runs of levels and dictionary ids of Parquet pages.

/** Bytes that may be read behind the end of a page: reading a value takes four bytes at once, and a fifth. */
export const RUN_PADDING = 8;

/**
 * Unsigned numbers of `width` bits as runs, either of one repeated value or of packed groups of eight (the hybrid encoding of the Parquet
 * format). Reads on where the last call stopped.
 */
export class RunReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #width: number;
  #at: number;
  /** Values left of the run. */
  #left = 0;
  #value = 0;
  /** Position of the next packed value in bits; below 0: the run repeats `value`. */
  #bit = -1;

  /** @param bytes  with `RUN_PADDING` behind `end`. @throws Error for a width beyond 32 */
  constructor(bytes: Uint8Array, start: number, end: number, width: number) {
    if (width > 32) throw new Error(`values of ${width} bits`);
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#width = width;
  }

  /** Writes the next `count` values. @throws Error when the runs end before */
  read(out: Uint32Array, count: number): void {
    if (this.#width === 0) {
      out.fill(0, 0, count);
      return;
    }
    for (let to = 0; to < count; ) {
      if (this.#left === 0) this.#nextRun();
      const taken = Math.min(count - to, this.#left);
      if (this.#bit < 0) out.fill(this.#value, to, to + taken);
      else this.#unpack(out, to, taken);
      this.#left -= taken;
      to += taken;
    }
  }

  #nextRun(): void {
    let header = 0;
    for (let shift = 0; ; shift += 7) {
      if (this.#at >= this.#end || shift > 28) throw new Error('the values of a page end before their count');
      const byte = this.#bytes[this.#at++] ?? 0;
      header |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    const count = header >>> 1;
    if ((header & 1) === 1) {
      this.#left = count * 8;
      this.#bit = this.#at * 8;
      this.#at += count * this.#width;
      if (this.#bit >= this.#end * 8) throw new Error('the values of a page end before their count');
      return;
    }
    this.#left = count;
    this.#bit = -1;
    this.#value = 0;
    for (let shift = 0; shift < this.#width; shift += 8) this.#value |= (this.#bytes[this.#at++] ?? 0) << shift;
    this.#value >>>= 0;
    if (this.#at > this.#end) throw new Error('the values of a page end before their count');
  }

  /** Padding of a last group may be left out, and reads as zeros: `bytes` ends with some. */
  #unpack(out: Uint32Array, to: number, count: number): void {
    const bytes = this.#bytes;
    const width = this.#width;
    const mask = 2 ** width - 1;
    let bit = this.#bit;
    for (let at = to; at < to + count; at++, bit += width) {
      const from = bit >>> 3;
      const shift = bit & 7;
      const low = (bytes[from] ?? 0) | ((bytes[from + 1] ?? 0) << 8) | ((bytes[from + 2] ?? 0) << 16) | ((bytes[from + 3] ?? 0) << 24);
      out[at] = shift + width <= 32 ? (low >>> shift) & mask : ((low >>> shift) | ((bytes[from + 4] ?? 0) << (32 - shift))) & mask;
    }
    this.#bit = bit;
  }
}
