import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { call, double, type Expression, long } from '../../src/model/expression.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { ColumnType } from '../../src/model/schema.js';
import type { FilterValue } from '../../src/model/value-list.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain } from '../cluster/plain-rows.js';

/* Conditions on groups keep the same ones where groups stay in kernel memory and where they become rows: NaN, infinities, zeros, nulls, texts beside numbers. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const test = suite('conditions on groups');
const DOUBLES = [Number.NaN, 1, 5, 7, Infinity, -Infinity, -0, 0, null];
const TEXTS = ['', '5', '5.0', 'NaN', 'a', 'A', null];
const ROWS: Plain[] = Array.from({ length: 1500 }, (_, row) => ({
  key: row % 11 === 3 ? null : BigInt(row) * 1_000_003n,
  text: TEXTS[row % TEXTS.length] ?? null,
  x: DOUBLES[row % DOUBLES.length] ?? null,
  n: row % 5 === 1 ? null : BigInt((row % 13) - 6),
}));
const placed = uploadFrame(frameOf(ROWS, { key: 'LONG', text: 'STRING', x: 'DOUBLE', n: 'LONG' }), memory);
test.after(async () => {
  placed.release();
  assert.is(memory.allocatedBytes, 0);
  await engine.close();
});

const PLAN: GroupPlan = {
  operator: 'group',
  dataSource: 'rows',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  keys: [
    { kind: 'column', name: 'key', column: 'key', type: 'LONG' },
    { kind: 'column', name: 'text', column: 'text', type: 'STRING' },
  ],
  aggregators: [
    { kind: 'sum', name: 'sum', column: 'x', type: 'DOUBLE', filter: null },
    { kind: 'min', name: 'least', column: 'n', type: 'LONG', filter: null },
  ],
  emptyGroup: false,
  post: [],
};
const NAMES = ['key', 'text', 'sum', 'least'];
const options = { ending: 'final', deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null } as const;
const never = new AbortController().signal;

async function collect(frames: AsyncIterable<Frame>): Promise<{ readonly rows: string[]; readonly isPlaced: boolean }> {
  const rows: string[] = [];
  let isPlaced = false;
  for await (const frame of frames) {
    isPlaced ||= frame.uploaded !== undefined;
    for (let row = 0; row < frame.rowCount && frame.uploaded === undefined; row++)
      rows.push(frame.columns.map((column) => String(cellAt(column, row))).join(' '));
  }
  return { rows: rows.sort(), isPlaced };
}

async function inMemory(plan: GroupPlan): Promise<string[]> {
  const id = engine.reserveUpload();
  const columns = NAMES.map((name) => ({ name, from: name }));
  const side = { keys: [], keysOnly: false, marked: false, bytesMax: 1 << 26, limit: 'the test', rowsMax: null, orFrames: true };
  try {
    const views = [{ ...placed.view, id: 'segment' }];
    const upload = { ...side, id, columns, subject: 'groups' };
    const { rows, isPlaced } = await collect(engine.runViews({ ...plan, upload }, views, options, never));
    if (!isPlaced) return rows;
    const scan = { operator: 'scan', dataSource: '', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] } as const;
    return (await collect(engine.runUploaded({ ...scan, columns: NAMES, timeOrder: null, offset: 0, limit: null }, [id], options, never)))
      .rows;
  } finally {
    engine.releaseUpload(id);
  }
}

function comparisons(column: string, types: readonly ColumnType[], values: readonly FilterValue[]): Filter[] {
  return types.flatMap((type) =>
    values.flatMap((value): Filter[] => {
      const range = { kind: 'range', column, type } as const;
      const bounds = [true, false].flatMap((isStrict) =>
        (['numeric', 'lexicographic'] as const).flatMap((ordering): Filter[] => [
          { ...range, lower: value, upper: null, lowerStrict: isStrict, upperStrict: false, ordering },
          { ...range, lower: null, upper: value, lowerStrict: false, upperStrict: isStrict, ordering },
        ]),
      );
      return [{ kind: 'equals', column, type, value }, { kind: 'in', column, type, values: [value, null] }, ...bounds];
    }),
  );
}

const column = (name: string): Expression => ({ kind: 'column', name });
const PLAIN: readonly Filter[] = [
  ...comparisons('sum', ['DOUBLE', 'LONG', 'FLOAT'], [5, Number.NaN, Infinity, -Infinity, 0, -0]),
  ...comparisons('least', ['LONG', 'DOUBLE'], [0n, -6n, 2n ** 60n]),
  ...comparisons('key', ['LONG'], [1_000_003n]),
  ...comparisons('text', ['LONG', 'DOUBLE'], [5n, 5]),
  ...NAMES.flatMap((name) => comparisons(name, ['STRING'], ['5', '', 'a', 'NaN', '1000003'])),
  ...NAMES.map((name): Filter => ({ kind: 'null', column: name })),
  ...NAMES.map((name): Filter => ({ kind: 'like', column: name, pattern: '5%', escape: null })),
  ...['>', '<=', '==', '!='].flatMap((operator) =>
    [
      call(operator, column('sum'), double(5)),
      call(operator, call('*', column('sum'), double(2)), column('least')),
      call(operator, column('least'), long(0)),
      call(operator, column('text'), { kind: 'literal', type: 'STRING', value: 'a' }),
    ].map((expression): Filter => ({ kind: 'expression', expression })),
  ),
];
const FILTERS: readonly Filter[] = PLAIN.flatMap((filter): Filter[] => [
  filter,
  { kind: 'not', filter },
  { kind: 'and', filters: [filter, { kind: 'not', filter: { kind: 'null', column: 'least' } }] },
]);

test(`${FILTERS.length} conditions keep the same groups`, async () => {
  let kept = 0;
  for (const filter of FILTERS) {
    const plan: GroupPlan = { ...PLAN, post: [{ step: 'filter', filter }] };
    const attempt = async (run: () => Promise<string[]>): Promise<string[]> => run().catch((error: Error) => [error.message]);
    const expected = await attempt(
      async () => (await collect(engine.runViews(plan, [{ ...placed.view, id: 'segment' }], options, never))).rows,
    );
    kept += expected.length;
    const found = await attempt(() => inMemory(plan));
    assert.equal(
      found,
      expected,
      JSON.stringify(filter, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)),
    );
  }
  assert.ok(kept > 10_000);
});

test.run();
