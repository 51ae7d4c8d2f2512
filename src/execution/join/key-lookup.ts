// Leaves out rows whose value is no key of a build side, and blocks whose values are all beyond the keys.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { NumberColumnView } from '../../storage/view.js';
import { blockAt, kernelFor, type RunContext, wordsOf } from '../block/context.js';
import type { KeyBits } from './key-bits.js';

/** A byte for each value is read twice as fast as a bit while all of them lie in the fastest cache; in the next one still faster, where it is read as often as written. */
const BYTES_FEW = 1 << 15;
const BYTES_MAX = 1 << 18;
/** A bit for each stored value is written at once for 64 of them. */
const VALUES_PER_ROW = 32;

/** Tables of columns with other values, such as those of other segments, are dropped above so many bytes. */
const TABLES_BYTES_MAX = 1 << 23;

/** Keys that lie within this part of a column's values are looked for in it first. */
const RANGE_PART_MAX = 0.5;

/** Values as they are stored, from 0 to below `span`. */
interface StoredValues {
  readonly values: Address;
  readonly base: bigint;
  readonly span: number;
}

/** A bit for each stored value, or a byte. */
interface Table {
  readonly at: Address;
  readonly isBytes: boolean;
}

/** A look at the keys of a build side, for the rows of one thread. */
export class KeyLookup {
  readonly #context: RunContext;
  readonly #keys: KeyBits;
  /** Memory of the tables and the bits. */
  readonly #arena: Arena;
  /** A table with a place for each stored value, by the column's base and number of values. */
  readonly #tables = new Map<string, Table>();
  /** Bits of a block. */
  #found: Address = 0;

  constructor(context: RunContext, keys: KeyBits) {
    this.#context = context;
    this.#arena = context.memory.arena();
    this.#keys = keys;
  }

  close(): void {
    this.#tables.clear();
    this.#found = 0;
    this.#arena.release();
  }

  /** Leaves those bits set of the rows [start, end) whose value is a key; the value of a null is any. `start` is a multiple of BLOCK_ROWS. */
  keep(column: NumberColumnView, start: number, end: number, bits: Address): void {
    const { memory, kernels } = this.#context;
    const { low, count } = this.#keys;
    const [lower, upper] = [Number(low), Number(low + BigInt(count - 1))];
    const blocks = Math.ceil((end - start) / BLOCK_ROWS);
    const ranges = column.blockRanges === 0 ? undefined : memory.f64(column.blockRanges + (start / BLOCK_ROWS) * 16, blocks * 2);
    // Ranges are rounded outwards, and equality is not skipped.
    const meetsKeys = (block: number): boolean =>
      ranges === undefined || !((ranges[block * 2 + 1] ?? 0) < lower || (ranges[block * 2] ?? 0) > upper);
    for (let block = 0; block < blocks; ) {
      const from = block;
      const isMet = meetsKeys(from);
      for (block++; block < blocks && meetsKeys(block) === isMet; ) block++;
      const [first, last] = [start + from * BLOCK_ROWS, Math.min(end, start + block * BLOCK_ROWS)];
      const at = bits + (first - start) / 8;
      if (isMet) this.#keepKeys(column, first, last, at);
      else kernels.bitsFill(at, Math.ceil((last - first) / 64), 0, 0);
    }
  }

  #keepKeys({ physical, values: first, base, max }: NumberColumnView, start: number, end: number, bits: Address): void {
    if (physical === 'F32' || physical === 'F64') return;
    const [values, rowCount] = [first + start * PHYSICAL_BYTES[physical], end - start];
    const { kernels } = this.#context;
    if (physical !== 'I64') {
      const span = typeof max === 'bigint' ? Number(max - base) + 1 : physical === 'U8' ? 0x100 : Infinity;
      const table = this.#table(base, span, rowCount);
      if (table !== undefined) {
        this.#keepRange(physical, { values, base, span }, rowCount, bits);
        kernelFor(kernels, table.isBytes ? 'joinKeepBytes' : 'joinKeepBits', physical)(values, table.at, rowCount, bits);
        return;
      }
    }
    const { low, count, bits: keys } = this.#keys;
    kernelFor(kernels, 'joinKeep', physical)(values, base, low, count, keys, rowCount, bits);
  }

  /** Leaves those bits set whose value lies between the smallest and the largest key, where that leaves out many: sixteen rows an instruction. */
  #keepRange(physical: 'U8' | 'U16' | 'U32', { values, base, span }: StoredValues, rowCount: number, bits: Address): void {
    const { kernels, check } = this.#context;
    const first = Number(this.#keys.low - base);
    const [lower, upper] = [Math.max(0, first), Math.min(span - 1, first + this.#keys.count - 1)];
    if (upper - lower >= span * RANGE_PART_MAX) return;
    if (upper < lower) {
      kernels.bitsFill(bits, Math.ceil(rowCount / 64), 0, 0);
      return;
    }
    this.#found ||= this.#arena.take(BLOCK_ROWS / 8);
    for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
      check();
      const block = blockAt(start, rowCount);
      kernelFor(kernels, 'filterRange', physical)(values + start * PHYSICAL_BYTES[physical], block.rows, lower, upper, this.#found);
      kernels.bitsAnd(bits + start / 8, this.#found, wordsOf(block), bits + start / 8);
    }
  }

  #table(base: bigint, span: number, rowCount: number): Table | undefined {
    const name = `${base} ${span}`;
    const known = this.#tables.get(name);
    if (known !== undefined || span > rowCount * VALUES_PER_ROW) return known;
    const { kernels } = this.#context;
    const { low, count, bits } = this.#keys;
    if (this.#arena.bytes > TABLES_BYTES_MAX) this.close();
    const shifted = this.#arena.take(Math.ceil(span / 64) * 8);
    kernels.joinShift(bits, low, count, base, span, shifted);
    const isBytes = span <= Math.max(BYTES_FEW, Math.min(BYTES_MAX, rowCount));
    const table = { at: isBytes ? this.#arena.take(span) : shifted, isBytes };
    if (isBytes) kernels.joinBytes(shifted, span, table.at);
    this.#tables.set(name, table);
    return table;
  }
}
