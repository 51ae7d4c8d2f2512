// Numbers the keys of a build side, and finds them for rows of the other side.

import { ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { StageKey } from '../../model/stage.js';
import { allTexts } from '../../storage/columns/read-dictionary.js';
import type { DictionaryView, StringColumnView } from '../../storage/view.js';
import { type Block, kernelFor, type RunContext, takeBits, wordsOf } from '../block/context.js';
import { asNumbers, asText } from '../expression/convert.js';
import type { SegmentScope } from '../expression/scope.js';
import type { NumberVector, StringVector } from '../expression/vector.js';
import type { KeyBits } from './key-bits.js';
import { KeyPacker, type PackedLayout, type PartValues } from './packed-keys.js';

/** A key or a row that is not there; see `join.ts` of the kernels. */
export const ABSENT = 0xffffffff;

/**
 * Numbering of the keys of a build side: by its dictionary, by their distance from the smallest, or by a hash table of packed
 * keys. Null, where it is a value, is the id 0 of texts and the number behind the last one of a range. `none`: there is no key, all rows have number 0. `nothing`: no key occurs. `set`: all keys that occur
 * have number 0.
 */
export type Numbering =
  | { readonly kind: 'none' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'set'; readonly keys: KeyBits }
  | { readonly kind: 'texts'; readonly dictionary: DictionaryView }
  | { readonly kind: 'range'; readonly low: bigint; readonly count: number }
  | {
      readonly kind: 'hash';
      readonly layout: PackedLayout;
      readonly slots: Address;
      readonly capacity: number;
      readonly keys: Address;
    };

/** Id of null in dictionaries of build sides. */
const NULL_ID = 0;

/** Gives the rows of the probe side the numbers of their keys, on one thread. */
export class KeyReader {
  readonly #context: RunContext;
  readonly #keys: readonly StageKey[];
  readonly #numbering: Numbering;
  /** Memory for the key numbers (u32) of dictionaries met so far, by part of the key and by identity, because addresses are reused. */
  readonly #arena: Arena;
  readonly #tables: readonly Map<DictionaryView, Address>[];
  readonly #known = new Map<DictionaryView, Map<string | null, number>>();

  constructor(context: RunContext, keys: readonly StageKey[], numbering: Numbering) {
    this.#context = context;
    this.#keys = keys;
    this.#numbering = numbering;
    this.#tables = keys.map(() => new Map());
    this.#arena = context.memory.arena();
  }

  /** Writes u32 numbers of all rows of the segment; columns of the scope named `keyName(i)` are the parts of the key. */
  number(scope: SegmentScope, out: Address): void {
    const { rowCount } = scope.view;
    const numbering = this.#numbering;
    const { memory } = this.#context;
    if (numbering.kind === 'none' || numbering.kind === 'nothing') {
      memory.u32(out, rowCount).fill(numbering.kind === 'none' ? 0 : ABSENT);
      return;
    }
    const fill = numbering.kind === 'hash' ? this.#packed(scope, numbering) : this.#direct(scope, numbering);
    for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
      this.#context.check();
      fill({ start, rows: Math.min(BLOCK_ROWS, rowCount - start) }, out + start * 4);
    }
  }

  /** The dictionaries met so far do not come again. */
  forget(): void {
    for (const tables of this.#tables) tables.clear();
    this.#arena.release();
  }

  #direct(scope: SegmentScope, numbering: Extract<Numbering, { kind: 'texts' | 'range' | 'set' }>): Fill {
    if (numbering.kind === 'texts') return this.#texts(scope, 0, numbering.dictionary);
    const vector = asNumbers(scope, keySource(scope, 0), 'LONG');
    if (numbering.kind === 'set') return vector === undefined ? this.#absent : this.#members(scope, vector, numbering.keys);
    const { kernels, memory } = this.#context;
    const numberOfNull = this.#keys[0]?.nullsMeet === true ? numbering.count : ABSENT;
    if (vector === undefined) return this.#constant(numberOfNull);
    const one = scope.arena.take(4);
    memory.u32(one, 1)[0] = numberOfNull;
    return (block, out) => {
      this.#range(vector, block, numbering.low, numbering.count, out);
      const nulls = vector.nulls(block);
      if (nulls !== 0) kernels.choose32(nulls, one, 1, out, 0, block.rows, out);
    };
  }

  #members(scope: SegmentScope, { physical, values, base, nulls }: NumberVector, { low, count, bits }: KeyBits): Fill {
    if (physical === 'F32' || physical === 'F64') throw new ServiceError('internal', `longs are not stored as ${physical}`);
    const { kernels, memory } = this.#context;
    const keep = kernelFor(kernels, 'joinKeep', physical);
    const [found, rows] = [takeBits(scope.arena), scope.arena.take(BLOCK_ROWS * 4)];
    return (block, out) => {
      this.#absent(block, out);
      kernels.bitsFill(found, wordsOf(block), 0, block.rows);
      keep(values(block), base, low, count, bits, block.rows, found);
      const unknown = nulls(block);
      if (unknown !== 0) kernels.bitsAndNot(found, unknown, wordsOf(block), found);
      const members = memory.u32(rows, kernels.bitsToRows(found, 0, block.rows, rows));
      const numbers = memory.u32(out, block.rows);
      for (const row of members) numbers[row] = 0;
    };
  }

  #constant(number: number): Fill {
    return (block, out) => {
      this.#context.memory.u32(out, block.rows).fill(number);
    };
  }

  readonly #absent: Fill = this.#constant(ABSENT);

  #range({ physical, values, base }: NumberVector, block: Block, low: bigint, count: number, out: Address): void {
    if (physical === 'F32' || physical === 'F64') throw new ServiceError('internal', `longs are not stored as ${physical}`);
    kernelFor(this.#context.kernels, 'joinRange', physical)(values(block), base, low, count, block.rows, out);
  }

  #packed(scope: SegmentScope, { layout, slots, capacity, keys }: Extract<Numbering, { kind: 'hash' }>): Fill {
    const values = layout.parts.map((part, index): PartValues | undefined => {
      if (part.kind === 'texts') return { kind: 'texts', fill: this.#texts(scope, index, part.dictionary) };
      const key = this.#keys[index];
      const numbers = asNumbers(scope, keySource(scope, index), key?.type === 'LONG' ? 'LONG' : 'DOUBLE');
      if (numbers !== undefined) return { kind: 'numbers', numbers };
      return key?.nullsMeet === true ? { kind: 'numbers', numbers: nullNumbers(scope) } : undefined;
    });
    const known = values.filter((each) => each !== undefined);
    if (known.length < values.length) return this.#absent;
    const packer = new KeyPacker(this.#context, scope.arena, layout, known);
    return (block, out) => {
      packer.pack(block);
      this.#context.kernels.joinFind(packer.packed, block.rows, layout.words, slots, capacity, keys, out);
      packer.dropNulls(block, out);
    };
  }

  /** Numbers of texts are the ids of the build side's dictionary. */
  #texts(scope: SegmentScope, index: number, dictionary: DictionaryView): Fill {
    const source = keySource(scope, index);
    const numberOfNull = this.#keys[index]?.nullsMeet === true ? NULL_ID : ABSENT;
    if (source.kind === 'missing') return this.#constant(numberOfNull);
    if (source.kind === 'string') return this.#storedTexts(scope, source.column, this.#table(index, source.column.dictionary, dictionary));
    return this.#computedTexts(asText(scope, source), dictionary, numberOfNull);
  }

  #storedTexts(scope: SegmentScope, column: StringColumnView, table: Address): Fill {
    const { kernels } = this.#context;
    if (column.physical === 'U32') return (block, out) => kernels.gather32(table, column.ids + block.start * 4, block.rows, out);
    const ids = scope.arena.take(BLOCK_ROWS * 4);
    const bytes = column.physical === 'U8' ? 1 : 2;
    const widen = kernelFor(kernels, 'keyDense', column.physical);
    return (block, out) => {
      widen(column.ids + block.start * bytes, 0, block.rows, 1, 0, ids);
      kernels.gather32(table, ids, block.rows, out);
    };
  }

  #table(index: number, one: DictionaryView, other: DictionaryView): Address {
    const known = this.#tables[index]?.get(one);
    if (known !== undefined) return known;
    const table = this.#arena.take(Math.max(1, one.count) * 4);
    const { kernels, memory } = this.#context;
    const firsts = [one.hasNull ? 1 : 0, other.hasNull ? 1 : 0] as const;
    kernels.joinTexts(one.bytes, one.offsets, firsts[0], one.count, other.bytes, other.offsets, firsts[1], other.count, table);
    if (one.hasNull && this.#keys[index]?.nullsMeet === true) memory.u32(table, 1)[0] = NULL_ID;
    this.#tables[index]?.set(one, table);
    return table;
  }

  #computedTexts({ ids, pool }: StringVector, dictionary: DictionaryView, numberOfNull: number): Fill {
    const known = this.#knownTexts(dictionary);
    const numbers: number[] = [];
    const { memory } = this.#context;
    return (block, out) => {
      const own = memory.u32(ids(block), block.rows);
      const { values } = pool;
      for (let id = numbers.length; id < values.length; id++) {
        const text = values[id] ?? null;
        numbers.push(text === null ? numberOfNull : (known.get(text) ?? ABSENT));
      }
      const found = memory.u32(out, block.rows);
      for (let row = 0; row < own.length; row++) found[row] = numbers[own[row] ?? 0] ?? ABSENT;
    };
  }

  #knownTexts(dictionary: DictionaryView): Map<string | null, number> {
    const known = this.#known.get(dictionary) ?? new Map(allTexts(this.#context.memory, dictionary).map((text, id) => [text, id]));
    this.#known.set(dictionary, known);
    return known;
  }
}

/** Writes key numbers of a block. */
type Fill = (block: Block, out: Address) => void;

export function keyName(index: number): string {
  return `join key ${index}`;
}

function keySource(scope: SegmentScope, index: number) {
  const source = scope.source(keyName(index));
  if (source.kind === 'string' && source.column.offsets !== 0)
    throw new ServiceError('unsupported', 'an expression with several values in a row cannot be the key of a join; unnest it first');
  return source;
}

/** A number that is null in every row. */
function nullNumbers({ arena, context: { kernels } }: SegmentScope): Extract<PartValues, { kind: 'numbers' }>['numbers'] {
  const [values, nulls] = [arena.take(BLOCK_ROWS), takeBits(arena)];
  kernels.bitsFill(nulls, BLOCK_ROWS / 64, 0, BLOCK_ROWS);
  return { type: 'LONG', physical: 'U8', base: 0n, values: () => values, nulls: () => nulls };
}
