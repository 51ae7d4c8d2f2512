// Functions of lists as nodes of kernels.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { TEXT_OF_NULL } from '../../../expression/functions/array.js';
import { refuseTextLength, TEXT_LENGTH_MAX } from '../../../expression/functions/text-length.js';
import type { Value } from '../../../expression/value.js';
import { type Block, wordsOf } from '../../block/context.js';
import { layTexts } from '../../block/text-references.js';
import type { NumberNode, TruthNode } from '../number/node.js';
import { DOUBLE_BYTES_MAX, LONG_BYTES_MAX, Room, type TextWork, uploadPowers } from '../text/text-node.js';
import type { TextNode } from '../vector.js';
import type { ListNode, ListPiece, ListValues } from './list-node.js';

const PLACE_MAX = 2n ** 63n - 1n;
/** Texts whose bytes are counted at a time: a sum that 32 bits hold. */
const COUNTED_TEXTS = 256;

/** Visits the lists of a block. */
export function eachPiece(list: ListNode, block: Block, visit: (piece: ListPiece) => void): void {
  list.open(block);
  for (let piece = list.next(); piece !== undefined; piece = list.next()) visit(piece);
}

/** Rooms for the texts of each piece of a block, which stay until the next block. */
class PieceRooms {
  readonly #work: TextWork;
  readonly #rooms: Room[] = [];
  #next = 0;

  constructor(work: TextWork) {
    this.#work = work;
  }

  begin(): void {
    this.#next = 0;
  }

  of(bytes: number): Address {
    const room = this.#rooms[this.#next] ?? new Room(this.#work);
    this.#rooms[this.#next++] = room;
    return room.of(bytes);
  }
}

/** The elements of each list with a separator between them; null is a word, and a list of just one null null. */
export function joined(work: TextWork, list: ListNode, separator: string): TextNode {
  const { kernels } = work.scope.context;
  const [between, word] = [Buffer.from(separator), Buffer.from(TEXT_OF_NULL)];
  const [separatorAt, wordAt] = [uploadPadded(work, between), uploadPadded(work, word)];
  const textsOf = elementTexts(work, list);
  const rooms = new PieceRooms(work);
  const lengths = work.words();
  return work.node({ mayBeNull: true, isBmp: false }, (block, out) => {
    rooms.begin();
    const nulls = list.nulls(block);
    eachPiece(list, block, (piece) => {
      const { from, rows, starts, count } = piece;
      const texts = textsOf(list.values(), count);
      const bytes = bytesOf(work, texts, count) + count * (between.length + word.length);
      const own = nulls === 0 ? 0 : nulls + from / 8;
      kernels.listJoin(starts, texts, rows, own, separatorAt, between.length, wordAt, word.length, out + from * 8, rooms.of(bytes));
      if (bytes > TEXT_LENGTH_MAX) refuseLongJoined(work, { lengths, texts: out + from * 8, rows }, separator);
    });
  });
}

/** Refuses strings that are too long, counted as the function over one list does: with a separator behind the last element. */
function refuseLongJoined(
  work: TextWork,
  { lengths, texts, rows }: { readonly lengths: Address; readonly texts: Address; readonly rows: number },
  separator: string,
): void {
  const { kernels, memory } = work.scope.context;
  kernels.textUnits(texts, rows, lengths);
  for (const length of memory.i64(lengths, rows)) refuseTextLength('array_to_string', Number(length) + separator.length);
}

function bytesOf(work: TextWork, texts: Address, count: number): number {
  let bytes = 0;
  for (let at = 0; at < count; at += COUNTED_TEXTS)
    bytes += work.scope.context.kernels.textBytes(texts + at * 8, Math.min(COUNTED_TEXTS, count - at));
  return bytes;
}

/** The separator, behind which 16 bytes are readable. */
function uploadPadded(work: TextWork, bytes: Uint8Array): Address {
  return work.upload(Buffer.concat([bytes, Buffer.alloc(16)]));
}

