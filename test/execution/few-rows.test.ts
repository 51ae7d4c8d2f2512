import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import type { Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Aggregator } from '../../src/model/aggregator.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { openFrames } from './segments.js';

/*
 * Groups of what is computed of rows, of blocks of which a filter leaves all, some, few or none: the same groups, as counted here, and
 * nothing is computed of rows that are left out where few are left.
 */

const ROWS = 70_000;
const SEGMENTS = 2;
const START = Date.UTC(2024, 0, 1);
const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const options = (changes: Partial<RunOptions> = {}): RunOptions => ({
  ...{ ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null },
  ...changes,
});
const never = new AbortController().signal;

/** A row by its number among those of all segments. */
const sizeOf = (row: number): number => (row * 7919) % 1009;
const kindOf = (row: number): string => `kind ${(row * 31) % 7}`;
const textOf = (row: number): string => `text ${row * 3} of ${(row * 131) % 97}`;
const tagsOf = (row: number): string[] => Array.from({ length: row % 3 }, (_, at) => `tag ${(row + at) % 5}`);
const amountOf = (row: number): number | null => (row % 5 === 0 ? null : ((row * 37) % 1000) / 4);

function frameOf(segment: number): Frame {
  const rows = Array.from({ length: ROWS }, (_, at) => segment * ROWS + at);
  const nulls = new Uint32Array(Math.ceil(ROWS / 64) * 2);
  rows.forEach((row, at) => {
    if (amountOf(row) === null) nulls[at >>> 5] = (nulls[at >>> 5] ?? 0) | (1 << (at & 31));
  });
  const kinds = [...new Set(rows.map(kindOf))].sort();
  const texts = rows.map(textOf).sort();
  const places = new Map(texts.map((text, at) => [text, at]));
  const tags = ['tag 0', 'tag 1', 'tag 2', 'tag 3', 'tag 4'];
  const lists = rows.map(tagsOf);
  const offsets = new Uint32Array(ROWS + 1);
  lists.forEach((list, at) => {
    offsets[at + 1] = (offsets[at] ?? 0) + list.length;
  });
  return {
    rowCount: ROWS,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(rows, (row) => BigInt(START + row * 1000)), nulls: null },
      { kind: 'long', name: 'row', values: BigInt64Array.from(rows, BigInt), nulls: null },
      { kind: 'long', name: 'size', values: BigInt64Array.from(rows, (row) => BigInt(sizeOf(row))), nulls: null },
      { kind: 'double', name: 'amount', type: 'DOUBLE', values: Float64Array.from(rows, (row) => amountOf(row) ?? 0), nulls },
      { kind: 'string', name: 'kind', ids: Uint32Array.from(rows, (row) => kinds.indexOf(kindOf(row))), dictionary: kinds },
      { kind: 'string', name: 'text', ids: Uint32Array.from(rows, (row) => places.get(textOf(row)) ?? 0), dictionary: texts },
      {
        ...{ kind: 'multi', name: 'tags', offsets, dictionary: tags },
        ids: Uint32Array.from(lists.flat(), (tag) => tags.indexOf(tag)),
      },
    ],
  };
}

const expression = (text: string): Filter => ({ kind: 'expression', expression: parseExpression(text) });
const and = (...filters: Filter[]): Filter => ({ kind: 'and', filters });
const sizeBelow = (upper: number): Filter => ({
  ...{ kind: 'range', column: 'size', type: 'LONG', ordering: 'numeric', lower: null, upper: BigInt(upper) },
  ...{ lowerStrict: false, upperStrict: true },
});
const isKind = (value: string): Filter => ({ kind: 'equals', column: 'kind', type: 'STRING', value });

