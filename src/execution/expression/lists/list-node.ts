// Lists of a block as nodes: arrays that columns carry as texts, and rows of several values.

import { ServiceError } from '../../../base/errors.js';
import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../../base/layout.js';
import type { StringColumnView } from '../../../storage/view.js';
import { type Block, kernelFor } from '../../block/context.js';
import { entryTexts } from '../text/text-entries.js';
import { Room, type TextWork } from '../text/text-node.js';
import type { TextNode } from '../vector.js';

export type ListElement = 'STRING' | 'LONG' | 'DOUBLE';

/** Lists [from, from + rows) of a block, as the kernels over lists take them (kernels/array-contract.ts), and how many values they have. */
export interface ListPiece {
  readonly from: number;
  readonly rows: number;
  readonly starts: Address;
  readonly count: number;
}

/** The values of a piece. */
export interface ListValues {
  /** Numbers, or references to texts, whose bytes can be read as long as the block is. */
  readonly at: Address;
  /** Bits of the numbers that are null; 0: none is, or they are texts. */
  readonly nulls: Address;
}

/** A list for each row of a block, in pieces of no more values than are worth holding. */
export interface ListNode {
  readonly element: ListElement;
  /** Bits of the lists of a block that are null; 0: none is. */
  nulls(block: Block): Address;
  open(block: Block): void;
  next(): ListPiece | undefined;
  /** Values of the piece that was asked for last: once, and until the next one is asked for. */
  values(): ListValues;
}

/** Values of a piece, unless one word of rows has more. */
export const PIECE_VALUES = 1 << 16;
const WORD_ROWS = 64;

/** Cuts lists into pieces. */
class Pieces {
  readonly #work: TextWork;
  readonly #most: number;
  #starts: Address = 0;
  #rows = 0;
  #row = 0;

  constructor(work: TextWork, most: number) {
    this.#work = work;
    this.#most = most;
  }

  open(starts: Address, rows: number): void {
    [this.#starts, this.#rows, this.#row] = [starts, rows, 0];
  }

  next(): ListPiece | undefined {
    const from = this.#row;
    if (from >= this.#rows) return undefined;
    const starts = this.#work.scope.context.memory.u32(this.#starts, this.#rows + 1);
    const first = starts[from] ?? 0;
    let to = this.#rows;
    if ((starts[to] ?? 0) - first > this.#most)
      for (to = Math.min(this.#rows, from + WORD_ROWS); to < this.#rows; to += WORD_ROWS)
        if ((starts[Math.min(this.#rows, to + WORD_ROWS)] ?? 0) - first > this.#most) break;
    to = Math.min(to, this.#rows);
    this.#row = to;
    return { from, rows: to - from, starts: this.#starts + from * 4, count: (starts[to] ?? 0) - first };
  }
}

/** Arrays that lie at references to their texts: their elements are read by kernels. */
export class ArrayPieces {
  readonly #work: TextWork;
  readonly #element: ListElement;
  readonly #pieces: Pieces;
  readonly #starts: Room;
  readonly #values: Room;
  readonly #nulls: Room;
  /** Bytes of strings that are written otherwise in arrays, for each piece of a block. */
  readonly #bytes: Room[] = [];
  #texts: Address = 0;
  #piece: ListPiece | undefined;
  #read = 0;

  constructor(work: TextWork, element: ListElement, most = PIECE_VALUES) {
    this.#work = work;
    this.#element = element;
    this.#pieces = new Pieces(work, most);
    [this.#starts, this.#values, this.#nulls] = [new Room(work), new Room(work), new Room(work)];
  }

  /** @param texts  references to arrays, which stay where they are */
  open(texts: Address, rows: number): void {
    const starts = this.#starts.of((rows + 1) * 4);
    this.#work.scope.context.kernels.arrayStarts(texts, rows, this.#element === 'STRING' ? 0 : 1, starts);
    [this.#texts, this.#read] = [texts, 0];
    this.#pieces.open(starts, rows);
  }

  next(): ListPiece | undefined {
    this.#work.scope.context.check();
    this.#piece = this.#pieces.next();
    return this.#piece;
  }

  values(): ListValues {
    const { kernels } = this.#work.scope.context;
    const { from, rows, count } = this.#piece ?? NO_LISTS;
    const texts = this.#texts + from * 8;
    const places = Math.ceil(count / WORD_ROWS) * WORD_ROWS;
    const at = this.#values.of(places * 8);
    if (this.#element === 'STRING') {
      const room = this.#bytes[this.#read] ?? new Room(this.#work);
      this.#bytes[this.#read++] = room;
      kernels.arrayStrings(texts, rows, at, room.of(kernels.textBytes(texts, rows)));
      return { at, nulls: 0 };
    }
    const nulls = this.#nulls.of(places / 8);
    const nullCount = kernels.arrayNumbers(texts, rows, this.#element === 'DOUBLE' ? 1 : 0, at, nulls);
    if (nullCount < 0) throw new ServiceError('internal', `a string is not an ARRAY<${this.#element}>`);
    return { at, nulls: nullCount === 0 ? 0 : nulls };
  }
}

export const NO_LISTS: ListPiece = { from: 0, rows: 0, starts: 0, count: 0 };

/** Arrays that a node has the texts of. */
export function arraysOfTexts(work: TextWork, node: TextNode, element: ListElement): ListNode {
  const pieces = new ArrayPieces(work, element);
  const nulls = work.nullsOf(node);
  return {
    element,
    nulls,
    open: (block) => pieces.open(node.texts(block), block.rows),
    next: () => pieces.next(),
    values: () => pieces.values(),
  };
}

/** The values of rows of several values, none of which is null; a row without values is null. */
export function listsOfRows(work: TextWork, column: StringColumnView): ListNode {
  const { scope } = work;
  const { kernels, memory, check } = scope.context;
  const { physical, offsets } = column;
  const [pieces, ids, values, empty] = [new Pieces(work, PIECE_VALUES), new Room(work), new Room(work), work.bits()];
  const widen = physical === 'U32' ? undefined : kernelFor(kernels, 'keyDense', physical);
  const entries = entryTexts(scope, column);
  let piece: ListPiece | undefined;
  return {
    element: 'STRING',
    nulls(block) {
      kernels.filterEmpty(offsets + block.start * 4, block.rows, empty);
      return empty;
    },
    open: ({ start, rows }) => pieces.open(offsets + start * 4, rows),
    next() {
      check();
      piece = pieces.next();
      return piece;
    },
    values() {
      const { count, starts } = piece ?? NO_LISTS;
      const [first = 0] = memory.u32(starts, 1);
      const [wide, at] = [ids.of(Math.min(count, BLOCK_ROWS) * 4), values.of(count * 8)];
      for (let from = 0; from < count; from += BLOCK_ROWS) {
        const n = Math.min(BLOCK_ROWS, count - from);
        const stored = column.ids + (first + from) * PHYSICAL_BYTES[physical];
        widen?.(stored, 0, n, 1, 0, wide);
        kernels.gather64(entries, widen === undefined ? stored : wide, n, at + from * 8);
      }
      return { at, nulls: 0 };
    },
  };
}
