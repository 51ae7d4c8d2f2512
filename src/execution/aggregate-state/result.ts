// Turns aggregate states into columns of a result, as values or as base64.

import { stateColumn } from '../../model/aggregate-state.js';
import type { Aggregator } from '../../model/aggregator.js';
import { type ColumnType, isNumberType } from '../../model/schema.js';
import { stateType } from '../../model/state-traits.js';
import type { Check } from '../block/checked-loops.js';
import { columnOf, type ResultColumn, textColumn } from '../block/result-table.js';
import type { GroupStates, StateOperations } from './state-operations.js';

/** States are large: so many take about a millisecond. */
const STATES_PER_CHECK = 16;

/**
 * The columns of a `state` aggregator for the groups listed: values, states as texts, or both.
 * @param isEmpty   it is the one group of no rows
 * @param asStates  for another server to merge: always one column of states
 */
export function stateColumns(
  objects: GroupStates | undefined,
  { name, type, aggregator, states }: { name: string; type: ColumnType; aggregator: Aggregator; states: StateOperations<unknown> },
  groups: Uint32Array,
  isEmpty: boolean,
  asStates: boolean,
  check: Check,
): ResultColumn[] {
  const output = aggregator.kind === 'state' && !asStates ? aggregator.output : 'state';
  const read = (isEmpty ? undefined : objects?.reader()) ?? ((): undefined => undefined);
  const each = <Made>(make: (state: unknown) => Made): Made[] => {
    const made: Made[] = [];
    for (let index = 0; index < groups.length; index++) {
      if (index % STATES_PER_CHECK === 0) check();
      made.push(make(read(groups[index] ?? 0)));
    }
    return made;
  };
  const encoded = (column: string): ResultColumn =>
    textColumn(
      column,
      aggregator.kind === 'state' && !asStates ? stateType(aggregator.aggregateState) : 'STRING',
      each((state) => (state === undefined ? null : states.encode(state))),
    );
  if (output === 'state') return [encoded(name)];
  const column = output === 'value' && !isEmpty && type === 'STRING' ? objects?.column?.(groups) : undefined;
  if (column !== undefined) return [{ kind: 'string', name, ...column }];
  const texts = output === 'value' && !isEmpty && !isNumberType(type) ? objects?.texts?.(groups, check) : undefined;
  if (texts !== undefined && !isNumberType(type)) return [textColumn(name, type, texts)];
  const numbers = output === 'value' && !isEmpty && (type === 'DOUBLE' || type === 'FLOAT') ? objects?.numbers?.(groups, check) : undefined;
  if (numbers !== undefined && (type === 'DOUBLE' || type === 'FLOAT'))
    return [{ kind: 'double', name, type, values: numbers, nulls: null }];
  const values = columnOf(
    name,
    type,
    each((state) => (state === undefined ? states.emptyValue : states.value(state, check))),
  );
  return output === 'value' ? [values] : [values, encoded(stateColumn(name))];
}
