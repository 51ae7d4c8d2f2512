// Computes a function once for each combination of the codes of its columns.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { convert, textOfValue, type Value } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import { type ColumnType, isNumberType, type NumberType, type TextType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import { type Block, takeBits, wordsOf } from '../block/context.js';
import { ValuePool } from '../block/value-pool.js';
import { type CodedColumn, type Codes, codedColumn } from './coded-column.js';
import { dictionaryFunction } from './dictionary-function.js';
import { entryFunction } from './entry-function.js';
import { type RowFunction, type RowLoop, rowsRead } from './row-function.js';
import type { SegmentScope } from './scope.js';
import { computedNumbers, computedTexts, type NumberVector, oncePerBlock, type StringVector, type Vector } from './vector.js';

/** More combinations than this are not worth a table of their own. */
const COMBINATIONS_MAX = 1 << 20;

/** Infinity where codes appear as rows are read. */
export function combinationCount(columns: readonly CodedColumn[]): number {
  return columns.reduce((product, { card = Infinity }) => product * card, 1);
}

/** The columns by codes, when a table of all their combinations is smaller than the work it saves. */
export function codedColumns(scope: SegmentScope, names: readonly string[]): readonly CodedColumn[] | undefined {
  const columns = names.map((name) => codedColumn(scope, scope.source(name)));
  if (!columns.every((column) => column !== undefined) || columns.length === 0) return undefined;
  if (columns.length === 1) return columns;
  return combinationCount(columns) <= Math.min(COMBINATIONS_MAX, Math.max(1 << 12, scope.view.rowCount)) ? columns : undefined;
}

/** A function of columns of few values: computed once for each combination of them that occurs. */
export function codedFunction(
  scope: SegmentScope,
  columns: readonly CodedColumn[],
  bound: RowFunction,
  type: ColumnType,
  pool = new ValuePool<string>(),
): Vector {
  const combinations = combinationsOf(scope, columns, bound);
  return isNumberType(type) ? numbers(scope, combinations, type) : texts(scope, combinations, type, pool);
}

/** Rows that are read may be this part of the entries until all of these are computed. */
const REACHED_PART = 4;

/** Whether so many rows may have so many of the entries that all of them are as little work. */
export function reachesMost({ dictionary }: StringColumnView, rows: number): boolean {
  return rows * REACHED_PART > dictionary.count;
}

/** A function of one dictionary column: computed for entries that rows have which are read, and once these are many, for all. */
export function reachedDictionaryFunction(
  scope: SegmentScope,
  column: StringColumnView,
  bound: RowFunction,
  { type, expression }: { readonly type: ColumnType; readonly expression: Expression },
): Vector {
  const pool = new ValuePool<string>();
  const coded = codedColumn(scope, { kind: 'string', column });
  const ofAll = (): Vector => dictionaryFunction(scope, column, bound, { type, expression }, pool);
  if (coded === undefined) return ofAll();
  const ofReached = codedFunction(scope, [coded], bound, type, pool);
  let all: Vector | undefined;
  let reached = 0;
  let start = -1;
  const vectorFor = (block: Block): Vector => {
    if (all !== undefined) return all;
    const { selection } = block;
    if (start !== block.start) reached += selection === undefined ? block.rows : scope.context.kernels.bitsCount(selection, wordsOf(block));
    start = block.start;
    if (reached > column.dictionary.count) all = ofAll();
    return all ?? ofReached;
  };
  if (ofReached.kind === 'string') {
    const ids = (block: Block): Address => {
      const vector = vectorFor(block);
      return vector.kind === 'string' ? vector.ids(block) : 0;
    };
    return { kind: 'string', type: ofReached.type, pool, complete: false, ids };
  }
  const read = (block: Block): NumberVector => {
    const vector = vectorFor(block);
    return vector.kind === 'number' ? vector : ofReached;
  };
  return { ...ofReached, values: (block) => read(block).values(block), nulls: (block) => read(block).nulls(block) };
}

/** Like `rowLoop`, but computes the value once for each combination of ids. */
export function codedLoop(scope: SegmentScope, columns: readonly CodedColumn[], bound: RowFunction): RowLoop {
  const combinations = combinationsOf(scope, columns, bound);
  const values: (Value | undefined)[] = [];
  let computed = 0;
  const isRead = rowsRead(scope);
  return (block, put) => {
    const codes = combinations.open(block);
    const reads = isRead(block);
    for (let row = 0; row < block.rows; row++) {
      if (!reads(row)) {
        put(row, null);
        continue;
      }
      const combination = codes[row] ?? 0;
      let value = values[combination];
      if (value === undefined) {
        if (++computed % VALUES_PER_CHECK === 0) scope.context.check();
        value = combinations.value(row);
        values[combination] = value;
      }
      put(row, value);
    }
  };
}

