// Leaves out rows whose value is no key of a build side.

import { type Address, PHYSICAL_BYTES } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { NumberColumnView } from '../../storage/view.js';
import { kernelFor, type RunContext } from '../block/context.js';
import type { KeyBits } from './key-bits.js';

/** A byte for each value is read twice as fast as a bit, as long as all of them lie in the fastest cache. */
const BYTES_MAX = 1 << 15;
/** A bit for each stored value is written at once for 64 of them. */
const VALUES_PER_ROW = 32;

/** A look at the keys of a build side, for the rows of one thread. */
export class KeyLookup {
  readonly #context: RunContext;
  readonly #keys: KeyBits;
  /** Memory of the tables. */
  readonly #arena: Pick<Arena, 'take'>;
  /** A table with a place for each stored value, by the column's base and number of values. */
  readonly #tables = new Map<string, Address>();

  constructor(context: RunContext, arena: Pick<Arena, 'take'>, keys: KeyBits) {
    this.#context = context;
    this.#arena = arena;
    this.#keys = keys;
  }

  /** Leaves those bits set of the rows [start, end) whose value is a key; the value of a null is any. */
  keep({ physical, values: first, base, max }: NumberColumnView, start: number, end: number, bits: Address): void {
    if (physical === 'F32' || physical === 'F64') return;
    const [values, rowCount] = [first + start * PHYSICAL_BYTES[physical], end - start];
    const { kernels } = this.#context;
    if (physical !== 'I64') {
      const span = typeof max === 'bigint' ? Number(max - base) + 1 : physical === 'U8' ? 0x100 : Infinity;
      const table = this.#table(base, span, rowCount);
      if (table !== undefined) {
        kernelFor(kernels, span <= BYTES_MAX ? 'joinKeepBytes' : 'joinKeepBits', physical)(values, table, rowCount, bits);
        return;
      }
    }
    const { low, count, bits: keys } = this.#keys;
    kernelFor(kernels, 'joinKeep', physical)(values, base, low, count, keys, rowCount, bits);
  }

  #table(base: bigint, span: number, rowCount: number): Address | undefined {
    const name = `${base} ${span}`;
    const known = this.#tables.get(name);
    if (known !== undefined || span > rowCount * VALUES_PER_ROW) return known;
    const { kernels } = this.#context;
    const { low, count, bits } = this.#keys;
    const shifted = this.#arena.take(Math.ceil(span / 64) * 8);
    kernels.joinShift(bits, low, count, base, span, shifted);
    const table = span <= BYTES_MAX ? this.#arena.take(span) : shifted;
    if (table !== shifted) kernels.joinBytes(shifted, span, table);
    this.#tables.set(name, table);
    return table;
  }
}
