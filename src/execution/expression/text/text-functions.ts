// Functions of texts as nodes of kernels. What kernels leave alone, case and padding beyond ASCII, is made one by one.

import type { Address } from '../../../base/layout.js';
import { refuseTextLength, TEXT_LENGTH_MAX } from '../../../expression/functions/text-length.js';
import { convert } from '../../../expression/value.js';
import { lowerCases, upperCases } from '../../../kernels/letter-cases.js';
import type { KernelMemory } from '../../../kernels/memory.js';
import { type Block, wordsOf } from '../../block/context.js';
import { referredText, WIDE } from '../../block/text-references.js';
import type { Lane, NumberNode, TruthNode } from '../number/node.js';
import { oncePerBlock, type TextNode } from '../vector.js';
import { DOUBLE_BYTES_MAX, LONG_BYTES_MAX, Room, type TextWork, uploadPowers } from './text-node.js';

export function units(work: TextWork, node: TextNode): NumberNode {
  const { kernels } = work.scope.context;
  return longs(work, node, (texts, rows, out) => kernels.textUnits(texts, rows, out));
}

/** Numbers that strings are read as: kernels read digits, all else is read one by one. */
export function numbers(work: TextWork, node: TextNode, type: 'LONG' | 'DOUBLE'): NumberNode {
  const { kernels } = work.scope.context;
  return readTexts(work, node, {
    lane: type === 'LONG' ? 'I64' : 'F64',
    read: type === 'LONG' ? kernels.textLongs : kernels.textDoubles,
    wordsAreNone: true,
    readOther: (text) => convert(text, type),
  });
}

/** Reading of numbers from texts. */
interface TextReading {
  readonly lane: Lane;
  /** The kernel: sets the bits `others` of texts that it does not read, and returns how many. */
  read(texts: Address, rows: number, out: Address, others: Address): number;
  /** Whether no text that begins with a letter is one, but for the words that are numbers. */
  readonly wordsAreNone: boolean;
  /** The number of any text, null for none. */
  readOther(text: string | null): bigint | number | null;
}

export function readTexts(work: TextWork, node: TextNode, { lane, read, readOther, wordsAreNone }: TextReading): NumberNode {
  const { kernels, memory } = work.scope.context;
  const [room, others, nulls] = [work.words(), work.bits(), work.bits()];
  const putOther = (texts: Address, row: number): boolean => {
    if (wordsAreNone && isWord(memory, texts + row * 8)) return true;
    const value = readOther(referredText(memory, texts + row * 8));
    if (lane === 'I64') memory.i64(room + row * 8, 1)[0] = BigInt(value ?? 0);
    else memory.f64(room + row * 8, 1)[0] = Number(value ?? 0);
    return value === null;
  };
  const run = oncePerBlock((block) => {
    const texts = node.texts(block);
    const count = read(texts, block.rows, room, others);
    isNullFree = true;
    if (count === 0) return;
    kernels.bitsFill(nulls, wordsOf(block), 0, 0);
    const [found, missing] = [memory.u32(others, Math.ceil(block.rows / 32)), memory.u32(nulls, Math.ceil(block.rows / 32))];
    found.forEach((word, at) => {
      for (let rest = word; rest !== 0; rest &= rest - 1) {
        const bit = 31 - Math.clz32(rest & -rest);
        if (!putOther(texts, at * 32 + bit)) continue;
        isNullFree = false;
        missing[at] = (missing[at] ?? 0) | (1 << bit);
      }
    });
  });
  let isNullFree = true;
  return {
    kind: 'number',
    lane,
    isOne: false,
    mayBeNull: true,
    room: undefined,
    run(block) {
      run(block);
      return { at: room, nulls: isNullFree ? 0 : nulls };
    },
  };
}

/** Whether a text begins with a letter that no number begins with, whose words are `INFINITY`, `NaN`, `true` and `false`. */
function isWord(memory: KernelMemory, at: Address): boolean {
  const [address = 0, length = 0] = memory.u32(at, 2);
  const first = address === 0 || (length & ~WIDE) === 0 ? 0 : (memory.u8(address, 1)[0] ?? 0) | LOWER_CASE;
  return first >= FIRST_LETTER && first <= LAST_LETTER && !NUMBER_LETTERS.has(first);
}

