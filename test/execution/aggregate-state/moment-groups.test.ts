import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodedMoments, MomentGroups } from '../../../src/execution/aggregate-state/moments/moment-groups.js';
import type { Moments } from '../../../src/sketch/moments.js';
import { context } from './run-context.js';

const moments = suite('moments of groups');

moments('of this thread, of another and of spilled groups meet', () => {
  const groupCount = 40_000;
  let charged = 0;
  const make = (): MomentGroups => new MomentGroups(context, (bytes) => (charged += bytes));
  const [all, thread, spilled] = [make(), make(), make()];
  assert.ok(all.isEmpty);
  const arena = context.memory.arena();
  const groupOf = arena.take(groupCount * 4);
  context.memory.u32(groupOf, groupCount).set(Array.from({ length: groupCount }, (_, group) => groupCount - 1 - group));
  // Powers of two in twos: means and squares of up to four values are exact.
  const valuesOf = (group: number): readonly number[] => (group % 7 === 0 ? [] : [group % 64, (group % 64) + 8]);
  for (const states of [all, thread, spilled])
    for (let group = 0; group < groupCount; group++) {
      const own = states === spilled ? [] : valuesOf(group);
      for (const value of own) states.add(group, 0, { count: 1, sum: value, mean: value, squares: 0 });
    }
  for (let group = 0; group < groupCount; group += 5) spilled.add(group, 0, { count: 0, sum: 0, mean: 0, squares: 0 });
  all.join(thread.parts(), groupOf, groupCount);
  all.join(encodedMoments(context, spilled.parts()), groupOf, groupCount);
  for (let group = 0; group < groupCount; group++) {
    const values = [...valuesOf(group), ...valuesOf(groupCount - 1 - group)];
    const sum = values.reduce((total, value) => total + value, 0);
    const mean = sum / values.length;
    const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
    assert.equal(all.reader()(group), values.length === 0 ? undefined : ({ count: values.length, sum, mean, squares } satisfies Moments));
  }
  assert.is(all.reader()(1 << 20), undefined);
  assert.ok(charged > groupCount * 3 * 32, `${charged} bytes`);
  for (const each of [all, thread, spilled]) each.free();
  arena.release();
  assert.is(context.memory.allocatedBytes, 0);
});

moments.run();
