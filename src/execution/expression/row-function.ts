// Computes an expression row by row, where nothing faster fits.

import { bindExpression } from '../../expression/bind.js';
import type { TypeOf } from '../../expression/expression-type.js';
import type { Operand } from '../../expression/function.js';
import type { Value } from '../../expression/value.js';
import { columnsReadBy } from '../../model/columns-read.js';
import type { Expression } from '../../model/expression.js';
import type { Block } from '../block/context.js';
import { type CodedColumn, type Codes, codedColumn } from './coded-column.js';
import { type RowReader, rowReader } from './row-reader.js';
import type { SegmentScope } from './scope.js';

/** A bound expression: `compute` reads the values of its columns from `cells`, in the order of their names. */
export interface RowFunction {
  readonly cells: Value[];
  readonly compute: Operand;
  /** The expression computed; undefined for the value of the only column itself. */
  readonly expression: Expression | undefined;
}

/** The columns that an expression reads, but missing ones: null in every row, as a cell is that nobody writes. */
export function columnsThere(scope: SegmentScope, expression: Expression): readonly string[] {
  return [...columnsReadBy(expression)].filter((name) => scope.source(name).kind !== 'missing');
}

export function rowFunction(scope: SegmentScope, expression: Expression, names: readonly string[], typeOf: TypeOf): RowFunction {
  const cells: Value[] = names.map(() => null);
  const compute = bindExpression(expression, {
    typeOf,
    operand(name) {
      const index = names.indexOf(name);
      return () => cells[index] ?? null;
    },
    check: () => scope.context.check(),
  });
  return { cells, compute, expression };
}

/** Rows between two checks of deadline and cancellation; few, because one row may take long. */
const ROWS_PER_CHECK = 64;

/** Puts the value of every row of a block. */
export type RowLoop = (block: Block, put: (row: number, value: Value) => void) => void;

/** Computes every row of a block; for functions that no faster form fits. */
export function rowLoop(scope: SegmentScope, names: readonly string[], { cells, compute }: RowFunction): RowLoop {
  const readers = names.map((name) => readerOf(scope, name));
  const isRead = rowsRead(scope);
  return (block, put) => {
    for (const reader of readers) reader.open(block);
    let computed = 0;
    const reads = isRead(block);
    for (let row = 0; row < block.rows; row++) {
      if (row % ROWS_PER_CHECK === 0) scope.context.check();
      if (!reads(row)) {
        put(row, null);
        continue;
      }
      for (let index = 0; index < readers.length; index++) cells[index] = readers[index]?.get(row) ?? null;
      computed++;
      put(row, compute());
    }
    scope.context.computed.valuesByRow += computed;
  };
}

/** Tells which rows of a block are read: those of its selection, or all. */
export function rowsRead({ context: { memory } }: SegmentScope): (block: Block) => (row: number) => boolean {
  return ({ rows, selection }) => {
    if (selection === undefined) return everyRow;
    const bits = memory.u32(selection, Math.ceil(rows / 32));
    return (row) => ((bits[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
  };
}

const everyRow = (): boolean => true;

/** Texts and lists of values are made once each, numbers read as they are. */
function readerOf(scope: SegmentScope, name: string): RowReader {
  const source = scope.source(name);
  const column = source.kind === 'string' ? codedColumn(scope, source) : undefined;
  return column === undefined ? rowReader(scope, source) : codedReader(column);
}

function codedReader(column: CodedColumn): RowReader {
  let codes: Codes = new Uint8Array(0);
  return {
    open(block) {
      codes = column.codes(block);
    },
    get: (row) => column.value(codes[row] ?? 0),
  };
}
