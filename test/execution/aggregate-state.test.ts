import { isDeepStrictEqual } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stateOperations } from '../../src/execution/aggregate-state/operations.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { type AggregateState, stateColumn } from '../../src/model/aggregate-state.js';
import type { Aggregator, DistinctFold, VirtualColumn } from '../../src/model/aggregator.js';
import { arrayElements } from '../../src/model/array-text.js';
import type { Expression } from '../../src/model/expression.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { decodeKll, decodeQuantiles } from '../../src/sketch/base64-codec.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { collect, everyWay, groupsOf, memory, near, never, options, planOf, rowsOf } from './every-way.js';
import type { Row } from './oracle.js';
import { frameOf } from './random-data.js';

const rows = rowsOf(2000);

const moments = suite('mean and variance');

moments('agree with two passes over the values, however they are read', async () => {
  const plan = planOf([
    collect({ type: 'moments', result: 'mean' }, ['double'], { name: 'mean' }),
    collect({ type: 'moments', result: 'populationVariance' }, ['double'], { name: 'population' }),
    collect({ type: 'moments', result: 'sampleVariance' }, ['small'], {
      name: 'filtered',
      filter: {
        kind: 'range',
        column: 'small',
        type: 'LONG',
        ordering: 'numeric',
        lower: 100n,
        upper: null,
        lowerStrict: false,
        upperStrict: false,
      },
    }),
  ]);
  for (const { way, groups } of await everyWay(plan, rows)) {
    assert.is(groups.size, 4);
    for (const [name, members] of groupsOf(rows, 'text')) {
      const [mean, population, filtered] = groups.get(name) ?? [];
      const doubles = members.flatMap((row) => (row['double'] === null ? [] : [Number(row['double'])]));
      const small = members.map((row) => Number(row['small'])).filter((value) => value >= 100);
      const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
      const squares = (values: readonly number[]): number => values.reduce((sum, value) => sum + (value - average(values)) ** 2, 0);
      near(mean, average(doubles), 1e-12, `${way}, mean of ${name}`);
      near(population, squares(doubles) / doubles.length, 1e-12, `${way}, variance of ${name}`);
      near(filtered, squares(small) / (small.length - 1), 1e-12, `${way}, sample variance of ${name}`);
    }
  }
});

moments('of no rows are null, of one row 0', async () => {
  const one = planOf([collect({ type: 'moments', result: 'sampleVariance' }, ['small'])]);
  for (const { groups } of await everyWay(one, rows.slice(0, 1))) assert.equal([...groups.values()], [[0]]);
  const none = { ...planOf([collect({ type: 'moments', result: 'mean' }, ['missing'])]), filter: { kind: 'false' as const } };
  for (const { way, groups } of await everyWay({ ...none, keys: [] }, rows.slice(0, 2))) assert.equal([...groups], [['null', []]], way);
});

moments.run();

const firstOfLists = suite('first and last of lists');

firstOfLists('are one text, or the first of them', async () => {
  const plan = planOf([
    collect({ type: 'last', valueType: 'STRING', maxStringBytes: 1024 }, ['many', '__time'], { name: 'last', type: 'STRING' }),
    collect({ type: 'first', valueType: 'STRING', maxStringBytes: 1024 }, ['many'], { name: 'any', type: 'STRING' }),
    collect({ type: 'first', valueType: 'STRING', maxStringBytes: 5, firstOnly: true }, ['many'], { name: 'one', type: 'STRING' }),
  ]);
  const written = (row: Row): string | null => {
    const values = row['many'] as readonly string[];
    return values.length > 1 ? `[${values.join(', ')}]` : (values[0] ?? null);
  };
  const smallest = (values: readonly (string | null)[]): string | null =>
    values.flatMap((value) => (value === null ? [] : [value])).sort()[0] ?? null;
  for (const { way, groups } of await everyWay(plan, rows))
    for (const [name, members] of groupsOf(rows, 'text')) {
      const end = Math.max(...members.map((row) => Number(row['__time'])));
      const atEnd = members.filter((row) => Number(row['__time']) === end).flatMap((row) => written(row) ?? []);
      const firsts = members.map((row) => (row['many'] as readonly string[])[0]?.slice(0, 5) ?? null);
      assert.equal(groups.get(name), [atEnd.sort().at(-1) ?? null, smallest(members.map(written)), smallest(firsts)], `${way}, ${name}`);
    }
});

