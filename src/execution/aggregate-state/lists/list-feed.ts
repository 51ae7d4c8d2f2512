// Reads the values of a column into the lists of a segment's groups, by kernels.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { type Block, kernelFor } from '../../block/context.js';
import { layTexts } from '../../block/text-references.js';
import { asNumbers } from '../../expression/convert.js';
import type { SegmentScope } from '../../expression/scope.js';
import { entryTexts } from '../../expression/text/text-entries.js';
import type { NumberVector } from '../../expression/vector.js';
import { computedIds, storedIds } from '../sketch/hash-feed.js';
import type { IdSource } from '../sketch/id-source.js';
import type { Feed, ListedStrings } from '../state-operations.js';
import { listEntries } from './list-entries.js';
import type { ListShape } from './list-shape.js';

/** @returns undefined where the column has values of another kind, or several a row */
export function listFeed<State>(scope: SegmentScope, column: string, shape: ListShape, takesNulls: boolean): Feed<State> | undefined {
  const source = scope.source(column);
  if (shape.element !== 'STRING') {
    const type = scope.typeOf(column);
    if (shape.element === 'LONG' ? type !== 'LONG' : type !== 'DOUBLE' && type !== 'FLOAT') return undefined;
    const vector = asNumbers(scope, source, shape.element);
    return vector === undefined ? undefined : numbersFeed(scope, vector, shape.isSet, takesNulls);
  }
  if (source.kind === 'string') {
    const { column: stored } = source;
    if (stored.offsets !== 0 || stored.type !== 'STRING') return undefined;
    const { count, hasNull } = stored.dictionary;
    const strings = (): ListedStrings => ({ entries: entryTexts(scope, stored), count });
    return stringsFeed(scope, storedIds(scope, stored), strings, { isSet: shape.isSet, dropsNulls: hasNull && !takesNulls });
  }
  if (source.kind !== 'computed' || source.vector.kind !== 'string' || source.vector.type !== 'STRING') return undefined;
  const { vector } = source;
  const strings = (): ListedStrings => {
    const { pool } = vector;
    return { entries: pool.entries ?? layTexts(scope.context.memory, scope.arena, pool.values), count: pool.count };
  };
  return stringsFeed(scope, computedIds(scope, vector), strings, { isSet: shape.isSet, dropsNulls: !takesNulls });
}

/** @param strings  by the ids of the segment, once its rows are through */
function stringsFeed<State>(
  scope: SegmentScope,
  ids: Pick<IdSource, 'gather'>,
  strings: () => ListedStrings,
  { isSet, dropsNulls }: { readonly isSet: boolean; readonly dropsNulls: boolean },
): Feed<State> {
  const { arena, context } = scope;
  const { kernels } = context;
  const entries = listEntries(scope, 1, isSet);
  const packed = arena.take(BLOCK_ROWS * 8);
  const isNull = arena.take(BLOCK_ROWS / 8);
  const [kept, keptIds, keptGroups] = [arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4)];
  const put = (found: Address, groups: Address, n: number): void => {
    kernels.keyWordU32(groups, 0, n, 1, 0, 0, 1, packed);
    kernels.keyWordU32(found, 0, n, 1, 0, 32, 0, packed);
    entries.add(packed, n);
  };
  return {
    nulls: undefined,
    add(block, rows, groups, n) {
      ids.gather(block, rows, groups, n, (found, idGroups, count) => {
        if (!dropsNulls) {
          put(found, idGroups, count);
          return;
        }
        kernels.filterEqU32(found, count, 0, isNull);
        const present = kernels.compactNotMask(isNull, 0, idGroups, count, kept, keptGroups);
        kernels.gather32(found, kept, present, keptIds);
        put(keptIds, keptGroups, present);
      });
    },
    endLists(add) {
      if (entries.count > 0) add({ keys: entries.keys, count: entries.count, strings: strings() });
    },
  };
}

function numbersFeed<State>(scope: SegmentScope, vector: NumberVector, isSet: boolean, takesNulls: boolean): Feed<State> {
  const { arena, context } = scope;
  const { kernels } = context;
  const entries = listEntries(scope, 2, isSet);
  const [wide, packed] = [arena.take(BLOCK_ROWS * 8), arena.take(BLOCK_ROWS * 16)];
  const { physical } = vector;
  // Bits as they are: zeros have signs.
  const widen = (block: Block, rows: Address, n: number): void => {
    if (physical === 'F32' || physical === 'F64') kernelFor(kernels, 'toF64', physical)(vector.values(block), rows, n, 0n, wide);
    else kernelFor(kernels, 'toI64', physical)(vector.values(block), rows, n, vector.base, wide);
  };
  return {
    nulls: !takesNulls && vector.mayBeNull ? vector : undefined,
    add(block, rows, groups, n) {
      widen(block, rows, n);
      kernels.keyWordU32(groups, 0, n, 2, 0, 0, 1, packed);
      kernels.keyWordI64(wide, 0, n, 2, 1, 0, 1, packed);
      const nulls = takesNulls ? vector.nulls(block) : 0;
      if (nulls !== 0) kernels.keyNulls(nulls, rows, n, 2, 1, 0, 32, packed);
      entries.add(packed, n);
    },
    endLists(add) {
      if (entries.count > 0) add({ keys: entries.keys, count: entries.count, strings: undefined });
    },
  };
}
