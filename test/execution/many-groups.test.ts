import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceError } from '../../src/base/errors.js';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { call } from '../../src/model/expression.js';
import type { GroupPlan, PostStep } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, rowsOf } from '../cluster/plain-rows.js';

/* Hundreds of thousands of groups, each in several segments: tables are divided by the hash of their keys, and merged part by part. */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engines = [0, 2].map((threads) => createEngine({ memory, kernels: 'simd', threads, morselRows: 16_384 }));
const TYPES = { key: 'LONG', second: 'LONG', long: 'LONG', double: 'DOUBLE' } as const;

/** Different keys. Segment s has those from s * SHIFT on, so that each is in two of the three. */
const KEYS = 240_000;
const SHIFT = KEYS / 3;
const SEGMENT_ROWS = SHIFT * 2;
const EXTRA = [7, 100_001, 239_999];

interface Row {
  readonly key: bigint | null;
  readonly second: bigint;
  readonly long: bigint | null;
  readonly double: number;
}

/** Key 11 is null; keys that 3 divides have no `long`. */
const rowOf = (number: number, segment: number): Row => ({
  key: number === 11 ? null : BigInt(number) * 1_000_000_007n,
  second: BigInt(number % 2),
  long: number % 3 === 0 ? null : BigInt(number * 10 + segment),
  double: number / 4,
});
const SEGMENTS = [0, 1, 2].map((segment) => {
  const rows = Array.from({ length: SEGMENT_ROWS }, (_, index) => rowOf((index + segment * SHIFT) % KEYS, segment));
  return segment < 2 ? rows : [...rows, ...EXTRA.flatMap((number, place) => new Array<Row>(place + 1).fill(rowOf(number, 2)))];
});
const segmentsOf = (number: number): readonly number[] => {
  const third = Math.floor(number / SHIFT);
  return third === 0 ? [0, 2] : third === 1 ? [0, 1] : [1, 2];
};

/** The group of a key, by arithmetic. */
function groupOf(number: number): Plain {
  const extra = EXTRA.indexOf(number) + 1;
  const rows = [...segmentsOf(number), ...new Array<number>(extra).fill(2)].map((segment) => rowOf(number, segment));
  const longs = rows.flatMap(({ long }) => (long === null ? [] : [long]));
  const { key, second, double } = rowOf(number, 0);
  return {
    key,
    second,
    rows: BigInt(rows.length),
    long: longs.length === 0 ? null : longs.reduce((sum, value) => sum + value, 0n),
    least: longs.length === 0 ? null : longs.reduce((least, value) => (value < least ? value : least)),
    double: rows.length * double,
    most: double,
  };
}

const PLAN: GroupPlan = {
  operator: 'group',
  dataSource: 'rows',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  keys: [
    { kind: 'column', name: 'key', column: 'key', type: 'LONG' },
    { kind: 'column', name: 'second', column: 'second', type: 'LONG' },
  ],
  aggregators: [
    { kind: 'count', name: 'rows', filter: null },
    { kind: 'sum', name: 'long', column: 'long', type: 'LONG', filter: null },
    { kind: 'min', name: 'least', column: 'long', type: 'LONG', filter: null },
    { kind: 'sum', name: 'double', column: 'double', type: 'DOUBLE', filter: null },
    { kind: 'max', name: 'most', column: 'double', type: 'DOUBLE', filter: null },
  ],
  emptyGroup: false,
  post: [],
};
const sorted = (column: string, descending: boolean, limit: number | null, offset = 0): PostStep => ({
  step: 'sort',
  by: [{ column, descending, nulls: descending ? 'last' : 'first', ordering: 'numeric' }],
  offset,
  limit,
});

const groups = suite('many groups');
groups.after(async () => {
  for (const { release } of placed) release();
  assert.is(memory.allocatedBytes, 0, 'memory is given back');
  for (const engine of engines) await engine.close();
});

const placed = SEGMENTS.map((rows) => uploadFrame(frameOf(rows as unknown as Plain[], TYPES), memory));
const views = placed.map(({ view }, part) => ({ ...view, id: `segment_${part}` }));

