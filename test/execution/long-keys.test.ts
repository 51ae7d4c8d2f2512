import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Filter } from '../../src/model/filter.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { frameOf, type Plain, rowsOf, sortedText } from '../cluster/plain-rows.js';

/* Groups by LONGs that lie far apart, in several segments, and conditions on their sums, against a map of plain rows. */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engines = [0, 2].map((threads) => createEngine({ memory, kernels: 'simd', threads, morselRows: 16_384 }));
const TYPES = { key: 'LONG', second: 'LONG', long: 'LONG', double: 'DOUBLE' } as const;
type Row = { key: bigint | null; second: bigint | null; long: bigint | null; double: number | null };

async function grouped(parts: readonly Frame[], engine: (typeof engines)[number], changes: Partial<GroupPlan>): Promise<Plain[]> {
  const plan: GroupPlan = {
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
      { kind: 'sum', name: 'long', column: 'long', type: 'LONG', filter: null },
      { kind: 'sum', name: 'double', column: 'double', type: 'DOUBLE', filter: null },
      { kind: 'count', name: 'rows', filter: null },
    ],
    emptyGroup: false,
    post: [],
    ...changes,
  };
  const placed = parts.map((frame) => uploadFrame(frame, memory));
  try {
    const views = placed.map(({ view }, part) => ({ ...view, id: `segment_${part}` }));
    const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null, ending: 'final' } as const;
    return await rowsOf(engine.runViews(plan, views, options, new AbortController().signal));
  } finally {
    for (const { release } of placed) release();
  }
}

function groupsOf(rows: readonly Row[]): Plain[] {
  const groups = new Map<string, { key: bigint | null; second: bigint | null; long: bigint | null; double: number | null; rows: bigint }>();
  for (const { key, second, long, double } of rows) {
    const name = `${key} ${second}`;
    const group = groups.get(name) ?? { key, second, long: null, double: null, rows: 0n };
    groups.set(name, {
      ...group,
      long: long === null ? group.long : (group.long ?? 0n) + long,
      double: double === null ? group.double : (group.double ?? 0) + double,
      rows: group.rows + 1n,
    });
  }
  return [...groups.values()];
}

const key = fc.oneof(fc.bigInt({ min: -3n, max: 3n }), fc.constantFrom(1n << 20n, 3_000_000n, (1n << 28n) - 3n, 1n << 31n, 1n << 33n));
const row = fc.record({
  key: fc.option(key, { nil: null, freq: 30 }),
  second: fc.option(fc.bigInt({ min: 0n, max: 2n }), { nil: null, freq: 30 }),
  long: fc.option(fc.constantFrom(-4n, 0n, 1n, 5n, (1n << 60n) + 1n), { nil: null, freq: 4 }),
  double: fc.option(fc.constantFrom(-0, 0.5, -2, 7, Number.NaN), { nil: null, freq: 4 }),
});
const shift = fc.constantFrom(0n, 5n, 1n << 21n, 1n << 27n);
const segments = fc.array(fc.tuple(fc.array(row, { minLength: 1, maxLength: 12 }), shift), { minLength: 1, maxLength: 3 });
const bound = fc.option(fc.constantFrom<number | bigint>(-2, 0, 0.5, 1n, 5, 1n << 60n), { nil: null });

const keys = suite('LONG keys');
keys.after(async () => {
  assert.is(memory.allocatedBytes, 0, 'memory is given back');
  for (const engine of engines) await engine.close();
});

keys('any keys in any segments, with conditions on sums', async () => {
  const cases = fc.record({
    parts: segments,
    hasNulls: fc.boolean(),
    on: fc.constantFrom('long', 'double', 'rows'),
    lower: bound,
    upper: bound,
    lowerStrict: fc.boolean(),
    upperStrict: fc.boolean(),
    engine: fc.constantFrom(...engines),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ parts, hasNulls, on, lower, upper, lowerStrict, upperStrict, engine }) => {
      // Columns without nulls have keys of the other kind.
      const rows = parts.map(([part, by]) =>
        part.map(
          (each): Row => ({
            ...each,
            key: each.key === null ? (hasNulls ? null : 0n) : each.key + by,
            second: each.second ?? (hasNulls ? null : 1n),
          }),
        ),
      );
      const type = on === 'double' ? 'DOUBLE' : 'LONG';
      const whole = (value: number | bigint | null) => (value === null || type === 'DOUBLE' ? value : BigInt(Math.trunc(Number(value))));
      const range: Filter = {
        kind: 'range',
        column: on,
        type,
        ordering: 'numeric',
        lower: whole(lower),
        upper: whole(upper),
        lowerStrict,
        upperStrict,
      };
      const isIn = (value: number | bigint | null): boolean => {
        if (value === null) return range.lower === null && range.upper === null;
        // NaN comes after every number.
        const [low, high] = [range.lower as number | bigint | null, range.upper as number | bigint | null];
        const isNaN = Number.isNaN(value);
        const above = low === null || isNaN || (lowerStrict ? value > low : value >= low);
        return above && (high === null || (!isNaN && (upperStrict ? value < high : value <= high)));
      };
      const frames = rows.map((part) => frameOf(part, TYPES));
      const all = groupsOf(rows.flat());
      assert.equal(sortedText(await grouped(frames, engine, {})), sortedText(all), 'all groups');
      if (range.lower === null && range.upper === null) return;
      const found = await grouped(frames, engine, { post: [{ step: 'filter', filter: range }] });
      assert.equal(sortedText(found), sortedText(all.filter((group) => isIn(group[on] as number | bigint | null))), 'having');
    }),
    { numRuns: caseCount(300) },
  );
});

