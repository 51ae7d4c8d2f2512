// Kernel memory of delimited text that is being cut.

import { Buffer } from 'node:buffer';
import type { KernelMemory } from '../../kernels/memory.js';
import { TEXT_PADDING } from '../../kernels/text-id-contract.js';
import { inputBench, Room } from './input-bench.js';

/** Text and the places of its fields in kernel memory, where strings are looked up. `close` gives it back. */
export class TextMemory {
  readonly memory: KernelMemory;
  readonly #text: Room;
  readonly #fields: Room;

  /** @param kernels  name of the set; any, unless given */
  constructor(kernels?: string) {
    ({ memory: this.memory } = inputBench(kernels));
    this.#text = new Room(this.memory);
    this.#fields = new Room(this.memory);
  }

  /** The text with room for so many bytes; what it held stays. */
  text(bytes: number): Buffer {
    this.#text.grow(bytes + TEXT_PADDING);
    const { at } = this.#text;
    return Buffer.from(this.memory.u8(at, bytes).buffer, at, bytes);
  }

  /** Starts and ends of the fields of each column in so many rows; views of before are outdated. */
  places(columnCount: number, rows: number): { readonly starts: Int32Array[]; readonly ends: Int32Array[] } {
    this.#fields.grow(columnCount * rows * 8);
    const views = (first: number): Int32Array[] =>
      Array.from({ length: columnCount }, (_, column) => this.memory.i32(this.#fields.at + (first + column) * rows * 4, rows));
    return { starts: views(0), ends: views(columnCount) };
  }

  close(): void {
    this.#text.free();
    this.#fields.free();
  }
}
