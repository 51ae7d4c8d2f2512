import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Address } from '../../../src/base/layout.js';
import { encodedLists } from '../../../src/execution/aggregate-state/lists/encoded-lists.js';
import { stateOperations } from '../../../src/execution/aggregate-state/operations.js';
import type { GroupStates, StateOperations } from '../../../src/execution/aggregate-state/state-operations.js';
import { layTexts } from '../../../src/execution/block/text-references.js';
import { parseExpression } from '../../../src/expression/parse.js';
import type { Value } from '../../../src/expression/value.js';
import type { Arena } from '../../../src/kernels/arena.js';
import type { ExpressionFold } from '../../../src/model/aggregate-state.js';
import { type ArrayElement, arrayText } from '../../../src/model/array-text.js';
import { arrayOf } from '../../../src/model/schema.js';
import { caseCount } from '../../case-count.js';
import { context } from './run-context.js';

/* Lists of groups in kernel memory, as segments, other threads, spilled groups and states of the heap give their parts, against arithmetic. */

type Kind = 'STRING' | 'LONG' | 'DOUBLE' | 'joined';
const VALUES: Readonly<Record<Kind, fc.Arbitrary<Value>>> = {
  STRING: fc.option(fc.constantFrom('a', 'B', '', 'ä', '日', '😀', '\uffff', 'a\u0000', '\u0001', 'a string of more bytes than that')),
  joined: fc.constantFrom('a', 'B', '', 'ä', '😀', ','),
  LONG: fc.option(fc.oneof(fc.bigInt({ min: -9n, max: 9n }), fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n)))),
  DOUBLE: fc.option(fc.constantFrom(0, -0, 1.5, -2.25, 1e300, Number.POSITIVE_INFINITY, Number.NaN)),
};
const GROUPS = 5;
/** A group of a segment, and its number in the query. */
const GROUP_OF = [3, 0, 4, 2, 1500];

function foldOf(kind: Kind, isSet: boolean): ExpressionFold {
  const valueType = arrayOf(kind === 'joined' ? 'STRING' : kind);
  const empty = { kind: 'literal', type: valueType, value: '' } as const;
  return {
    type: 'expression',
    name: 'x',
    fields: ['value'],
    accumulator: '__acc',
    fold: parseExpression(isSet ? 'array_set_add(__acc, value)' : 'array_append(__acc, value)'),
    combine: parseExpression(isSet ? 'array_set_add_all(__acc, x)' : 'array_concat(__acc, x)'),
    finalize: kind === 'joined' ? parseExpression(`if(array_length(o) == 0, null, array_to_string(o, ', '))`) : null,
    compare: null,
    initial: empty,
    initialCombine: empty,
    valueType,
    resultType: kind === 'joined' ? 'STRING' : valueType,
    isNullUnlessAggregated: true,
    foldsNulls: kind !== 'joined',
    combinesNulls: true,
    maxBytes: 1 << 20,
  };
}

type Row = readonly [group: number, value: Value];
const WAYS = ['segment', 'thread', 'spilled', 'heap'] as const;

const drawn = fc.constantFrom<Kind>('STRING', 'LONG', 'DOUBLE', 'joined').chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    // Sets of doubles are states of the heap.
    isSet: kind === 'DOUBLE' ? fc.constant(false) : fc.boolean(),
    parts: fc.uniqueArray(
      fc.record({
        order: fc.nat(20),
        way: fc.constantFrom(...WAYS),
        rows: fc.array(fc.tuple(fc.nat(GROUPS - 1), VALUES[kind]), { maxLength: 40 }),
      }),
      { maxLength: 5, selector: ({ order }) => order },
    ),
  }),
);

/** The entries of rows, in memory. */
function lay(arena: Arena, rows: readonly Row[], kind: Kind): Parameters<NonNullable<GroupStates['addLists']>>[0] {
  const { memory } = context;
  if (kind === 'STRING' || kind === 'joined') {
    const known = [null, ...new Set(rows.flatMap(([, value]) => (typeof value === 'string' ? [value] : [])))];
    const keys = arena.take(rows.length * 8);
    memory.u32(keys, rows.length * 2).set(rows.flatMap(([group, value]) => [group, known.indexOf(value as string | null)]));
    return { keys, count: rows.length, strings: { entries: layTexts(memory, arena, known), count: known.length } };
  }
  const keys = arena.take(rows.length * 16);
  rows.forEach(([group, value], at) => {
    memory.u32(keys + at * 16, 2).set([group, value === null ? 1 : 0]);
    if (kind === 'LONG') memory.i64(keys + at * 16 + 8, 1)[0] = (value ?? 0n) as bigint;
    else memory.f64(keys + at * 16 + 8, 1)[0] = Number(value);
  });
  return { keys, count: rows.length, strings: undefined };
}

