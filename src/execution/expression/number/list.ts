// Functions of the values of multi-value rows, by the ids of these: how many there are, and which are among them.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { compileExpression } from '../../../expression/evaluate.js';
import { constantOf, expressionType } from '../../../expression/expression-type.js';
import { isArrayValue, toTruth, type Value } from '../../../expression/value.js';
import { columnsReadBy } from '../../../model/columns-read.js';
import type { Expression } from '../../../model/expression.js';
import { isArrayType } from '../../../model/schema.js';
import type { StringColumnView } from '../../../storage/view.js';
import { type Block, kernelFor, takeZeroed, wordsOf } from '../../block/context.js';
import { entryBitBytes } from '../dictionary-function.js';
import { findListed } from '../listed-texts.js';
import { mappedColumn } from '../mapped-values.js';
import type { SegmentScope } from '../scope.js';
import type { Node, NumberNode, Rooms, TruthNode } from './node.js';

type Call = Extract<Expression, { kind: 'call' }>;

/** Arrays of the values of a multi-value column. No value is null. */
export interface Lists {
  readonly column: StringColumnView;
  /** Whether a row without values is a list of one null, and not null. */
  readonly isHarmonized: boolean;
}

/** An expression as arrays of the values of a multi-value column, or of those that pass a condition; undefined for any other. */
export function listsOf(scope: SegmentScope, expression: Expression): Lists | undefined {
  if (expression.kind === 'column') {
    const source = scope.source(expression.name);
    if (source.kind !== 'string' || source.column.offsets === 0 || source.column.dictionary.hasNull) return undefined;
    return { column: source.column, isHarmonized: false };
  }
  if (expression.kind !== 'call') return undefined;
  const [first, second] = expression.arguments;
  switch (expression.function) {
    // A list of one null is no value: there is none.
    case ':values':
    case 'mv_to_array':
      return first === undefined ? undefined : listsOf(scope, first);
    case 'mv_harmonize_nulls': {
      const lists = first === undefined ? undefined : listsOf(scope, first);
      return lists === undefined ? undefined : { ...lists, isHarmonized: true };
    }
    case 'filter':
      return first === undefined || second === undefined ? undefined : filtered(scope, first, second);
    default:
      return undefined;
  }
}

function filtered(scope: SegmentScope, lambda: Expression, list: Expression): Lists | undefined {
  if (lambda.kind !== 'lambda' || lambda.parameters.length !== 1 || columnsReadBy(lambda).size > 0) return undefined;
  const lists = listsOf(scope, list);
  if (lists === undefined || lists.isHarmonized) return undefined;
  const test = compileExpression(
    lambda.body,
    () => 'STRING',
    () => scope.context.check(),
  );
  const column = mappedColumn(scope, lists.column, {
    map: (text) => text,
    keeps: (text) => text !== null && toTruth(test(() => text)) === true,
  });
  return { column, isHarmonized: false };
}

/** A function of lists; undefined for any other. */
export function listCall(rooms: Rooms, call: Call): Node | undefined {
  const [list, wanted] = call.arguments;
  if (list === undefined) return undefined;
  switch (call.function) {
    case 'array_length': {
      const lists = listsOf(rooms.scope, list);
      return lists === undefined || lists.isHarmonized ? undefined : lengths(rooms, lists.column);
    }
    case 'array_contains':
    case 'mv_contains':
      return membership(rooms, list, wanted, (value) => (isArrayValue(value) ? value.map((each) => [each]) : [[value]]));
    case 'array_offset_of':
      return place(rooms, list, wanted, 0n);
    case 'array_ordinal_of':
      return place(rooms, list, wanted, 1n);
    case 'array_overlap':
    case 'mv_overlap':
      return membership(rooms, list, wanted, (value) => (isArrayValue(value) ? [value] : undefined));
    default:
      return undefined;
  }
}

/**
 * A LONG or null for each row.
 * @param write  writes the numbers of a block, and the bits of those that are null
 */
function longsOf(rooms: Rooms, write: (block: Block, room: Address, nulls: Address) => void): NumberNode {
  const [room, nulls] = [rooms.over(), rooms.takeBits()];
  const run = (block: Block) => {
    write(block, room, nulls);
    return { at: room, nulls };
  };
  return { kind: 'number', lane: 'I64', isOne: false, mayBeNull: true, room, run };
}

function lengths(rooms: Rooms, { offsets }: StringColumnView): NumberNode {
  const { kernels } = rooms.scope.context;
  const starts = rooms.scope.arena.take(BLOCK_ROWS * 8);
  return longsOf(rooms, (block, room, nulls) => {
    const at = offsets + block.start * 4;
    kernels.toI64U32(at, 0, block.rows, 0n, starts);
    kernels.toI64U32(at + 4, 0, block.rows, 0n, room);
    kernels.subtractI64(room, starts, 0, block.rows, room);
    kernels.filterEmpty(at, block.rows, nulls);
  });
}

