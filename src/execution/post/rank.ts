// Ranks of aggregate states in their own order.

import type { PostStep } from '../../model/plan.js';
import { stateOperations } from '../aggregate-state/operations.js';
import { columnNamed, columnOf, type ResultColumn, type ResultTable, valueAt } from '../block/result-table.js';
import type { LeafResult } from './leaf-result.js';

/** The places of states in their own order, from 0 on; alike ones share a place, and no state comes before any. */
export function rankColumn(
  table: ResultTable,
  { name, state, aggregateState }: Extract<PostStep, { step: 'rank' }>,
  leaf: LeafResult,
): ResultColumn {
  const column = columnNamed(table, state);
  const kind = stateOperations(aggregateState);
  const states = Array.from({ length: table.rowCount }, (_, row): unknown => {
    const text = valueAt(column, row);
    return typeof text === 'string' ? kind.decode(text) : undefined;
  });
  const compare = (a: number, b: number): number => {
    const [left, right] = [states[a], states[b]];
    if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined);
    return kind.compare?.(left, right) ?? 0;
  };
  leaf.check();
  const order = [...states.keys()].sort(compare);
  const ranks: bigint[] = new Array(states.length);
  let rank = 0n;
  order.forEach((row, place) => {
    if (place > 0 && compare(order[place - 1] ?? row, row) !== 0) rank++;
    ranks[row] = rank;
  });
  return columnOf(name, 'LONG', ranks);
}