function distinct(values: readonly Value[]): Value[] {
  const known: Value[] = [...new Set(values)].filter((value) => value !== null).sort((a, b) => (a < b ? -1 : 1));
  return values.includes(null) ? [null, ...known] : known;
}

const make = (kind: StateOperations<unknown>): GroupStates => {
  assert.ok(kind.store !== undefined);
  return kind.store?.(context, () => undefined) as GroupStates;
};

const lists = suite('lists of groups');

lists('have the values of their rows, in the order of segments', () => {
  fc.assert(
    fc.property(drawn, ({ kind, isSet, parts }) => {
      const operations = stateOperations(foldOf(kind, isSet));
      const arena = context.memory.arena();
      const groupOf = arena.take(GROUPS * 4);
      const same = arena.take(GROUPS * 4);
      context.memory.u32(groupOf, GROUPS).set(GROUP_OF);
      context.memory.u32(same, GROUPS).set([0, 1, 2, 3, 4]);
      const all = make(operations);
      const others: GroupStates[] = [];
      for (const { order, way, rows } of parts) {
        if (rows.length === 0) continue;
        if (way === 'heap') {
          for (const group of new Set(rows.map(([group]) => group))) {
            const state = operations.create();
            for (const [own, value] of rows) if (own === group) operations.addRow?.(state, [value]);
            all.add(GROUP_OF[group] ?? 0, order, state);
          }
        } else if (way === 'segment') all.addLists?.(lay(arena, rows, kind), groupOf, order);
        else {
          const other = make(operations);
          others.push(other);
          const cut = Math.floor(rows.length / 2);
          for (const piece of [rows.slice(0, cut), rows.slice(cut)])
            if (piece.length > 0) other.addLists?.(lay(arena, piece, kind), same, order);
          const found = other.parts();
          assert.is(found.kind, 'lists');
          if (found.kind === 'lists') all.join(way === 'spilled' ? encodedLists(context, found) : found, groupOf, GROUPS);
        }
        if (order % 3 === 0) all.reader();
      }
      const expected = new Map<number, Value[]>();
      for (const { rows } of [...parts].sort((a, b) => a.order - b.order))
        for (const [group, value] of rows) expected.set(GROUP_OF[group] ?? 0, [...(expected.get(GROUP_OF[group] ?? 0) ?? []), value]);
      const asked = Uint32Array.of(1500, 7, 0, 1 << 20, 4, 3, 2);
      const read = all.reader();
      const texts = all.texts?.(asked, () => undefined);
      asked.forEach((group, at) => {
        const values = expected.get(group);
        const wanted = values === undefined ? undefined : isSet ? distinct(values) : values;
        const state = read(group);
        assert.is(state === undefined, wanted === undefined);
        const text = kind === 'joined' ? wanted?.join(', ') : wanted && arrayText(wanted as ArrayElement[], arrayOf(kind));
        if (wanted !== undefined) assert.equal(operations.value(state), kind === 'joined' ? text : wanted);
        assert.is(texts?.[at], text ?? null);
      });
      for (const each of [all, ...others]) each.free();
      arena.release();
      assert.is(context.memory.allocatedBytes, 0);
    }),
    { numRuns: caseCount(400) },
  );
});

/** A list of these values, of which one segment gives each. */
function listOf(fold: ExpressionFold, kind: Kind, segments: readonly (readonly Value[])[]): GroupStates {
  const states = make(stateOperations(fold));
  const arena = context.memory.arena();
  try {
    const groupOf: Address = arena.take(4);
    context.memory.u32(groupOf, 1)[0] = 0;
    segments.forEach((values, order) => {
      states.addLists?.(
        lay(
          arena,
          values.map((value) => [0, value]),
          kind,
        ),
        groupOf,
        order,
      );
    });
    return states;
  } finally {
    arena.release();
  }
}