async function answersOf(changes: Partial<GroupPlan>): Promise<Plain[][]> {
  const answers: Plain[][] = [];
  for (const engine of engines) {
    const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null, ending: 'final' } as const;
    answers.push(await rowsOf(engine.runViews({ ...PLAN, ...changes }, views, options, new AbortController().signal)));
  }
  return answers;
}

const PLANS: readonly [name: string, post: readonly PostStep[], numbers: readonly number[]][] = [
  ['most rows first', [sorted('rows', true, 4)], [239_999, 100_001, 7, 11]],
  ['largest sums first', [sorted('long', true, 3)], [239_999, 239_998, 239_996]],
  ['after an offset', [sorted('double', true, 2, 1)], [239_998, 239_997]],
  [
    'two of each bucket',
    [
      {
        step: 'topPerBucket',
        bucket: 'second',
        by: [{ column: 'most', descending: true, nulls: 'first', ordering: 'numeric' }],
        limit: 1,
      } as PostStep,
    ],
    [239_998, 239_999],
  ],
];
for (const [name, post, numbers] of PLANS) {
  groups(name, async () => {
    for (const rows of await answersOf({ post }))
      assert.equal(
        rows.map((row) => ({ ...row })),
        numbers.map(groupOf),
      );
  });
}

groups('all of them', async () => {
  for (const rows of await answersOf({})) {
    assert.is(rows.length, KEYS);
    const found = new Map(rows.map((row) => [String(row['key']), row]));
    for (let number = 0; number < KEYS; number += 131)
      assert.equal({ ...found.get(String(groupOf(number)['key'])) }, groupOf(number), `key ${number}`);
    assert.equal({ ...found.get('null') }, groupOf(11));
  }
});

/** Steps after grouping, and what they leave of a group; undefined: nothing. */
const READINGS: readonly [name: string, post: readonly PostStep[], left: (group: Plain) => Plain | undefined][] = [
  ['as they are', [], (group) => group],
  [
    'that pass a condition, with a computed column and other names',
    [
      {
        step: 'compute',
        name: 'mean',
        type: 'DOUBLE',
        expression: call('/', { kind: 'column', name: 'double' }, { kind: 'column', name: 'rows' }),
      },
      {
        step: 'filter',
        filter: {
          kind: 'range',
          column: 'mean',
          type: 'DOUBLE',
          lower: 100.5,
          upper: null,
          lowerStrict: true,
          upperStrict: false,
          ordering: 'numeric',
        },
      },
      { step: 'filter', filter: { kind: 'null', column: 'long' } },
      {
        step: 'project',
        columns: [
          { name: 'k', from: 'key' },
          { name: 'm', from: 'mean' },
          { name: 'least', from: 'least' },
        ],
      },
    ],
    ({ key = null, long = null, most = null }) => (Number(most) > 100.5 && long === null ? { k: key, m: most, least: null } : undefined),
  ],
];
for (const [name, post, left] of READINGS)
  groups(`left in kernel memory ${name}`, async () => {
    const expected = Array.from({ length: KEYS }, (_, number) => left(groupOf(number))).filter((group) => group !== undefined);
    const names = Object.keys(expected[0] ?? {});
    const scan = { operator: 'scan', dataSource: '', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] } as const;
    const columns = names.map((from) => ({ name: `c ${from}`, from }));
    const reader = { ...scan, columns: columns.map(({ name: column }) => column), timeOrder: null, offset: 0, limit: null };
    const side = { keys: [], keysOnly: false, marked: false, bytesMax: 1 << 27, limit: 'the test', rowsMax: null, orFrames: true };
    const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null, ending: 'final' } as const;
    const never = new AbortController().signal;
    for (const engine of engines) {
      const id = engine.reserveUpload();
      const plan = { ...PLAN, post, upload: { ...side, id, columns, subject: 'groups' } };
      try {
        let uploaded = 0;
        for await (const frame of engine.runViews(plan, views, options, never)) uploaded += frame.uploaded?.rowCount ?? 0;
        assert.is(uploaded, expected.length);
        const rows = await rowsOf(engine.runUploaded(reader, [id], options, never));
        const found = new Map(rows.map((row) => [String(row[`c ${names[0]}`]), row]));
        assert.is(found.size, expected.length);
        for (let at = 0; at < expected.length; at += 37) {
          const group = expected[at] ?? {};
          const row = found.get(String(group[names[0] ?? '']));
          assert.equal(Object.fromEntries(names.map((each) => [each, row?.[`c ${each}`]])), group);
        }
      } finally {
        engine.releaseUpload(id);
      }
    }
  });

