import { compileExpression } from '../../expression/evaluate.js';
import type { Value } from '../../expression/value.js';
import { toDouble } from '../../expression/value.js';
import type { FinishStep } from '../../model/plan.js';
import { expressionFoldKind } from '../collect/expression-fold.js';
import type { LeafResult } from './steps.js';
import type { ResultColumn, ResultTable } from './table.js';
import { columnNamed, columnOf, valueAt } from './table.js';

/** The places of states in the order that an expression of the query gives them, from 0 on; alike ones share a place. */
export function rankColumn(
  table: ResultTable,
  { name, state, by, collector }: Extract<FinishStep, { step: 'rank' }>,
  leaf: LeafResult,
): ResultColumn {
  const column = columnNamed(table, state);
  const kind = expressionFoldKind(collector);
  const values = Array.from({ length: table.rowCount }, (_, row): Value => {
    const text = valueAt(column, row);
    return typeof text === 'string' ? kind.decode(text).value : null;
  });
  const compiled = compileExpression(by, () => collector.valueType);
  const compare = (a: number, b: number): number => {
    const [left = null, right = null] = [values[a], values[b]];
    if (left === null || right === null) return Number(left !== null) - Number(right !== null);
    return toDouble(compiled((operand) => (operand === 'o1' ? left : right))) ?? 0;
  };
  leaf.check();
  const order = [...values.keys()].sort(compare);
  const ranks: bigint[] = new Array(values.length);
  let rank = 0n;
  order.forEach((row, place) => {
    if (place > 0 && compare(order[place - 1] ?? row, row) !== 0) rank++;
    ranks[row] = rank;
  });
  return columnOf(name, 'LONG', ranks);
}
