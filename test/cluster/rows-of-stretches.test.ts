import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Filter } from '../../src/model/filter.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import type { JoinSource, RowSource } from '../../src/model/row-source.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, rowsOf, schemaOf } from './plain-rows.js';

/* Joins over more rows than go through stages at a time: what keys and conditions leave of each stretch waits for the next one. */

const RUN = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null } as const;
const LEAF = { dataSource: 'rows', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] } as const;
const SEGMENT_ROWS = 300_000;
const COUNT = 2 * SEGMENT_ROWS;

interface Keys {
  /** Key of a row; null: the row has none. */
  readonly key: (row: number) => bigint | null;
  /** Keys of the right side, with as many rows as they stand there. */
  readonly right: readonly (bigint | null)[];
}

/** Values stored in one, two, four and eight bytes, of which few, none or nearly all have partners. */
const KEYS: Readonly<Record<string, Keys>> = {
  'a byte': { key: (row) => BigInt(row % 200), right: [3n, 3n, 77n, 199n, 500n, null] },
  'two bytes': { key: (row) => (row % 7 === 0 ? null : BigInt(row % 40_000) - 20_000n), right: [-20_000n, -1n, 0n, 19_999n, 19_999n] },
  'two bytes, many keys': { key: (row) => BigInt(row % 3000), right: Array.from({ length: 2900 }, (_, key) => BigInt(key)) },
  'four bytes': { key: (row) => BigInt(row) * 5n, right: Array.from({ length: 5000 }, (_, key) => BigInt(key * 300)) },
  'eight bytes': { key: (row) => BigInt(row % 1000) * 10n ** 11n, right: [0n, 7n * 10n ** 11n, 7n * 10n ** 11n + 1n] },
  'keys close together': { key: (row) => BigInt(row % 30_000), right: [100n, 105n, 105n, 140n] },
  'keys below and above all rows': { key: (row) => BigInt(row % 30_000) + 100n, right: [0n, 99n, 100n] },
  'keys that no row has': { key: (row) => BigInt(row % 1000), right: [-5n, 2000n] },
};

const segmentOf = (key: Keys['key'], part: number): Frame => {
  const first = part * SEGMENT_ROWS;
  const values = new BigInt64Array(SEGMENT_ROWS);
  const nulls = new Uint32Array(Math.ceil(SEGMENT_ROWS / 64) * 2);
  for (let at = 0; at < SEGMENT_ROWS; at++) {
    const value = key(first + at);
    values[at] = value ?? 0n;
    if (value === null) nulls[at >>> 5] = (nulls[at >>> 5] ?? 0) | (1 << (at & 31));
  }
  return {
    rowCount: SEGMENT_ROWS,
    columns: [
      { kind: 'long', name: 'key', values, nulls },
      {
        kind: 'long',
        name: 'row',
        values: BigInt64Array.from({ length: SEGMENT_ROWS }, (_, at) => BigInt(first + at)),
        nulls: null,
      },
    ],
  };
};

const TYPES = { key: 'LONG', row: 'LONG' } as const;
const ODD: Filter = { kind: 'expression', expression: parseExpression('row % 3 == 1') };

const scan = (changes: Partial<ScanPlan>): ScanPlan => ({
  operator: 'scan',
  ...LEAF,
  columns: ['row', 'r.key'],
  timeOrder: null,
  offset: 0,
  limit: null,
  ...changes,
});
const SUMS: GroupPlan = {
  operator: 'group',
  ...LEAF,
  keys: [{ kind: 'column', name: 'r.key', column: 'r.key', type: null }],
  aggregators: [
    { kind: 'count', name: 'rows', filter: null },
    { kind: 'sum', name: 'sum', column: 'row', type: 'LONG', filter: null },
  ],
  emptyGroup: false,
};

const stretches = suite('rows of several stretches');

for (const [threads, filter] of [
  [0, undefined],
  [2, ODD],
] as const)
  for (const [name, { key, right }] of Object.entries(KEYS))
    stretches(`${threads} threads, ${name}${filter === undefined ? '' : ', a condition'}`, async () => {
      const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
      const engine = createEngine({ memory, kernels: 'simd', threads });
      const placed = [0, 1].map((part) => uploadFrame(segmentOf(key, part), memory));
      const runner = new SourceRunner({
        engine,
        isServedHere: () => true,
        rowsOfTable: () => null,
        columnsOf: (source) => rowSourceColumns(source, { table: () => ({ columns: schemaOf(TYPES), interval: ETERNITY }) }),
        runTables: (plan) =>
          engine.runViews(
            plan,
            placed.map(({ view }, part) => ({ ...view, id: `segment_${part}` })),
            { ...RUN, ending: 'final' },
            new AbortController().signal,
          ),
        lookup: () => ({ rowCount: 0, frames: async function* () {} }),
        runOptions: RUN,
        signal: new AbortController().signal,
      });
      const left: RowSource = { kind: 'table', name: 'left' };
      const source: JoinSource = {
        kind: 'join',
        left: filter === undefined ? left : { kind: 'filtered', source: left, filter },
        right: {
          kind: 'inline',
          frame: frameOf(
            right.map((each): Plain => ({ key: each })),
            { key: 'LONG' },
          ),
        },
        prefix: 'r.',
        type: 'inner',
        keys: [{ left: parseExpression('key'), right: parseExpression('key'), type: 'LONG' }],
        condition: null,
        leftColumns: schemaOf(TYPES),
        rightColumns: schemaOf({ key: 'LONG' }),
      };
      try {
        const partners = new Map<bigint, number>();
        for (const each of right) if (each !== null) partners.set(each, (partners.get(each) ?? 0) + 1);
        const pairs: Plain[] = [];
        const sums = new Map<bigint, { rows: bigint; sum: bigint }>();
        for (let row = 0; row < COUNT; row++) {
          const own = key(row);
          const times = own === null || (filter !== undefined && row % 3 !== 1) ? 0 : (partners.get(own) ?? 0);
          for (let time = 0; time < times && own !== null; time++) {
            if (pairs.length < 1000) pairs.push({ row: BigInt(row), 'r.key': own });
            const { rows, sum } = sums.get(own) ?? { rows: 0n, sum: 0n };
            sums.set(own, { rows: rows + 1n, sum: sum + BigInt(row) });
          }
        }
        const found = new Map((await rowsOf(runner.run(SUMS, source))).map((each) => [each['r.key'], { rows: each.rows, sum: each.sum }]));
        assert.equal(found, sums, 'groups');
        assert.equal(await rowsOf(runner.run(scan({ limit: 500 }), source)), pairs.slice(0, 500), 'the first rows');
        const last = await rowsOf(runner.run(scan({ offset: 400, limit: 100 }), source));
        assert.equal(last, pairs.slice(400, 500), 'rows behind an offset');
      } finally {
        for (const { release } of placed) release();
        await engine.close();
      }
      assert.is(memory.allocatedBytes, 0, 'memory is given back');
    });

stretches.run();