const LOWER_CASE = 0x20;
const [FIRST_LETTER, LAST_LETTER] = [0x61, 0x7a] as const;
const NUMBER_LETTERS: ReadonlySet<number> = new Set([...'intf'].map((letter) => letter.charCodeAt(0)));

export function longs(work: TextWork, node: TextNode, apply: (texts: Address, rows: number, out: Address) => void): NumberNode {
  const room = work.words();
  const nulls = work.nullsOf(node);
  return {
    kind: 'number',
    lane: 'I64',
    isOne: false,
    mayBeNull: node.mayBeNull,
    room: undefined,
    run(block) {
      apply(node.texts(block), block.rows, room);
      return { at: room, nulls: nulls(block) };
    },
  };
}

/** The text that comes first, or last, of those that are not null. */
export function extreme(work: TextWork, nodes: readonly TextNode[], isLargest: boolean): TextNode | undefined {
  const { kernels } = work.scope.context;
  const [first, ...others] = nodes;
  if (first === undefined) return undefined;
  return others.reduce((best, node) => {
    const made = { mayBeNull: best.mayBeNull && node.mayBeNull, isBmp: best.isBmp && node.isBmp };
    return work.node(made, (block, out) =>
      kernels.textExtreme(best.texts(block), isOne(best), node.texts(block), isOne(node), block.rows, isLargest ? 1 : 0, out),
    );
  }, first);
}

/** Whether a text stands for all rows, as kernels are told. */
export function isOne({ constant }: TextNode): 0 | 1 {
  return constant === undefined ? 0 : 1;
}

export function changeCase(work: TextWork, node: TextNode, isUpper: boolean): TextNode {
  const { kernels } = work.scope.context;
  const room = new Room(work);
  const others = new Patches(work, (text) => (isUpper ? text.toUpperCase() : text.toLowerCase()));
  const table = work.upload(isUpper ? upperCases() : lowerCases());
  return work.node(node, (block, out) => {
    const texts = node.texts(block);
    const buffer = room.of(kernels.textBytes(texts, block.rows));
    if (kernels.textCase(texts, block.rows, isUpper ? 1 : 0, table, out, buffer) > 0) others.make(block, out, texts);
  });
}

export function pad(work: TextWork, node: TextNode, length: number, padding: string, atStart: boolean): TextNode {
  const { kernels } = work.scope.context;
  const room = new Room(work);
  const at = work.upload(Buffer.from(padding));
  const others = new Patches(work, (text) => {
    const kept = text.slice(0, length);
    return atStart ? kept.padStart(length, padding) : kept.padEnd(length, padding);
  });
  return work.node(node, (block, out) => {
    const buffer = room.of(block.rows * length);
    const wide = kernels.textPad(node.texts(block), block.rows, length, at, padding.length, atStart ? 1 : 0, out, buffer);
    if (wide > 0) others.make(block, out);
  });
}

export function reverse(work: TextWork, node: TextNode): TextNode {
  const { kernels } = work.scope.context;
  const room = new Room(work);
  return work.node(node, (block, out) => {
    const texts = node.texts(block);
    kernels.textReverse(texts, block.rows, out, room.of(kernels.textBytes(texts, block.rows)));
  });
}

export function concat(work: TextWork, nodes: readonly TextNode[]): TextNode {
  const { kernels, memory } = work.scope.context;
  const room = new Room(work);
  const parts = work.scope.arena.take(nodes.length * 8);
  const made = { mayBeNull: nodes.some(({ mayBeNull }) => mayBeNull), isBmp: nodes.every(({ isBmp }) => isBmp) };
  return work.node(made, (block, out) => {
    let bytes = 0;
    const texts = nodes.map((node) => {
      const at = node.texts(block);
      bytes += node.constant === undefined ? kernels.textBytes(at, block.rows) : kernels.textBytes(at, 1) * block.rows;
      return [at, node.constant === undefined ? 8 : 0];
    });
    memory.u32(parts, nodes.length * 2).set(texts.flat());
    kernels.textConcat(parts, nodes.length, block.rows, out, room.of(bytes));
    if (bytes > TEXT_LENGTH_MAX) refuseLong(work, 'concat', block, out);
  });
}