/** A filter, which rows it leaves, and whether these are few of each block that it leaves any of. */
const FILTERS: readonly (readonly [title: string, filter: Filter, passes: (row: number) => boolean, areFew: boolean])[] = [
  ['a thousandth', sizeBelow(1), (row) => sizeOf(row) < 1, true],
  ['somewhat less than an eighth', sizeBelow(120), (row) => sizeOf(row) < 120, true],
  ['somewhat more than an eighth', sizeBelow(133), (row) => sizeOf(row) < 133, false],
  ['all', sizeBelow(2000), () => true, false],
  ['none', sizeBelow(-1), () => false, true],
  [
    'all of some blocks, few of others',
    { kind: 'or', filters: [sizeBelow(10), expression('row < 40000')] },
    (row) => sizeOf(row) < 10 || row < 40_000,
    false,
  ],
  ['few of one kind', and(isKind('kind 3'), sizeBelow(200)), (row) => kindOf(row) === 'kind 3' && sizeOf(row) < 200, true],
  ['few by a computed condition', expression('row % 17 == 3'), (row) => row % 17 === 3, true],
  ['many by a computed condition', expression('row % 3 == 1'), (row) => row % 3 === 1, false],
  [
    'few of few by a computed condition',
    and(expression('(size + row) % 2 == 1'), sizeBelow(100)),
    (row) => (sizeOf(row) + row) % 2 === 1 && sizeOf(row) < 100,
    true,
  ],
  [
    'few of many by two computed conditions',
    and(expression('size * 2 > row % 1000'), expression('row % 11 == 4'), sizeBelow(900)),
    (row) => sizeOf(row) * 2 > row % 1000 && row % 11 === 4 && sizeOf(row) < 900,
    true,
  ],
  [
    'few by texts that all differ',
    and(expression(`strlen(text) < 12`), sizeBelow(900)),
    (row) => textOf(row).length < 12 && sizeOf(row) < 900,
    true,
  ],
  [
    'conditions on lists',
    and(expression(`array_contains(tags, 'tag 2')`), sizeBelow(300)),
    (row) => tagsOf(row).includes('tag 2') && sizeOf(row) < 300,
    false,
  ],
  [
    'not what is computed',
    and({ kind: 'not', filter: expression('amount * 2 > 100') }, sizeBelow(200)),
    (row) => {
      const amount = amountOf(row);
      return amount !== null && !(amount * 2 > 100) && sizeOf(row) < 200;
    },
    true,
  ],
];

/** A key and what it is computed of. */
const KEYS: readonly (readonly [title: string, expression: string, type: 'LONG' | 'STRING', keyOf: (row: number) => Value])[] = [
  ['numbers', 'size % 10 + 1', 'LONG', (row) => BigInt((sizeOf(row) % 10) + 1)],
  ['texts that all differ', 'substring(text, 5, 2)', 'STRING', (row) => textOf(row).slice(5, 7)],
  ['texts of a small dictionary', 'upper(kind)', 'STRING', (row) => kindOf(row).toUpperCase()],
  ['time', `timestamp_floor(__time, 'PT1H')`, 'LONG', (row) => BigInt(START + Math.floor(row / 3600) * 3_600_000)],
  ['two columns', `concat(kind, '/', size % 3)`, 'STRING', (row) => `${kindOf(row)}/${sizeOf(row) % 3}`],
];

const planOf = (filter: Filter, [, key, type]: (typeof KEYS)[number], changes: Partial<GroupPlan> = {}): GroupPlan => ({
  operator: 'group',
  dataSource: 'random',
  intervals: [{ start: START, end: START + SEGMENTS * ROWS * 1000 }],
  filter,
  virtualColumns: [
    { name: 'key', expression: parseExpression(key), outputType: type },
    { name: 'squared', expression: parseExpression('pow(size, 2) + 1'), outputType: 'DOUBLE' },
    { name: 'more', expression: parseExpression('amount * 3'), outputType: 'DOUBLE' },
  ],
  keys: [{ kind: 'column', name: 'k', column: 'key', type }],
  aggregators: [
    { kind: 'count', name: 'rows', filter: null },
    { kind: 'sum', name: 'squares', column: 'squared', type: 'DOUBLE', filter: null },
    { kind: 'max', name: 'most', column: 'more', type: 'DOUBLE', filter: null },
    { kind: 'sum', name: 'odd', column: 'row', type: 'LONG', filter: expression('row % 2 == 1') },
    { kind: 'distinct', name: 'kinds', column: 'kind', filter: null },
  ] as readonly Aggregator[],
  emptyGroup: false,
  post: [],
  ...changes,
});

