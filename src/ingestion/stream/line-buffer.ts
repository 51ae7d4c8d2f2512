// Messages laid behind one another as the lines of a text.

import { Buffer } from 'node:buffer';
import type { InputFormat } from '../format/format-kind.js';
import { countFeeds } from '../format/text-rows.js';

const LINE_FEED = 10;
/** Bytes of messages that are read together. */
const BYTES_TOGETHER = 1 << 20;

/**
 * Texts in bytes that they share, in the order in which they lie there: text i is `bytes[starts[i] .. ends[i])`; an end below 0: there is
 * none. At least one byte stands between two of them.
 */
export interface Texts {
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** Whether each line of a text is a row, whatever stands before and behind it. */
export type AreRows = (text: Buffer) => boolean;

/** Test of whether lines of a format are rows; undefined: they are not known to be. */
export function linesOf({ isByLine, areRows }: InputFormat): AreRows | undefined {
  return isByLine ? () => true : areRows;
}

/** Memory that the lines of one batch of messages after the other are laid in: new one for each would have V8 collect garbage all the time. */
export class LineRoom {
  bytes = Buffer.alloc(0);
  /** Numbers of the texts. */
  numbers = new Int32Array(64);

  grow(size: number, count: number): void {
    if (size > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, Math.min(this.bytes.length * 2, BYTES_TOGETHER * 2)));
      larger.set(this.bytes);
      this.bytes = larger;
    }
    if (count <= this.numbers.length) return;
    const larger = new Int32Array(Math.max(count, this.numbers.length * 2));
    larger.set(this.numbers);
    this.numbers = larger;
  }
}

/**
 * Texts that are one line each, one behind the other. They are copied with what stands between them, and then moved together: a call for
 * each costs more than the bytes.
 */
export class LineBuffer {
  readonly #areRows: AreRows;
  readonly #maxBytes: number;
  readonly #room: LineRoom;
  /** Texts that are tried together: fewer when some were not single lines. */
  #stride = Number.MAX_SAFE_INTEGER;
  size = 0;
  count = 0;
  /** Line feeds that are not of the texts. */
  addedFeeds = 0;

  /** @param maxBytes  of a text; longer ones are not added */
  constructor(areRows: AreRows, maxBytes: number, room: LineRoom) {
    this.#areRows = areRows;
    this.#maxBytes = maxBytes;
    this.#room = room;
  }

  get isFull(): boolean {
    return this.size >= BYTES_TOGETHER;
  }

  get bytes(): Buffer {
    return this.#room.bytes.subarray(0, this.size);
  }

  get numbers(): Int32Array {
    return this.#room.numbers.slice(0, this.count);
  }

  /**
   * Adds texts from one on, as many as are single lines, lie together and find room.
   * @param number  of the first text of the list
   * @returns how many were added; 0: the text at `from` is to be read by itself
   */
  add(texts: Texts, from: number, number: number): number {
    for (;;) {
      const to = this.#plainUntil(texts, from);
      if (to === from) return 0;
      if (this.#lay(texts, from, to, number)) {
        this.#stride = Math.min(Number.MAX_SAFE_INTEGER, this.#stride * 2);
        return to - from;
      }
      this.#stride = Math.max(1, (to - from) >>> 1);
      if (to - from === 1) return 0;
    }
  }

  clear(): void {
    [this.size, this.count, this.addedFeeds] = [0, 0, 0];
  }

  /** End of the texts from one on that have bytes, but not too many, and are tried together. */
  #plainUntil({ starts, ends, count }: Texts, from: number): number {
    const first = starts[from] ?? 0;
    let at = from;
    for (const last = Math.min(count, from + this.#stride); at < last; at++) {
      const [start, end] = [starts[at] ?? 0, ends[at] ?? 0];
      const hasRoom = at === from || this.size + end - first <= BYTES_TOGETHER;
      if (end <= start || end - start > this.#maxBytes || !hasRoom) break;
    }
    return at;
  }

  /** False, and nothing is added, when they are not single lines. */
  #lay({ bytes: source, starts, ends }: Texts, from: number, to: number, number: number): boolean {
    const first = starts[from] ?? 0;
    const begin = this.size;
    this.#room.grow(begin + (ends[to - 1] ?? 0) - first + 1, this.count + to - from);
    const { bytes, numbers } = this.#room;
    bytes.set(source.subarray(first, ends[to - 1]), begin);
    const moved = begin - first;
    let [size, added, count] = [begin, 0, this.count];
    for (let at = from; at < to; at++) {
      const [start, end] = [(starts[at] ?? 0) + moved, (ends[at] ?? 0) + moved];
      const isEnded = bytes[end - 1] === LINE_FEED;
      if (size !== start) bytes.copyWithin(size, start, end);
      size += end - start;
      // It goes where what stands between two texts was.
      if (!isEnded) {
        bytes[size++] = LINE_FEED;
        added++;
      }
      numbers[count++] = number + at;
    }
    if (countFeeds(bytes, begin, size) !== to - from || !this.#areRows(bytes.subarray(begin, size))) return false;
    [this.size, this.count] = [size, count];
    this.addedFeeds += added;
    return true;
  }
}