firstOfLists.run();

const timed = suite('first and last values');

const BIG = 2n ** 60n;
/** Time, then a LONG and a DOUBLE. Times that differ in their last bit alone are one double. */
const TIMED: readonly (readonly [time: bigint | null, long: bigint | null, double: number | null])[] = [
  [BIG, 1n, -1],
  [BIG + 1n, 2n, Number.NaN],
  [BIG + 1n, null, Infinity],
  [null, 9n, 9],
  [BIG - 1n, 3n, null],
  [BIG - 1n, null, -0.5],
  [BIG - 1n, -4n, -Infinity],
];

timed('are those of the exact time; of equal times the least or greatest, which NaN is and null is not', async () => {
  const end = (type: 'first' | 'last', valueType: 'LONG' | 'DOUBLE', columns: string[], filtered: boolean): Aggregator =>
    collect({ type, valueType, maxStringBytes: 1024 }, columns, {
      name: `${type} ${columns.join()} ${filtered}`,
      type: valueType,
      ...(filtered ? { filter: { kind: 'not' as const, filter: { kind: 'null' as const, column: 'double' } } } : {}),
    });
  const both = (columns: string[], valueType: 'LONG' | 'DOUBLE', filtered: boolean) => [
    end('first', valueType, columns, filtered),
    end('last', valueType, columns, filtered),
  ];
  const plan = planOf([
    ...both(['large', 'holes'], 'LONG', false),
    ...both(['double', 'holes'], 'DOUBLE', false),
    ...both(['large', 'holes'], 'LONG', true),
    ...both(['missing', 'holes'], 'LONG', false),
    ...both(['large'], 'LONG', false).slice(0, 1),
  ]);
  const like = rowsOf(700);
  const many = like.map((row, index): Row => {
    const [holes, large, double] = TIMED[index % TIMED.length] ?? [null, null, null];
    return { ...row, text: `group ${index % 3}`, holes, large, double };
  });
  const expected = [-4n, 2n, -Infinity, Number.NaN, -4n, 2n, null, null, -4n];
  for (const { way, groups } of await everyWay(plan, many))
    for (const name of ['group 0', 'group 1', 'group 2']) assert.equal(groups.get(name), expected, `${way}, ${name}`);
});

timed('of zeros at one time are -0.0 first and 0.0 last, in whatever segments they lie', async () => {
  const end = (type: 'first' | 'last') => collect({ type, valueType: 'DOUBLE', maxStringBytes: 1024 }, ['double', 'holes'], { name: type });
  const many = rowsOf(1500).map((row, index): Row => {
    const isNegative = index < 1200 === (index % 2 === 0);
    return { ...row, text: `group ${index % 2}`, holes: 1n, double: isNegative ? -0 : 0 };
  });
  for (const { way, groups } of await everyWay(planOf([end('first'), end('last')]), many))
    for (const name of ['group 0', 'group 1'])
      assert.ok(Object.is(groups.get(name)?.[0], -0) && Object.is(groups.get(name)?.[1], 0), `${way}, ${name}`);
});

timed.run();

const extremes = suite('smallest and largest texts');

extremes('are those of the rows, however they are read', async () => {
  const ends = (column: string) => [
    collect({ type: 'min', valueType: 'STRING' }, [column], { name: `min ${column}`, type: 'STRING' }),
    collect({ type: 'max', valueType: 'STRING' }, [column], { name: `max ${column}`, type: 'STRING' }),
  ];
  const upper: VirtualColumn = {
    name: 'upper',
    expression: { kind: 'call', function: 'upper', arguments: [{ kind: 'column', name: 'plain' }] },
    outputType: 'STRING',
  };
  const plan = { ...planOf(['plain', 'many', 'text', 'missing', 'upper'].flatMap(ends)), virtualColumns: [upper] };
  const bounds = (values: readonly (string | null)[]): (string | null)[] => {
    const sorted = values.filter((value) => value !== null).sort();
    return [sorted[0] ?? null, sorted.at(-1) ?? null];
  };
  for (const { way, groups } of await everyWay(plan, rows))
    for (const [name, members] of groupsOf(rows, 'text')) {
      const texts = (column: string): (string | null)[] => members.map((row) => row[column] as string | null);
      const expected = [
        ...bounds(texts('plain')),
        ...bounds(members.flatMap((row) => row['many'] as readonly string[])),
        ...bounds(texts('text')),
        ...[null, null],
        ...bounds(texts('plain').map((text) => text?.toUpperCase() ?? null)),
      ];
      assert.equal(groups.get(name), expected, `${way}, ${name}`);
    }
});