/** The groups of `planOf`, by key. */
function expectedOf(
  passes: (row: number) => boolean,
  keyOf: (row: number) => Value,
  within = (_: number): boolean => true,
): Map<Value, Value[]> {
  const found = new Map<Value, { rows: number; squares: number; most: number | null; odd: number | null; kinds: Set<string> }>();
  for (let row = 0; row < SEGMENTS * ROWS; row++) {
    if (!within(row) || !passes(row)) continue;
    const key = keyOf(row);
    const group = found.get(key) ?? { rows: 0, squares: 0, most: null, odd: null, kinds: new Set<string>() };
    found.set(key, group);
    const amount = amountOf(row);
    group.rows++;
    group.squares += sizeOf(row) ** 2 + 1;
    if (amount !== null) group.most = Math.max(group.most ?? -Infinity, amount * 3);
    if (row % 2 === 1) group.odd = (group.odd ?? 0) + row;
    group.kinds.add(kindOf(row));
  }
  return new Map(
    [...found].map(([key, { rows, squares, most, odd, kinds }]) => [
      key,
      [BigInt(rows), squares, most, odd === null ? null : BigInt(odd), BigInt(kinds.size)],
    ]),
  );
}

const few = suite('rows of which few are left');
const engine = createEngine({ memory, kernels: 'simd', threads: 0, rowsRunInline: 0, morselRows: 20_000 });
let opened: Awaited<ReturnType<typeof openFrames>> | undefined;
few.before(async () => {
  opened = await openFrames(
    Array.from({ length: SEGMENTS }, (_, segment) => frameOf(segment)),
    memory,
    engine,
  );
});
few.after(async () => {
  await opened?.close();
  await engine.close();
  assert.is(memory.allocatedBytes, 0, 'all memory was given back');
});

async function run(plan: GroupPlan, changes: Partial<RunOptions> = {}): Promise<Map<Value, Value[]>> {
  assert.ok(opened);
  const rows: Value[][] = [];
  for await (const each of engine.run(plan, opened.store, opened.ids, options(changes), never))
    for (let row = 0; row < each.rowCount; row++) rows.push(each.columns.map((column) => cellAt(column, row) as Value));
  assert.is(new Set(rows.map(([key]) => key)).size, rows.length, 'each group comes once');
  return new Map(rows.map(([key = null, ...values]) => [key, values]));
}

for (const [title, filter, passes, areFew] of FILTERS)
  for (const key of KEYS) {
    const [keys, , , keyOf] = key;
    few(`${title}, by ${keys}`, async () => {
      const profile = newProfile();
      assert.equal(await run(planOf(filter, key), { profile }), expectedOf(passes, keyOf));
      const matched = Array.from({ length: SEGMENTS * ROWS }, (_, row) => row).filter(passes).length;
      // `pow` is computed one by one.
      if (areFew) assert.ok(profile.valuesByRow <= matched * 4 + 2000, `${profile.valuesByRow} values computed of ${matched} rows`);
      assert.equal(await run(planOf(filter, key), { batchRows: 1000 }), expectedOf(passes, keyOf), 'batches of 1,000 rows');
    });
  }

few('only rows within the intervals, which begin and end within blocks', async () => {
  const [key] = KEYS;
  assert.ok(key);
  const [from, to] = [20_001, 90_003];
  const intervals = [
    { start: START + 100_000, end: START + 5_000_000 },
    { start: START + from * 1000, end: START + to * 1000 },
  ];
  const within = (row: number): boolean => (row >= 100 && row < 5000) || (row >= from && row < to);
  for (const [title, filter, passes] of FILTERS)
    assert.equal(await run(planOf(filter, key, { intervals })), expectedOf(passes, key[3], within), title);
});

few('of one view, by the ids that its own dictionaries give', async () => {
  const [key] = KEYS;
  assert.ok(key);
  const placed = uploadFrame(frameOf(0), memory);
  try {
    for (const [title, filter, passes] of FILTERS) {
      const plan: GroupPlan = {
        ...planOf(filter, key),
        keys: ['kind', 'tags', 'key'].map((name) => ({ kind: 'column', name, column: name, type: null })),
        aggregators: [{ kind: 'count', name: 'rows', filter: null }],
      };
      const expected = new Map<string, number>();
      for (let row = 0; row < ROWS; row++)
        for (const tag of passes(row) ? (tagsOf(row).length === 0 ? [null] : tagsOf(row)) : []) {
          const group = `${kindOf(row)} ${tag} ${(sizeOf(row) % 10) + 1}`;
          expected.set(group, (expected.get(group) ?? 0) + 1);
        }
      const found = new Map<string, number>();
      for await (const each of engine.runViews(plan, [placed.view], options(), never))
        for (let row = 0; row < each.rowCount; row++) {
          const [kind, tag, number, rows] = each.columns.map((column) => cellAt(column, row));
          found.set(`${kind} ${tag} ${number}`, Number(rows));
        }
      assert.equal([...found].sort(), [...expected].sort(), title);
    }
  } finally {
    placed.release();
  }
});