export function replace(work: TextWork, node: TextNode, wanted: string, replacement: string): TextNode {
  const { kernels } = work.scope.context;
  const room = new Room(work);
  const [search, put] = [Buffer.from(wanted), Buffer.from(replacement)];
  const [searchAt, putAt] = [work.upload(search), work.upload(put)];
  return work.node({ mayBeNull: node.mayBeNull, isBmp: node.isBmp && isBmpOnly(replacement) }, (block, out) => {
    const texts = node.texts(block);
    const bytes = kernels.textBytes(texts, block.rows);
    if ((bytes + 1) * (replacement.length + 1) > TEXT_LENGTH_MAX) refuseLongReplaced(work, block, texts, wanted, replacement);
    const bound = bytes + Math.floor(bytes / search.length) * Math.max(0, put.length - search.length);
    kernels.textReplace(texts, block.rows, searchAt, search.length, putAt, put.length, out, room.of(bound));
  });
}

/** LONGs or DOUBLEs, one a row, as strings. */
export function digits(work: TextWork, numbers: NumberNode): TextNode {
  const { kernels } = work.scope.context;
  const room = new Room(work);
  const powers = numbers.lane === 'F64' ? uploadPowers(work.scope) : 0;
  return work.node({ mayBeNull: numbers.mayBeNull, isBmp: true }, (block, out) => {
    const { at, nulls } = numbers.run(block);
    if (numbers.lane === 'I64') kernels.textOfLongs(at, nulls, block.rows, out, room.of(block.rows * LONG_BYTES_MAX));
    else kernels.textOfDoubles(at, nulls, block.rows, 0, powers, out, room.of(block.rows * DOUBLE_BYTES_MAX));
  });
}

/** The first that is not null. */
export function firstKnown(work: TextWork, nodes: readonly TextNode[]): TextNode | undefined {
  const [last, ...others] = nodes.toReversed();
  if (last === undefined) return undefined;
  return others.reduce((rest, node) => {
    const nulls = work.nullsOf(node);
    return choice(work, nulls, rest, node, rest.mayBeNull);
  }, last);
}

/** The result of the first condition that is true, else `otherwise`. */
export function chosen(work: TextWork, conditions: readonly TruthNode[], results: readonly TextNode[], otherwise: TextNode): TextNode {
  return conditions.reduceRight((rest, condition, index) => {
    const result = results[index] ?? rest;
    return choice(work, (block) => condition.run(block).at, result, rest, result.mayBeNull || rest.mayBeNull);
  }, otherwise);
}

/** `condition`: bits of the rows for which it holds; 0 where it holds for none. */
function choice(
  work: TextWork,
  condition: (block: Block) => Address,
  whenTrue: TextNode,
  otherwise: TextNode,
  mayBeNull: boolean,
): TextNode {
  const { kernels } = work.scope.context;
  const none = work.bits();
  return work.node({ mayBeNull, isBmp: whenTrue.isBmp && otherwise.isBmp }, (block, out) => {
    const holds = condition(block);
    if (holds === 0) kernels.bitsFill(none, wordsOf(block), 0, 0);
    const texts = whenTrue.texts(block);
    kernels.choose64(holds || none, texts, isOne(whenTrue), otherwise.texts(block), isOne(otherwise), block.rows, out);
  });
}

/** `operation` of the kernel `textCompare`. */
export function compared(work: TextWork, a: TextNode, b: TextNode, operation: 0 | 1 | 2, isNegated: boolean): TruthNode {
  const { kernels } = work.scope.context;
  const left = work.everyRow(a);
  const nulls = work.anyOf([work.nullsOf(a), work.nullsOf(b)]);
  return truths(work, a.mayBeNull || b.mayBeNull, nulls, (block, out) => {
    kernels.textCompare(left.texts(block), b.texts(block), isOne(b), block.rows, operation, out);
    if (!isNegated) return;
    kernels.bitsNot(out, block.rows, out);
    const unknown = nulls(block);
    if (unknown !== 0) kernels.bitsAndNot(out, unknown, wordsOf(block), out);
  });
}

