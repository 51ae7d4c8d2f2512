import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { Value } from '../../src/expression/value.js';
import { STRETCH_ROWS } from '../../src/kernels/contract.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Aggregator } from '../../src/model/aggregator.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { groupRows, printKeys, type Row } from './oracle.js';
import { openFrames } from './segments.js';

/** Tables of several blocks, whose groups outgrow every first size. */
const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null };
const never = new AbortController().signal;

const SEGMENT_ROWS = 25_000;
const rowsOf = (segment: number, rowCount = SEGMENT_ROWS): Row[] =>
  Array.from({ length: rowCount }, (_, index): Row => {
    const seed = Math.imul(segment * SEGMENT_ROWS + index + 1, 0x9e3779b1) >>> 0;
    return {
      __time: BigInt(Date.UTC(2024, 0, 1) + segment * 20_000_000 + index * 1000),
      page: `page ${seed % 30_011}`,
      country: seed % 17 === 0 ? null : `country ${(seed >>> 5) % 200}`,
      tags: Array.from({ length: seed % 3 }, (_, tag) => `tag ${(seed >>> (tag + 3)) % 9}`),
      amount: BigInt((seed >>> 3) % 70_000) - 100n,
      views: BigInt((seed >>> 2) % 5000),
      likes: BigInt((seed >>> 6) % 3000) - 10n,
      wide: BigInt(seed) * 1_000_003n,
      cost: ((seed >>> 4) % 1000) / 8 - 50,
      price: seed % 11 === 0 ? null : ((seed >>> 7) % 4000) / 4,
    };
  });
const segments = [rowsOf(0), rowsOf(1), rowsOf(2, STRETCH_ROWS + 20_000)];
const allRows = segments.flat();

function frameOf(rows: readonly Row[]): Frame {
  const texts = (name: string) => {
    const dictionary: (string | null)[] = [null];
    const ids = new Map<string | null, number>([[null, 0]]);
    const id = (value: Value): number => {
      const entry = value === null ? null : String(value);
      const known = ids.get(entry) ?? dictionary.push(entry) - 1;
      ids.set(entry, known);
      return known;
    };
    return { dictionary, id, name };
  };
  const text = (name: string) => {
    const { dictionary, id } = texts(name);
    return { kind: 'string', name, ids: Uint32Array.from(rows, (row) => id(row[name] as Value)), dictionary } as const;
  };
  const tags = texts('tags');
  const lists = rows.map((row) => row['tags'] as readonly string[]);
  const offsets = new Uint32Array(rows.length + 1);
  lists.forEach((list, row) => {
    offsets[row + 1] = (offsets[row] ?? 0) + list.length;
  });
  const long = (name: string) =>
    ({ kind: 'long', name, values: BigInt64Array.from(rows, (row) => row[name] as bigint), nulls: null }) as const;
  const nulls = new Uint32Array(Math.ceil(rows.length / 64) * 2);
  rows.forEach((row, index) => {
    if (row['price'] === null) nulls[index >>> 5] = (nulls[index >>> 5] ?? 0) | (1 << (index & 31));
  });
  return {
    rowCount: rows.length,
    columns: [
      long('__time'),
      text('page'),
      text('country'),
      { kind: 'multi', name: 'tags', offsets, ids: Uint32Array.from(lists.flat(), tags.id), dictionary: tags.dictionary },
      long('amount'),
      long('views'),
      long('likes'),
      long('wide'),
      { kind: 'double', name: 'cost', type: 'DOUBLE', values: Float64Array.from(rows, (row) => Number(row['cost'])), nulls: null },
      { kind: 'double', name: 'price', type: 'DOUBLE', values: Float64Array.from(rows, (row) => Number(row['price'] ?? 0)), nulls },
    ],
  };
}

const count: Aggregator = { name: 'rows', kind: 'count', filter: null };
const sum = (column: string, type: 'LONG' | 'DOUBLE', filter: Filter | null = null): Aggregator => ({
  name: `sum of ${column}`,
  kind: 'sum',
  column,
  type,
  filter,
});
const least = (column: string, type: 'LONG' | 'DOUBLE'): Aggregator => ({
  name: `least ${column}`,
  kind: 'min',
  column,
  type,
  filter: null,
});
const distinct = (column: string): Aggregator => ({ name: `distinct ${column}`, kind: 'distinct', column, filter: null });
const by = (column: string) => ({ kind: 'column', name: column, column, type: null }) as const;
const hours = { kind: 'time', name: 'hour', granularity: { kind: 'period', period: 'PT1H', timeZone: 'UTC', origin: null } } as const;
/** They need no mask: rows of several blocks go through the kernels at once. */
const everyRow = [count, sum('amount', 'LONG'), sum('cost', 'DOUBLE'), least('wide', 'LONG'), least('cost', 'DOUBLE')];
const tagged: Filter = { kind: 'equals', column: 'tags', type: 'STRING', value: 'tag 3' };

