import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stateOperations } from '../../src/execution/aggregate-state/operations.js';
import { concatFrames } from '../../src/execution/block/concat-frames.js';
import type { RunContext } from '../../src/execution/block/context.js';
import { framesOf } from '../../src/execution/block/result-table.js';
import { noCounts } from '../../src/execution/block/row-counts.js';
import { endGroups, layoutOf } from '../../src/execution/group/operator.js';
import { runMorsels } from '../../src/execution/group/run.js';
import type { GroupTableParts } from '../../src/execution/group/table/group-parts.js';
import { SpillSpace } from '../../src/execution/spill/spill-space.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import type { AggregateState } from '../../src/model/aggregate-state.js';
import { arrayText } from '../../src/model/array-text.js';
import type { Expression } from '../../src/model/expression.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { ColumnType } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';

/*
 * Grouping in stages, with a look at the cancel flag that counts: each stage looks often for the rows it handles, and
 * stopping at any look gives everything back.
 */
const ROWS = 50_000;
/** A stage that takes longer than this many rows between two looks could not be stopped in time. */
const ROWS_PER_LOOK_MAX = 1 << 14;

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const kernels = instantiateKernels('simd', memory);
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-cancel-'));

const frame: Frame = {
  rowCount: ROWS,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row)), nulls: null },
    { kind: 'long', name: 'number', values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row) * 0x1_0000_0001n), nulls: null },
    {
      kind: 'string',
      name: 'text',
      ids: Uint32Array.from({ length: ROWS }, (_, row) => row),
      dictionary: Array.from({ length: ROWS }, (_, row) => `text ${row}`),
    },
    {
      kind: 'string',
      name: 'few',
      ids: Uint32Array.from({ length: ROWS }, (_, row) => row % 50),
      dictionary: Array.from({ length: 50 }, (_, row) => `value ${row}`),
    },
  ],
};

const plan = (changes: Partial<GroupPlan>): GroupPlan => ({
  operator: 'group',
  dataSource: 'none',
  intervals: [{ start: 0, end: ROWS }],
  filter: null,
  virtualColumns: [],
  emptyGroup: false,
  keys: [],
  aggregators: [{ kind: 'count', name: 'n', filter: null }],
  post: [],
  ...changes,
});
const key = (column: string, type: 'LONG' | 'STRING') => ({ kind: 'column', name: column, column, type }) as const;
const distinct = (column: string) => ({ kind: 'distinct', name: 'different', column, filter: null }) as const;

const plans: Readonly<Record<string, GroupPlan>> = {
  'by a number': plan({ keys: [key('number', 'LONG')] }),
  'by text': plan({ keys: [key('text', 'STRING')] }),
  'computed texts': plan({
    virtualColumns: [
      {
        name: 'computed',
        expression: {
          kind: 'call',
          function: 'concat',
          arguments: [
            { kind: 'column', name: 'text' },
            { kind: 'column', name: 'few' },
          ],
        },
        outputType: 'STRING',
      },
    ],
    keys: [key('computed', 'STRING')],
  }),
  'by text, in an order': plan({
    keys: [key('text', 'STRING')],
    post: [{ step: 'sort', by: [{ column: 'text', descending: true, nulls: 'first', ordering: 'lexicographic' }], offset: 0, limit: null }],
  }),
  'different numbers': plan({ keys: [key('few', 'STRING')], aggregators: [distinct('number')] }),
  'different texts': plan({ keys: [key('few', 'STRING')], aggregators: [distinct('text')] }),
};

const listed = { listType: 'ARRAY<STRING>', finalize: null, resultType: 'ARRAY<STRING>', flattens: false, maxBytes: 1 << 28 } as const;
const literal = { kind: 'literal', type: 'ARRAY<STRING>', value: arrayText([], 'ARRAY<STRING>') } as const;
const call = (name: string, ...columns: readonly string[]): Expression => ({
  kind: 'call',
  function: name,
  arguments: columns.map((column) => ({ kind: 'column', name: column })),
});
const folded = (add: string, join: string): AggregateState => ({
  type: 'expression',
  name: 'collected',
  fields: ['text'],
  accumulator: '__acc',
  fold: call(add, '__acc', 'text'),
  combine: call(join, '__acc', 'collected'),
  initial: literal,
  initialCombine: literal,
  compare: null,
  finalize: null,
  valueType: 'ARRAY<STRING>',
  resultType: 'ARRAY<STRING>',
  foldsNulls: true,
  combinesNulls: true,
  isNullUnlessAggregated: false,
  maxBytes: 1 << 28,
});
interface Collector {
  readonly state: AggregateState;
  readonly columns: readonly string[];
  /** Type of its value; left out: DOUBLE. */
  readonly type?: ColumnType;
}

