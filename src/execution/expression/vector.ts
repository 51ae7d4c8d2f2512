// Vectors: values of a column or expression, block by block.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES, type Physical } from '../../base/layout.js';
import type { NumberType, TextType } from '../../model/schema.js';
import type { NumberColumnView, StringColumnView } from '../../storage/view.js';
import { type Block, kernelFor, type Scratch, wordsOf } from '../block/context.js';
import type { InternedTexts } from '../block/interned-texts.js';
import type { ValuePool } from '../block/value-pool.js';

/**
 * Numbers of a segment, block by block: a stored column or the result of an expression. Addresses are readable until
 * the next block is asked for.
 */
export interface NumberVector {
  readonly kind: 'number';
  readonly type: NumberType;
  readonly physical: Physical;
  /** LONG: the value is `base` + what is stored. */
  readonly base: bigint;
  readonly mayBeNull: boolean;
  /** The column behind it, with its ranges, when it is stored as it is. */
  readonly stored: NumberColumnView | undefined;
  /** Set when `stored` keeps doubles as integers: sums and comparisons read these and compute no double. */
  readonly decimals?: Decimals;
  /** Set when each number is that of an entry of a dictionary, and rows are looked up by id: comparisons ask the entries. */
  readonly entries?: EntryNumbers;
  values(block: Block): Address;
  /** Bits of the block; 0 when no row of it is null. */
  nulls(block: Block): Address;
}

/** A number for each entry of a column's dictionary, the first of which may stand for null. */
export interface EntryNumbers {
  readonly column: StringColumnView;
  /** The entries as rows. */
  readonly numbers: NumberVector;
}

/** Doubles as integers: (base + stored) / scale. */
export interface Decimals {
  readonly physical: 'U8' | 'U16' | 'U32';
  readonly base: bigint;
  /** A power of ten. */
  readonly scale: number;
  values(block: Block): Address;
}

/** The distinct texts of a computed column. */
export type StringPool = ValuePool<string>;

/** Texts computed for a segment: one u32 id per row into `pool`. */
export interface StringVector {
  readonly kind: 'string';
  /** Type that the strings stand for. */
  readonly type: TextType;
  readonly pool: TextPool;
  /** Whether the pool is complete before any row is read. */
  readonly complete: boolean;
  ids(block: Block): Address;
  /** The texts themselves, for blocks of rows, where kernels make them. */
  readonly node?: TextNode;
  /** The same of some rows of a block. */
  readonly textsOf?: RowTexts;
}

/** Texts of n rows of a block (rows[i], or i where `rows` is 0) by reference, readable until others are asked for. */
export type RowTexts = (block: Block, rows: Address, n: number) => Address;

/**
 * A node of an expression over texts: those of a block by reference, as the text kernels take them (`kernels/contract.ts`).
 * A block is one of rows, or of entries of a dictionary. Addresses are readable until the next block is asked for.
 */
export interface TextNode {
  readonly mayBeNull: boolean;
  /** Whether no text has a surrogate pair, so that none can be cut in two. */
  readonly isBmp: boolean;
  /** The text that is the same in every row: one reference, wherever `texts` is asked for. */
  readonly constant?: string | null;
  texts(block: Block): Address;
}

/** Texts by id, those of the rows read so far; asked for anew after each block. */
export interface TextPool {
  readonly values: readonly (string | null)[];
  readonly count: number;
  /** {u32 address, u32 length} by id, where the texts are in kernel memory. */
  readonly entries?: Address;
  /** The texts with all that is known of them, where they are in kernel memory. */
  readonly interned?: InternedTexts;
  /** Bytes that they take on the heap; absent where the texts are in kernel memory. */
  readonly bytes?: number;
}

export type Vector = NumberVector | StringVector;

export function storedNumbers(scope: Scratch, column: NumberColumnView): NumberVector {
  const bytes = PHYSICAL_BYTES[column.physical];
  const { type, physical, base } = column;
  const nulls = (block: Block): Address => (column.nulls === 0 ? 0 : column.nulls + block.start / 8);
  const values = (block: Block): Address => column.values + block.start * bytes;
  const mayBeNull = column.nulls !== 0;
  const isDecimal = type === 'DOUBLE' && (physical === 'U8' || physical === 'U16' || physical === 'U32');
  // Spelled out: every plan over numbers makes some, and a copy with further fields costs several times as much.
  if (!isDecimal) return { kind: 'number', type, mayBeNull, stored: column, nulls, physical, base, values };
  const decimals: Decimals = { physical, base, scale: 10 ** column.power, values };
  return { kind: 'number', type, mayBeNull, stored: column, nulls, physical: 'F64', base: 0n, decimals, values: widened(scope, decimals) };
}

/** Part of a block's rows up to which they are divided one by one, in less time than all of them together. */
const FEW_PART = 8;

/** The vector as doubles, a block at a time: the rows that are read, where these are few. */
function widened({ arena, context: { memory, kernels } }: Scratch, { physical, base, scale, values }: Decimals): NumberVector['values'] {
  const widen = kernelFor(kernels, 'toF64', physical);
  const widenAt = kernelFor(kernels, 'decimalsAt', physical);
  let [out, divisor, few] = [0, 0, 0];
  const run = oncePerBlock((block) => {
    if (out === 0) {
      out = arena.take(BLOCK_ROWS * 8);
      divisor = arena.take(8);
      memory.f64(divisor, 1)[0] = scale;
    }
    const { selection, rows } = block;
    if (selection !== undefined && kernels.bitsCount(selection, wordsOf(block)) * FEW_PART <= rows) {
      few ||= arena.take((BLOCK_ROWS / FEW_PART) * 4);
      widenAt(values(block), few, kernels.bitsToRows(selection, 0, rows, few), base, scale, out);
      return;
    }
    widen(values(block), 0, rows, base, out);
    kernels.divideF64(out, divisor, 1, rows, out);
    return ALL_ROWS;
  });
  return (block) => {
    run(block);
    return out;
  };
}

/** Texts as ids at `at`, once `run` has computed the block. @param complete  whether the pool holds all of them already */
export function computedTexts(
  type: TextType,
  { pool, run, at, complete = false }: { pool: StringPool; run: (block: Block) => void; at: Address; complete?: boolean },
): StringVector {
  const ids = (block: Block): Address => {
    run(block);
    return at;
  };
  return { kind: 'string', type, pool, complete, ids };
}

/** LONG as i64, DOUBLE and FLOAT as f64, with their nulls, each where it says once `run` has computed the block. */
export function computedNumbers(
  type: NumberType,
  { run, at, nulls, mayBeNull }: { run: (block: Block) => void; at: () => Address; nulls: () => Address; mayBeNull: boolean },
): NumberVector {
  return {
    kind: 'number',
    type,
    physical: type === 'LONG' ? 'I64' : 'F64',
    base: 0n,
    mayBeNull,
    stored: undefined,
    values: (block) => {
      run(block);
      return at();
    },
    nulls: (block) => {
      run(block);
      return nulls();
    },
  };
}

/** Says that all rows of a block were computed, whichever were asked for. */
export const ALL_ROWS = Symbol('all rows');

/** Runs `compute` once per block, however many ask; again for other rows of it than were read, unless it gives `ALL_ROWS`. */
export function oncePerBlock(compute: (block: Block) => unknown): (block: Block) => void {
  let current = -1;
  let read: Address | undefined;
  return (block) => {
    if (current === block.start && (read === undefined || read === block.selection)) return;
    current = -1;
    const computed = compute(block);
    current = block.start;
    read = computed === ALL_ROWS ? undefined : block.selection;
  };
}
