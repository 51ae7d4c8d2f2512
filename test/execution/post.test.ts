import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Aggregator } from '../../src/model/aggregator.js';
import type { Expression } from '../../src/model/expression.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { GroupPlan, PostStep, SortKey } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const options = (changes: Partial<RunOptions> = {}): RunOptions => ({
  ending: 'final',
  deadlineMs: Date.now() + 60_000,
  kernels: null,
  batchRows: null,
  ...changes,
});
const HOUR = 3_600_000;

/** city | hour | amount: Ulm 0 5, Bonn 0 7, Köln 1 7, Bonn 1 1, null 1 7, Jena 3 null */
const frame: Frame = {
  rowCount: 6,
  columns: [
    {
      kind: 'long',
      name: '__time',
      values: BigInt64Array.of(0n, 1n, BigInt(HOUR), BigInt(HOUR + 1), BigInt(HOUR + 2), BigInt(3 * HOUR)),
      nulls: null,
    },
    { kind: 'string', name: 'city', ids: Uint32Array.of(0, 1, 2, 1, 3, 4), dictionary: ['Ulm', 'Bonn', 'Köln', null, 'Jena'] },
    { kind: 'long', name: 'amount', values: BigInt64Array.of(5n, 7n, 7n, 1n, 7n, 0n), nulls: Uint32Array.of(0b100000, 0) },
  ],
};

const amount: Aggregator = { name: 'amount', kind: 'sum', column: 'amount', type: 'LONG', filter: null };
const rows: Aggregator = { name: 'rows', kind: 'count', filter: null };
const byCity = { kind: 'column', name: 'city', column: 'city', type: null } as const;
const byHour = { kind: 'time', name: 'hour', granularity: { kind: 'period', period: 'PT1H', timeZone: 'UTC', origin: null } } as const;
const sortBy = (column: string, changes: Partial<SortKey> = {}): SortKey => ({
  column,
  descending: false,
  nulls: 'last',
  ordering: 'lexicographic',
  ...changes,
});
const sort = (by: readonly SortKey[], limit: number | null = null, offset = 0): PostStep => ({ step: 'sort', by, offset, limit });
const call = (name: string, ...inputs: Expression[]): Expression => ({ kind: 'call', function: name, arguments: inputs });
const column = (name: string): Expression => ({ kind: 'column', name });

const plan = (part: Partial<GroupPlan>): GroupPlan => ({
  operator: 'group',
  dataSource: 't',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  keys: [],
  aggregators: [],
  emptyGroup: false,
  post: [],
  ...part,
});

async function run(group: GroupPlan, input: Frame = frame): Promise<FrameCell[][]> {
  const placed = uploadFrame(input, memory);
  const result: FrameCell[][] = [];
  try {
    for await (const each of engine.runViews(group, [placed.view], options(), new AbortController().signal)) {
      for (let row = 0; row < each.rowCount; row++) result.push(each.columns.map((every) => cellAt(every, row)));
    }
  } finally {
    placed.release();
  }
  return result;
}