/** References to the texts of the elements of a piece. */
export function elementTexts(work: TextWork, list: ListNode): (values: ListValues, count: number) => Address {
  if (list.element === 'STRING') return ({ at }) => at;
  const { kernels } = work.scope.context;
  const [texts, bytes] = [new Room(work), new Room(work)];
  const powers = list.element === 'DOUBLE' ? uploadPowers(work.scope) : 0;
  return ({ at, nulls }, count) => {
    const out = texts.of(count * 8);
    const room = bytes.of(count * (list.element === 'LONG' ? LONG_BYTES_MAX : DOUBLE_BYTES_MAX));
    if (list.element === 'LONG') kernels.textOfLongs(at, nulls, count, out, room);
    else kernels.textOfDoubles(at, nulls, count, 0, powers, out, room);
    return out;
  };
}

/** Bytes of a number in an array. */
const NUMBER_BYTES = 18;

/** Lists as arrays. */
export function arrays(work: TextWork, list: ListNode): TextNode {
  const { kernels } = work.scope.context;
  const rooms = new PieceRooms(work);
  const { element } = list;
  return work.node({ mayBeNull: true, isBmp: element !== 'STRING' }, (block, out) => {
    rooms.begin();
    const nulls = list.nulls(block);
    eachPiece(list, block, ({ from, rows, starts, count }) => {
      const values = list.values();
      const [own, to] = [nulls === 0 ? 0 : nulls + from / 8, out + from * 8];
      if (element === 'STRING') {
        kernels.arrayTexts(starts, values.at, rows, own, to, rooms.of(2 * (bytesOf(work, values.at, count) + count)));
        return;
      }
      const buffer = rooms.of(count * NUMBER_BYTES);
      kernels.arrayNumberTexts(starts, values.at, values.nulls, rows, own, element === 'DOUBLE' ? 1 : 0, to, buffer);
    });
  });
}

/** A LONG for each list. `write`: those of a piece, to the first of these; `isNull`: bits of the numbers of a block that are null. */
function longs(
  work: TextWork,
  list: ListNode,
  write: (piece: ListPiece, out: Address) => void,
  isNull: (block: Block, numbers: Address) => Address,
  base = 0n,
): NumberNode {
  const room = work.words();
  return {
    kind: 'number',
    lane: 'I64',
    isOne: false,
    mayBeNull: true,
    room: undefined,
    run(block) {
      eachPiece(list, block, (piece) => write(piece, room + piece.from * 8));
      const nulls = isNull(block, room);
      if (base !== 0n) work.scope.context.kernels.toI64I64(room, 0, block.rows, base, room);
      return { at: room, nulls };
    },
  };
}

export function lengths(work: TextWork, list: ListNode): NumberNode {
  const { kernels } = work.scope.context;
  const first = work.words();
  const write = ({ starts, rows }: ListPiece, out: Address): void => {
    kernels.toI64U32(starts, 0, rows, 0n, first);
    kernels.toI64U32(starts + 4, 0, rows, 0n, out);
    kernels.subtractI64(out, first, 0, rows, out);
  };
  return longs(work, list, write, (block) => list.nulls(block));
}

/** The number at a place of each list; undefined where strings are in it. */
export function numberAt(work: TextWork, list: ListNode, place: number): NumberNode | undefined {
  if (list.element === 'STRING') return undefined;
  const { kernels } = work.scope.context;
  const [absent, isAbsent] = [work.words(), work.bits()];
  const write = ({ starts, rows, from }: ListPiece, out: Address): void => {
    const { at, nulls } = list.values();
    kernels.listPick(starts, at, nulls, rows, place, out, absent + from * 8);
  };
  const node = longs(work, list, write, ({ rows }) => {
    kernels.filterRangeI64(absent, rows, 1n, 1n, isAbsent);
    return isAbsent;
  });
  return list.element === 'LONG' ? node : { ...node, lane: 'F64' };
}

/** The string at a place of each list; undefined where numbers are in it. */
export function stringAt(work: TextWork, list: ListNode, place: number): TextNode | undefined {
  if (list.element !== 'STRING') return undefined;
  const { kernels } = work.scope.context;
  return work.node({ mayBeNull: true, isBmp: false }, (block, out) =>
    eachPiece(list, block, ({ starts, rows, from }) => kernels.listPick(starts, list.values().at, 0, rows, place, out + from * 8, 0)),
  );
}

