import { stateColumn } from '../../model/aggregate-state.js';
import type { Aggregator } from '../../model/aggregator.js';
import type { ColumnType } from '../../model/schema.js';
import { stateType } from '../../model/state-traits.js';
import type { ResultColumn } from '../block/result-table.js';
import { columnOf, textColumn } from '../block/result-table.js';
import type { StateObjects } from './state-objects.js';
import type { StateOperations } from './state-operations.js';

/**
 * The columns of a `state` aggregator for the groups listed: values, states as texts, or both.
 * @param isEmpty   it is the one group of no rows
 * @param asStates  for another server to merge: always one column of states
 */
export function stateColumns(
  objects: StateObjects | undefined,
  { name, type, aggregator, states }: { name: string; type: ColumnType; aggregator: Aggregator; states: StateOperations<unknown> },
  groups: Uint32Array,
  isEmpty: boolean,
  asStates: boolean,
): ResultColumn[] {
  const output = aggregator.kind === 'state' && !asStates ? aggregator.output : 'state';
  const found = Array.from(groups, (group) => (isEmpty ? undefined : objects?.of(group)));
  const texts = (column: string): ResultColumn =>
    textColumn(
      column,
      aggregator.kind === 'state' && !asStates ? stateType(aggregator.aggregateState) : 'STRING',
      found.map((state) => (state === undefined ? null : states.encode(state))),
    );
  if (output === 'state') return [texts(name)];
  const values = columnOf(
    name,
    type,
    found.map((state) => (state === undefined ? states.emptyValue : states.value(state))),
  );
  return output === 'value' ? [values] : [values, texts(stateColumn(name))];
}