extremes('of more groups than there is room for at first', async () => {
  const plan = {
    ...planOf([collect({ type: 'min', valueType: 'STRING' }, ['plain'], { type: 'STRING' })]),
    keys: [{ kind: 'column' as const, name: 'holes', column: 'holes', type: null }],
  };
  for (const { way, groups } of await everyWay(plan, rows))
    for (const [name, members] of groupsOf(rows, 'holes'))
      assert.equal(groups.get(name), [members.map((row) => String(row['plain'])).sort()[0]], `${way}, ${name}`);
});

extremes(
  'and keys with halves of surrogate pairs are strings of UTF-8, with U+FFFD, in whatever segments and on whatever servers they lie',
  async () => {
    const text = (value: string): Expression => ({ kind: 'literal', type: 'STRING', value });
    const call = (name: string, ...inputs: Expression[]): Expression => ({ kind: 'call', function: name, arguments: inputs });
    const below = (bound: bigint): Expression =>
      call('<', { kind: 'column', name: 'small' }, { kind: 'literal', type: 'LONG', value: bound });
    const drawn = call('if', below(70n), text('x😀'), call('if', below(140n), text('x🤀'), text('x\ufffd')));
    const [from, length] = [0n, 2n].map((value): Expression => ({ kind: 'literal', type: 'LONG', value }));
    assert.ok(from !== undefined && length !== undefined);
    const many = rowsOf(1500);
    const ends = (['min', 'max'] as const).map((type) => collect({ type, valueType: 'STRING' }, ['half'], { name: type, type: 'STRING' }));
    const plan: GroupPlan = {
      ...planOf([{ kind: 'count', name: 'rows', filter: null }, ...ends]),
      virtualColumns: [{ name: 'half', expression: call('substring', drawn, from, length), outputType: 'STRING' }],
      keys: [{ kind: 'column', name: 'half', column: 'half', type: null }],
    };
    for (const { way, groups } of await everyWay(plan, many))
      assert.equal([...groups], [['x\ufffd', [BigInt(many.length), 'x\ufffd', 'x\ufffd']]], way);
  },
);

extremes.run();

const distincts = suite('aggregates of distinct values');

distincts('are those of the values met once, however they are read', async () => {
  const of = (column: string, fold: DistinctFold, name: string): Aggregator => ({ kind: 'distinct', name, filter: null, column, fold });
  const moments = { type: 'moments', result: 'populationVariance' } as const;
  const plan = planOf([
    of('small', { kind: 'sum', type: 'LONG' }, 'narrow'),
    of('holes', { kind: 'sum', type: 'LONG' }, 'wide'),
    of('double', { kind: 'sum', type: 'DOUBLE' }, 'doubles'),
    of('large', { kind: 'xor', type: 'LONG' }, 'bits'),
    of('double', { kind: 'state', aggregateState: moments, output: 'value', type: 'DOUBLE' }, 'variance'),
    of('small', { kind: 'state', aggregateState: moments, output: 'value', type: 'DOUBLE' }, 'variance of longs'),
    of('large', { kind: 'sum', type: 'DOUBLE' }, 'longs as doubles'),
    { ...of('holes', { kind: 'sum', type: 'LONG' }, 'none'), filter: { kind: 'false' } },
    of('missing', { kind: 'sum', type: 'DOUBLE' }, 'missing'),
  ]);
  for (const { way, groups } of await everyWay(plan, rows))
    for (const [name, members] of groupsOf(rows, 'text')) {
      const longs = (column: string): bigint[] => [
        ...new Set(members.flatMap((row) => (row[column] === null ? [] : [row[column] as bigint]))),
      ];
      const sum = (values: readonly bigint[]): bigint => values.reduce((so, value) => so + value, 0n);
      // Eighths: their sum is exact.
      const doubles = [...new Set(members.flatMap((row) => (row['double'] === null ? [] : [Number(row['double'])])))];
      const total = doubles.reduce((so, value) => so + value, 0);
      const mean = total / doubles.length;
      const [narrow, wide, summed, bits, variance, ofLongs, asDoubles, none, missing] = groups.get(name) ?? [];
      const smalls = longs('small').map(Number);
      const middle = smalls.reduce((so, value) => so + value, 0) / smalls.length;
      near(ofLongs, smalls.reduce((so, value) => so + (value - middle) ** 2, 0) / smalls.length, 1e-9, `${way}, ${name}`);
      assert.is(asDoubles, Number(sum(longs('large'))), `${way}, ${name}`);
      assert.equal([narrow, wide, summed], [sum(longs('small')), sum(longs('holes')), total], `${way}, ${name}`);
      assert.is(
        bits,
        longs('large').reduce((so, value) => so ^ value, 0n),
        `${way}, ${name}`,
      );
      near(variance, doubles.reduce((so, value) => so + (value - mean) ** 2, 0) / doubles.length, 1e-9, `${way}, ${name}`);
      assert.equal([none, missing], [null, null], `${way}, ${name}`);
    }
});

