import type { Value } from '../../expression/value.js';
import type { DistinctFold } from '../../model/aggregator.js';
import { stateType } from '../../model/state-type.js';
import { distinctFolder } from '../collect/distinct-values.js';
import type { ResultColumn } from '../finish/table.js';
import { columnOf } from '../finish/table.js';
import { ROWS_PER_CHECK } from '../pieces.js';
import type { DistinctShape, FoldScope } from './distinct-fold.js';
import { listSet } from './distinct-set.js';
import type { GroupTable } from './table.js';

/** A column of what is made of the distinct values of each group listed. */
export function distinctColumn(
  scope: FoldScope,
  table: GroupTable,
  index: number,
  shape: DistinctShape,
  fold: DistinctFold,
  groups: Uint32Array,
): ResultColumn {
  const { check } = scope.context;
  const sets = new Map<number, Value[]>();
  listSet(scope, table, index, shape).forEach(({ group, value }, at) => {
    if (at % ROWS_PER_CHECK === 0) check();
    const set = sets.get(group);
    if (set === undefined) sets.set(group, [value]);
    else set.push(value);
  });
  const folded = distinctFolder(fold);
  return columnOf(
    shape.name,
    fold.kind === 'collect' && fold.output === 'state' ? stateType(fold.collector) : fold.type,
    Array.from(groups, (group) => {
      check();
      return folded(sets.get(group) ?? []);
    }),
  );
}