const cases: { readonly name: string; readonly plan: GroupPlan; readonly expected: FrameCell[][] }[] = [
  {
    name: 'a sort by text ascending, nulls last',
    plan: plan({ keys: [byCity], aggregators: [rows], post: [sort([sortBy('city')])] }),
    expected: [
      ['Bonn', 2n],
      ['Jena', 1n],
      ['Köln', 1n],
      ['Ulm', 1n],
      [null, 1n],
    ],
  },
  {
    name: 'a sort by text descending, nulls first',
    plan: plan({ keys: [byCity], aggregators: [rows], post: [sort([sortBy('city', { descending: true, nulls: 'first' })])] }),
    expected: [
      [null, 1n],
      ['Ulm', 1n],
      ['Köln', 1n],
      ['Jena', 1n],
      ['Bonn', 2n],
    ],
  },
  {
    name: 'ties of a limited sort go by the key, and null sums come last',
    plan: plan({ keys: [byCity], aggregators: [amount], post: [sort([sortBy('amount', { descending: true })], 2, 1)] }),
    expected: [
      [null, 7n],
      ['Köln', 7n],
    ],
  },
  {
    name: 'null sums come first when asked for',
    plan: plan({ keys: [byCity], aggregators: [amount], post: [sort([sortBy('amount', { nulls: 'first' })], 2)] }),
    expected: [
      ['Jena', null],
      ['Ulm', 5n],
    ],
  },
  {
    name: 'an order by length',
    plan: plan({
      keys: [byCity],
      aggregators: [rows],
      filter: { kind: 'not', filter: { kind: 'null', column: 'city' } },
      post: [sort([sortBy('city', { ordering: 'strlen', descending: true })], 2)],
    }),
    expected: [
      ['Köln', 1n],
      ['Jena', 1n],
    ],
  },
  {
    name: 'the best of each bucket',
    plan: plan({
      keys: [byHour, byCity],
      aggregators: [amount],
      post: [{ step: 'topPerBucket', bucket: 'hour', by: [sortBy('amount', { descending: true })], limit: 1 }],
    }),
    expected: [
      [0n, 'Bonn', 7n],
      [BigInt(HOUR), null, 7n],
      [BigInt(3 * HOUR), 'Jena', null],
    ],
  },
  {
    name: 'buckets without rows are filled: counts are 0, sums null',
    plan: plan({
      intervals: [{ start: HOUR, end: 4 * HOUR }],
      keys: [byHour],
      aggregators: [rows, amount],
      post: [{ step: 'fillBuckets', bucket: 'hour', granularity: byHour.granularity }],
    }),
    expected: [
      [BigInt(HOUR), 3n, 15n],
      [BigInt(2 * HOUR), 0n, null],
      [BigInt(3 * HOUR), 1n, null],
    ],
  },
  {
    name: 'an open interval is filled as far as there are rows',
    plan: plan({ keys: [byHour], aggregators: [rows], post: [{ step: 'fillBuckets', bucket: 'hour', granularity: byHour.granularity }] }),
    expected: [
      [0n, 2n],
      [BigInt(HOUR), 3n],
      [BigInt(2 * HOUR), 0n],
      [BigInt(3 * HOUR), 1n],
    ],
  },
  {
    name: 'computed columns can be filtered, sorted and projected',
    plan: plan({
      keys: [byCity],
      aggregators: [amount, rows],
      post: [
        {
          step: 'compute',
          name: 'mean',
          type: 'DOUBLE',
          expression: call('/', call('cast', column('amount'), { kind: 'literal', type: 'STRING', value: 'DOUBLE' }), column('rows')),
        },
        {
          step: 'filter',
          filter: {
            kind: 'range',
            column: 'mean',
            type: 'DOUBLE',
            ordering: 'numeric',
            lower: 4,
            upper: null,
            lowerStrict: true,
            upperStrict: false,
          },
        },
        sort([sortBy('mean'), sortBy('city', { descending: true })]),
        {
          step: 'project',
          columns: [
            { name: 'm', from: 'mean' },
            { name: 'where', from: 'city' },
          ],
        },
      ],
    }),
    expected: [
      [5, 'Ulm'],
      [7, 'Köln'],
      [7, null],
    ],
  },
  {
    name: 'a limit without a sort',
    plan: plan({ keys: [byHour], aggregators: [rows], post: [sort([sortBy('hour')]), { step: 'limit', offset: 1, limit: 1 }] }),
    expected: [[BigInt(HOUR), 3n]],
  },
];

const post = suite('post-processing steps');
for (const { name, plan: group, expected } of cases) post(name, async () => assert.equal(await run(group), expected));