/** Segments with strings, widths and columns of their own, of each of which a few rows are left. */
const MANY = 40;
const EACH = 600;
const partOf = (row: number): string => `part ${row % 37} of ${Math.floor(row / 90)}`;
const wideOf = (row: number): bigint => (row % (2 * EACH) < EACH ? BigInt(row % 200) : BigInt(row) * 1_000_000_007n);
const priceOf = (row: number): number => ((row * 7) % 500) / 2 ** (Math.floor(row / EACH) % 3);
const extraOf = (row: number): bigint | null => (Math.floor(row / EACH) % 5 === 4 || row % 3 === 0 ? null : BigInt(row % 50));

function smallFrame(segment: number, timeOf: (row: number) => number): Frame {
  const rows = Array.from({ length: EACH }, (_, at) => segment * EACH + at);
  const nulls = new Uint32Array(Math.ceil(EACH / 64) * 2);
  rows.forEach((row, at) => {
    if (extraOf(row) === null) nulls[at >>> 5] = (nulls[at >>> 5] ?? 0) | (1 << (at & 31));
  });
  const strings = (name: string, of: (row: number) => string): Frame['columns'][number] => {
    const dictionary = [...new Set(rows.map(of))].sort();
    return { kind: 'string', name, ids: Uint32Array.from(rows, (row) => dictionary.indexOf(of(row))), dictionary };
  };
  const extra: Frame['columns'][number] = {
    ...{ kind: 'long', name: 'extra', nulls },
    values: BigInt64Array.from(rows, (row) => extraOf(row) ?? 0n),
  };
  return {
    rowCount: EACH,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(rows, (row) => BigInt(timeOf(row))), nulls: null },
      { kind: 'long', name: 'row', values: BigInt64Array.from(rows, BigInt), nulls: null },
      { kind: 'long', name: 'wide', values: BigInt64Array.from(rows, wideOf), nulls: null },
      { kind: 'double', name: 'price', type: 'DOUBLE', values: Float64Array.from(rows, priceOf), nulls: null },
      strings('kind', kindOf),
      strings('part', partOf),
      ...(segment % 5 === 4 ? [] : [extra]),
    ],
  };
}

