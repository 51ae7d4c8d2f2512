// Rows brought into an order by two moves, each of which stays within the nearest caches.

import { type Check, checkedLoop } from '../block/checked-loops.js';
import { pickLongs, type ResultColumn, type ResultTable } from '../block/result-table.js';
import { halvesOf } from './typed-values.js';

/**
 * An order of rows: first each goes to a place near which only some rows go, and then the rows are picked from these places
 * in turn. A row read from anywhere in a large table costs many times as much as either.
 */
export interface RowOrder {
  /** The place of each row; left out: rows stay where they are. */
  readonly places?: Uint32Array;
  /** For each row of the order, the place where it is; left out: they are in turn. */
  readonly picked?: Uint32Array;
}

/** The numbers of the rows in turn. */
export function rowsInOrder({ places, picked }: RowOrder, rowCount: number, check: Check): Uint32Array {
  if (places === undefined && picked !== undefined) return picked;
  const rows = new Uint32Array(rowCount);
  checkedLoop(rowCount, check, (start, end) => {
    if (places === undefined) for (let row = start; row < end; row++) rows[row] = row;
    else for (let row = start; row < end; row++) rows[places[row] ?? 0] = row;
  });
  return picked === undefined ? rows : pickedWords(rows, picked, check);
}

/** Words of rows in the order. */
export function orderedWords(words: Uint32Array, { places, picked }: RowOrder, check: Check): Uint32Array {
  const placed = places === undefined ? words : placedWords(words, places, check);
  return picked === undefined ? placed : pickedWords(placed, picked, check);
}

function placedWords(words: Uint32Array, places: Uint32Array, check: Check): Uint32Array {
  const into = new Uint32Array(places.length);
  checkedLoop(places.length, check, (start, end) => {
    for (let row = start; row < end; row++) into[places[row] ?? 0] = words[row] ?? 0;
  });
  return into;
}

function pickedWords(words: Uint32Array, picked: Uint32Array, check: Check): Uint32Array {
  const into = new Uint32Array(picked.length);
  checkedLoop(picked.length, check, (start, end) => {
    for (let at = start; at < end; at++) into[at] = words[picked[at] ?? 0] ?? 0;
  });
  return into;
}

/** Longs in the order; they are moved in halves, so that none costs a BigInt. */
function movedLongs(longs: BigInt64Array, { places, picked }: RowOrder, check: Check): BigInt64Array {
  const count = longs.length;
  let from = longs;
  if (places !== undefined) {
    const into = new BigInt64Array(count);
    const [read, written] = [halvesOf(from), halvesOf(into)];
    checkedLoop(count, check, (start, end) => {
      for (let row = start; row < end; row++) {
        const place = (places[row] ?? 0) * 2;
        written[place] = read[row * 2] ?? 0;
        written[place + 1] = read[row * 2 + 1] ?? 0;
      }
    });
    from = into;
  }
  return picked === undefined ? from : pickLongs(from, picked, check);
}

function movedDoubles(doubles: Float64Array, { places, picked }: RowOrder, check: Check): Float64Array {
  let from = doubles;
  if (places !== undefined) {
    const [read, into] = [from, new Float64Array(from.length)];
    checkedLoop(places.length, check, (start, end) => {
      for (let row = start; row < end; row++) into[places[row] ?? 0] = read[row] ?? 0;
    });
    from = into;
  }
  if (picked === undefined) return from;
  const [read, into] = [from, new Float64Array(from.length)];
  checkedLoop(picked.length, check, (start, end) => {
    for (let at = start; at < end; at++) into[at] = read[picked[at] ?? 0] ?? 0;
  });
  return into;
}

function orderedMarks(marks: Uint8Array | null, { places, picked }: RowOrder, check: Check): Uint8Array | null {
  if (marks === null) return null;
  let from = marks;
  if (places !== undefined) {
    const [read, into] = [from, new Uint8Array(places.length)];
    checkedLoop(places.length, check, (start, end) => {
      for (let row = start; row < end; row++) into[places[row] ?? 0] = read[row] ?? 0;
    });
    from = into;
  }
  if (picked === undefined) return from;
  const [read, into] = [from, new Uint8Array(picked.length)];
  checkedLoop(picked.length, check, (start, end) => {
    for (let at = start; at < end; at++) into[at] = read[picked[at] ?? 0] ?? 0;
  });
  return into;
}

/** The rows of a table in the order. */
export function orderedTable(table: ResultTable, order: RowOrder, check: Check): ResultTable {
  const columns = table.columns.map((column): ResultColumn => {
    switch (column.kind) {
      case 'string':
        return { ...column, ids: orderedWords(column.ids, order, check) };
      case 'multi':
        return { ...column, rows: orderedWords(column.rows, order, check) };
      case 'long':
        return { ...column, values: movedLongs(column.values, order, check), nulls: orderedMarks(column.nulls, order, check) };
      case 'double':
        return { ...column, values: movedDoubles(column.values, order, check), nulls: orderedMarks(column.nulls, order, check) };
    }
  });
  return { ...table, columns };
}
