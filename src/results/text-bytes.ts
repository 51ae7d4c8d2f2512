// Text that is written piece by piece as UTF-8.

const FIRST_BYTES = 4096;
/** Texts of more characters are left to the encoder of the platform; it costs as much as some thirty characters here. */
const SHORT_TEXT = 40;
const encoder = new TextEncoder();

/** Text in UTF-8, in bytes that grow. Whoever writes into `bytes` asks for room first, and moves `length`. */
export class TextBytes {
  bytes: Uint8Array;
  length = 0;

  constructor(firstBytes = FIRST_BYTES) {
    this.bytes = new Uint8Array(firstBytes);
  }

  /** Makes room for so many more bytes. */
  room(count: number): void {
    if (this.length + count > this.bytes.length) this.#grow(count);
  }

  /** One character of ASCII. */
  code(code: number): void {
    if (this.length === this.bytes.length) this.#grow(1);
    this.bytes[this.length++] = code;
  }

  text(text: string): void {
    // A character of UTF-16 is three bytes at most.
    this.room(text.length * 3);
    const { bytes } = this;
    const start = this.length;
    if (text.length <= SHORT_TEXT) {
      let at = 0;
      for (; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (code > 0x7f) break;
        bytes[start + at] = code;
      }
      if (at === text.length) {
        this.length = start + at;
        return;
      }
    }
    this.length = start + encoder.encodeInto(text, bytes.subarray(start)).written;
  }

  /** The bytes from `start` to `end` of another text. */
  part(of: TextBytes, start: number, end: number): void {
    this.room(end - start);
    const { bytes, length } = this;
    if (end - start > SHORT_TEXT) bytes.set(of.bytes.subarray(start, end), length);
    else for (let from = start, to = length; from < end; from++, to++) bytes[to] = of.bytes[from] ?? 0;
    this.length = length + end - start;
  }

  /** The text so far, in bytes that are the caller's; this one is empty again. */
  take(): Uint8Array {
    const taken = this.bytes.slice(0, this.length);
    this.length = 0;
    return taken;
  }

  /** The text so far as a string; this one is empty again. */
  takeText(): string {
    const text = Buffer.from(this.bytes.buffer, 0, this.length).toString();
    this.length = 0;
    return text;
  }

  #grow(count: number): void {
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}