for (const [title, timeOf] of [
  ['one after the other', (row: number) => START + row * 1000],
  ['at the same time', (row: number) => START + (row % EACH) * 1000],
  ['all at once', () => START],
] as const)
  few(`of many segments, ${title}`, async () => {
    const frames = Array.from({ length: MANY }, (_, segment) => smallFrame(segment, timeOf));
    const { store, ids, close } = await openFrames(frames, memory, engine);
    try {
      const passing: readonly (readonly [filter: Filter, passes: (row: number) => boolean])[] = [
        [{ kind: 'equals', column: 'part', type: 'STRING', value: 'part 5 of 20' }, (row) => partOf(row) === 'part 5 of 20'],
        [isKind('kind 2'), (row) => kindOf(row) === 'kind 2'],
        [and(isKind('kind 2'), expression('row % 5 == 1')), (row) => kindOf(row) === 'kind 2' && row % 5 === 1],
        [expression('(row * 13) % 101 == 7'), (row) => (row * 13) % 101 === 7],
        [and(expression('row % 4 == 0'), expression('wide + row > 900')), (row) => row % 4 === 0 && wideOf(row) + BigInt(row) > 900n],
      ];
      for (const [filter, passes] of passing) {
        const plan: GroupPlan = {
          ...{ operator: 'group', dataSource: 'random', intervals: [ETERNITY], filter, emptyGroup: false, post: [] },
          virtualColumns: [
            { name: 'key', expression: parseExpression(`concat(upper(kind), '/', substring(part, 5, 2))`), outputType: 'STRING' },
            { name: 'half', expression: parseExpression('price / 2'), outputType: 'DOUBLE' },
            { name: 'minute', expression: parseExpression(`timestamp_floor(__time, 'PT1M')`), outputType: 'LONG' },
            { name: 'more', expression: parseExpression('extra + 1'), outputType: 'LONG' },
          ],
          keys: ['key', 'part', 'minute'].map((name) => ({ kind: 'column', name, column: name, type: null })),
          aggregators: [
            { kind: 'count', name: 'rows', filter: null },
            { kind: 'sum', name: 'halves', column: 'half', type: 'DOUBLE', filter: null },
            { kind: 'sum', name: 'wides', column: 'wide', type: 'LONG', filter: null },
            { kind: 'max', name: 'most', column: 'more', type: 'LONG', filter: null },
            { kind: 'distinct', name: 'kinds', column: 'kind', filter: null },
          ],
        };
        const expected = new Map<string, { rows: bigint; halves: number; wides: bigint; most: bigint | null; kinds: Set<string> }>();
        for (let row = 0; row < MANY * EACH; row++) {
          if (!passes(row)) continue;
          const minute = Math.floor(timeOf(row) / 60_000) * 60_000;
          const key = `${kindOf(row).toUpperCase()}/${partOf(row).slice(5, 7)} ${partOf(row)} ${minute}`;
          const group = expected.get(key) ?? { rows: 0n, halves: 0, wides: 0n, most: null, kinds: new Set<string>() };
          expected.set(key, group);
          const extra = extraOf(row);
          group.rows++;
          group.halves += priceOf(row) / 2;
          group.wides += wideOf(row);
          if (extra !== null && (group.most === null || extra + 1n > group.most)) group.most = extra + 1n;
          group.kinds.add(kindOf(row));
        }
        for (const batchRows of [null, 64]) {
          const found: (readonly [string, readonly unknown[]])[] = [];
          for await (const each of engine.run(plan, store, ids, options({ batchRows }), never))
            for (let row = 0; row < each.rowCount; row++) {
              const [key, part, minute, ...values] = each.columns.map((column) => cellAt(column, row));
              found.push([`${key} ${part} ${minute}`, values]);
            }
          assert.is(found.length, expected.size);
          for (const [key, values] of found) {
            const group = expected.get(key);
            assert.ok(group, key);
            assert.equal(values, [group.rows, group.halves, group.wides, group.most, BigInt(group.kinds.size)], key);
          }
        }
      }
    } finally {
      await close();
    }
  });

few('as many as fill what waits, several times, of rows with many columns', async () => {
  const wide = Array.from({ length: 12 }, (_, number) => `wide${number}`);
  const rowCount = 450_000;
  const valueOf = (row: number, number: number): bigint => BigInt.asIntN(64, BigInt(row * 31 + number) * 0x9e3779b97f4a7c15n);
  const frame: Frame = {
    rowCount,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(START + row)), nulls: null },
      { kind: 'long', name: 'part', values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row % 9)), nulls: null },
      ...wide.map((name, number): Frame['columns'][number] => ({
        ...{ kind: 'long', name, nulls: null },
        values: BigInt64Array.from({ length: rowCount }, (_, row) => valueOf(row, number)),
      })),
    ],
  };
  const { store, ids, close } = await openFrames([frame], memory, engine);
  try {
    const plan: GroupPlan = {
      ...{ operator: 'group', dataSource: 'random', intervals: [{ start: START, end: START + rowCount }], emptyGroup: true, post: [] },
      filter: { kind: 'equals', column: 'part', type: 'LONG', value: 4n },
      virtualColumns: [{ name: 'all', expression: parseExpression(wide.join(' + ')), outputType: 'LONG' }],
      keys: [],
      aggregators: [
        { kind: 'count', name: 'rows', filter: null },
        { kind: 'sum', name: 'sum', column: 'all', type: 'LONG', filter: null },
      ],
    };
    let [rows, sum] = [0n, 0n];
    for (let row = 4; row < rowCount; row += 9) {
      rows++;
      for (const number of wide.keys()) sum = BigInt.asIntN(64, sum + valueOf(row, number));
    }
    const found: Value[][] = [];
    for await (const each of engine.run(plan, store, ids, options(), never))
      for (let row = 0; row < each.rowCount; row++) found.push(each.columns.map((column) => cellAt(column, row) as Value));
    assert.equal(found, [[rows, sum]]);
  } finally {
    await close();
  }
});

few.run();