distincts('of no rows are null', async () => {
  const sum: Aggregator = { kind: 'distinct', name: 's', filter: null, column: 'small', fold: { kind: 'sum', type: 'LONG' } };
  const plan = { ...planOf([sum], false), filter: { kind: 'false' as const } };
  for (const { way, groups } of await everyWay(plan, rows.slice(0, 2))) assert.equal([...groups], [['null', []]], way);
});

distincts.run();

const lists = suite('lists in an order');

const list = (changes: object): AggregateState => ({
  type: 'list',
  order: [{ descending: true, nulls: 'last' }],
  distinct: false,
  flattens: false,
  listType: 'ARRAY<STRING>',
  finalize: null,
  resultType: 'ARRAY<STRING>',
  maxBytes: 1_000_000,
  ...changes,
});

lists('are sorted by their keys, then by their values, however they are read', async () => {
  const plan = planOf([
    collect(list({}), ['plain', 'holes'], { name: 'by holes', type: 'ARRAY<STRING>' }),
    collect(list({ distinct: true }), ['plain', 'plain'], { name: 'distinct', type: 'ARRAY<STRING>' }),
    collect(list({ order: [{ descending: false, nulls: 'first' }] }), ['many', '__time'], { name: 'lists', type: 'ARRAY<STRING>' }),
  ]);
  const byValue = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const sample = rows.slice(0, 400);
  for (const { way, groups } of await everyWay(plan, sample))
    for (const [name, members] of groupsOf(sample, 'text')) {
      const byHoles = [...members].sort(
        (a, b) => Number(b['holes'] ?? -1) - Number(a['holes'] ?? -1) || byValue(String(a['plain']), String(b['plain'])),
      );
      const distinct = [...new Set(members.map((row) => String(row['plain'])))].sort().reverse();
      const tags = members
        .flatMap((row) => (row['many'] as readonly string[]).map((tag) => ({ tag, time: Number(row['__time']) })))
        .sort((a, b) => a.time - b.time || byValue(a.tag, b.tag))
        .map(({ tag }) => tag);
      const texts = [byHoles.map((row) => String(row['plain'])), distinct, tags];
      const found = (groups.get(name) ?? []).map((text) => (text === null ? null : arrayElements(String(text), 'ARRAY<STRING>')));
      // A row without values has one that is null.
      assert.equal([found[0], found[1], found[2]?.filter((tag) => tag !== null)], texts, `${way}, ${name}`);
    }
});

