import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodedTimed, TimedGroups } from '../../../src/execution/aggregate-state/timed/timed-groups.js';
import type { Ending, TimedValue } from '../../../src/execution/aggregate-state/timed/timed-value.js';
import type { ColumnType } from '../../../src/model/schema.js';
import { context } from './run-context.js';

const timed = suite('values at the best times of groups');

const GROUPS = 40_000;
const WORST: Readonly<Record<Ending, bigint>> = { first: 2n ** 63n - 1n, last: -(2n ** 63n) };

/** The better of two by the words of `AggregateState`: time, then values before null, then the value. */
function better(ending: Ending, a: TimedValue | undefined, b: TimedValue): TimedValue {
  if (a === undefined) return b;
  const sign = ending === 'last' ? 1 : -1;
  if (a.time !== b.time) return (a.time < b.time ? 1 : -1) * sign > 0 ? b : a;
  if (a.value === null || b.value === null) return b.value === null ? a : b;
  return (a.value < b.value ? 1 : -1) * sign > 0 ? b : a;
}

/** The state of group `group` that part `part` of the rows gives: many times are equal, a third of values are null. */
function drawn(type: ColumnType, part: number, group: number): TimedValue | undefined {
  const mixed = Math.imul(group + 1, 0x9e3779b1) ^ Math.imul(part + 7, 0x85ebca6b);
  const at = (mixed >>> 8) % 997;
  if (at % 5 === 0) return undefined;
  const time = BigInt((at % 3) - 1) * 2n ** 40n;
  if (at % 3 === 1) return { time, value: null };
  if (type === 'LONG') return { time, value: BigInt(at - 400) * 2n ** 50n };
  return { time, value: type === 'DOUBLE' ? (at - 400) / 7 : `${'é'.repeat(at % 4)}${at}` };
}

const CASES: readonly (readonly [ColumnType, Ending])[] = [
  ['LONG', 'first'],
  ['LONG', 'last'],
  ['DOUBLE', 'first'],
  ['DOUBLE', 'last'],
  ['STRING', 'first'],
  ['STRING', 'last'],
];

for (const [valueType, ending] of CASES)
  timed(`${ending} ${valueType}: states, those of other threads, and spilled ones meet`, () => {
    let charged = 0;
    const merge = (into: TimedValue, from: TimedValue): void => void Object.assign(into, better(ending, into, from));
    const make = (): TimedGroups =>
      new TimedGroups(context, { ending, valueType, textBytesMax: 1024, merge }, (bytes) => (charged += bytes));
    const [all, thread, spilled] = [make(), make(), make()];
    assert.ok(all.isEmpty);
    const arena = context.memory.arena();
    // Groups of the thread are numbered the other way round here.
    const groupOf = arena.take(GROUPS * 4);
    context.memory.u32(groupOf, GROUPS).set(Array.from({ length: GROUPS }, (_, group) => GROUPS - 1 - group));
    const expected = new Map<number, TimedValue>();
    for (const [part, states] of [all, thread, spilled].entries())
      for (let group = 0; group < GROUPS; group++) {
        const state = drawn(valueType, part, group);
        if (state === undefined) continue;
        // A worse one that came before is forgotten.
        states.add(group, 0, { time: WORST[ending], value: drawn(valueType, 9, group)?.value ?? null });
        states.add(group, 0, state);
        const there = part === 0 ? group : GROUPS - 1 - group;
        expected.set(there, better(ending, expected.get(there), state));
      }
    all.join(thread.parts(), groupOf, GROUPS);
    all.join(encodedTimed(context, spilled.parts()), groupOf, GROUPS);
    for (let group = 0; group < GROUPS; group++) assert.equal(all.reader()(group), expected.get(group), `group ${group}`);
    const column = all.column(Uint32Array.from({ length: GROUPS }, (_, group) => group));
    assert.is(column === undefined, valueType !== 'STRING');
    if (column !== undefined)
      for (let group = 0; group < GROUPS; group++)
        assert.is(column.text(column.ids[group] ?? 0), expected.get(group)?.value ?? null, `text of group ${group}`);
    assert.ok(charged > GROUPS * 3 * 16, `${charged} bytes`);
    for (const each of [all, thread, spilled]) each.free();
    arena.release();
    assert.is(context.memory.allocatedBytes, 0);
  });

timed('a group whose better time has null alone has null', () => {
  const states = new TimedGroups(
    context,
    { ending: 'last', valueType: 'STRING', textBytesMax: 4, merge: () => undefined },
    () => undefined,
  );
  const arena = context.memory.arena();
  const [groups, times] = [arena.take(4), arena.take(8)];
  context.memory.u32(groups, 1)[0] = 3;
  states.add(3, 0, { time: 5n, value: 'five' });
  assert.equal(states.reader()(3), { time: 5n, value: 'five' });
  assert.is(states.column(Uint32Array.of(3))?.text(3), 'five');
  states.add(4, 0, { time: 5n, value: 'fünf' });
  assert.is(states.column(Uint32Array.of(3)), undefined, 'a text of five bytes is cut');
  context.memory.i64(times, 1)[0] = 6n;
  states.addTimed({ times, values: 0, areNull: true, groups, n: 1 });
  assert.equal(states.reader()(3), { time: 6n, value: null });
  assert.is(states.reader()(2), undefined);
  states.free();
  arena.release();
  assert.is(context.memory.allocatedBytes, 0);
});

timed.run();
