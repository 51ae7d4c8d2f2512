import type { NumberType, TextType } from '../../model/schema.js';
import type { Address, NumberColumnView, Physical } from '../../storage/view.js';
import { PHYSICAL_BYTES } from '../../storage/view.js';
import type { Block } from '../context.js';

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
  values(block: Block): Address;
  /** Bits of the block; 0 when no row of it is null. */
  nulls(block: Block): Address;
}

/** Texts computed for a segment: one u32 id per row into `pool`. */
export interface StringVector {
  readonly kind: 'string';
  /** What the texts stand for. */
  readonly type: TextType;
  readonly pool: StringPool;
  /** Whether the pool is complete before any row is read. */
  readonly complete: boolean;
  ids(block: Block): Address;
}

export type Vector = NumberVector | StringVector;

export function storedNumbers(column: NumberColumnView): NumberVector {
  const bytes = PHYSICAL_BYTES[column.physical];
  return {
    kind: 'number',
    type: column.type,
    physical: column.physical,
    base: column.base,
    mayBeNull: column.nulls !== 0,
    stored: column,
    values: (block) => column.values + block.start * bytes,
    nulls: (block) => (column.nulls === 0 ? 0 : column.nulls + block.start / 8),
  };
}

/** The distinct texts of a computed column, in order of appearance. Id 0 is null. */
export class StringPool {
  readonly texts: (string | null)[] = [null];
  readonly #ids = new Map<string, number>();

  idOf(text: string | null): number {
    if (text === null) return 0;
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    const id = this.texts.length;
    this.texts.push(text);
    this.#ids.set(text, id);
    return id;
  }
}

/** Runs `compute` once per block, however many ask. */
export function oncePerBlock(compute: (block: Block) => void): (block: Block) => void {
  let current = -1;
  return (block) => {
    if (current === block.start) return;
    current = -1;
    compute(block);
    current = block.start;
  };
}