lists('are refused beyond their size, which equal values of a set do not add to', () => {
  const texts = (from: number): Value[] => Array.from({ length: 100 }, (_, index) => `text ${from + index}`.padEnd(10, '.'));
  const made = (isSet: boolean, maxBytes: number, kind: Kind = 'STRING'): (() => void) => {
    const segments = kind === 'LONG' ? [[1n, null, 3n]] : [texts(0), texts(0), texts(50)];
    return () => listOf({ ...foldOf(kind, isSet), maxBytes }, kind, segments).free();
  };
  made(true, 8 + 150 * 10)();
  assert.throws(made(true, 8 + 150 * 10 - 1), /the value of aggregator "x" grew beyond 1507 bytes/);
  made(false, 8 + 300 * 10)();
  assert.throws(made(false, 8 + 300 * 10 - 1), /grew beyond 3007 bytes/);
  made(false, 32, 'LONG')();
  assert.throws(made(false, 31, 'LONG'), /grew beyond 31 bytes/);
});

for (const kind of ['STRING', 'LONG'] as const)
  lists(`are sets in order where they are long, of ${kind}s`, () => {
    const valueOf = (index: number): Value =>
      index === 77
        ? null
        : kind === 'LONG'
          ? (BigInt(Math.imul(index, 0x9e3779b1)) << 31n) - 5n
          : `${['', '\uffee', '😀'][index % 3]}${index}`;
    const values = Array.from({ length: 30_000 }, (_, index) => valueOf(index));
    const few = values.slice(70, 80);
    const fold = { ...foldOf(kind, true), maxBytes: 1 << 30 };
    const states = make(stateOperations(fold));
    const arena = context.memory.arena();
    const groupOf = arena.take(4 * 4);
    context.memory.u32(groupOf, 4).set([1, 0, 5, 3]);
    const rows = [
      ...values.map((value): Row => [0, value]),
      ...few.map((value): Row => [1, value]),
      ...values.slice(0, 9000).map((value): Row => [2, value]),
    ];
    states.addLists?.(lay(arena, [...rows, [3, null]], kind), groupOf, 0);
    const read = states.reader();
    const found = [1, 0, 5, 3].map((group) => stateOperations(fold).value(read(group)));
    assert.equal(found, [distinct(values), distinct(few), distinct(values.slice(0, 9000)), [null]]);
    states.free();
    arena.release();
  });

lists('keep no strings but those that they have, and take states of many groups together', () => {
  const count = 100_000;
  const arena = context.memory.arena();
  const known = [null, ...Array.from({ length: count }, (_, index) => `a string of some bytes ${index}`)];
  const keys = arena.take(2 * 8);
  context.memory.u32(keys, 4).set([0, 99_999, 1, 5]);
  let charged = 0;
  const kind = stateOperations(foldOf('STRING', false));
  const states = kind.store?.(context, (bytes) => {
    charged += bytes;
  });
  const groupOf = arena.take(8);
  context.memory.u32(groupOf, 2).set([0, 1]);
  states?.addLists?.({ keys, count: 2, strings: { entries: layTexts(context.memory, arena, known), count: known.length } }, groupOf, 0);
  assert.equal(
    [0, 1].map((group) => kind.value(states?.reader()(group))),
    [['a string of some bytes 99998'], ['a string of some bytes 4']],
  );
  assert.ok(charged < 1 << 20, `${charged} bytes`);
  const groups = Array.from({ length: 10_000 }, (_, index) => index);
  states?.addStates?.(
    groups,
    1,
    groups.map((group) => {
      const state = kind.create();
      kind.addRow?.(state, [`value ${group}`]);
      return state;
    }),
  );
  const read = states?.reader();
  assert.equal(kind.value(read?.(1)), ['a string of some bytes 4', 'value 1']);
  assert.equal(kind.value(read?.(9999)), ['value 9999']);
  states?.free();
  arena.release();
});

lists('have as many elements as an array may have', () => {
  const values = (count: number): Value[] => new Array<Value>(count).fill(1n);
  const fold = { ...foldOf('LONG', false), maxBytes: 1 << 30 };
  listOf(fold, 'LONG', [values(1 << 19), values(1 << 19)]).free();
  assert.throws(() => listOf(fold, 'LONG', [values(1 << 19), values((1 << 19) + 1)]), /array_append: an array of 1048577 elements/);
});

lists.run();