/** The place of a constant string among the values of a row, counted from `base`; null where it is not there. */
function place(rooms: Rooms, list: Expression, wanted: Expression | undefined, base: bigint): NumberNode | undefined {
  const { scope } = rooms;
  const text = wanted === undefined ? undefined : constantOf(wanted)?.value;
  const lists = typeof text === 'string' ? listsOf(scope, list) : undefined;
  if (typeof text !== 'string' || lists === undefined || lists.isHarmonized) return undefined;
  const { kernels } = scope.context;
  const { column } = lists;
  const [id] = findListed(scope, column, [text]);
  const places = scope.arena.take(BLOCK_ROWS * 8);
  const listPlace = kernelFor(kernels, 'listPlace', column.physical);
  return longsOf(rooms, (block, room, nulls) => {
    if (id === undefined) {
      kernels.bitsFill(nulls, wordsOf(block), 0, block.rows);
      return;
    }
    listPlace(column.ids, column.offsets + block.start * 4, block.rows, id, places);
    kernels.filterRangeI64(places, block.rows, -1n, -1n, nulls);
    kernels.toI64I64(places, 0, block.rows, base, room);
  });
}

/**
 * Rows whose list has a value of each of several sets.
 * @param setsOf  the sets that a constant stands for; undefined: the answer is another
 */
function membership(
  rooms: Rooms,
  list: Expression,
  wanted: Expression | undefined,
  setsOf: (value: Value) => readonly (readonly Value[])[] | undefined,
): TruthNode | undefined {
  const { scope } = rooms;
  if (wanted === undefined || wanted.kind === 'lambda' || columnsReadBy(wanted).size > 0) return undefined;
  const read = compileExpression(
    wanted,
    () => undefined,
    () => scope.context.check(),
  );
  const value = read(() => null);
  const type = expressionType(wanted, () => undefined);
  // A list that is null is another matter than an element that is.
  const sets = value === null && type !== null && isArrayType(type) ? undefined : setsOf(value);
  if (sets === undefined || sets.length > SETS_MAX) return undefined;
  if (sets.some((set) => set.some((value) => value !== null && typeof value !== 'string'))) return undefined;
  const lists = listsOf(scope, list);
  if (lists === undefined) return undefined;
  const tests = sets.map((set) => setTest(rooms, lists, set));
  const { kernels } = scope.context;
  const [bits, nulls] = [rooms.takeBits(), rooms.takeBits()];
  const { column, isHarmonized } = lists;
  return {
    kind: 'truth',
    mayBeNull: !isHarmonized,
    run(block) {
      const words = wordsOf(block);
      if (tests.length === 0) kernels.bitsFill(bits, words, 0, block.rows);
      tests.forEach((test, index) => {
        const found = test(block);
        kernels.bitsAnd(index === 0 ? found : bits, found, words, bits);
      });
      if (isHarmonized) return { at: bits, nulls: 0 };
      kernels.filterEmpty(column.offsets + block.start * 4, block.rows, nulls);
      kernels.bitsAndNot(bits, nulls, words, bits);
      return { at: bits, nulls };
    },
  };
}

/** Each set is looked for in all values of a block. */
const SETS_MAX = 16;

/** Bits of the rows with a value of the set; a list of one null has null. */
function setTest(rooms: Rooms, { column, isHarmonized }: Lists, set: readonly Value[]): (block: Block) => Address {
  const { arena, context } = rooms.scope;
  const { kernels, memory } = context;
  const { dictionary, physical, ids, offsets } = column;
  const bytes = entryBitBytes(dictionary.count);
  const wanted = takeZeroed(arena, context, bytes);
  const words = memory.u8(wanted, bytes);
  const texts = set.filter((value) => typeof value === 'string');
  for (const id of findListed(rooms.scope, column, texts)) words[id >>> 3] = (words[id >>> 3] ?? 0) | (1 << (id & 7));
  const hasNull = isHarmonized && set.includes(null);
  const [found, empty] = [rooms.takeBits(), hasNull ? rooms.takeBits() : 0];
  const filterAny = kernelFor(kernels, 'filterAny', physical);
  return (block) => {
    const at = offsets + block.start * 4;
    filterAny(ids, at, block.rows, wanted, found);
    if (!hasNull) return found;
    kernels.filterEmpty(at, block.rows, empty);
    kernels.bitsOr(found, empty, wordsOf(block), found);
    return found;
  };
}