/** Collectors of every kind: one that is missing does not compile. */
const collectors: { readonly [Type in AggregateState['type']]: readonly Collector[] } = {
  first: [{ state: { type: 'first', valueType: 'STRING', maxStringBytes: 1024 }, columns: ['text', '__time'], type: 'STRING' }],
  last: [{ state: { type: 'last', valueType: 'STRING', maxStringBytes: 1024 }, columns: ['text', '__time'], type: 'STRING' }],
  // One row a group.
  single: [],
  breaksHistogram: [{ state: { type: 'breaksHistogram', breaks: [0, 10, 100] }, columns: ['number'], type: 'COMPLEX<json>' }],
  min: [{ state: { type: 'min', valueType: 'STRING' }, columns: ['text'], type: 'STRING' }],
  max: [{ state: { type: 'max', valueType: 'STRING' }, columns: ['text'], type: 'STRING' }],
  timeMin: [{ state: { type: 'timeMin' }, columns: ['__time'], type: 'STRING' }],
  timeMax: [{ state: { type: 'timeMax' }, columns: ['__time'], type: 'STRING' }],
  moments: [{ state: { type: 'moments', result: 'mean' }, columns: ['number'] }],
  exactSum: [{ state: { type: 'exactSum', result: 'DOUBLE' }, columns: ['number'] }],
  hll: [{ state: { type: 'hll', lgK: 12, target: 4, round: false, stringEncoding: 'utf16le' }, columns: ['text'] }],
  cardinality: [{ state: { type: 'cardinality', byRow: true, round: false }, columns: ['text', 'number'] }],
  theta: [{ state: { type: 'theta', size: 16384 }, columns: ['text'] }],
  quantiles: [{ state: { type: 'quantiles', k: 128 }, columns: ['number'] }],
  kll: [{ state: { type: 'kll', k: 200, valueType: 'DOUBLE' }, columns: ['number'] }],
  tuple: [{ state: { type: 'tuple', size: 4096, width: 1 }, columns: ['text', 'number'] }],
  histogram: [
    {
      state: { type: 'histogram', resolution: 50, buckets: 7, lower: null, upper: null, asBytes: false },
      columns: ['number'],
      type: 'STRING',
    },
  ],
  fixedHistogram: [
    {
      state: { type: 'fixedHistogram', shape: { lower: 0, upper: 1e9, number: 10, outliers: 'ignore' }, asBytes: false },
      columns: ['number'],
      type: 'STRING',
    },
  ],
  bloom: [{ state: { type: 'bloom', entries: 10_000 }, columns: ['text'], type: 'STRING' }],
  list: [true, false].map((distinct) => ({
    state: { type: 'list', order: [{ descending: true, nulls: 'last' }], distinct, ...listed },
    columns: ['text', 'number'],
    type: 'ARRAY<STRING>',
  })),
  expression: [folded('array_append', 'array_concat'), folded('array_set_add', 'array_set_add_all')].map((state) => ({
    state,
    columns: ['text'],
    type: 'ARRAY<STRING>',
  })),
};

interface Run {
  readonly groupBytesMax: number;
  readonly ending: 'final' | 'partial';
  /** Tables of other threads that are joined in. */
  readonly others: number;
}

const runs: Readonly<Record<string, Run>> = {
  'in memory': { groupBytesMax: 1 << 30, ending: 'final', others: 0 },
  'in memory, partial': { groupBytesMax: 1 << 30, ending: 'partial', others: 0 },
  'joined from two threads': { groupBytesMax: 1 << 30, ending: 'final', others: 1 },
  spilled: { groupBytesMax: 1 << 20, ending: 'final', others: 1 },
};

class Stopped extends Error {}

