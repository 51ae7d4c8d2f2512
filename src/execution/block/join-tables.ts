// Joins tables of rows end to end.

import type { Check } from './checked-loops.js';
import { concatFrames } from './concat-frames.js';
import { frameColumn, type ResultColumn, type ResultTable, resultColumn } from './result-table.js';

/**
 * Tables of the same columns after each other as one. Strings of one numbering stay ids; what is of different types is joined
 * as frames are.
 */
export function joinTables(tables: readonly ResultTable[], check: Check): ResultTable {
  const filled = tables.filter(({ rowCount }) => rowCount > 0);
  const [first] = filled;
  if (first === undefined) return tables[0] ?? { rowCount: 0, columns: [], keys: [] };
  if (filled.length === 1) return first;
  const rowCount = filled.reduce((sum, table) => sum + table.rowCount, 0);
  const columns = first.columns.map((column, at): ResultColumn => {
    check();
    return joinAlike(filled, at, column, rowCount) ?? joinFrames(filled, at, rowCount, check);
  });
  return { ...first, rowCount, columns };
}

/** Undefined where columns differ in more than their values. */
function joinAlike(tables: readonly ResultTable[], at: number, first: ResultColumn, rowCount: number): ResultColumn | undefined {
  switch (first.kind) {
    case 'string': {
      const { packed } = first;
      const parts = tables.map(({ columns }) => columns[at]);
      const areAlike = parts.every((part) => part?.kind === 'string' && part.packed === packed && part.type === first.type);
      if (packed === undefined || !areAlike) return undefined;
      const ids = new Uint32Array(rowCount);
      let to = 0;
      for (const part of parts) {
        if (part?.kind !== 'string') continue;
        ids.set(part.ids, to);
        to += part.ids.length;
      }
      return { ...first, ids };
    }
    case 'long': {
      const parts = tables.flatMap(({ columns }) => (columns[at]?.kind === 'long' ? [columns[at]] : []));
      if (parts.length < tables.length) return undefined;
      return { ...first, values: joinNumbers(parts, new BigInt64Array(rowCount)), nulls: joinNulls(parts, rowCount) };
    }
    case 'double': {
      const parts = tables.flatMap(({ columns }) =>
        columns[at]?.kind === 'double' && columns[at].type === first.type ? [columns[at]] : [],
      );
      if (parts.length < tables.length) return undefined;
      return { ...first, values: joinNumbers(parts, new Float64Array(rowCount)), nulls: joinNulls(parts, rowCount) };
    }
    default:
      return undefined;
  }
}

interface Numbers<Values> {
  readonly values: Values;
  readonly nulls: Uint8Array | null;
}

function joinNumbers<Values extends BigInt64Array | Float64Array>(parts: readonly Numbers<Values>[], into: Values): Values {
  let to = 0;
  for (const { values } of parts) {
    // The type of both is one, which overloads of `set` do not know.
    (into as Float64Array).set(values as Float64Array, to);
    to += values.length;
  }
  return into;
}

function joinNulls(parts: readonly Numbers<BigInt64Array | Float64Array>[], rowCount: number): Uint8Array | null {
  if (parts.every(({ nulls }) => nulls === null)) return null;
  const into = new Uint8Array(rowCount);
  let to = 0;
  for (const { values, nulls } of parts) {
    if (nulls !== null) into.set(nulls, to);
    to += values.length;
  }
  return into;
}

function joinFrames(tables: readonly ResultTable[], at: number, rowCount: number, check: Check): ResultColumn {
  const frames = tables.map((table) => ({
    rowCount: table.rowCount,
    columns: table.columns.slice(at, at + 1).map((column) => frameColumn(column, 0, table.rowCount, check)),
  }));
  const [column] = concatFrames(frames, check).columns;
  return resultColumn(column ?? { kind: 'string', name: '', ids: new Uint32Array(rowCount), dictionary: [null] }, rowCount);
}
