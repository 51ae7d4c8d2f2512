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
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import { openFrames } from './segments.js';

/** Doubles that a segment keeps as integers: what is read, compared and added up are the doubles all the same. */
const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null };
const never = new AbortController().signal;

// Cents from -1.50 to 1.50, every one of them, a null after each ten; 0.1 and 0.2 are among them.
const cents: readonly (number | null)[] = Array.from({ length: 331 }, (_, row) =>
  row % 11 === 10 ? null : row - Math.floor(row / 11) - 150,
);
const prices = cents.map((cent) => (cent === null ? null : cent / 100));

function frame(): Frame {
  const nulls = new Uint32Array(Math.ceil(prices.length / 64) * 2);
  prices.forEach((price, row) => {
    if (price === null) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
  });
  return {
    rowCount: prices.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(prices, (_, row) => BigInt(Date.UTC(2024, 0, 1) + row)), nulls: null },
      { kind: 'double', name: 'price', type: 'DOUBLE', values: Float64Array.from(prices, (price) => price ?? 0), nulls },
      { kind: 'string', name: 'parity', ids: Uint32Array.from(cents, (cent) => Math.abs(cent ?? 1) % 2), dictionary: ['even', 'odd'] },
    ],
  };
}

const test = suite('doubles kept as integers');
const engine = createEngine({ memory, kernels: 'simd', threads: 0, rowsRunInline: 0, morselRows: 20_000 });
let opened: Awaited<ReturnType<typeof openFrames>> | undefined;
test.before(async () => {
  opened = await openFrames([frame()], memory, engine);
});
test.after(async () => {
  await opened?.close();
  await engine.close();
  assert.is(memory.allocatedBytes, 0, 'all memory was given back');
});

async function run(plan: GroupPlan | ScanPlan): Promise<Value[][]> {
  assert.ok(opened);
  const rows: Value[][] = [];
  for await (const each of engine.run(plan, opened.store, opened.ids, options, never)) {
    for (let row = 0; row < each.rowCount; row++) rows.push(each.columns.map((column) => cellAt(column, row) as Value));
  }
  return rows;
}

const leaf = { dataSource: 'random', intervals: [ETERNITY], virtualColumns: [], post: [] } as const;
const each = (kind: 'sum' | 'min' | 'max'): Aggregator => ({ name: kind, kind, column: 'price', type: 'DOUBLE', filter: null });
const rows: Aggregator = { name: 'rows', kind: 'count', filter: null };
const group = (filter: Filter | null, keys: GroupPlan['keys'] = []): GroupPlan => ({
  ...leaf,
  operator: 'group',
  filter,
  keys,
  aggregators: [rows, each('sum'), each('min'), each('max')],
  emptyGroup: true,
});

/** Expected count, sum, smallest and largest of amounts in cents, as doubles. */
function expected(found: readonly (number | null)[]): Value[] {
  const present = found.filter((cent) => cent !== null);
  if (present.length === 0) return [BigInt(found.length), null, null, null];
  const sum = present.reduce((total, cent) => total + cent, 0);
  return [BigInt(found.length), sum / 100, Math.min(...present) / 100, Math.max(...present) / 100];
}

test('they are kept so', async () => {
  assert.ok(opened);
  const pin = await opened.store.pin({ segmentIds: opened.ids, columns: ['price'], globalDictionaries: [] });
  const view = pin.segments[0]?.columns['price'];
  assert.ok(view?.kind === 'number');
  assert.equal([view.type, view.physical, view.base, view.power, view.min, view.max], ['DOUBLE', 'U16', -150n, 2, -1.5, 1.5]);
  pin.release();
});

test('rows are read as they were written', async () => {
  const plan: ScanPlan = { ...leaf, operator: 'scan', filter: null, columns: ['price'], timeOrder: null, offset: 0, limit: null };
  assert.equal(
    (await run(plan)).map(([price]) => price),
    prices,
  );
});

const BOUNDS: readonly number[] = [
  -Infinity,
  -2,
  -1.5,
  -1.4999999999999998,
  -0.105,
  -0.1,
  -0,
  0,
  0.1,
  0.10000000000000002,
  0.30000000000000004,
  0.995,
  1.5,
  1.5000000000000002,
  1e300,
  Infinity,
];
for (const lower of BOUNDS)
  for (const strict of [false, true])
    test(`${strict ? 'above' : 'from'} ${lower}`, async () => {
      for (const upper of BOUNDS) {
        const filter: Filter = {
          kind: 'range',
          column: 'price',
          type: 'DOUBLE',
          ordering: 'numeric',
          lower,
          upper,
          lowerStrict: strict,
          upperStrict: !strict,
        };
        const found = cents.filter((cent) => {
          if (cent === null) return false;
          const price = cent / 100;
          return strict ? price > lower && price <= upper : price >= lower && price < upper;
        });
        assert.equal((await run(group(filter)))[0], expected(found), `to ${upper}`);
      }
    });

test('one of several values', async () => {
  const values = [0.1, 0.2, 0.30000000000000004, 0.305, -1.5, 1.5, 1.51, 1e300, -0, Number.NaN];
  const filter: Filter = { kind: 'in', column: 'price', type: 'DOUBLE', values };
  assert.equal((await run(group(filter)))[0], expected([10, 20, -150, 150, 0]));
});

test('sums by group are those of the decimals', async () => {
  const found = await run(group(null, [{ kind: 'column', name: 'parity', column: 'parity', type: null }]));
  const of = (parity: number): (number | null)[] => cents.filter((cent) => Math.abs(cent ?? 1) % 2 === parity);
  assert.equal(
    new Map(found.map(([key, ...states]) => [key, states])),
    new Map([
      ['even', expected(of(0))],
      ['odd', expected(of(1))],
    ]),
  );
});

test('what is made of them is the same for few rows and for many', async () => {
  const threefold: GroupPlan['virtualColumns'] = [{ name: 'threefold', expression: parseExpression('price * 3'), outputType: null }];
  const extreme = (kind: 'min' | 'max'): Aggregator => ({ name: kind, kind, column: 'threefold', type: 'DOUBLE', filter: null });
  // From one row of a block to all of them; few are at most an eighth.
  for (const upper of [-1.5, -1.4, -1.2, -1.13, -1.12, -1, 0, 1.5]) {
    const filter: Filter = {
      ...{ kind: 'range', column: 'price', type: 'DOUBLE', ordering: 'numeric' },
      ...{ lower: null, upper, lowerStrict: false, upperStrict: false },
    };
    const plan = { ...group(filter), virtualColumns: threefold, aggregators: [rows, extreme('min'), extreme('max')] };
    const found = prices.flatMap((price) => (price !== null && price <= upper ? [price * 3] : []));
    assert.equal(await run(plan), [[BigInt(found.length), Math.min(...found), Math.max(...found)]], String(upper));
  }
});

test.run();
