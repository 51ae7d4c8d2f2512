// Lists that are made of other lists: a part of each, and several one behind the other.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { ELEMENTS_MAX, refuseLength } from '../../../expression/functions/array-value.js';
import { type Block, wordsOf } from '../../block/context.js';
import type { Result } from '../number/node.js';
import { Room, type TextWork } from '../text/text-node.js';
import { oncePerBlock } from '../vector.js';
import { type ListElement, type ListNode, type ListPiece, type ListValues, NO_LISTS } from './list-node.js';

/** Stands for as many values as there are. */
const ALL = 0xffffffff;

/** Room for the lists that a kernel makes of a piece. */
class MadeLists {
  readonly #work: TextWork;
  readonly #element: ListElement;
  readonly #starts: Room;
  readonly #values: Room;
  readonly #nulls: Room;

  constructor(work: TextWork, element: ListElement) {
    this.#work = work;
    this.#element = element;
    [this.#starts, this.#values, this.#nulls] = [new Room(work), new Room(work), new Room(work)];
  }

  piece(from: number, rows: number, write: (starts: Address) => number): ListPiece {
    this.#work.scope.context.check();
    const starts = this.#starts.of((rows + 1) * 4);
    return { from, rows, starts, count: write(starts) };
  }

  /** @param write  writes values, and the bits of those that are null (0: not wanted); returns how many these are */
  values({ count }: ListPiece, write: (out: Address, nulls: Address) => number): ListValues {
    const places = Math.ceil(count / 64) * 64;
    const at = this.#values.of(places * 8);
    const nulls = this.#element === 'STRING' ? 0 : this.#nulls.of(places / 8);
    return { at, nulls: write(at, nulls) === 0 ? 0 : nulls };
  }
}

/**
 * The values of each list from a place on.
 * @param size  how many, nulls behind the last one; undefined: all that there are
 */
export function sliced(work: TextWork, list: ListNode, from: number, size: number | undefined): ListNode {
  const { kernels } = work.scope.context;
  const made = new MadeLists(work, list.element);
  const nulls = from === 0 ? (block: Block) => list.nulls(block) : shorterThan(work, list, from);
  let [areNull, whole, piece]: [Address, ListPiece, ListPiece] = [0, NO_LISTS, NO_LISTS];
  return {
    element: list.element,
    nulls,
    open(block) {
      areNull = nulls(block);
      list.open(block);
    },
    next() {
      const next = list.next();
      if (next === undefined) return undefined;
      whole = next;
      const own = areNull === 0 ? 0 : areNull + whole.from / 8;
      piece = made.piece(whole.from, whole.rows, (starts) => kernels.sliceStarts(whole.starts, whole.rows, own, from, size ?? ALL, starts));
      return piece;
    },
    values() {
      const given = list.values();
      return made.values(piece, (out, outNulls) =>
        kernels.sliceValues(whole.starts, given.at, given.nulls, whole.rows, from, piece.starts, out, outNulls),
      );
    },
  };
}

/** Bits of the lists that have fewer values, and of those that are null. */
function shorterThan(work: TextWork, list: ListNode, length: number): (block: Block) => Address {
  const { kernels } = work.scope.context;
  const [first, lengths, bits] = [work.words(), work.words(), work.bits()];
  const run = oncePerBlock((block) => {
    list.open(block);
    for (let piece = list.next(); piece !== undefined; piece = list.next()) {
      const { starts, rows } = piece;
      const out = lengths + piece.from * 8;
      kernels.toI64U32(starts, 0, rows, 0n, first);
      kernels.toI64U32(starts + 4, 0, rows, 0n, out);
      kernels.subtractI64(out, first, 0, rows, out);
    }
    kernels.filterRangeI64(lengths, block.rows, 0n, BigInt(length - 1), bits);
    const nulls = list.nulls(block);
    if (nulls !== 0) kernels.bitsOr(bits, nulls, wordsOf(block), bits);
  });
  return (block) => {
    run(block);
    return bits;
  };
}

/** One value for each row, by itself. */
export interface Single {
  readonly kind: 'single';
  run(block: Block): Result;
}

/** The lists that a node gives, a piece at a time. */
class Source {
  readonly kind = 'lists';
  readonly list: ListNode;
  piece: ListPiece = NO_LISTS;
  #values: ListValues | undefined;

