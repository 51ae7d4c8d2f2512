import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { compileExpression } from '../../src/expression/evaluate.js';
import { parseExpression } from '../../src/expression/parse.js';
import { convert } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame, type FrameCell, type FrameColumn } from '../../src/model/frame.js';
import { newProfile } from '../../src/model/profile.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';

/** Months between instants of two columns: over blocks as row by row, and as dates of a calendar have it. */
const months = suite('months between instants');

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const never = new AbortController().signal;

type Pair = readonly [bigint | null, bigint | null];

const DAY = 86_400_000;
const anyYear = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
/** Within a few milliseconds of the ends of months, of leap years and others. */
const endOfMonth = fc
  .tuple(
    fc.integer({ min: 1895, max: 2105 }),
    fc.integer({ min: 0, max: 11 }),
    fc.integer({ min: -4, max: 4 }),
    fc.integer({ min: -2, max: 2 }),
  )
  .map(([year, month, day, ms]) => Date.UTC(year, month, 1) + day * DAY + ms);
const extreme = fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n, 2n ** 53n - 1n, -(2n ** 53n), 1n - 2n ** 53n, 2n ** 52n, 0n);
const instant = fc.oneof(
  { weight: 4, arbitrary: endOfMonth.map(BigInt) },
  { weight: 2, arbitrary: anyYear.map(BigInt) },
  { weight: 1, arbitrary: extreme },
);
const cell = fc.option(instant, { nil: null, freq: 9 });
const pairs = fc.oneof(
  fc.array(fc.tuple(cell, cell), { minLength: 64, maxLength: 200 }),
  fc.array(fc.tuple(endOfMonth.map(BigInt), endOfMonth.map(BigInt)), { minLength: 64, maxLength: 200 }),
);

const EXPRESSIONS = [
  "subtract_months(t, u, 'UTC')",
  "subtract_months(u, t, 'Etc/UTC')",
  'subtract_months(t, u)',
  "div(subtract_months(t, u, 'UTC'), 3)",
  "div(subtract_months(t, u, 'UTC'), 12)",
  "subtract_months(t, 951782400000, 'UTC')",
  "subtract_months(951782400000, u, 'UTC')",
  "subtract_months(t, null, 'UTC')",
  "subtract_months(t + 1, u - 1, 'UTC') + subtract_months(t, t, 'UTC')",
  "nvl(subtract_months(t, u, 'UTC'), -1)",
  "if(subtract_months(t, u, 'UTC') > 11, 1, 0)",
  "subtract_months(timestamp_floor(t, 'P1D'), u, 'UTC')",
  "subtract_months(t, u, 'America/New_York')",
  "subtract_months(t, u, '+05:30')",
];

function longs(name: string, values: readonly (bigint | null)[]): FrameColumn {
  const nulls = new Uint32Array(Math.ceil(values.length / 64) * 2);
  for (const [row, value] of values.entries()) if (value === null) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
  return { kind: 'long', name, values: BigInt64Array.from(values, (value) => value ?? 0n), nulls: values.includes(null) ? nulls : null };
}

function frameOf(rows: readonly Pair[]): Frame {
  return {
    rowCount: rows.length,
    columns: [
      longs(
        '__time',
        rows.map((_, row) => BigInt(row)),
      ),
      longs(
        't',
        rows.map(([t]) => t),
      ),
      longs(
        'u',
        rows.map(([, u]) => u),
      ),
    ],
  };
}

async function column(rows: readonly Pair[], text: string, kernels: string, profile = newProfile()): Promise<FrameCell[]> {
  const { view, release } = uploadFrame(frameOf(rows), memory);
  const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels, batchRows: null, profile };
  const plan = {
    operator: 'scan',
    dataSource: 'months',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [{ name: 'v', expression: parseExpression(text), outputType: null }],
    post: [],
    columns: ['v'],
    timeOrder: null,
    offset: 0,
    limit: null,
  } as const;
  const found: FrameCell[] = [];
  try {
    for await (const frame of engine.runViews(plan, [view], options, never))
      for (let row = 0; row < frame.rowCount; row++) found.push(...frame.columns.map((each) => cellAt(each, row)));
  } finally {
    release();
  }
  return found;
}

function rowByRow(rows: readonly Pair[], text: string): FrameCell[] {
  const compute = compileExpression(parseExpression(text), (name) => (name === 't' || name === 'u' ? 'LONG' : undefined));
  return rows.map(([t, u]) =>
    convert(
      compute((name) => (name === 't' ? t : u)),
      'LONG',
    ),
  );
}

months('over blocks as row by row', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...EXPRESSIONS),
      pairs,
      fc.constantFrom('simd', 'scalar', 'reference'),
      async (text, rows, kernels) => {
        const [found, expected] = [await column(rows, text, kernels), rowByRow(rows, text)];
        const wrong = expected.findIndex((each, row) => each !== found[row]);
        if (wrong >= 0) assert.unreachable(`${text} of ${rows[wrong]}: found ${found[wrong]}, expected ${expected[wrong]}`);
        assert.is(found.length, rows.length);
      },
    ),
    { numRuns: caseCount(150) },
  ),
);

months('by the calendar', async () => {
  const at = (text: string): bigint => BigInt(Date.parse(text));
  const known: readonly (readonly [string, string, bigint])[] = [
    ['2024-01-31T00:00:00Z', '2024-02-29T00:00:00Z', 1n],
    ['2024-01-31T00:00:00.001Z', '2024-02-29T00:00:00Z', 0n],
    ['2023-01-31T12:00:00Z', '2023-02-28T12:00:00Z', 1n],
    ['2023-01-31T12:00:00Z', '2023-02-28T11:59:59.999Z', 0n],
    ['2024-02-29T00:00:00Z', '2025-02-28T00:00:00Z', 12n],
    ['2024-02-29T00:00:00Z', '2025-02-27T23:59:59Z', 11n],
    ['2024-02-29T00:00:00Z', '2023-02-28T00:00:00Z', -12n],
    ['2024-03-31T00:00:00Z', '2024-02-29T00:00:00Z', -1n],
    ['1899-12-31T23:59:59.999Z', '1900-03-01T00:00:00Z', 2n],
    ['1970-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', 0n],
    ['2000-01-15T06:00:00Z', '2400-01-15T06:00:00Z', 4800n],
    ['2000-01-15T06:00:00Z', '1600-01-15T06:00:00Z', -4800n],
  ];
  const rows = known.map(([start, end]): Pair => [at(start), at(end)]);
  for (const kernels of ['simd', 'scalar', 'reference'])
    assert.equal(
      await column(rows, "subtract_months(u, t, 'UTC')", kernels),
      known.map(([, , expected]) => expected),
    );
});

months('no row is computed by itself', async () => {
  const rows = Array.from({ length: 5000 }, (_, row): Pair => [BigInt(row) * 86_399_999n, row % 7 === 0 ? null : 1_700_000_000_000n]);
  const profile = newProfile();
  for (const unit of [1, 3, 12]) await column(rows, `div(subtract_months(u, t, 'Etc/UTC'), ${unit})`, 'simd', profile);
  assert.is(profile.valuesByRow, 0);
  await column(rows, "subtract_months(u, t, 'America/New_York')", 'simd', profile);
  assert.is(profile.valuesByRow, rows.length);
});

months.run();
