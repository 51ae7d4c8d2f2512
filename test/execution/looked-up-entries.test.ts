import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { call, type Expression, text } from '../../src/model/expression.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import { lookupTableOf } from '../../src/model/lookup/lookup-table.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import { openFrames } from './segments.js';

/*
 * A looked-up column has the values of its rows and no others: what stands for a missing value is one of them only where a row misses
 * its value. Counts of different values, groups without aggregates and the first rows of an order rely on it.
 */
const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const RUN = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null } as const;
const CITIES = 20_000;
const cityOf = (at: number): string => `c${String(at).padStart(5, '0')}`;
const MISSING = '0';

/** Rows of the first cities, each once; the last ones have none. */
function rowsOf(cities: number, without: number): Frame {
  const rowCount = cities + without;
  return {
    rowCount,
    columns: [
      {
        kind: 'long',
        name: '__time',
        values: BigInt64Array.from({ length: rowCount }, (_, at) => 1_704_067_200_000n + BigInt(at)),
        nulls: null,
      },
      {
        kind: 'string',
        name: 'city',
        ids: Uint32Array.from({ length: rowCount }, (_, at) => (at < cities ? at : cities)),
        dictionary: [...Array.from({ length: cities }, (_, at) => cityOf(at)), null],
      },
    ],
  };
}

const table = await lookupTableOf(Array.from({ length: CITIES }, (_, at) => [cityOf(at), `V${cityOf(at)}`]));
const found: Expression = call('resolved_lookup', { kind: 'column', name: 'city' }, { kind: 'literal', type: 'STRING', value: table });
const LEAF = {
  dataSource: 'rows',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [{ name: 'v', expression: call('nvl', found, text(MISSING)), outputType: 'STRING' }],
} as const;
const groups: GroupPlan = {
  operator: 'group',
  ...LEAF,
  keys: [{ kind: 'column', name: 'k', column: 'v', type: null }],
  aggregators: [],
  emptyGroup: false,
  post: [],
};
const different: GroupPlan = {
  ...groups,
  keys: [],
  aggregators: [{ kind: 'distinct', name: 'd', column: 'v', filter: null }],
  emptyGroup: true,
};
const first: ScanPlan = {
  operator: 'scan',
  ...LEAF,
  columns: ['v'],
  timeOrder: null,
  offset: 0,
  limit: null,
  post: [
    { step: 'sort', by: [{ column: 'v', descending: false, nulls: 'first', ordering: 'lexicographic' }], offset: 0, limit: 3 },
  ] as ScanPlan['post'],
};

const entries = suite('entries of looked-up columns');

for (const [cities, without] of [
  [3, 0],
  [3, 1],
  [300, 0],
  [CITIES, 0],
  [CITIES, 2],
] as const)
  entries(`${cities} cities, ${without} rows without one`, async () => {
    const { store, ids, close } = await openFrames([rowsOf(cities, without)], memory, engine, undefined, 1 << 26);
    const answer = async (plan: GroupPlan | ScanPlan): Promise<readonly FrameCell[]> => {
      const cells: FrameCell[] = [];
      for await (const frame of engine.run(plan, store, ids, RUN, new AbortController().signal))
        for (let row = 0; row < frame.rowCount; row++) cells.push(frame.columns[0] === undefined ? null : cellAt(frame.columns[0], row));
      return cells;
    };
    const missing = without === 0 ? [] : [MISSING];
    const values = [...missing, ...Array.from({ length: cities }, (_, at) => `V${cityOf(at)}`)];
    try {
      assert.equal(await answer(different), [BigInt(values.length)]);
      assert.equal([...(await answer(groups))].sort(), values);
      const ofRows = [...Array.from({ length: without }, () => MISSING), ...values.slice(missing.length)];
      assert.equal(await answer(first), ofRows.slice(0, 3));
    } finally {
      await close();
    }
  });

entries.after(() => engine.close());
entries.run();
