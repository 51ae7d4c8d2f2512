// Memory of a group table when more groups are added.

import type { KeyPool } from '../key/key-pool.js';
import type { AggregatorLayout } from '../key/layout.js';
import type { GroupTable } from './group-table.js';

/** Content that comes with groups: sets of distinct values, aggregate states and values, and beside these strings that are taken over as they are. */
interface AddedContent {
  /** Bytes. */
  readonly content: number;
  readonly texts?: number;
  /** Most values that one pool is given. */
  readonly values: number;
}

/** Peak size of a table with more groups, while its largest arrays are being enlarged. */
export function bytesWith(table: GroupTable, groups: number, { content, texts = 0, values }: AddedContent): number {
  const pools = internedPools(table);
  const tablesOfPools = pools.reduce((sum, { tableBytes }) => sum + tableBytes, 0);
  const textsOfPools = pools.reduce((sum, { bytes }) => sum + bytes, 0) - tablesOfPools;
  let arrays = arrayBytes(table);
  const others = table.bytes - arrays - placeBytes(table, 0) - tablesOfPools - textsOfPools;
  if (table.layout.indexLayout.kind === 'hash') {
    const capacity = table.capacityFor(table.groupCount + groups);
    if (capacity > table.capacity) arrays *= 1.25 * (capacity / table.capacity);
  }
  const grown = pools.reduce((sum, pool) => sum + pool.tableBytesWith(values), 0);
  return arrays + placeBytes(table, values) + textsOfPools + texts + grown + (growsByContent(table) ? 1.5 * (others + content) : others);
}

function internedPools({ layout, pools, distinctPools }: GroupTable): readonly KeyPool[] {
  const ofKeys = pools.filter((_, index) => layout.keys[index]?.domain.kind === 'interned');
  const isInterned = (each: AggregatorLayout | undefined): boolean => each?.kind === 'distinct' && each.domain.kind === 'interned';
  return [...ofKeys, ...distinctPools.filter((_, index) => isInterned(layout.aggregators[index]))];
}

/** Bytes of the list of places by value, also while it is enlarged for so many more values. */
function placeBytes({ onlyPool, slotCount }: GroupTable, values: number): number {
  if (onlyPool === undefined) return 0;
  const count = 2 ** Math.ceil(Math.log2(onlyPool.count + values));
  return (count > slotCount ? count + slotCount : slotCount) * 4;
}

/** Bytes of the arrays that have a place for each group. */
function arrayBytes({ layout: { indexLayout }, capacity, slotCount, onlyPool, states }: GroupTable): number {
  const slotBytes = onlyPool === undefined ? slotCount * 4 : 0;
  let bytes = indexLayout.kind === 'hash' ? capacity * indexLayout.words * 8 + slotBytes : capacity;
  for (const { at, seen } of states) bytes += capacity * ((at === 0 ? 0 : 8) + (seen === 0 ? 0 : 1));
  return bytes;
}

/** Whether a table also grows by something other than the number of groups. */
function growsByContent({ layout, states }: GroupTable): boolean {
  const hasContent = states.some(({ pairs, objects }) => pairs !== undefined || objects !== undefined);
  return hasContent || layout.keys.some(({ domain }) => domain.kind === 'interned');
}
