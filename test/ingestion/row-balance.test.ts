import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { paceOf } from '../../src/ingestion/report/pace.js';
import { caseCount } from '../case-count.js';
import { run } from './run-task.js';

/** Every row of an input is stored, rolled up, filtered or rejected, as the report says. */
const DAY = 86_400_000;

type Row =
  | { readonly kind: 'good'; readonly t: number; readonly page: string; readonly n: number | 'no number' }
  | { readonly kind: 'late' | 'filtered'; readonly t: number }
  | { readonly kind: 'timeless' | 'broken' | 'list' };

const instant = fc.integer({ min: 0, max: 3 }).map((quarter) => quarter * (DAY / 4));
const row: fc.Arbitrary<Row> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('good' as const),
      t: instant,
      page: fc.constantFrom('a', 'b'),
      n: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant('no number' as const)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('late' as const, 'filtered' as const), t: instant }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('timeless' as const, 'broken' as const, 'list' as const) }) },
);

function lineOf(each: Row): string {
  switch (each.kind) {
    case 'good':
      return JSON.stringify({ t: each.t, page: each.page, n: each.n });
    case 'late':
      return JSON.stringify({ t: each.t + DAY, page: 'a', n: 1 });
    case 'filtered':
      return JSON.stringify({ t: each.t, page: 'out', n: 1 });
    case 'timeless':
      return '{"page":"a"}';
    case 'broken':
      return '{"t":';
    case 'list':
      return '[1]';
  }
}

const balance = suite('balance of rows');

balance('rows read are those stored, rolled up, filtered and rejected', async () => {
  const input = fc.record({ rows: fc.array(row, { minLength: 1, maxLength: 40 }), rollup: fc.boolean(), filters: fc.boolean() });
  const check = async ({ rows, rollup, filters }: { rows: Row[]; rollup: boolean; filters: boolean }): Promise<void> => {
    const filter = { type: 'not', field: { type: 'selector', dimension: 'page', value: 'out' } };
    const {
      outcome,
      rows: stored,
      log,
    } = await run({
      type: 'index_parallel',
      spec: {
        dataSchema: {
          dataSource: 'ds',
          timestampSpec: { column: 't', format: 'millis' },
          dimensionsSpec: { dimensions: ['page'] },
          metricsSpec: [{ type: 'longSum', name: 'n', fieldName: 'n' }],
          granularitySpec: { rollup, segmentGranularity: 'hour', intervals: ['1970-01-01/P1D'] },
          ...(filters ? { transformSpec: { filter } } : {}),
        },
        ioConfig: {
          type: 'index_parallel',
          inputSource: { type: 'inline', data: rows.map(lineOf).join('\n') },
          inputFormat: { type: 'json' },
        },
        tuningConfig: { type: 'index_parallel' },
      },
    });
    assert.is(outcome.errorMessage, null, log.join('\n'));
    const count = (...kinds: Row['kind'][]): number => rows.filter(({ kind }) => kinds.includes(kind)).length;
    const kept = rows.filter(({ kind }) => kind === 'good' || (kind === 'filtered' && !filters));
    const keys = new Set(kept.map((each) => ('t' in each ? `${each.t} ${'page' in each ? each.page : 'out'}` : '')));
    const expected = {
      read: rows.length,
      stored: rollup ? keys.size : kept.length,
      rolledUp: rollup ? kept.length - keys.size : 0,
      filtered: count('late') + (filters ? count('filtered') : 0),
      rejected: count('timeless', 'broken', 'list'),
    };
    // biome-ignore lint/suspicious/noExplicitAny: the report is compared with what it should be
    const { payload } = (outcome.report as any).ingestionStatsAndErrors;
    assert.equal(payload.rows, expected);
    assert.is(stored.length, expected.stored);
    assert.is(expected.read, expected.stored + expected.rolledUp + expected.filtered + expected.rejected);
  };
  await fc.assert(fc.asyncProperty(input, check), { numRuns: caseCount(30) });
});

const AT = { phase: 'reading', processed: 700, processedWithError: 100, thrownAway: 150, unparseable: 50 } as const;
const PACES = [
  { name: 'a quarter after a second', bytesRead: 25, bytesTotal: 100, pace: { rowsPerSecond: 1000, percent: 25, expectedEndMs: 5000 } },
  { name: 'all', bytesRead: 100, bytesTotal: 100, pace: { rowsPerSecond: 1000, percent: 100, expectedEndMs: 2000 } },
  { name: 'nothing yet', bytesRead: 0, bytesTotal: 100, pace: { rowsPerSecond: 1000, percent: 0, expectedEndMs: null } },
  { name: 'of nobody knows how much', bytesRead: 25, bytesTotal: null, pace: { rowsPerSecond: 1000, percent: null, expectedEndMs: null } },
];
for (const { name, bytesRead, bytesTotal, pace } of PACES)
  balance(`pace: ${name}`, () =>
    assert.equal(paceOf({ ...AT, startedMs: 1000, atMs: 2000, bytesRead, bytesTotal }), { rowsRead: 1000, ...pace }),
  );

balance.run();
