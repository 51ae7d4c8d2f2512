// Computes a function of one dictionary column once per distinct value.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { convert, textOfValue, type Value, valueOfText } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import { type ColumnType, isNumberType, type NumberType, type TextType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import { type Block, kernelFor, type RunContext, takeBits, takeZeroed } from '../block/context.js';
import { ValuePool } from '../block/value-pool.js';
import { codedColumn } from './coded-column.js';
import { entryFunction, readsFewEntries } from './entry-function.js';
import { Remembered, RememberedResults, resultsKey } from './remembered-results.js';
import { columnsThere, type RowFunction } from './row-function.js';
import type { SegmentScope } from './scope.js';
import { computedNumbers, computedTexts, type NumberVector, oncePerBlock, type Vector } from './vector.js';

/** Values between two checks of deadline and cancellation. */
const VALUES_PER_CHECK = 64;

/** The only column of an expression, when it is one of a dictionary and of single values. */
export function onlyDictionary(
  scope: SegmentScope,
  expression: Expression,
): { readonly name: string; readonly column: StringColumnView } | undefined {
  const [name, ...others] = columnsThere(scope, expression);
  const source = name === undefined || others.length > 0 ? undefined : scope.source(name);
  return name !== undefined && source?.kind === 'string' && source.column.offsets === 0 ? { name, column: source.column } : undefined;
}

/** Rows that are computed by kernels in the time that one value takes in JavaScript. */
const ROWS_PER_VALUE = 16;

/** Whether so many values take less time than all rows by kernels. */
export function isLessWork(scope: SegmentScope, values: number): boolean {
  return values * ROWS_PER_VALUE <= scope.view.rowCount;
}

/** Whether what is made of each entry in JavaScript, looked up by id, takes less time than kernels do. */
export function hasSmallDictionary(scope: SegmentScope, { dictionary }: StringColumnView): boolean {
  return isLessWork(scope, dictionary.count);
}

/** Whether an expression reads no column of many texts. */
export function hasFewTexts(scope: SegmentScope, expression: Expression): boolean {
  return columnsThere(scope, expression).every((name) => {
    const source = scope.source(name);
    return source.kind !== 'string' || hasSmallDictionary(scope, source.column);
  });
}

function dictionaryResults(scope: SegmentScope, column: StringColumnView, bound: RowFunction): Value[] {
  const results: Value[] = [];
  eachResult(scope, column, bound, (value) => results.push(value));
  return results;
}

function eachResult(scope: SegmentScope, column: StringColumnView, bound: RowFunction, put: (value: Value, id: number) => void): void {
  const { count } = column.dictionary;
  const valueOf = entryFunction(scope, column, bound, entryReader(scope, column, bound));
  for (let id = 0; id < count; id++) {
    if (id % VALUES_PER_CHECK === 0) scope.context.check();
    put(valueOf(id), id);
  }
}

/** Numbers by entry: of eight bytes each, and the bits of those that are null. */
interface NumberResults {
  readonly bytes: Uint8Array;
  readonly nullBits: Uint8Array | undefined;
}

function numberResults(scope: SegmentScope, column: StringColumnView, bound: RowFunction, type: NumberType): NumberResults {
  const { count } = column.dictionary;
  const longs = new BigInt64Array(count);
  const doubles = new Float64Array(longs.buffer);
  let nullBits: Uint8Array | undefined;
  eachResult(scope, column, bound, (value, id) => {
    const number = convert(value, type);
    if (typeof number === 'bigint') longs[id] = number;
    else if (number !== null) doubles[id] = Number(number);
    else {
      nullBits ??= new Uint8Array(Math.ceil(count / 8));
      nullBits[id >>> 3] = (nullBits[id >>> 3] ?? 0) | (1 << (id & 7));
    }
  });
  return { bytes: new Uint8Array(longs.buffer), nullBits };
}

const NUMBERS_BYTES_MAX = 1 << 26;
const REMEMBERED_NUMBERS = new WeakMap<RunContext, Remembered<NumberResults>>();

/** Numbers that a function makes of dictionary entries; computed once for consecutive row ranges of a segment. */
function rememberedNumbers(
  scope: SegmentScope,
  column: StringColumnView,
  bound: RowFunction,
  type: NumberType,
  expression: Expression,
): NumberResults {
  const remembered =
    REMEMBERED_NUMBERS.get(scope.context) ??
    new Remembered<NumberResults>(({ bytes, nullBits }) => bytes.byteLength + (nullBits?.byteLength ?? 0), NUMBERS_BYTES_MAX);
  REMEMBERED_NUMBERS.set(scope.context, remembered);
  return remembered.get(column.dictionary, `${type} ${resultsKey(column.type, expression)}`, () =>
    numberResults(scope, column, bound, type),
  );
}

/** Reads all entries at once, unless a few may be all that is read. */
function entryReader(scope: SegmentScope, column: StringColumnView, bound: RowFunction): (id: number) => Value {
  const coded = readsFewEntries(column, bound) ? codedColumn(scope, { kind: 'string', column }) : undefined;
  if (coded !== undefined) return (id) => coded.value(id);
  let texts: readonly (string | null)[] | undefined;
  return (id) => valueOfText((texts ??= scope.texts(column))[id] ?? null, column.type);
}