/** Writes the place of the first value of each list that is one of several; -1 for none. Undefined for values of another kind. */
function firstOf(
  work: TextWork,
  list: ListNode,
  wanted: readonly Value[],
): ((piece: ListPiece, values: ListValues, out: Address) => void) | undefined {
  const { kernels } = work.scope.context;
  const isSame = wanted.filter((value) => value !== null).map((value) => sameness(work, list, value));
  if (!isSame.every((test) => test !== undefined)) return undefined;
  const hasNull = wanted.includes(null);
  const [bits, found] = [new Room(work), work.bits()];
  return ({ count, starts, rows }, { at: values, nulls }, out) => {
    const at = bits.of(Math.ceil(count / 64) * 8);
    for (let from = 0; from < count; from += BLOCK_ROWS) {
      const n = Math.min(BLOCK_ROWS, count - from);
      const [words, to] = [Math.ceil(n / 64), at + from / 8];
      const unknown = nulls === 0 ? 0 : nulls + from / 8;
      kernels.bitsFill(to, words, 0, 0);
      for (const test of isSame) {
        test(values + from * 8, n, found);
        kernels.bitsOr(to, found, words, to);
      }
      if (unknown !== 0) (hasNull ? kernels.bitsOr : kernels.bitsAndNot)(to, unknown, words, to);
      if (!hasNull || list.element !== 'STRING') continue;
      kernels.textNulls(values + from * 8, n, found);
      kernels.bitsOr(to, found, words, to);
    }
    kernels.listFirst(starts, at, rows, out);
  };
}

/** Bits of the values that are the same as a constant; undefined for one of another kind. */
function sameness(
  work: TextWork,
  { element }: ListNode,
  wanted: Exclude<Value, null>,
): ((values: Address, n: number, out: Address) => void) | undefined {
  const { arena, context } = work.scope;
  const { kernels, memory } = context;
  if (element === 'LONG')
    return typeof wanted === 'bigint' ? (values, n, out) => kernels.filterRangeI64(values, n, wanted, wanted, out) : undefined;
  if (element === 'DOUBLE')
    return typeof wanted === 'number' && !Number.isNaN(wanted)
      ? (values, n, out) => kernels.filterRangeF64(values, n, wanted, wanted, out)
      : undefined;
  if (typeof wanted !== 'string' || Buffer.from(wanted).toString() !== wanted) return undefined;
  const text = layTexts(memory, arena, [wanted]);
  return (values, n, out) => kernels.textCompare(values, text, 1, n, 0, out);
}

/** The place of the first value that is the same as a constant, counted from `base`; null for none. */
export function placeOf(work: TextWork, list: ListNode, wanted: Value, base: bigint): NumberNode | undefined {
  const write = firstOf(work, list, [wanted]);
  if (write === undefined) return undefined;
  const isNone = work.bits();
  const nulls = ({ rows }: Block, places: Address): Address => {
    work.scope.context.kernels.filterRangeI64(places, rows, -1n, -1n, isNone);
    return isNone;
  };
  return longs(work, list, (piece, out) => write(piece, list.values(), out), nulls, base);
}

/** Whether each list has a value of every set. */
export function hasEach(work: TextWork, list: ListNode, sets: readonly (readonly Value[])[]): TruthNode | undefined {
  const { kernels } = work.scope.context;
  const tests = sets.map((set) => firstOf(work, list, set));
  if (!tests.every((test) => test !== undefined)) return undefined;
  const [bits, found] = [work.bits(), work.bits()];
  const places = tests.map(() => work.words());
  return {
    kind: 'truth',
    mayBeNull: true,
    run(block) {
      const words = wordsOf(block);
      const nulls = list.nulls(block);
      eachPiece(list, block, (piece) => {
        const values = list.values();
        tests.forEach((test, at) => test(piece, values, (places[at] ?? 0) + piece.from * 8));
      });
      kernels.bitsFill(bits, words, 0, block.rows);
      for (const at of places) {
        kernels.filterRangeI64(at, block.rows, 0n, PLACE_MAX, found);
        kernels.bitsAnd(bits, found, words, bits);
      }
      if (nulls !== 0) kernels.bitsAndNot(bits, nulls, words, bits);
      return { at: bits, nulls };
    },
  };
}
