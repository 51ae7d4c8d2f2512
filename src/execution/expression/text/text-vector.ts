// Expressions over texts as vectors of a segment: by entry of one dictionary, or by row.

import type { Address } from '../../../base/layout.js';
import { inferType, type TypeOf } from '../../../expression/expression-type.js';
import { columnsReadBy } from '../../../model/columns-read.js';
import type { Expression } from '../../../model/expression.js';
import { type ColumnType, JSON_TYPE } from '../../../model/schema.js';
import type { StringColumnView } from '../../../storage/view.js';
import { type Block, takeBits, takeZeroed, wordsOf } from '../../block/context.js';
import { bitsById, entryBitBytes, numbersById, onlyDictionary } from '../dictionary-function.js';
import { elementOf, listsOfSegment } from '../lists/list-calls.js';
import { arraysOfTexts, type ListElement, type ListNode } from '../lists/list-node.js';
import { laneOf } from '../number/arithmetic.js';
import { vectorNode } from '../number/leaf.js';
import { inLane, type Lane, type Node, type NumberNode, type Rooms, spread, type TruthNode } from '../number/node.js';
import { numberVector } from '../number/number-vector.js';
import { asTruth } from '../number/truth.js';
import type { SegmentScope } from '../scope.js';
import { longColumn } from '../time/bucketed.js';
import type { NumberVector, StringVector, TextNode } from '../vector.js';
import { TextCompiler, type TextLeaves } from './compile-text.js';
import { type Entries, EntryTexts } from './entry-texts.js';
import { idsOfRows, PickedColumns, type PickedNode, textsOfRows } from './picked-texts.js';
import { rankedComparison } from './ranked-comparison.js';
import { ofReached } from './reached-entries.js';
import { eachEntryBlock, entriesNode, hasFewEntries, hasNoPairs, idsNode, rowsNode } from './text-entries.js';
import { isBmpOnly } from './text-functions.js';
import { TextInterner } from './text-interner.js';
import { TextWork } from './text-node.js';

/** Surroundings of a string expression. */
export interface Texts {
  readonly scope: SegmentScope;
  readonly typeOf: TypeOf;
  /** Compiles expressions that are not over strings; undefined unless they are numbers or conditions. */
  number(expression: Expression): NumberOfTexts | undefined;
  /** The same of what is made of nothing but texts, which `ofTexts` compiles. */
  numberOfTexts(expression: Expression, ofTexts: (part: Expression) => Node | undefined): NumberOfTexts | undefined;
}

interface NumberOfTexts {
  readonly node: Node;
  readonly rooms: Rooms;
}

/**
 * Numbers and conditions made of texts: of one column once for each entry of its dictionary, looked up by id, of several row by row.
 * Undefined where kernels have no such function.
 */
export function nodeOfTexts(texts: Texts, rooms: Rooms, expression: Expression): Node | undefined {
  const { scope } = texts;
  const column = onlyColumn(scope, expression);
  if (column === undefined)
    return (
      rankedComparison(rooms, expression) ?? numberOrTruth(rowCompiler(texts, new TextWork(scope, scope.view.rowCount, false)), expression)
    );
  const work = new TextWork(scope, column.dictionary.count, true);
  const node = numberOrTruth(entryCompiler(texts, column, work, entriesNode(work, column)), expression);
  if (node === undefined) return undefined;
  const all = (): Node => (node.kind === 'truth' ? truthById(work, column, node) : vectorNode(rooms, numbersOfEntries(work, column, node)));
  if (work.countsCuts) {
    const found = all();
    return work.cuts > 0 ? undefined : found;
  }
  const { mayBeNull } = node;
  const ofIds = (ids: Address): Node | undefined => {
    const few = new TextWork(scope, scope.view.rowCount, true);
    return numberOrTruth(entryCompiler(texts, column, few, idsNode(few, column, ids)), expression);
  };
  return ofReached(scope, column, { lane: node.kind === 'truth' ? undefined : node.lane, mayBeNull, ofIds, ofAll: all });
}

function numberOrTruth(compiler: TextCompiler, expression: Expression): Node | undefined {
  return compiler.number(expression) ?? compiler.truth(expression);
}