  constructor(list: ListNode) {
    this.list = list;
  }

  open(block: Block): void {
    this.list.open(block);
    this.piece = NO_LISTS;
  }

  /** Goes to the piece that has the lists from `row` on. Returns how many of these it has. */
  reach(row: number): number {
    if (row >= this.piece.from + this.piece.rows) {
      this.piece = this.list.next() ?? NO_LISTS;
      this.#values = undefined;
    }
    return this.piece.from + this.piece.rows - row;
  }

  values(): ListValues {
    this.#values ??= this.list.values();
    return this.#values;
  }
}

/** Bytes of a source, as the kernels read it. */
const SOURCE_BYTES = 16;

/**
 * The values of several lists, and single ones, one behind the other; null where any of the lists is.
 * @param name  the function that refuses lists that are too long; undefined where none can be
 */
export function concatenated(
  work: TextWork,
  element: ListElement,
  parts: readonly (ListNode | Single)[],
  name: string | undefined,
): ListNode {
  const { kernels, memory } = work.scope.context;
  const made = new MadeLists(work, element);
  const sources = parts.map((part) => ('kind' in part ? part : new Source(part)));
  const lists = sources.filter((source) => source instanceof Source);
  const nulls = work.anyOf(
    lists.map(
      ({ list }) =>
        (block: Block) =>
          list.nulls(block),
    ),
  );
  const fields = work.scope.arena.take(sources.length * SOURCE_BYTES);
  let singles: ReadonlyMap<Single, Result> = new Map();
  let [areNull, row, rows, piece]: [Address, number, number, ListPiece] = [0, 0, 0, NO_LISTS];
  const offsetOf = ({ starts, from }: ListPiece): number => {
    const [first = 0] = memory.u32(starts, 1);
    const [own = 0] = memory.u32(starts + (row - from) * 4, 1);
    return own - first;
  };
  /** Tells the kernels where the sources are from `row` on. */
  const describe = (withValues: boolean): void => {
    const words = sources.flatMap((source) => {
      if (source instanceof Source) {
        const { at, nulls: own } = withValues ? source.values() : NO_VALUES;
        return [source.piece.starts + (row - source.piece.from) * 4, at, own, offsetOf(source.piece)];
      }
      const { at, nulls: own } = singles.get(source) ?? NO_VALUES;
      return [0, at + row * 8, own === 0 ? 0 : own + row / 8, 0];
    });
    memory.u32(fields, words.length).set(words);
  };
  return {
    element,
    nulls,
    open(block) {
      areNull = nulls(block);
      singles = new Map(sources.flatMap((source) => (source instanceof Source ? [] : [[source, source.run(block)] as const])));
      for (const source of lists) source.open(block);
      [row, rows, piece] = [0, block.rows, NO_LISTS];
    },
    next() {
      row = piece.from + piece.rows;
      if (row >= rows) return undefined;
      const count = lists.reduce((least, source) => Math.min(least, source.reach(row)), rows - row);
      describe(false);
      const own = areNull === 0 ? 0 : areNull + row / 8;
      piece = made.piece(row, count, (starts) => kernels.concatStarts(fields, sources.length, count, own, starts));
      if (name !== undefined && piece.count > ELEMENTS_MAX) refuseLong(work, name, piece);
      return piece;
    },
    values() {
      describe(true);
      return made.values(piece, (out, outNulls) => kernels.concatValues(fields, sources.length, piece.rows, piece.starts, out, outNulls));
    },
  };
}

const NO_VALUES: ListValues = { at: 0, nulls: 0 };

function refuseLong(work: TextWork, name: string, { starts, rows }: ListPiece): void {
  const ends = work.scope.context.memory.u32(starts, rows + 1);
  for (let list = 0; list < rows; list++) refuseLength(name, (ends[list + 1] ?? 0) - (ends[list] ?? 0));
}

/** A constant for each row. @param word  its 64 bits, or a reference to it; undefined: null */
export function constantSingle(work: TextWork, word: bigint | undefined): Single {
  const { memory, kernels } = work.scope.context;
  const [at, nulls] = [work.words(), work.bits()];
  memory.i64(at, work.rows).fill(word ?? 0n);
  kernels.bitsFill(nulls, BLOCK_ROWS / 64, 0, word === undefined ? BLOCK_ROWS : 0);
  return { kind: 'single', run: () => ({ at, nulls }) };
}
