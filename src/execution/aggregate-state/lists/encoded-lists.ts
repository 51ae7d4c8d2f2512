// Lists as the texts that spilled groups are written with.

import type { Value } from '../../../expression/value.js';
import { ROWS_PER_CHECK } from '../../block/checked-loops.js';
import type { RunContext } from '../../block/context.js';
import { taggedText } from '../expression-fold.js';
import type { EncodedStates, ListStates } from '../state-operations.js';
import { valueReader } from './list-reader.js';

/** A state for each group and segment that it has entries of; of sets, which have no ranges, one for each group. */
export function encodedLists(context: RunContext, lists: ListStates): EncodedStates {
  const [groups, orders, states]: [number[], number[], string[]] = [[], [], []];
  const words = lists.element === 'STRING' ? 1 : 2;
  const halves = context.memory.u32(lists.keys, lists.count * words * 2);
  const valueOf = valueReader(context, lists, lists.keys);
  const ranges = lists.ranges.length === 0 ? [{ order: 0, start: 0, end: lists.count }] : lists.ranges;
  for (const { order, start, end } of ranges) {
    const found = new Map<number, Value[]>();
    for (let row = start; row < end; row++) {
      if (row % ROWS_PER_CHECK === 0) context.check();
      const group = halves[row * words * 2] ?? 0;
      const list = found.get(group);
      if (list === undefined) found.set(group, [valueOf(row * words)]);
      else list.push(valueOf(row * words));
    }
    for (const [group, values] of found) {
      groups.push(group);
      orders.push(order);
      states.push(`1 ${taggedText(values)}`);
    }
  }
  return { kind: 'encoded', groups, orders, states };
}