function numbersOfEntries({ scope }: TextWork, column: StringColumnView, node: NumberNode): NumberVector {
  const { arena, context } = scope;
  const { count } = column.dictionary;
  const table = arena.take(Math.max(1, count) * 8);
  const nullIds = takeZeroed(arena, context, entryBitBytes(count));
  let anyNull = false;
  eachEntryBlock(scope, column, (block) => {
    const { at, nulls } = node.run(block);
    context.kernels.toI64I64(at, 0, block.rows, 0n, table + block.start * 8);
    anyNull = copyBits(scope, nulls, block, nullIds) || anyNull;
  });
  return numbersById(scope, column, { table, nullIds: anyNull ? nullIds : 0 }, node.lane === 'I64' ? 'LONG' : 'DOUBLE');
}

function truthById(work: TextWork, column: StringColumnView, node: TruthNode): TruthNode {
  const { scope } = work;
  const newSet = (): Address => takeZeroed(scope.arena, scope.context, entryBitBytes(column.dictionary.count));
  const [trueIds, nullIds] = [newSet(), newSet()];
  let anyNull = false;
  eachEntryBlock(scope, column, (block) => {
    const { at, nulls } = node.run(block);
    copyBits(scope, at, block, trueIds);
    anyNull = copyBits(scope, nulls, block, nullIds) || anyNull;
  });
  const [isTrue, isNull] = [bitsById(scope, column, trueIds), bitsById(scope, column, nullIds)];
  const [bits, unknown] = [takeBits(scope.arena), takeBits(scope.arena)];
  return {
    kind: 'truth',
    mayBeNull: anyNull,
    run(block) {
      isTrue(block, bits);
      if (anyNull) isNull(block, unknown);
      return { at: bits, nulls: anyNull ? unknown : 0 };
    },
  };
}

/** Texts made of texts, with ids into those that are distinct; undefined where kernels have no such function. */
export function textsOfTexts(texts: Texts, expression: Expression): StringVector | undefined {
  if (expression.kind !== 'call') return undefined;
  const { scope } = texts;
  const type = madeType(inferType(expression, texts.typeOf));
  if (type === undefined) return undefined;
  const work = new TextWork(scope, scope.view.rowCount, false);
  const made = ofType(rowCompiler(texts, work), expression, type);
  if (made === undefined) return undefined;
  const node = work.everyRow(made);
  const pool = new TextInterner(scope);
  const textsOf = textsOfRows(scope, { node, pickedNode: () => pickedNode(texts, expression, type) });
  const ids = idsOfRows(scope, pool, textsOf);
  const entries = entriesOf(texts, expression, type);
  if (entries === undefined) return { kind: 'string', type, pool, complete: false, ids, node, textsOf };
  const byEntry = new EntryTexts(scope, entries, pool);
  const ofAll = (block: Block): Address => byEntry.ids(block);
  if (scope.readsEveryRow || !hasManyEntries(scope, entries.column))
    return { kind: 'string', type, pool: byEntry, complete: true, ids: ofAll, node, textsOf };
  return { kind: 'string', type, pool, complete: false, ids: ofReachedRows(scope, entries.column, ids, ofAll), node, textsOf };
}

/** Lists of strings or numbers of the rows of a segment; undefined where kernels make none. */
export function listOfTexts(texts: Texts, expression: Expression): { readonly work: TextWork; readonly list: ListNode } | undefined {
  const work = new TextWork(texts.scope, texts.scope.view.rowCount, false);
  const list = rowCompiler(texts, work).list(expression);
  return list === undefined ? undefined : { work, list };
}

type MadeType = 'STRING' | typeof JSON_TYPE | `ARRAY<${ListElement}>`;

function madeType(type: ColumnType | null): MadeType | undefined {
  const element = type === null ? undefined : elementOf({ type });
  return type === 'STRING' || type === JSON_TYPE ? type : element === undefined ? undefined : `ARRAY<${element}>`;
}

function ofType(compiler: TextCompiler, expression: Expression, type: MadeType): TextNode | undefined {
  if (type === JSON_TYPE) return compiler.json(expression);
  const element = elementOf({ type });
  return element === undefined ? compiler.text(expression) : compiler.array(expression, element);
}