lists('count what they are ordered by, and what distinct values are known by, as memory but not as their size', () => {
  const heldBytes = (distinct: boolean, rows: readonly (readonly string[])[]): number => {
    const kind = stateOperations(list({ distinct, maxBytes: 100 }));
    const [state, other] = [kind.create(), kind.create()];
    for (const row of rows) kind.addRow?.(other, row);
    kind.merge(state, other);
    assert.is(kind.bytes(kind.decode(kind.encode(other))), kind.bytes(other));
    assert.is(kind.bytes(state), kind.bytes(other));
    return kind.bytes(state);
  };
  const [short, long, value] = ['k', 'k'.repeat(1001), 'v'.repeat(50)];
  assert.is(heldBytes(false, [[value, long]]) - heldBytes(false, [[value, short]]), 1000);
  assert.ok(heldBytes(true, [[value, short]]) >= heldBytes(false, [[value, short]]) + value.length);
  assert.is(
    heldBytes(true, [
      [value, short],
      [value, long],
    ]),
    heldBytes(true, [[value, short]]),
  );
});

lists.run();

const sketches = suite('sketches');

const everyRow = { output: 'both' as const };

/** Distinct values of a column among rows; those of lists each for itself. */
function distinct(members: readonly Row[], column: string): number {
  return new Set(members.flatMap((row) => row[column]).filter((value) => value !== null)).size;
}

sketches('of distinct values are the same whatever the indexLayout, and near the truth', async () => {
  const plan = planOf([
    collect({ type: 'hll', lgK: 12, target: 4, round: false, stringEncoding: 'utf16le' }, ['plain'], { ...everyRow, name: 'hll' }),
    collect({ type: 'theta', size: 64 }, ['holes'], { ...everyRow, name: 'theta' }),
    collect({ type: 'cardinality', byRow: false, round: true }, ['many', 'plain', 'holes'], { ...everyRow, name: 'values', type: 'LONG' }),
    collect({ type: 'cardinality', byRow: true, round: false }, ['small', 'double'], { ...everyRow, name: 'rows' }),
    collect({ type: 'hll', lgK: 10, target: 8, round: false, stringEncoding: 'utf16le' }, ['double'], { ...everyRow, name: 'doubles' }),
    collect({ type: 'theta', size: 4096 }, ['many'], { ...everyRow, name: 'tags' }),
    collect({ type: 'hll', lgK: 12, target: 6, round: false, stringEncoding: 'utf16le' }, ['missing'], { ...everyRow, name: 'nothing' }),
  ]);
  const [first, ...others] = await everyWay(plan, rows);
  for (const { way, groups } of others) assert.ok(isDeepStrictEqual([...groups].sort(), [...(first?.groups ?? [])].sort()), way);
  for (const [name, members] of groupsOf(rows, 'text')) {
    const [hll, , theta, , values, , tuples, , doubles, , tags, , nothing, nothingAtAll] = first?.groups.get(name) ?? [];
    near(hll, distinct(members, 'plain'), 0.03, `HLL of ${name}`);
    near(theta, distinct(members, 'holes'), 4 / Math.sqrt(63), `theta of ${name}`);
    near(Number(values), distinct(members, 'many') + distinct(members, 'plain') + distinct(members, 'holes'), 0.1, `values of ${name}`);
    near(tuples, new Set(members.map((row) => `${row['small']} ${row['double']}`)).size, 0.1, `rows of ${name}`);
    near(doubles, distinct(members, 'double'), 0.13, `doubles of ${name}`);
    assert.is(tags, distinct(members, 'many'));
    assert.equal([nothing, nothingAtAll], [0, null]);
  }
});

sketches('by row of lists tell them apart, in any order', async () => {
  const plan = planOf([collect({ type: 'cardinality', byRow: true, round: false }, ['many', 'small'], { ...everyRow, name: 'rows' })]);
  const [first, ...others] = await everyWay(plan, rows);
  for (const { way, groups } of others) assert.ok(isDeepStrictEqual([...groups].sort(), [...(first?.groups ?? [])].sort()), way);
  for (const [name, members] of groupsOf(rows, 'text')) {
    const combinations = members.map((row) => JSON.stringify([[...(row['many'] as readonly string[])].sort(), String(row['small'])]));
    near(first?.groups.get(name)?.[0], new Set(combinations).size, 0.1, `rows of ${name}`);
  }
});

