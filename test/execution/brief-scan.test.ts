import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { BLOCK_ROWS } from '../../src/base/layout.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { mayBeBrief } from '../../src/execution/scan/brief.js';
import { InlineAttempt } from '../../src/execution/threads/inline-attempt.js';
import { ACCOUNT_OFFSET, FLAG_BYTES, type RunControl } from '../../src/execution/threads/thread-context.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { KernelSets } from '../../src/kernels/registry.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { arbitraryFilter, arbitraryPieces, COLUMNS, frameOf, VIRTUAL_COLUMNS } from './random-data.js';

const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 300_000, kernels: null, batchRows: null };
const never = new AbortController().signal;

const plan = (changes: Partial<ScanPlan>): ScanPlan => ({
  operator: 'scan',
  dataSource: 'none',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  post: [],
  columns: ['__time', 'text'],
  timeOrder: 'descending',
  offset: 0,
  limit: 10,
  ...changes,
});

async function rowsOf(frames: AsyncIterable<Frame>): Promise<FrameCell[][]> {
  const rows: FrameCell[][] = [];
  for await (const frame of frames)
    for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => cellAt(column, row)));
  return rows;
}

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const ROWS = BLOCK_ROWS * 5;
const rows = (distinct: number): Frame => ({
  rowCount: ROWS,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row)), nulls: null },
    { kind: 'long', name: 'number', values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row % 100)), nulls: null },
    {
      kind: 'string',
      name: 'text',
      ids: Uint32Array.from({ length: ROWS }, (_, row) => row % distinct),
      dictionary: Array.from({ length: distinct }, (_, id) => `text ${id}`),
    },
  ],
});

const brief = suite('brief scans');

brief('are those of few cells whose conditions are looked up', () => {
  const [few, many] = [uploadFrame(rows(50), memory), uploadFrame(rows(50_000), memory)];
  const equals: Filter = { kind: 'equals', column: 'text', type: 'STRING', value: 'text 3' };
  const like: Filter = { kind: 'like', column: 'text', pattern: '%3%', escape: null };
  const range = { kind: 'range', column: 'text', type: 'STRING', lower: '3', upper: null, lowerStrict: false, upperStrict: false } as const;
  const cases: { name: string; plan: ScanPlan; few: boolean; many: boolean }[] = [
    { name: 'no filter', plan: plan({}), few: true, many: true },
    { name: 'no limit', plan: plan({ limit: null }), few: false, many: false },
    { name: 'many rows', plan: plan({ limit: 1001 }), few: false, many: false },
    { name: 'many rows passed over', plan: plan({ offset: 1000 }), few: false, many: false },
    { name: 'a text', plan: plan({ filter: equals }), few: true, many: true },
    { name: 'texts', plan: plan({ filter: { kind: 'in', column: 'text', type: 'STRING', values: ['a', null] } }), few: true, many: true },
    { name: 'a column that is missing', plan: plan({ filter: { ...like, column: 'missing' } }), few: true, many: true },
    { name: 'a pattern', plan: plan({ filter: like }), few: true, many: false },
    { name: 'texts as numbers', plan: plan({ filter: { ...equals, type: 'LONG', value: 3 } }), few: true, many: false },
    { name: 'texts in their order', plan: plan({ filter: { ...range, ordering: 'lexicographic' } }), few: true, many: true },
    { name: 'texts in another order', plan: plan({ filter: { ...range, ordering: 'numeric' } }), few: true, many: false },
    {
      name: 'a pattern among conditions',
      plan: plan({ filter: { kind: 'not', filter: { kind: 'or', filters: [equals, like] } } }),
      few: true,
      many: false,
    },
    { name: 'a number', plan: plan({ filter: { kind: 'equals', column: 'number', type: 'LONG', value: 7 } }), few: true, many: true },
    {
      name: 'a renamed column',
      plan: plan({
        filter: { ...equals, column: 'renamed' },
        virtualColumns: [{ name: 'renamed', outputType: 'STRING', expression: { kind: 'column', name: 'text' } }],
      }),
      few: true,
      many: true,
    },
    {
      name: 'a column in another type',
      plan: plan({
        filter: { ...equals, column: 'renamed' },
        virtualColumns: [{ name: 'renamed', outputType: 'LONG', expression: { kind: 'column', name: 'text' } }],
      }),
      few: false,
      many: false,
    },
    {
      name: 'a computed column',
      plan: plan({
        virtualColumns: [
          {
            name: 'v',
            outputType: 'STRING',
            expression: { kind: 'call', function: 'upper', arguments: [{ kind: 'column', name: 'text' }] },
          },
        ],
      }),
      few: false,
      many: false,
    },
    {
      name: 'many values',
      plan: plan({
        filter: { kind: 'in', column: 'text', type: 'STRING', values: Array.from({ length: 600 }, (_, value) => `text ${value}`) },
      }),
      few: false,
      many: false,
    },
    { name: 'stages', plan: plan({ stages: [{ kind: 'filter', filter: equals }] }), few: false, many: false },
  ];
  for (const { name, plan, ...expected } of cases)
    assert.equal({ few: mayBeBrief(plan, [few.view]), many: mayBeBrief(plan, [few.view, many.view]) }, expected, name);
  assert.equal(
    [200, 201].map((segments) => mayBeBrief(plan({}), new Array(segments).fill(few.view))),
    [true, false],
    'many segments',
  );
  for (const { release } of [few, many]) release();
});

