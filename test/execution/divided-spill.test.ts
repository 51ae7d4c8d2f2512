import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Frame, FrameColumn } from '../../src/model/frame.js';
import type { GroupPlan, PostStep } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { rowsOf } from '../cluster/plain-rows.js';

/*
 * Groupings whose groups are divided by the hash of their keys, beside little memory: whatever the budget, number of keys, and how often keys
 * come again, what does not fit goes to disk, and nothing is refused that has a place to spill to.
 */

const MEGABYTE = 1_000_000;
const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const spillDirectory = mkdtempSync(path.join(tmpdir(), 'dolmen-divided-'));
/** Odd, so that different numbers are different keys. */
const SCATTER = 0x9e37_79b9_7f4a_7c15n;

/** One segment: its rows have the numbers `from + row % different`. */
interface Part {
  readonly rows: number;
  readonly from: number;
  readonly different: number;
}

interface Case {
  readonly parts: readonly Part[];
  readonly keys: number;
  readonly aggregators: number;
  readonly budgetMegabytes: number;
  readonly threads: number;
  readonly best: boolean;
}

const arbitraryPart: fc.Arbitrary<Part> = fc
  .record({
    rows: fc.integer({ min: 1000, max: 250_000 }),
    from: fc.constantFrom(0, 0, 50_000, 200_000),
    part: fc.constantFrom(1, 1, 0.9, 0.6, 0.3, 0.01),
  })
  .map(({ rows, from, part }) => ({ rows, from, different: Math.ceil(rows * part) }));

const arbitraryCase: fc.Arbitrary<Case> = fc.record({
  parts: fc.array(arbitraryPart, { minLength: 1, maxLength: 5 }),
  keys: fc.integer({ min: 1, max: 6 }),
  aggregators: fc.integer({ min: 1, max: 6 }),
  budgetMegabytes: fc.constantFrom(1, 17, 20, 24, 32, 48, 64, 96),
  threads: fc.constantFrom(0, 2),
  best: fc.boolean(),
});

const long = (name: string, values: BigInt64Array): FrameColumn => ({ kind: 'long', name, values, nulls: null });

function frameOf({ rows, from, different }: Part, keys: number): Frame {
  const numbers = Array.from({ length: rows }, (_, row) => from + (row % different));
  const scattered = BigInt64Array.from(numbers, (number) => BigInt.asIntN(64, BigInt(number) * SCATTER));
  return {
    rowCount: rows,
    columns: [
      ...Array.from({ length: keys }, (_, key) => long(`key${key}`, scattered)),
      long(
        'number',
        BigInt64Array.from(numbers, (number) => BigInt(number)),
      ),
    ],
  };
}

const BEST = 3;
const largest: PostStep = {
  step: 'sort',
  by: [{ column: 'number0', descending: true, nulls: 'last', ordering: 'numeric' }],
  offset: 0,
  limit: BEST,
};

const planOf = ({ keys, aggregators, best }: Case): GroupPlan => ({
  operator: 'group',
  dataSource: 'none',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  keys: Array.from({ length: keys }, (_, key) => ({ kind: 'column', name: `key${key}`, column: `key${key}`, type: 'LONG' }) as const),
  aggregators: [
    { kind: 'count', name: 'rows', filter: null },
    ...Array.from(
      { length: aggregators },
      (_, at) => ({ kind: 'max', name: `number${at}`, column: 'number', type: 'LONG', filter: null }) as const,
    ),
  ],
  emptyGroup: false,
  post: best ? [largest] : [],
});

const divided = suite('divided groups beside little memory');
divided.after(() => rmSync(spillDirectory, { recursive: true, force: true }));

divided('are whole, whatever there is room for', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryCase, async (drawn) => {
      const placed = drawn.parts.map((part) => uploadFrame(frameOf(part, drawn.keys), memory));
      const engine = createEngine({
        memory,
        kernels: 'simd',
        threads: drawn.threads,
        rowsRunInline: 0,
        groupBytesMax: drawn.budgetMegabytes * MEGABYTE,
        spillDirectory,
      });
      try {
        const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null, ending: 'final' } as const;
        const views = placed.map(({ view }, part) => ({ ...view, id: `segment_${part}` }));
        const found = await rowsOf(engine.runViews(planOf(drawn), views, options, new AbortController().signal));
        const counts = new Map<number, number>();
        for (const { rows, from, different } of drawn.parts)
          for (let row = 0; row < rows; row++) counts.set(from + (row % different), (counts.get(from + (row % different)) ?? 0) + 1);
        const expected = drawn.best ? [...counts.keys()].sort((a, b) => b - a).slice(0, BEST) : [...counts.keys()];
        assert.is(found.length, expected.length);
        for (const row of found) {
          const number = Number(row['number0']);
          assert.is(Number(row['rows']), counts.get(number));
          assert.is(row['key0'], BigInt.asIntN(64, BigInt(number) * SCATTER));
        }
        assert.equal(new Set(found.map((row) => Number(row['number0']))), new Set(expected));
      } finally {
        await engine.close();
        for (const { release } of placed) release();
      }
      assert.is(memory.allocatedBytes, 0);
      assert.equal(existsSync(spillDirectory) ? readdirSync(spillDirectory) : [], []);
    }),
    { numRuns: caseCount(4), includeErrorInReport: true },
  );
});

divided.run();