/** Entries are many when what is made of all of them is as much work as this part of the rows, and not below this number. */
const ENTRIES_PART = 1 / 8;
const ENTRIES_MIN = 4096;

function hasManyEntries({ view }: SegmentScope, { dictionary: { count } }: StringColumnView): boolean {
  return count >= Math.max(ENTRIES_MIN, view.rowCount * ENTRIES_PART);
}

/** Ids of the rows that are read, until these are expected to be more than the entries: then by the entries, which have the same ids. */
function ofReachedRows(
  { context, view }: SegmentScope,
  { dictionary }: StringColumnView,
  ofRows: (block: Block) => Address,
  ofAll: (block: Block) => Address,
): (block: Block) => Address {
  let [reached, seen, start] = [0, 0, -1];
  let isMost = false;
  return (block) => {
    const { selection, rows } = block;
    if (start !== block.start && !isMost) {
      reached += selection === undefined ? rows : context.kernels.bitsCount(selection, wordsOf(block));
      seen += rows;
      isMost = reached * view.rowCount > dictionary.count * seen;
    }
    start = block.start;
    return isMost ? ofAll(block) : ofRows(block);
  };
}

/** The texts of picked rows; undefined where the expression reads more than stored texts. */
function pickedNode(texts: Texts, expression: Expression, type: MadeType): PickedNode | undefined {
  const { scope } = texts;
  // Nothing is cut that was not cut of all rows.
  const work = new TextWork(scope, scope.view.rowCount, true);
  const columns = new PickedColumns(work);
  const compiler = compilerOfTexts(
    texts,
    work,
    () => false,
    (name) => {
      const source = scope.source(name);
      return source.kind === 'string' && source.column.offsets === 0 ? columns.node(source.column) : undefined;
    },
  );
  const made = ofType(compiler, expression, type);
  return made === undefined ? undefined : { columns, node: work.everyRow(made) };
}

/** Whether each row has one text: a string, or what a document is written as. */
function isPlainText({ offsets, type }: StringColumnView): boolean {
  return offsets === 0 && (type === 'STRING' || type === JSON_TYPE);
}

/** Undefined where only rows can be computed: conditions and numbers may have kernels for rows, and none for entries. */
function entriesOf(texts: Texts, expression: Expression, type: MadeType): Entries | undefined {
  const column = onlyColumn(texts.scope, expression);
  if (column === undefined) return undefined;
  const work = new TextWork(texts.scope, column.dictionary.count, true);
  const made = ofType(entryCompiler(texts, column, work, entriesNode(work, column)), expression, type);
  return made === undefined ? undefined : { column, node: work.everyRow(made) };
}

/** The only column of an expression, when what is made of its entries is less than what is made of its rows. */
function onlyColumn(scope: SegmentScope, expression: Expression): StringColumnView | undefined {
  const column = onlyDictionary(scope, expression)?.column;
  const isThere = [...columnsReadBy(expression)].every((name) => scope.source(name).kind !== 'missing');
  return column !== undefined && isThere && (column.type === 'STRING' || elementOf(column) !== undefined) && hasFewEntries(scope, column)
    ? column
    : undefined;
}

function entryCompiler(texts: Texts, column: StringColumnView, work: TextWork, node: TextNode): TextCompiler {
  return compilerOfTexts(
    texts,
    work,
    () => hasNoPairs(texts.scope, column),
    (name) => {
      const source = texts.scope.source(name);
      return source.kind === 'string' && source.column === column ? node : undefined;
    },
  );
}

/**
 * Compiles what is made of nothing but the texts of columns, which need not be those of a block's rows. `areBmp`: these have no surrogate
 * pair; where they or a constant may, numbers are not made of parts that may cut one, as these are counted for the whole.
 */