brief('leave nothing behind wherever their time is up', () => {
  const placed = uploadFrame(rows(50), memory);
  const flags = memory.allocate(FLAG_BYTES);
  memory.u8(flags, FLAG_BYTES).fill(0);
  const control: RunControl = {
    flags,
    deadlineMs: Infinity,
    kernels: 'simd',
    batchRows: BLOCK_ROWS,
    groupBytesMax: 1 << 20,
    spill: null,
    heldRowsMax: 1000,
    rows: 0,
    priority: 0,
    limits: {},
    account: { at: flags + ACCOUNT_OFFSET, bytesMax: Infinity, limit: 'none' },
  };
  const before = memory.allocatedBytes;
  // Only the first row is wanted, and it comes last.
  const filter: Filter = {
    kind: 'range',
    column: '__time',
    type: 'LONG',
    ordering: 'numeric',
    lower: null,
    upper: 0,
    lowerStrict: false,
    upperStrict: false,
  };
  const request = {
    control,
    plan: plan({ filter }),
    data: { views: [placed.view], dictionaries: {} },
    builds: {},
    ending: 'final',
  } as const;
  let looks = 0;
  const kernels = new KernelSets(memory, 'simd');
  for (let allowed = 0; ; allowed++) {
    looks = 0;
    const stream = new InlineAttempt(memory, kernels, allowed, () => looks++).scan(request);
    assert.is(memory.allocatedBytes, before, `${allowed} looks at the clock`);
    if (stream !== undefined) break;
    assert.ok(allowed < 100, 'it ends');
  }
  assert.ok(looks > 5, 'there is a look before each of the five blocks');
  memory.free(flags);
  placed.release();
  assert.is(memory.allocatedBytes, 0);
});

brief('give the rows that a thread gives, whether there is time for them or not', async () => {
  const shared = { memory, kernels: 'simd' };
  const here = createEngine({ ...shared, threads: 0 });
  const tried = [Infinity, 1e-9, 0].map((briefMs) => createEngine({ ...shared, threads: 1, rowsRunInline: 0, briefMs }));
  const arbitraryPlan = fc.record({
    filter: fc.option(arbitraryFilter, { nil: null, freq: 2 }),
    columns: fc.uniqueArray(fc.constantFrom('__time', ...COLUMNS, 'missing'), { minLength: 1, maxLength: 5 }),
    timeOrder: fc.constantFrom(null, 'ascending' as const, 'descending' as const),
    offset: fc.nat({ max: 20 }),
    limit: fc.nat({ max: 50 }),
    virtualColumns: fc.constantFrom([], VIRTUAL_COLUMNS),
  });
  try {
    await fc.assert(
      fc.asyncProperty(arbitraryPieces, arbitraryPlan, fc.constantFrom('final', 'partial'), async (pieces, changes, ending) => {
        const placed = pieces.map((each) => uploadFrame(frameOf(each), memory));
        const views = placed.map(({ view }) => view);
        try {
          const expected = await rowsOf(here.runViews(plan(changes), views, { ...options, ending }, never));
          for (const engine of tried)
            assert.equal(await rowsOf(engine.runViews(plan(changes), views, { ...options, ending }, never)), expected);
        } finally {
          for (const { release } of placed) release();
        }
        assert.is(memory.allocatedBytes, 0);
      }),
      { numRuns: 150, includeErrorInReport: true },
    );
  } finally {
    await Promise.all([here, ...tried].map((engine) => engine.close()));
  }
});

brief.run();