sketches('of quantiles depend on the order of segments only, and keep their error', async () => {
  const plan = planOf(
    [
      collect({ type: 'quantiles', k: 16 }, ['holes'], { ...everyRow, name: 'quantiles', type: 'LONG' }),
      collect({ type: 'kll', k: 32, valueType: 'DOUBLE' }, ['holes'], { ...everyRow, name: 'kll', type: 'LONG' }),
      collect({ type: 'kll', k: 200, valueType: 'FLOAT' }, ['double'], { ...everyRow, name: 'floats', type: 'LONG' }),
    ],
    true,
  );
  const results = await everyWay(plan, rows);
  // Rows of a segment file are sorted, so they come in another order than those of a frame.
  const sameOrder = (ways: readonly string[]): void => {
    const [first, ...others] = results.filter(({ way }) => ways.some((each) => way.includes(each)));
    for (const { way, groups } of others) assert.ok(isDeepStrictEqual([...groups].sort(), [...(first?.groups ?? [])].sort()), way);
  };
  sameOrder([' by ']);
  sameOrder(['segments here', 'two threads']);
  for (const { way, groups } of results) {
    for (const [name, members] of groupsOf(rows, 'text')) {
      const [count, quantiles, kllCount, kll, floatCount, floats] = groups.get(name) ?? [];
      const holes = members.flatMap((row) => (row['holes'] === null ? [] : [Number(row['holes'])]));
      const doubles = members.flatMap((row) => (row['double'] === null ? [] : [Number(row['double'])]));
      assert.equal([count, kllCount, floatCount], [BigInt(holes.length), BigInt(holes.length), BigInt(doubles.length)], way);
      const below = (values: readonly number[], at: number): number => values.filter((value) => value < at).length / values.length;
      const check = (rank: number, values: readonly number[], at: number, error: number): void =>
        assert.ok(Math.abs(rank - below(values, at)) < error, `${way}: rank ${rank} of ${at} in ${name}`);
      for (const at of [10_000, 50_000, 90_000]) {
        check(decodeQuantiles(String(quantiles)).distribution().rank(at), holes, at, 0.15);
        check(decodeKll(String(kll), 'DOUBLE').distribution().rank(at), holes, at, 0.12);
        check(decodeKll(String(floats), 'FLOAT').distribution().rank(at), doubles, at, 0.025);
      }
    }
  }
});

sketches('that outgrow their memory while rows are read are refused by the name of the limit', async () => {
  // 40,000 distinct values: a table of up to 131,072 hashes of 8 bytes.
  const values = Array.from({ length: 40_000 }, (_, index) => ({ __time: 0n, text: null, large: BigInt(index) * 1_000_000_007n }));
  const plan = planOf([collect({ type: 'theta', size: 32768 }, ['large'])], false);
  const { view, release } = uploadFrame(frameOf(values), memory);
  try {
    for (const groupBytesMax of [300_000, 1 << 22]) {
      const engine = createEngine({ memory, kernels: 'simd', threads: 0, groupBytesMax });
      let message = '';
      try {
        for await (const _ of engine.runViews(plan, [view], options({ batchRows: 256 }), never));
      } catch (error) {
        message = String(error);
      }
      assert.is(message.includes('svc.query.groupBy.maxMemoryBytes'), groupBytesMax === 300_000, message);
    }
  } finally {
    release();
  }
});

sketches.run();

const states = suite('states put out beside values');

states('are texts of their own column', async () => {
  const aggregator = collect({ type: 'moments', result: 'mean' }, ['small'], { output: 'both' });
  const engine = createEngine({ memory, kernels: 'reference', threads: 0 });
  const placed = uploadFrame(frameOf(rows.slice(0, 2)), memory);
  try {
    const frames: Frame[] = [];
    for await (const frame of engine.runViews(planOf([aggregator], false), [placed.view], options(), never)) frames.push(frame);
    const [first] = frames;
    assert.equal(
      first?.columns.map(({ name }) => name),
      ['x', stateColumn('x')],
    );
    const [a = 0, b = 0] = rows.map((row) => Number(row['small']));
    const mean = (a + b) / 2;
    assert.equal(
      first?.columns.map((column) => cellAt(column, 0)),
      [mean, `2 ${a + b} ${mean} ${(a - mean) ** 2 + (b - mean) ** 2}`],
    );
  } finally {
    placed.release();
  }
});

states.run();