keys('keys far apart, and null among them, take no list of all that lies between', async () => {
  const row = (each: bigint | null): Row => ({ key: each, second: 0n, long: 1n, double: null });
  for (const far of [(1n << 16n) - 1n, 1n << 16n, 3_000_000n, (1n << 28n) - 3n, (1n << 28n) - 2n, 1n << 28n])
    for (const engine of engines) {
      const parts = [[row(null), row(far), row(0n)], [row(far + 5n), row(5n)], [row(null)]];
      const all = groupsOf(parts.flat());
      assert.equal(
        sortedText(
          await grouped(
            parts.map((part) => frameOf(part, TYPES)),
            engine,
            {},
          ),
        ),
        sortedText(all),
        String(far),
      );
    }
});

keys('millions of keys in two segments, nearly one a row', async () => {
  const half = 530_000;
  const longs = (name: string, count: number, value: (at: number) => bigint) =>
    ({ kind: 'long', name, values: BigInt64Array.from({ length: count }, (_, at) => value(at)), nulls: null }) as const;
  const part = (from: number): Frame => ({
    rowCount: half,
    columns: [longs('key', half, (at) => BigInt(from + ((at * 7919) % half) * 2)), longs('long', half, (at) => BigInt(at % 10))],
  });
  // The second half begins where 1,000 keys of the first still come: they share every other one.
  const parts = [part(10), part(10 + half * 2 - 2000)];
  for (const engine of engines) {
    const found = await grouped(parts, engine, {
      keys: [{ kind: 'column', name: 'key', column: 'key', type: 'LONG' }],
      aggregators: [
        { kind: 'sum', name: 'long', column: 'long', type: 'LONG', filter: null },
        { kind: 'count', name: 'rows', filter: null },
      ],
    });
    assert.is(found.length, half * 2 - 1000);
    assert.is(found.filter(({ rows }) => rows === 2n).length, 1000);
    assert.is(
      found.reduce((sum, { long }) => sum + Number(long), 0),
      (half / 10) * 45 * 2,
    );
    const few = new Map(found.map(({ key: each, long }) => [String(each), long]));
    // Row 1 of the first half alone has its key; row 0 of the second shares one with some row of the first.
    assert.is(few.get(String(10 + 7919 * 2)), 1n);
  }
});

keys('the first of many that tie come by the keys that follow', async () => {
  const count = 60_000;
  // Each third key has two rows, so 20,000 keys tie for the first places.
  const values = Array.from({ length: count }, (_, at) => BigInt((at * 7919) % count) * 1_000_003n);
  const twice = values.filter((value) => (value / 1_000_003n) % 3n === 1n);
  const frame = frameOf(
    [...values, ...twice].map((value): Row => ({ key: value, second: value % 2n, long: 1n, double: null })),
    TYPES,
  );
  const by = (column: string, descending: boolean) => ({ column, descending, nulls: 'first', ordering: 'numeric' }) as const;
  for (const engine of engines) {
    const [least, most] = await Promise.all(
      [false, true].map((descending) =>
        grouped([frame], engine, { post: [{ step: 'sort', by: [by('rows', true), by('key', descending)], offset: 5, limit: 1000 }] }),
      ),
    );
    const expected = twice.toSorted((a, b) => Number(a - b));
    assert.equal(
      least?.map(({ key: each }) => each),
      expected.slice(5, 1005),
      'ascending',
    );
    assert.equal(
      most?.map(({ key: each }) => each),
      expected.toReversed().slice(5, 1005),
      'descending',
    );
    const all = await grouped([frame], engine, {
      post: [{ step: 'sort', by: [by('long', false), by('second', true)], offset: 0, limit: 30 }],
    });
    const single = values.filter((value) => (value / 1_000_003n) % 3n !== 1n && value % 2n === 1n).toSorted((a, b) => Number(a - b));
    assert.equal(
      all.map(({ key: each }) => each),
      single.slice(0, 30),
      'ties of ties',
    );
  }
});

keys.run();