groups('that are cancelled on their way into kernel memory give all of it back', async () => {
  const [engine] = engines.slice(-1);
  assert.ok(engine !== undefined);
  const before = memory.allocatedBytes;
  const columns = [...PLAN.keys, ...PLAN.aggregators].map(({ name }) => ({ name, from: name }));
  const side = { keys: [], keysOnly: false, marked: false, bytesMax: 1 << 27, limit: 'the test', rowsMax: null, orFrames: true };
  const outcomes = new Set<string>();
  const ROUNDS = 40;
  let tookMs = 0;
  // The first is left to its end; others are cancelled at all times up to that.
  for (let round = 0; round < ROUNDS; round++) {
    const id = engine.reserveUpload();
    const controller = new AbortController();
    const startMs = performance.now();
    const timer = round === 0 ? undefined : setTimeout(() => controller.abort(), (tookMs * (round - 1)) / ROUNDS);
    const plan = { ...PLAN, upload: { ...side, id, columns, subject: 'groups' } };
    const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null, ending: 'final' } as const;
    try {
      for await (const frame of engine.runViews(plan, views, options, controller.signal)) assert.ok(frame.uploaded !== undefined);
      outcomes.add('whole');
      if (round === 0) tookMs = performance.now() - startMs;
    } catch (error) {
      outcomes.add((error as ServiceError).code);
    } finally {
      clearTimeout(timer);
      engine.releaseUpload(id);
    }
    assert.is(memory.allocatedBytes, before, `round ${round}`);
  }
  assert.equal([...outcomes].sort(), ['cancelled', 'whole']);
});

groups('keys that come again after many others take the memory of one group each', async () => {
  const [keys, rounds] = [150_000, 14];
  const values = BigInt64Array.from({ length: keys * rounds }, (_, row) => BigInt(row % keys) * 1_000_000_007n);
  const rows = uploadFrame({ rowCount: values.length, columns: [{ kind: 'long', name: 'key', values, nulls: null }] }, memory);
  const engine = createEngine({ memory, kernels: 'simd', threads: 0, groupBytesMax: 1 << 25 });
  const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null, ending: 'final' } as const;
  const plan = { ...PLAN, keys: PLAN.keys.slice(0, 1), aggregators: PLAN.aggregators.slice(0, 1), post: [] };
  try {
    for (const post of [[], [sorted('rows', true, 3)]]) {
      const run = engine.runViews({ ...plan, post }, [{ ...rows.view, id: 'segment' }], options, new AbortController().signal);
      const found = await rowsOf(run);
      assert.is(found.length, post.length === 0 ? keys : 3);
      assert.ok(found.every((row) => row['rows'] === BigInt(rounds)));
    }
  } finally {
    await engine.close();
    rows.release();
  }
});

groups('parts of a result, of tables that are divided while rows are read', async () => {
  const keys = 600_000;
  const values = BigInt64Array.from({ length: keys }, (_, row) => BigInt(row) * 1_000_000_007n);
  const rows = uploadFrame({ rowCount: keys, columns: [{ kind: 'long', name: 'key', values, nulls: null }] }, memory);
  const plan = { ...PLAN, keys: PLAN.keys.slice(0, 1), aggregators: PLAN.aggregators.slice(0, 1), post: [sorted('rows', true, 5)] };
  const parted = [0, 2].map((threads) => createEngine({ memory, kernels: 'simd', threads, morselRows: 300_000 }));
  try {
    for (const engine of parted) {
      const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null, ending: 'partial' } as const;
      let count = 0;
      for await (const frame of engine.runViews(plan, [{ ...rows.view, id: 'segment' }], options, new AbortController().signal)) {
        count += frame.rowCount;
      }
      assert.is(count, keys);
    }
  } finally {
    for (const engine of parted) await engine.close();
    rows.release();
  }
});

groups.run();
