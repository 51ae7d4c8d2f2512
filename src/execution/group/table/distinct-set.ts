// Visits the distinct values of each group.

import type { Value } from '../../../expression/value.js';
import { ROWS_PER_CHECK } from '../../block/checked-loops.js';
import type { Scratch } from '../../block/context.js';
import { nullIdOf, valueOfId } from '../key/key-domain.js';
import type { DistinctLayout } from './distinct-combine.js';
import type { GroupTable } from './group-table.js';

/** Visits every (group, value) of a distinct aggregator, texts as dictionaries keep them; null is left out. */
export function eachDistinct(
  { context }: Scratch,
  table: GroupTable,
  index: number,
  { domain, store }: DistinctLayout,
  visit: (group: number, value: Value) => void,
): void {
  const { memory, check } = context;
  const state = table.states[index];
  const nullId = nullIdOf(domain);
  const decode = valueOfId(memory, domain, table.distinctPools[index]);
  if (store.kind === 'bits') {
    const words = store.bitsPerGroup / 32;
    const bits = memory.u32(state?.bits ?? 0, table.groupCount * words);
    bits.forEach((word, at) => {
      if (at % ROWS_PER_CHECK === 0) check();
      for (let rest = word; rest !== 0; rest &= rest - 1) {
        const id = (at % words) * 32 + (31 - Math.clz32(rest & -rest));
        if (id !== nullId) visit(Math.floor(at / words), decode(id));
      }
    });
    return;
  }
  const { keys = 0, count = 0 } = state?.pairs ?? {};
  const halves = memory.u32(keys, count * store.words * 2);
  const longs = memory.i64(keys, count * store.words);
  const doubles = memory.f64(keys, count * store.words);
  for (let at = 0; at < count; at++) {
    if (at % ROWS_PER_CHECK === 0) check();
    const group = halves[at * store.words * 2] ?? 0;
    if (store.words === 2) visit(group, domain.type === 'LONG' ? (longs[at * 2 + 1] ?? 0n) : (doubles[at * 2 + 1] ?? 0));
    else {
      const id = halves[at * 2 + 1] ?? 0;
      if (id !== nullId) visit(group, decode(id));
    }
  }
}