const cases: { readonly name: string; readonly plan: Pick<GroupPlan, 'keys' | 'aggregators'> & Partial<GroupPlan> }[] = [
  {
    name: 'no keys',
    plan: {
      keys: [],
      aggregators: [count, sum('amount', 'LONG'), sum('price', 'DOUBLE'), least('wide', 'LONG'), distinct('page'), distinct('wide')],
    },
  },
  { name: 'no keys, no nulls', plan: { keys: [], aggregators: everyRow } },
  { name: 'hours, no nulls', plan: { keys: [hours], aggregators: everyRow } },
  {
    name: 'part of the time, no nulls',
    plan: { keys: [hours], aggregators: everyRow, intervals: [{ start: Date.UTC(2024, 0, 1) + 41_234_567, end: Date.UTC(2024, 0, 2) }] },
  },
  {
    name: 'a dense key with gaps',
    plan: {
      keys: [by('country')],
      aggregators: [count, sum('amount', 'LONG', tagged), least('amount', 'LONG'), distinct('page')],
      filter: { kind: 'not', filter: tagged },
    },
  },
  {
    name: 'a key of many values',
    plan: { keys: [by('page')], aggregators: [sum('amount', 'LONG'), sum('price', 'DOUBLE'), distinct('country')] },
  },
  {
    name: 'few groups, sums in pairs',
    plan: {
      keys: [by('country')],
      aggregators: [sum('likes', 'LONG'), count, sum('amount', 'LONG'), sum('views', 'LONG'), sum('cost', 'DOUBLE')],
    },
  },
  { name: 'a key of many values, counted with a sum', plan: { keys: [by('page')], aggregators: [sum('views', 'LONG')] } },
  {
    name: 'two keys, counted with a sum, and of fewer rows',
    plan: {
      keys: [by('page'), by('country')],
      aggregators: [count, sum('views', 'LONG'), sum('views', 'LONG', tagged), least('views', 'LONG'), distinct('country')],
      filter: { kind: 'not', filter: tagged },
    },
  },
  {
    name: 'hashed keys, counted with a sum',
    plan: { keys: [by('page'), by('country'), by('wide')], aggregators: [sum('views', 'LONG'), count] },
  },
  { name: 'keys that are hashed', plan: { keys: [by('page'), by('country'), by('wide')], aggregators: [count, least('price', 'DOUBLE')] } },
  { name: 'a key of doubles with nulls', plan: { keys: [by('price')], aggregators: [count, distinct('tags')] } },
  { name: 'hours', plan: { keys: [hours], aggregators: [count, sum('amount', 'LONG'), sum('price', 'DOUBLE'), distinct('country')] } },
  { name: 'hours and a multi-value key', plan: { keys: [hours, by('tags')], aggregators: [count, sum('price', 'DOUBLE')] } },
  {
    name: 'part of the time',
    plan: {
      keys: [by('tags')],
      aggregators: [count, distinct('amount')],
      intervals: [{ start: Date.UTC(2024, 0, 1) + 1_234_567, end: Date.UTC(2024, 0, 1) + 50_000_001 }],
    },
  },
];

/** Groups that the oracle computes, by the name of the case; the engines with and without threads share them. */
const expectedOf = new Map<string, ReadonlyMap<string, readonly Value[]>>();

for (const threads of [0, 2]) {
  const blocks = suite(`grouped aggregation over several blocks, ${threads} threads`);
  const engine = createEngine({ memory, kernels: 'simd', threads, rowsRunInline: 0, morselRows: 20_000 });
  let opened: Awaited<ReturnType<typeof openFrames>> | undefined;

  blocks.before(async () => {
    opened = await openFrames(segments.map(frameOf), memory, engine);
  });
  blocks.after(async () => {
    await opened?.close();
    await engine.close();
    assert.is(memory.allocatedBytes, 0, 'all memory was given back');
  });

  for (const { name, plan: part } of cases) {
    blocks(name, async () => {
      assert.ok(opened);
      const plan: GroupPlan = {
        operator: 'group',
        dataSource: 'random',
        intervals: [ETERNITY],
        filter: null,
        virtualColumns: [],
        post: [],
        emptyGroup: false,
        ...part,
      };
      const expected = expectedOf.get(name) ?? groupRows(allRows, plan);
      expectedOf.set(name, expected);
      let rowCount = 0;
      for await (const frame of engine.run(plan, opened.store, opened.ids, options, never)) {
        for (let row = 0; row < frame.rowCount; row++) {
          const cells = frame.columns.map((column) => cellAt(column, row) as Value);
          const keys = printKeys(cells.slice(0, plan.keys.length));
          assert.equal(cells.slice(plan.keys.length), expected.get(keys), keys);
          rowCount++;
        }
      }
      assert.is(rowCount, expected.size);
    });
  }
  blocks.run();
}
