import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { Aggregator } from '../../src/model/aggregator.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { GroupKey, GroupPlan, SortKey } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { memory, never, options, planOf, rowsOf } from './every-way.js';
import type { Row } from './oracle.js';
import { frameOf } from './random-data.js';
import { openFrames } from './segments.js';

const firsts = suite('first groups of an order');

/** Rows with strings that bytes order otherwise than code units, and doubles with NaN and both zeros. */
const ROWS: readonly Row[] = rowsOf(2500).map((row, index) => ({
  ...row,
  plain: index % 11 === 0 ? null : `${['', 'é', '\uffee', '😀', 'a', 'b'][index % 6]}${String(row['plain'])}`,
  double: index % 13 === 0 ? Number.NaN : index % 17 === 0 ? -0 : index % 19 === 0 ? 0 : (row['double'] ?? null),
}));

const KEYS = ['text', 'plain', 'small', 'large', 'holes', 'double', '__time', 'upper'];
const AGGREGATORS: readonly Aggregator[] = [
  { kind: 'count', name: 'rows', filter: null },
  { kind: 'sum', name: 'sum', column: 'holes', type: 'LONG', filter: null },
  { kind: 'max', name: 'max', column: 'double', type: 'DOUBLE', filter: null },
  { kind: 'distinct', name: 'different', column: 'text', filter: null },
];

const arbitraryOrder = fc.record({
  keys: fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 3 }),
  by: fc.uniqueArray(
    fc.record({
      column: fc.constantFrom(...KEYS, ...AGGREGATORS.map(({ name }) => name)),
      descending: fc.boolean(),
      nulls: fc.constantFrom('first' as const, 'last' as const),
      ordering: fc.constant('lexicographic' as const),
    }),
    { minLength: 1, maxLength: 4, selector: ({ column }) => column },
  ),
  offset: fc.nat({ max: 3 }),
  limit: fc.nat({ max: 40 }),
});

function planBy(keys: readonly string[]): GroupPlan {
  return {
    ...planOf(AGGREGATORS),
    virtualColumns: [
      {
        name: 'upper',
        expression: { kind: 'call', function: 'upper', arguments: [{ kind: 'column', name: 'plain' }] },
        outputType: 'STRING',
      },
    ],
    keys: keys.map((column): GroupKey => ({ kind: 'column', name: column, column, type: null })),
  };
}

/** Order of two cells: NaN is the greatest number, and the zeros are one. */
function compare(a: FrameCell, b: FrameCell, { descending, nulls }: SortKey): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === (nulls === 'first') ? -1 : 1;
  const order = a < b ? -1 : a > b ? 1 : Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return descending ? -order : order;
}

async function rowsIn(frames: AsyncIterable<Frame>): Promise<FrameCell[][]> {
  const rows: FrameCell[][] = [];
  for await (const frame of frames)
    for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => cellAt(column, row)));
  return rows;
}

firsts('the first groups are the first of all groups in the same order, in every way', async () => {
  const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
  const threaded = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 256 });
  const pieces = [ROWS.slice(0, 900), ROWS.slice(900, 901), ROWS.slice(901)];
  const placed = pieces.map((piece) => uploadFrame(frameOf(piece), memory));
  const whole = uploadFrame(frameOf(ROWS), memory);
  const { store, ids, close } = await openFrames(pieces.map(frameOf), memory, threaded);
  const views = placed.map(({ view }) => view);
  try {
    await fc.assert(
      fc.asyncProperty(arbitraryOrder, async ({ keys, by, offset, limit }) => {
        const plan = planBy(keys);
        const names = [...keys, ...AGGREGATORS.map(({ name }) => name)];
        const wanted = by.filter(({ column }) => names.includes(column));
        fc.pre(wanted.length > 0);
        const rest = keys.filter((name) => !wanted.some(({ column }) => column === name));
        const order = [
          ...wanted,
          ...rest.map((column): SortKey => ({ column, descending: false, nulls: 'first', ordering: 'lexicographic' })),
        ];
        const all = await rowsIn(engine.runViews(plan, views, options(), never));
        const placeOf = new Map(names.map((name, place) => [name, place]));
        all.sort((a, b) =>
          order.reduce((found, key) => {
            const place = placeOf.get(key.column) ?? 0;
            return found || compare(a[place] ?? null, b[place] ?? null, key);
          }, 0),
        );
        const expected = all.slice(offset, offset + limit);
        const sorted: GroupPlan = { ...plan, post: [{ step: 'sort', by: wanted, offset, limit }] };
        for (const kernels of ['simd', 'reference'])
          assert.equal(await rowsIn(engine.runViews(sorted, views, options({ kernels }), never)), expected, kernels);
        assert.equal(await rowsIn(engine.runViews(sorted, [whole.view], options(), never)), expected, 'one segment');
        assert.equal(await rowsIn(threaded.run(sorted, store, ids, options(), never)), expected, 'two threads');
      }),
      { numRuns: caseCount(60), includeErrorInReport: true },
    );
  } finally {
    for (const { release } of [...placed, whole]) release();
    await close();
    await threaded.close();
  }
  assert.is(memory.allocatedBytes, 0);
});

firsts.run();