function compilerOfTexts(
  texts: Texts,
  work: TextWork,
  areBmp: () => boolean,
  column: (name: string) => TextNode | undefined,
): TextCompiler {
  const number = (expression: Expression): NumberOfTexts | undefined => {
    const counted = work.countsCuts;
    work.countsCuts = false;
    const made = texts.numberOfTexts(expression, (part) => numberOrTruth(compiler, part));
    const mayCut = work.countsCuts && (hasPairs(expression) || !areBmp());
    work.countsCuts ||= counted;
    return mayCut ? undefined : made;
  };
  const compiler = new TextCompiler(work, texts.typeOf, {
    column,
    numbers: (expression, lane) => numbersIn(lane, number(expression)),
    longs: () => undefined,
    truth: (expression) => truthOf(number(expression)),
    cutsNone: () => true,
    lists: (expression) => listsOfLeaf(texts, work, expression, column),
  });
  return compiler;
}

/** The arrays of a stored column, of whichever rows or entries its node has the texts. */
function listsOfLeaf(
  { scope }: Texts,
  work: TextWork,
  expression: Expression,
  column: (name: string) => TextNode | undefined,
): ListNode | undefined {
  if (expression.kind !== 'column') return undefined;
  const source = scope.source(expression.name);
  const element = source.kind === 'string' ? elementOf(source.column) : undefined;
  const node = element === undefined ? undefined : column(expression.name);
  return element === undefined || node === undefined ? undefined : arraysOfTexts(work, node, element);
}

/** Whether neither an expression nor the stored texts that it reads have a surrogate pair. */
function haveNoPairs(scope: SegmentScope, expression: Expression): boolean {
  if (hasPairs(expression)) return false;
  return [...columnsReadBy(expression)].every((name) => {
    const source = scope.source(name);
    return source.kind !== 'computed' && (source.kind !== 'string' || hasNoPairs(scope, source.column));
  });
}

/** Whether a constant of an expression has a surrogate pair. */
function hasPairs(expression: Expression): boolean {
  if (expression.kind === 'literal') return typeof expression.value === 'string' && !isBmpOnly(expression.value);
  return expression.kind === 'call' && expression.arguments.some(hasPairs);
}

/** A number for each row; undefined for a DOUBLE where LONGs are wanted. */
function numbersIn(lane: Lane, made: NumberOfTexts | undefined): NumberNode | undefined {
  if (made === undefined || (lane === 'I64' && laneOf([made.node]) === 'F64')) return undefined;
  return spread(made.rooms, inLane(made.rooms, made.node, lane));
}

function truthOf(made: NumberOfTexts | undefined): TruthNode | undefined {
  return made === undefined ? undefined : asTruth(made.rooms, made.node);
}

function rowCompiler(texts: Texts, work: TextWork): TextCompiler {
  const { scope } = texts;
  const leaves: TextLeaves = {
    column: (name) => columnNode(work, name),
    numbers: (expression, lane) => numbersIn(lane, texts.number(expression)),
    longs(expression) {
      if (expression.kind === 'column') return longColumn(scope, expression.name);
      const made = texts.number(expression);
      return made === undefined ? undefined : numberVector(made.rooms, made.node, 'LONG');
    },
    truth: (expression) => truthOf(texts.number(expression)),
    lists: (expression) => listsOfSegment(work, expression),
    cutsNone(expression) {
      const column = onlyColumn(scope, expression);
      if (column === undefined) return haveNoPairs(scope, expression);
      const entries = new TextWork(scope, column.dictionary.count, true);
      const node = entryCompiler(texts, column, entries, entriesNode(entries, column)).text(expression);
      if (node !== undefined) eachEntryBlock(scope, column, (block) => node.texts(block));
      return node !== undefined && entries.cuts === 0;
    },
  };
  return new TextCompiler(work, texts.typeOf, leaves);
}

function columnNode(work: TextWork, name: string): TextNode | undefined {
  const source = work.scope.source(name);
  if (source.kind === 'string') return isPlainText(source.column) ? rowsNode(work, source.column) : undefined;
  return source.kind === 'computed' && source.vector.kind === 'string' ? source.vector.node : undefined;
}

/** Bits of a block of entries to their place among all; false where there are none. */
function copyBits({ context: { kernels } }: SegmentScope, bits: Address, block: Block, into: Address): boolean {
  if (bits === 0) return false;
  kernels.bitsOr(bits, bits, wordsOf(block), into + block.start / 8);
  return true;
}