function combinationsOf(scope: SegmentScope, columns: readonly CodedColumn[], bound: RowFunction): Combinations {
  const { context, view } = scope;
  const { cells, compute } = bound;
  const [only] = columns;
  const ofEntry =
    only?.stored === undefined || columns.length > 1 ? undefined : entryFunction(scope, only.stored, bound, (id) => only.value(id));
  let opened: readonly Codes[] = [];
  const combined = new Uint32Array(columns.length === 1 ? 0 : Math.min(BLOCK_ROWS, view.rowCount));
  return {
    open(block) {
      opened = columns.map((column) => column.codes(block));
      const [first] = opened;
      if (first !== undefined && opened.length === 1) return first;
      combined.fill(0, 0, block.rows);
      columns.forEach(({ card = 1 }, index) => {
        const codes = opened[index] ?? combined;
        for (let row = 0; row < block.rows; row++) combined[row] = (combined[row] ?? 0) * card + (codes[row] ?? 0);
      });
      return combined;
    },
    value(row) {
      if (ofEntry !== undefined) return ofEntry(opened[0]?.[row] ?? 0);
      columns.forEach((column, index) => {
        cells[index] = column.value(opened[index]?.[row] ?? 0);
      });
      context.computed.valuesByEntry++;
      return compute();
    },
  };
}

interface Combinations {
  /** The number of the combination that each row of a block is. */
  open(block: Block): Codes;
  /** Value of a row of that block. */
  value(row: number): Value;
}

/** Numbers of results by combination; 0 stands for one that was not met yet. */
class Met {
  #results = new Uint32Array(1 << 10);

  /** Long enough for combinations up to `last`. */
  upTo(last: number): Uint32Array {
    if (last >= this.#results.length) {
      const longer = new Uint32Array(2 ** Math.ceil(Math.log2(last + 1)));
      longer.set(this.#results);
      this.#results = longer;
    }
    return this.#results;
  }
}

function largest(codes: ArrayLike<number>, count: number): number {
  let max = 0;
  for (let row = 0; row < count; row++) max = Math.max(max, codes[row] ?? 0);
  return max;
}

/** Values between two checks of deadline and cancellation. */
const VALUES_PER_CHECK = 64;

function texts(scope: SegmentScope, combinations: Combinations, type: TextType, pool: ValuePool<string>): StringVector {
  const { memory } = scope.context;
  const met = new Met();
  const at = scope.arena.take(BLOCK_ROWS * 4);
  const isRead = rowsRead(scope);
  let computed = 0;
  const run = oncePerBlock((block) => {
    const codes = combinations.open(block);
    const results = met.upTo(largest(codes, block.rows));
    const ids = memory.u32(at, block.rows);
    const reads = isRead(block);
    for (let row = 0; row < block.rows; row++) {
      if (!reads(row)) {
        ids[row] = 0;
        continue;
      }
      const combination = codes[row] ?? 0;
      let result = results[combination] ?? 0;
      if (result === 0) {
        if (++computed % VALUES_PER_CHECK === 0) scope.context.check();
        result = pool.idOf(textOfValue(combinations.value(row), type)) + 1;
        results[combination] = result;
      }
      ids[row] = result - 1;
    }
  });
  return computedTexts(type, { pool, run, at });
}

function numbers(scope: SegmentScope, combinations: Combinations, type: NumberType): NumberVector {
  const { memory } = scope.context;
  const met = new Met();
  const made = new NumberResults(type);
  const at = scope.arena.take(BLOCK_ROWS * 8);
  const nulls = takeBits(scope.arena);
  const isRead = rowsRead(scope);
  let anyNull = false;
  let computed = 0;
  const run = oncePerBlock((block) => {
    const codes = combinations.open(block);
    const results = met.upTo(largest(codes, block.rows));
    const bits = memory.u32(nulls, BLOCK_ROWS / 32).fill(0);
    // Half by half: the bits of a double, or of a long, without making a number of them.
    const halves = memory.u32(at, block.rows * 2);
    anyNull = false;
    const reads = isRead(block);
    for (let row = 0; row < block.rows; row++) {
      if (!reads(row)) continue;
      const combination = codes[row] ?? 0;
      let result = results[combination] ?? 0;
      if (result === 0) {
        if (++computed % VALUES_PER_CHECK === 0) scope.context.check();
        result = made.add(convert(combinations.value(row), type));
        results[combination] = result;
      }
      const from = result * 2;
      halves[row * 2] = made.halves[from] ?? 0;
      halves[row * 2 + 1] = made.halves[from + 1] ?? 0;
      if (made.isNull[result] === 1) {
        anyNull = true;
        bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
      }
    }
  });
  return computedNumbers(type, { run, at: () => at, nulls: () => (anyNull ? nulls : 0), mayBeNull: true });
}

/** Results of 64 bits, from number 1 on; a null's bits are 0. */
class NumberResults {
  halves = new Uint32Array(1 << 10);
  isNull = new Uint8Array(1 << 9);
  readonly #isLong: boolean;
  #count = 1;

  constructor(type: NumberType) {
    this.#isLong = type === 'LONG';
  }

  add(value: bigint | number | null): number {
    const number = this.#count++;
    if (number === this.isNull.length) this.#grow();
    if (value === null) this.isNull[number] = 1;
    else if (this.#isLong) new BigInt64Array(this.halves.buffer)[number] = BigInt(value);
    else new Float64Array(this.halves.buffer)[number] = Number(value);
    return number;
  }

  #grow(): void {
    const [halves, isNull] = [new Uint32Array(this.halves.length * 2), new Uint8Array(this.isNull.length * 2)];
    halves.set(this.halves);
    isNull.set(this.isNull);
    this.halves = halves;
    this.isNull = isNull;
  }
}