post('the best few of many groups are the same as sorting all', async () => {
  const groupCount = 40_000;
  const many: Frame = {
    rowCount: groupCount,
    columns: [
      { kind: 'long', name: '__time', values: new BigInt64Array(groupCount), nulls: null },
      {
        kind: 'string',
        name: 'city',
        ids: Uint32Array.from({ length: groupCount }, (_, row) => row),
        dictionary: Array.from({ length: groupCount }, (_, row) => `city ${(row * 7919) % groupCount}`),
      },
      // Values 0 to 99, so that the last place is shared by hundreds.
      {
        kind: 'long',
        name: 'amount',
        values: BigInt64Array.from({ length: groupCount }, (_, row) => BigInt((row * 31) % 100)),
        nulls: null,
      },
    ],
  };
  for (const descending of [true, false]) {
    const by = [sortBy('amount', { descending })];
    const all = await run(plan({ keys: [byCity], aggregators: [amount], post: [sort(by)] }), many);
    assert.is(all.length, groupCount);
    for (const [limit, offset] of [
      [1, 0],
      [450, 0],
      [10, 395],
    ] as const) {
      assert.equal(
        await run(plan({ keys: [byCity], aggregators: [amount], post: [sort(by, limit, offset)] }), many),
        all.slice(offset, offset + limit),
      );
    }
  }
});

post('strings that an order takes for the same are ordered as strings, however their rows lie', async () => {
  const texts = ['b2', '1', '1.0', 'B2', '01', 'b02'];
  const orders = { numeric: ['01', '1', '1.0'], version: ['B2', 'b2'], alphanumeric: ['1', '1.0'] } as const;
  for (const [ordering, expected] of Object.entries(orders)) {
    const wanted = texts.filter((text) => (expected as readonly string[]).includes(text));
    for (const dictionary of [wanted, wanted.toReversed()]) {
      const input: Frame = {
        rowCount: wanted.length,
        columns: [
          { kind: 'long', name: '__time', values: new BigInt64Array(wanted.length), nulls: null },
          { kind: 'string', name: 'city', ids: Uint32Array.from(wanted.keys()), dictionary },
        ],
      };
      const by = [sortBy('city', { ordering: ordering as SortKey['ordering'] })];
      // Texts that are computed are numbered as they come.
      const virtualColumns = [{ name: 'same', expression: call('concat', column('city')), outputType: 'STRING' as const }];
      const keys = [{ kind: 'column' as const, name: 'city', column: 'same', type: null }];
      assert.equal(
        await run(plan({ keys, virtualColumns, post: [sort(by)] }), input),
        expected.map((text) => [text]),
        ordering,
      );
    }
  }
});

const limits = suite('limits of a run');

async function codeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
  } catch (error) {
    assert.instance(error, ServiceError);
    return (error as ServiceError).code;
  }
  return 'none';
}

limits('a deadline that has passed, a raised signal and a full group table are typed errors that leave nothing behind', async () => {
  const rowCount = 60_000;
  const wide: Frame = {
    rowCount,
    columns: [
      { kind: 'long', name: '__time', values: new BigInt64Array(rowCount), nulls: null },
      {
        kind: 'long',
        name: 'key',
        values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row) * 1_000_000_007n),
        nulls: null,
      },
    ],
  };
  const group = plan({ keys: [{ kind: 'column', name: 'key', column: 'key', type: null }], aggregators: [rows] });
  const read = async (each: typeof engine, changes: Partial<RunOptions>, signal: AbortSignal): Promise<void> => {
    const placed = uploadFrame(wide, memory);
    try {
      for await (const _ of each.runViews(group, [placed.view], options(changes), signal));
    } finally {
      placed.release();
    }
  };
  const never = new AbortController().signal;
  const small = createEngine({ memory, kernels: 'simd', threads: 0, groupBytesMax: 1 << 20 });
  const threaded = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 16_384 });
  for (const each of [engine, threaded]) {
    assert.is(await codeOf(() => read(each, { deadlineMs: Date.now() - 1 }, never)), 'timeout');
    assert.is(await codeOf(() => read(each, {}, AbortSignal.abort())), 'cancelled');
    assert.is(await codeOf(() => read(each, {}, never)), 'none');
  }
  assert.is(await codeOf(() => read(small, {}, never)), 'resource_limit');
  // Row by row the run takes long enough for the signal to come in its midst.
  const abort = new AbortController();
  setImmediate(() => abort.abort());
  assert.is(await codeOf(() => read(threaded, { batchRows: 1 }, abort.signal)), 'cancelled');
  await threaded.close();
  assert.is(memory.allocatedBytes, 0);
});

post.run();
limits.run();
