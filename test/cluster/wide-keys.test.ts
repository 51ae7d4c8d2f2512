import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { UploadedFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, rowsOf, sortedText } from './plain-rows.js';
import { groupOf, runnerOf, scanOf } from './running-sources.js';

/* Keys of 64 bits, some of which have a value in every row and some of which do not: groups as a result, in an order, and as the rows of another plan. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const TYPES = { far: 'LONG', holes: 'LONG', real: 'DOUBLE', gaps: 'DOUBLE' } as const;
type Name = keyof typeof TYPES;

/** Rows of two segments; only the second has nulls. */
const SEGMENTS: readonly (readonly Plain[])[] = [0, 1].map((part) =>
  Array.from({ length: 400 }, (_, row) => ({
    far: BigInt(row % 7) * 10n ** 12n - 3n,
    holes: part === 1 && row % 3 === 0 ? null : BigInt(row % 5) * -(10n ** 11n),
    real: (row % 4) - 0.5,
    gaps: part === 1 && row % 4 === 1 ? null : (row % 6) * 1.25,
  })),
);
const ORDERS: readonly (readonly Name[])[] = [
  ['far'],
  ['real'],
  ['holes'],
  ['far', 'real'],
  ['far', 'holes'],
  ['holes', 'far'],
  ['gaps', 'real', 'holes'],
  ['real', 'far', 'gaps', 'holes'],
];

function countsOf(rows: readonly Plain[], keys: readonly Name[]): Plain[] {
  const counts = new Map<string, { readonly row: Plain; count: bigint }>();
  for (const row of rows) {
    const name = keys.map((key) => String(row[key])).join();
    const found = counts.get(name) ?? { row: Object.fromEntries(keys.map((key) => [key, row[key] ?? null])), count: 0n };
    found.count++;
    counts.set(name, found);
  }
  return [...counts.values()].map(({ row, count }) => ({ ...row, rows: count }));
}

/** Most rows first, then by the keys, null before all numbers. */
function inOrder(rows: readonly Plain[], keys: readonly Name[]): Plain[] {
  const rank = (row: Plain, key: string): number => (row[key] === null ? -Infinity : Number(row[key]));
  return rows.toSorted((a, b) => {
    if (a['rows'] !== b['rows']) return rank(b, 'rows') - rank(a, 'rows');
    const key = keys.find((each) => a[each] !== b[each]);
    return key === undefined ? 0 : rank(a, key) < rank(b, key) ? -1 : 1;
  });
}

const wide = suite('keys of 64 bits');

for (const threads of [0, 2])
  for (const keys of ORDERS)
    wide(`${keys.join(', ')} on ${threads} threads`, async () => {
      const engine = createEngine({ memory, kernels: 'simd', threads, rowsRunInline: 0 });
      const held: UploadedFrame[] = [];
      const frames = SEGMENTS.map((rows) => frameOf(rows, TYPES));
      const runner = runnerOf({ engine, memory, framesOf: () => frames, held }, TYPES);
      const table = { kind: 'table', name: 'rows' } as const;
      const counted = countsOf(SEGMENTS.flat(), keys);
      try {
        assert.equal(sortedText(await rowsOf(runner.run(groupOf(keys), table))), sortedText(counted), 'groups');
        const best: Partial<GroupPlan> = {
          post: [{ step: 'sort', by: [{ column: 'rows', descending: true, nulls: 'last', ordering: 'numeric' }], offset: 0, limit: 1 }],
        };
        assert.equal(await rowsOf(runner.run(groupOf(keys, best), table)), inOrder(counted, keys).slice(0, 1), 'the best');
        const query = { kind: 'query', plan: groupOf(keys), source: table } as const;
        assert.equal(sortedText(await rowsOf(runner.run(scanOf([...keys, 'rows']), query))), sortedText(counted), 'groups read again');
        for (const key of keys) {
          const groups = countsOf(counted.map(({ rows, ...row }) => row) as Plain[], [key]);
          assert.equal(sortedText(await rowsOf(runner.run(groupOf([key]), query))), sortedText(groups), `groups of groups by ${key}`);
        }
      } finally {
        for (const { release } of held) release();
        await engine.close();
      }
      assert.is(memory.allocatedBytes, 0);
    });

wide.run();
