// Places of rows in the order of their partition: ROW_NUMBER, RANK, NTILE and others.

import type { WindowCall } from '../../../model/window.js';
import { checkedLoop } from '../../block/checked-loops.js';
import type { ResultColumn } from '../../block/result-table.js';
import { smallLongs } from '../typed-values.js';
import { eachPiece, fillRows } from './runs.js';
import type { WindowRows } from './window-rows.js';

type PlaceCall = Extract<WindowCall, { kind: 'rowNumber' | 'rank' | 'denseRank' | 'percentRank' | 'cumulativeDistribution' | 'tile' }>;

export function placeColumn(rows: WindowRows, call: PlaceCall, name: string): ResultColumn {
  switch (call.kind) {
    case 'rowNumber':
      return smallLongs(name, rowNumbers(rows), rows.check);
    case 'tile':
      return smallLongs(name, tiles(rows, call.tiles), rows.check);
    case 'rank':
      return smallLongs(
        name,
        ofPeers(rows, new Uint32Array(rows.table.rowCount), ({ first }) => first + 1),
        rows.check,
      );
    case 'denseRank':
      return smallLongs(
        name,
        ofPeers(rows, new Uint32Array(rows.table.rowCount), ({ group }) => group + 1),
        rows.check,
      );
    case 'percentRank':
      return fractions(rows, name, ({ first, count }) => (count === 1 ? 0 : first / (count - 1)));
    case 'cumulativeDistribution':
      return fractions(rows, name, ({ last, count }) => last / count);
  }
}

function rowNumbers({ table, partitions, check }: WindowRows): Uint32Array {
  const places = new Uint32Array(table.rowCount);
  eachPiece(partitions, check, (from, to, start) => {
    for (let row = from; row < to; row++) places[row] = row - start + 1;
  });
  return places;
}

/** The first `count % tiles` of them have one row more. */
function tiles({ table, partitions, check }: WindowRows, tileCount: number): Uint32Array {
  const places = new Uint32Array(table.rowCount);
  eachPiece(partitions, check, (from, to, start, end) => {
    const count = end - start;
    const [size, larger] = [Math.floor(count / tileCount), count % tileCount];
    const inLarger = larger * (size + 1);
    const tileOf = (at: number): number =>
      at < inLarger ? Math.floor(at / (size + 1)) : larger + Math.floor((at - inLarger) / Math.max(1, size));
    for (let row = from; row < to; ) {
      const tile = tileOf(row - start);
      const next = tile < larger ? (tile + 1) * (size + 1) : inLarger + (tile + 1 - larger) * Math.max(1, size);
      const after = Math.min(to, start + next);
      places.fill(tile + 1, row, after);
      row = after;
    }
  });
  return places;
}

/** Rows of one place in the order: rows [first, last) of a partition of `count` rows, of which they are the `group`-th peers. */
interface Peers {
  first: number;
  last: number;
  group: number;
  count: number;
}

/** Gives all rows of peers the place that these have. */
function ofPeers<Places extends Uint32Array | Float64Array>(
  { partitions, peers, check }: WindowRows,
  places: Places,
  placeOf: (peers: Peers) => number,
): Places {
  const groups = peers();
  let partition = -1;
  let [partitionStart, partitionEnd] = [0, 0];
  const own: Peers = { first: 0, last: 0, group: 0, count: 0 };
  checkedLoop(groups.length - 1, check, (from, to) => {
    for (let group = from; group < to; group++) {
      const [start, end] = [groups[group] ?? 0, groups[group + 1] ?? 0];
      if (start >= partitionEnd) {
        partition++;
        partitionStart = partitions[partition] ?? 0;
        partitionEnd = partitions[partition + 1] ?? end;
        own.group = -1;
        own.count = partitionEnd - partitionStart;
      }
      own.group++;
      own.first = start - partitionStart;
      own.last = end - partitionStart;
      fillRows(places, placeOf(own), start, end);
    }
  });
  return places;
}

function fractions(rows: WindowRows, name: string, placeOf: (peers: Peers) => number): ResultColumn {
  return { kind: 'double', name, type: 'DOUBLE', values: ofPeers(rows, new Float64Array(rows.table.rowCount), placeOf), nulls: null };
}