const REMEMBERED = new WeakMap<RunContext, RememberedResults>();

/** Results of a function for each dictionary entry, by id; computed once for consecutive row ranges of a segment. */
export function rememberedResults(
  scope: SegmentScope,
  column: StringColumnView,
  bound: RowFunction,
  expression: Expression,
): readonly Value[] {
  const remembered = REMEMBERED.get(scope.context) ?? new RememberedResults();
  REMEMBERED.set(scope.context, remembered);
  return remembered.get(column.dictionary, resultsKey(column.type, expression), () => dictionaryResults(scope, column, bound));
}

/** A function of one dictionary column: computed once per entry of its dictionary, then looked up by id. */
export function dictionaryFunction(
  scope: SegmentScope,
  column: StringColumnView,
  bound: RowFunction,
  { type, expression }: { readonly type: ColumnType; readonly expression: Expression | null },
  pool = new ValuePool<string>(),
): Vector {
  if (isNumberType(type)) {
    const numbers =
      expression === null ? numberResults(scope, column, bound, type) : rememberedNumbers(scope, column, bound, type, expression);
    return numberTable(scope, column, numbers, type);
  }
  const results = expression === null ? dictionaryResults(scope, column, bound) : rememberedResults(scope, column, bound, expression);
  const texts = results.map((value) => textOfValue(value, type));
  return textTable(scope, column, texts, type, pool);
}

/** The values of a dictionary column in another type. */
export function dictionaryCast(scope: SegmentScope, column: StringColumnView, type: ColumnType): Vector {
  const cells: Value[] = [null];
  return dictionaryFunction(scope, column, { cells, compute: () => cells[0] ?? null, expression: undefined }, { type, expression: null });
}

function textTable(
  scope: SegmentScope,
  column: StringColumnView,
  results: readonly (string | null)[],
  type: TextType,
  pool: ValuePool<string>,
): Vector {
  const { arena, context } = scope;
  const table = arena.take(Math.max(1, results.length) * 4);
  context.memory.u32(table, results.length).set(results.map((result) => pool.idOf(result)));
  const widen = widener(scope, column);
  const at = arena.take(BLOCK_ROWS * 4);
  const run = oncePerBlock((block) => context.kernels.gather32(table, widen(block), block.rows, at));
  return computedTexts(type, { pool, run, at, complete: true });
}

function numberTable(scope: SegmentScope, column: StringColumnView, { bytes, nullBits }: NumberResults, type: NumberType): NumberVector {
  const { arena, context } = scope;
  const { memory } = context;
  const table = arena.take(Math.max(8, bytes.byteLength));
  memory.u8(table, bytes.byteLength).set(bytes);
  if (nullBits === undefined) return numbersById(scope, column, { table, nullIds: 0 }, type);
  const nullIds = takeZeroed(arena, context, entryBitBytes(column.dictionary.count));
  memory.u8(nullIds, nullBits.byteLength).set(nullBits);
  return numbersById(scope, column, { table, nullIds }, type);
}

/** Numbers looked up by id: eight bytes for each entry of a dictionary, and the bits of those that are null, 0 for none. */
export function numbersById(
  scope: SegmentScope,
  column: StringColumnView,
  { table, nullIds }: { readonly table: Address; readonly nullIds: Address },
  type: NumberType,
): NumberVector {
  const { arena, context } = scope;
  const { kernels } = context;
  const widen = widener(scope, column);
  const at = arena.take(BLOCK_ROWS * 8);
  const nulls = takeBits(arena);
  const isNull = bitsById(scope, column, nullIds);
  const run = oncePerBlock((block) => {
    kernels.gather64(table, widen(block), block.rows, at);
    if (nullIds !== 0) isNull(block, nulls);
  });
  const mayBeNull = nullIds !== 0;
  const vector = computedNumbers(type, { run, at: () => at, nulls: () => (mayBeNull ? nulls : 0), mayBeNull });
  const numbers: NumberVector = {
    ...vector,
    values: ({ start }) => table + start * 8,
    nulls: ({ start }) => (mayBeNull ? nullIds + start / 8 : 0),
  };
  return { ...vector, entries: { column, numbers } };
}

/** Bytes of the bits of so many entries, as kernels read them. */
export function entryBitBytes(count: number): number {
  return Math.max(32, Math.ceil(count / 64) * 8);
}

/** Bits of the rows whose entry is in `set`. */
export function bitsById(
  { context: { kernels } }: SegmentScope,
  column: StringColumnView,
  set: Address,
): (block: Block, out: Address) => void {
  const filterSet = kernelFor(kernels, 'filterSet', column.physical);
  const bytes = PHYSICAL_BYTES[column.physical];
  return (block, out) => filterSet(column.ids + block.start * bytes, block.rows, set, out);
}

/** Ids of a block as u32. */
export function widener(scope: SegmentScope, column: StringColumnView): (block: Block) => Address {
  if (column.physical === 'U32') return (block) => column.ids + block.start * 4;
  const at = scope.arena.take(BLOCK_ROWS * 4);
  const keyDense = kernelFor(scope.context.kernels, 'keyDense', column.physical);
  const bytes = PHYSICAL_BYTES[column.physical];
  return (block) => {
    keyDense(column.ids + block.start * bytes, 0, block.rows, 1, 0, at);
    return at;
  };
}
