// Packs the parts of join keys into words of 64 bits, by which a hash table finds them.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { extended } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import { type ColumnType, isNumberType } from '../../model/schema.js';
import type { StageKey } from '../../model/stage.js';
import type { ColumnView, DictionaryView } from '../../storage/view.js';
import { type Block, clear, kernelFor, type RunContext } from '../block/context.js';
import type { NumberVector } from '../expression/vector.js';
import { longDistances } from './key-bits.js';

/*
 * Ids of the build side's dictionary, and LONGs that lie within 32 bits of each other, take half a word: two such parts are hashed and compared as
 * one. Any other number takes a word. A part whose nulls are equal has a value of its own for null: id 0, the number behind the last one, or a
 * bit in a word behind all others.
 */

/** One part of a key: its place in the words, and what its values become there. */
export type PackedPart = { readonly word: number; readonly shift: number } & PackedValue;

type PackedValue =
  /** Ids of a dictionary of the build side, in which null is 0. */
  | { readonly kind: 'texts'; readonly dictionary: DictionaryView }
  /** Distances of LONGs from `low`; null, where nulls are equal, is `count`. */
  | { readonly kind: 'range'; readonly low: bigint; readonly count: number; readonly nullsMeet: boolean }
  /** 64 bits; null, where nulls are equal, is bit `flag` of the last word, otherwise `flag` is null. */
  | { readonly kind: 'word'; readonly flag: number | null };

export interface PackedLayout {
  readonly words: number;
  readonly parts: readonly PackedPart[];
}

/** Most distances that have a number, beside that of null and that of what is absent. */
const RANGE_MAX = 2n ** 32n - 2n;

type Key = Pick<StageKey, 'type' | 'nullsMeet'>;

/** Places of the parts of the keys of a build side. */
export function packedLayout(
  context: RunContext,
  scratch: Pick<Arena, 'take'>,
  columns: readonly ColumnView[],
  keys: readonly Key[],
  rowCount: number,
): PackedLayout {
  let flags = 0;
  const values = columns.map((column, index): PackedValue => {
    if (column.kind === 'string') return { kind: 'texts', dictionary: column.dictionary };
    const { type, nullsMeet = false } = keys[index] ?? {};
    const range = type === 'LONG' ? longDistances(context, scratch, column, rowCount, RANGE_MAX) : undefined;
    if (range !== undefined) return { kind: 'range', ...range, nullsMeet };
    return { kind: 'word', flag: nullsMeet && column.nulls !== 0 ? flags++ : null };
  });
  const wholes = values.filter(({ kind }) => kind === 'word').length;
  let [words, halves] = [0, 0];
  const parts = values.map((value): PackedPart => {
    if (value.kind === 'word') return extended(value, { word: words++, shift: 0 });
    const half = halves++;
    return extended(value, { word: wholes + (half >> 1), shift: (half & 1) * 32 });
  });
  return { words: wholes + ((halves + 1) >> 1) + (flags > 0 ? 1 : 0), parts };
}

/** Values of one part of the rows of a block: u32 ids of the build side's dictionary, or numbers. */
export type PartValues =
  | { readonly kind: 'texts'; readonly fill: (block: Block, out: Address) => void }
  | { readonly kind: 'numbers'; readonly numbers: Pick<NumberVector, 'type' | 'physical' | 'base' | 'values' | 'nulls'> };

/** Packs the keys of a block. What is null and equals nothing is packed as anything: `dropNulls` leaves it out of the numbers that were found. */
export class KeyPacker {
  readonly packed: Address;
  readonly #context: RunContext;
  readonly #layout: PackedLayout;
  readonly #values: readonly PartValues[];
  readonly #wide: Address;
  readonly #nullId: Address;

  constructor(context: RunContext, arena: Pick<Arena, 'take'>, layout: PackedLayout, values: readonly PartValues[]) {
    this.#context = context;
    this.#layout = layout;
    this.#values = values;
    this.packed = arena.take(BLOCK_ROWS * 8 * layout.words);
    this.#wide = arena.take(BLOCK_ROWS * 8);
    this.#nullId = arena.take(4);
  }

  pack(block: Block): void {
    const { words, parts } = this.#layout;
    // All other words are written whole by the first part that lies in them.
    if (parts.some((part) => part.kind === 'word' && part.flag !== null)) clear(this.#context, this.packed, block.rows * words * 8);
    parts.forEach((part, index) => {
      const values = this.#values[index];
      if (values?.kind === 'texts') {
        values.fill(block, this.#wide);
        this.#putHalf(part, block);
      } else if (values?.kind === 'numbers') this.#putNumbers(part, values.numbers, block);
    });
  }

  /** Makes the numbers of rows absent whose key has a null that equals nothing. */
  dropNulls(block: Block, numbers: Address): void {
    this.#layout.parts.forEach((part, index) => {
      const values = this.#values[index];
      const nulls = values?.kind === 'numbers' && !hasNull(part) ? values.numbers.nulls(block) : 0;
      if (nulls !== 0) this.#context.kernels.joinDropNulls(nulls, block.rows, numbers);
    });
  }

  #putNumbers(part: PackedPart, { type, physical, base, values, nulls }: Numbers, block: Block): void {
    const { memory, kernels } = this.#context;
    const { words } = this.#layout;
    const wide = this.#wide;
    const isLong = type === 'LONG' && physical !== 'F32' && physical !== 'F64';
    if (part.kind === 'range' && isLong) {
      kernelFor(kernels, 'joinRange', physical)(values(block), base, part.low, part.count, block.rows, wide);
      const unknown = part.nullsMeet ? nulls(block) : 0;
      if (unknown !== 0) {
        memory.u32(this.#nullId, 1)[0] = part.count;
        kernels.choose32(unknown, this.#nullId, 1, wide, 0, block.rows, wide);
      }
      this.#putHalf(part, block);
      return;
    }
    if (isLong) {
      kernelFor(kernels, 'toI64', physical)(values(block), 0, block.rows, base, wide);
      kernels.keyWordI64(wide, 0, block.rows, words, part.word, 0, 1, this.packed);
    } else {
      kernelFor(kernels, 'toF64', physical)(values(block), 0, block.rows, base, wide);
      kernels.keyWordF64(wide, 0, block.rows, words, part.word, this.packed);
    }
    const unknown = part.kind === 'word' && part.flag !== null ? nulls(block) : 0;
    if (unknown !== 0 && part.kind === 'word')
      kernels.keyNulls(unknown, 0, block.rows, words, part.word, words - 1, part.flag ?? 0, this.packed);
  }

  #putHalf({ word, shift }: PackedPart, { rows }: Block): void {
    this.#context.kernels.keyWordU32(this.#wide, 0, rows, this.#layout.words, word, shift, shift === 0 ? 1 : 0, this.packed);
  }
}

type Numbers = Extract<PartValues, { kind: 'numbers' }>['numbers'];

/** Whether null is a value of a part. */
function hasNull(part: PackedPart): boolean {
  return part.kind === 'texts' || (part.kind === 'range' ? part.nullsMeet : part.flag !== null);
}

/** Whether a column holds values as a key of a type has them: texts, or numbers. */
export function isOfKey({ kind }: ColumnView, type: ColumnType): boolean {
  return (kind === 'number') === isNumberType(type);
}
