import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { call, type Expression, text } from '../../src/model/expression.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { DAY, openWorkbench, type Workbench } from '../storage/workbench.js';

/** Filters of the values of rows, in groups by what is left, against the lists themselves. */
const kept = suite<{ bench: Workbench }>('values that are kept');

kept.before.each((context) => {
  context.bench = openWorkbench();
});
kept.after.each(({ bench }) => bench.close());

const DICTIONARY = [null, 'a', 'b', 'bc', 'c', 'd'];
/** Lists of up to four values, among them nulls, alone and beside others. */
const LISTS = Array.from({ length: 2000 }, (_, row) =>
  Array.from({ length: (row * 7) % 5 }, (_each, place) => (row * 31 + place * 17 + (row >> 4)) % 6),
);

const FRAME: Frame = {
  rowCount: LISTS.length,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.from(LISTS, (_, row) => BigInt(DAY.start + row)), nulls: null },
    {
      kind: 'multi',
      name: 'm',
      ids: Uint32Array.from(LISTS.flat()),
      offsets: Uint32Array.from([0, ...LISTS.map((_, row) => LISTS.slice(0, row + 1).reduce((sum, list) => sum + list.length, 0))]),
      dictionary: DICTIONARY,
    },
  ],
};
const M: Expression = { kind: 'column', name: 'm' };
const ARRAY: Expression = call('array', text('b'), text('d'));

const CASES: readonly (readonly [string, Expression, (value: string | null) => boolean])[] = [
  ['only', call('mv_filter_only', M, ARRAY), (value) => value === 'b' || value === 'd'],
  ['none', call('mv_filter_none', M, ARRAY), (value) => value !== 'b' && value !== 'd'],
  ['regex', call('mv_filter_regex', M, text('^b')), (value) => value?.startsWith('b') === true],
  ['prefix', call('mv_filter_prefix', M, text('b')), (value) => value?.startsWith('b') === true],
];

for (const [name, expression, keeps] of CASES)
  kept(name, async ({ bench: { memory } }) => {
    const engine = createEngine({ kernels: 'simd', threads: 0, memory });
    const placed = uploadFrame(FRAME, memory);
    const plan: GroupPlan = {
      operator: 'group',
      dataSource: 'test',
      intervals: [ETERNITY],
      filter: null,
      virtualColumns: [{ name: 'v', expression, outputType: 'STRING' }],
      keys: [{ kind: 'column', name: 'k', column: 'v', type: 'STRING' }],
      aggregators: [{ kind: 'count', name: 'n', filter: null }],
      emptyGroup: false,
      post: [],
    };
    const options = { ending: 'final', deadlineMs: Number.MAX_SAFE_INTEGER, kernels: 'simd', batchRows: null } as const;
    const found = new Map<unknown, unknown>();
    try {
      for await (const frame of engine.runViews(plan, [placed.view], options, new AbortController().signal))
        for (let row = 0; row < frame.rowCount; row++) {
          const [key, count] = frame.columns.map((column) => cellAt(column, row));
          found.set(key, count);
        }
    } finally {
      placed.release();
      await engine.close();
    }
    const expected = new Map<unknown, unknown>();
    for (const list of LISTS) {
      const left = list.map((id) => DICTIONARY[id] ?? null).filter(keeps);
      for (const key of left.length === 0 ? [null] : left) expected.set(key, ((expected.get(key) as bigint | undefined) ?? 0n) + 1n);
    }
    const sorted = (groups: Map<unknown, unknown>): unknown[] => [...groups].sort(([a], [b]) => String(a).localeCompare(String(b)));
    assert.equal(sorted(found), sorted(expected));
  });

kept.run();
