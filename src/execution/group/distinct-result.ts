import { assert } from '../../base/errors.js';
import { convert, toDouble, type Value, wrapLong } from '../../expression/value.js';
import type { DistinctFold } from '../../model/aggregator.js';
import { stateType } from '../../model/state-type.js';
import { addToExactSum, emptyExactSum, exactSumOf } from '../../sketch/exact-sum.js';
import { stateKind } from '../collect/kinds.js';
import type { ResultColumn } from '../finish/table.js';
import { columnOf, textColumn } from '../finish/table.js';
import { ROWS_PER_CHECK } from '../pieces.js';
import type { DistinctShape, FoldScope } from './distinct-fold.js';
import { listSet } from './distinct-set.js';
import type { GroupTable } from './table.js';

/**
 * A column of what is made of the distinct values of each group listed. The values are met in ascending order, and doubles
 * are added exactly, so that neither rows nor threads decide any bit of it.
 */
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
  const found = Array.from(groups, (group) => sets.get(group) ?? []);
  if (fold.kind !== 'collect')
    return columnOf(shape.name, fold.type, found.map(fold.kind === 'xor' ? xor : fold.type === 'LONG' ? sumOfLongs : sumOfDoubles));
  const kind = stateKind(fold.collector);
  const states = found.map((values) => {
    check();
    const state = kind.create();
    assert(kind.addNumber !== undefined, `${fold.collector.type} takes no numbers one by one`);
    for (const number of Float64Array.from(values, (value) => toDouble(value) ?? Number.NaN).sort()) kind.addNumber(state, number);
    return values.length === 0 ? undefined : state;
  });
  if (fold.output === 'state')
    return textColumn(
      shape.name,
      stateType(fold.collector),
      states.map((state) => (state === undefined ? null : kind.encode(state))),
    );
  return columnOf(
    shape.name,
    fold.type,
    states.map((state) => (state === undefined ? kind.emptyValue : kind.value(state))),
  );
}

function sumOfLongs(values: readonly Value[]): Value {
  if (values.length === 0) return null;
  return wrapLong(values.reduce((sum: bigint, value) => sum + (convert(value, 'LONG') ?? 0n), 0n));
}

function sumOfDoubles(values: readonly Value[]): Value {
  const sum = emptyExactSum();
  for (const value of values) addToExactSum(sum, toDouble(value) ?? 0);
  return exactSumOf(sum);
}

function xor(values: readonly Value[]): Value {
  return values.length === 0 ? null : values.reduce((bits: bigint, value) => bits ^ (convert(value, 'LONG') ?? 0n), 0n);
}