/** Runs a plan in stages, with `look` as its check. Returns the rows of the result. */
function run(groupPlan: GroupPlan, { groupBytesMax, ending, others }: Run, look: () => void): number {
  const placed = uploadFrame(frame, memory);
  const flags = memory.allocate(64);
  memory.i32(flags, 16).fill(0);
  const spill = new SpillSpace(
    { folder, directoryProperty: 'test.folder', bytesMax: 1 << 30, sortBytes: 1 << 28, heldBytes: null, used: flags },
    memory,
    0,
  );
  const context: RunContext = {
    memory,
    kernels,
    batchRows: 16384,
    groupBytesMax,
    spill,
    check: look,
    beginSegment: () => undefined,
    computed: noCounts(),
    times: undefined,
    sampled: () => context,
  };
  const parts: GroupTableParts[] = [];
  let rows = 0;
  try {
    const shape = layoutOf({ plan: groupPlan, views: [placed.view], dictionaries: {} }, context, groupBytesMax);
    const morsels = () => [{ view: 0, start: 0, end: ROWS }];
    for (let other = 0; other < others; other++) {
      const left = morsels();
      parts.push(runMorsels(shape, context, () => left.pop(), noCounts()).detach());
    }
    const left = morsels();
    const table = runMorsels(shape, context, () => left.pop(), noCounts());
    const frames = [...endGroups(table, parts.splice(0), ending, 1 << 30, noCounts(), framesOf)];
    rows = concatFrames(frames, look).rowCount;
  } finally {
    for (const { owned } of parts) for (const address of owned) memory.free(address);
    memory.free(flags);
    placed.release();
    // Whoever runs a query removes the files that failed threads have left.
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

const cancelling = suite('cancelling');

for (const [planName, groupPlan] of Object.entries(plans)) {
  for (const [runName, each] of Object.entries(runs)) {
    cancelling(`${planName}, ${runName}: looks often, and gives everything back wherever it stops`, () => {
      let looks = 0;
      const rows = run(groupPlan, each, () => void looks++);
      assert.is(memory.allocatedBytes, 0);
      const handled = ROWS * (1 + each.others) + rows;
      assert.ok(looks >= handled / ROWS_PER_LOOK_MAX, `${looks} looks for ${handled} rows`);
      for (let part = 1; part <= 4; part++) {
        const stopAt = Math.max(1, Math.floor((looks * part) / 4));
        let seen = 0;
        assert.throws(
          () =>
            run(groupPlan, each, () => {
              if (++seen >= stopAt) throw new Stopped();
            }),
          (error: unknown) => error instanceof Stopped,
        );
        assert.is(seen, stopAt, 'nobody looks again');
        assert.is(memory.allocatedBytes, 0, `stopped at look ${stopAt} of ${looks}`);
      }
    });
  }
}

for (const [type, list] of Object.entries(collectors)) {
  for (const { state, columns, type: resultType = 'DOUBLE' } of list) {
    const common = { kind: 'state', name: 'collected', filter: null, input: 'values', output: 'value' } as const;
    const aggregator = { ...common, aggregateState: state, columns, type: resultType };
    for (const keys of type === 'list' || type === 'expression' ? [[], [key('few', 'STRING')]] : [[]]) {
      const name = `${type}${'distinct' in state && state.distinct ? ' of distinct values' : ''} of ${columns.join(', ')}`;
      cancelling(
        `${name} in ${keys.length === 0 ? 'one group' : '50 groups'}: looks often, and goes no further when it is stopped halfway`,
        () => {
          const groupPlan = plan({ keys, aggregators: [aggregator] });
          const inMemory = { groupBytesMax: 1 << 30, ending: 'final', others: 0 } as const;
          let looks = 0;
          run(groupPlan, inMemory, () => void looks++);
          assert.ok(looks >= ROWS / ROWS_PER_LOOK_MAX, `${looks} looks for ${ROWS} rows`);
          const stopAt = Math.ceil(looks / 2);
          let seen = 0;
          const stop = (): void => {
            if (++seen >= stopAt) throw new Stopped();
          };
          assert.throws(
            () => run(groupPlan, inMemory, stop),
            (error: unknown) => error instanceof Stopped,
          );
          assert.is(seen, stopAt, 'nobody looks again');
          assert.is(memory.allocatedBytes, 0);
        },
      );
    }
  }
}

cancelling('a list is sorted with looks in between', () => {
  const states = stateOperations({ type: 'list', order: [{ descending: false, nulls: 'first' }], distinct: false, ...listed });
  const state = states.create();
  for (let row = 0; row < ROWS; row++) states.addRow?.(state, [`text ${row}`, (row * 7919) % ROWS]);
  let looks = 0;
  states.value(state, () => void looks++);
  // Sorting n values in no order takes about n log2(n) comparisons.
  assert.ok(looks >= (ROWS * (Math.log2(ROWS) - 4)) / ROWS_PER_LOOK_MAX, `${looks} looks`);
  looks = 0;
  assert.throws(
    () =>
      states.value(state, () => {
        if (++looks === 5) throw new Stopped();
      }),
    (error: unknown) => error instanceof Stopped,
  );
  assert.is(looks, 5);
});

cancelling.run();