/** LIKE by a pattern that `likeBytes` has encoded. */
export function like(work: TextWork, node: TextNode, pattern: Uint8Array): TruthNode {
  const { kernels } = work.scope.context;
  const at = work.upload(pattern);
  return truths(work, node.mayBeNull, work.nullsOf(node), (block, out) =>
    kernels.textLike(node.texts(block), block.rows, at, pattern.length, out),
  );
}

export function truths(
  work: TextWork,
  mayBeNull: boolean,
  nulls: (block: Block) => Address,
  write: (block: Block, out: Address) => void,
): TruthNode {
  const out = work.bits();
  return {
    kind: 'truth',
    mayBeNull,
    run(block) {
      write(block, out);
      return { at: out, nulls: nulls(block) };
    },
  };
}

/** Whether a text is null, or is none. */
export function isNull(work: TextWork, node: TextNode, isNegated: boolean): TruthNode {
  const { kernels } = work.scope.context;
  const nulls = work.nullsOf(node);
  return truths(
    work,
    false,
    () => 0,
    (block, out) => {
      const found = nulls(block);
      if (found === 0) kernels.bitsFill(out, wordsOf(block), 0, isNegated ? block.rows : 0);
      else if (isNegated) kernels.bitsNot(found, block.rows, out);
      else kernels.bitsOr(found, found, wordsOf(block), out);
    },
  );
}

export function isBmpOnly(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text);
}

/** Texts beyond ASCII, made one by one where a kernel has left them as they were. */
export class Patches {
  readonly #work: TextWork;
  readonly #make: (text: string) => string;
  readonly #room: Room;

  constructor(work: TextWork, make: (text: string) => string) {
    this.#work = work;
    this.#make = make;
    this.#room = new Room(work);
  }

  /** @param texts  references to what was there before, where a kernel may have made wide texts already, elsewhere */
  make({ rows }: Block, out: Address, texts: Address = out): void {
    const { memory, computed } = this.#work.scope.context;
    const words = memory.u32(out, rows * 2);
    const before = memory.u32(texts, rows * 2);
    const made: { readonly row: number; readonly bytes: Buffer }[] = [];
    let size = 0;
    for (let row = 0; row < rows; row++) {
      if (((words[row * 2 + 1] ?? 0) & WIDE) === 0 || words[row * 2] !== before[row * 2]) continue;
      const text = this.#make(referredText(memory, out + row * 8) ?? '');
      const bytes = Buffer.from(text);
      if (bytes.toString() !== text) this.#work.cuts++;
      made.push({ row, bytes });
      size += bytes.length;
    }
    computed.valuesByRow += made.length;
    let at = this.#room.of(size);
    for (const { row, bytes } of made) {
      memory.u8(at, bytes.length).set(bytes);
      words.set([at, (bytes.length | WIDE) >>> 0], row * 2);
      at += bytes.length;
    }
  }
}

export function refuseLong(work: TextWork, name: string, { rows }: Block, out: Address): void {
  const { kernels, memory } = work.scope.context;
  const lengths = work.words();
  kernels.textUnits(out, rows, lengths);
  for (const length of memory.i64(lengths, rows)) refuseTextLength(name, Number(length));
}

/** Refuses results that may become too long, as the function over one string does: by the most replacements possible. */
function refuseLongReplaced(work: TextWork, { rows }: Block, texts: Address, wanted: string, replacement: string): void {
  const { kernels, memory } = work.scope.context;
  const lengths = work.words();
  kernels.textUnits(texts, rows, lengths);
  memory.i64(lengths, rows).forEach((length, row) => {
    if ((Number(length) + 1) * (replacement.length + 1) <= TEXT_LENGTH_MAX) return;
    const found = referredText(memory, texts + row * 8) ?? '';
    refuseTextLength('replace', found.length + (found.split(wanted).length + 1) * replacement.length);
  });
}
