import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Interval } from '../../src/base/instant.js';
import { formatInterval } from '../../src/base/interval.js';
import { Coverage } from '../../src/cluster/broker/coverage.js';
import { ClusterView } from '../../src/cluster/broker/view.js';
import { tombstone } from '../../src/metadata/tombstones.js';
import { brokerOver, EVERYWHERE, OLD } from './broker-over.js';
import { DAY, scanPlan, segmentOf } from './fakes.js';

/** Days that are looked at. */
const DAYS = 12;
const days = (start: number, end: number): Interval => ({ start: start * DAY, end: end * DAY });

interface Told {
  readonly uncoveredIntervals: readonly string[];
  readonly uncoveredIntervalsOverflowed: boolean;
}
const told = (coverage: Coverage): Told => JSON.parse(coverage.header()['X-Svc-Response-Context'] ?? '') as Told;

/** Runs of days that are asked for and are not covered. */
function expected(asked: readonly Interval[], covered: ReadonlySet<number>): readonly string[] {
  const found: Interval[] = [];
  for (let day = 0; day < DAYS; day++) {
    const isAsked = asked.some(({ start, end }) => start <= day * DAY && end > day * DAY);
    if (!isAsked || covered.has(day)) continue;
    const last = found.at(-1);
    if (last !== undefined && last.end === day * DAY) found[found.length - 1] = { start: last.start, end: last.end + DAY };
    else found.push(days(day, day + 1));
  }
  return found.map(formatInterval);
}

const coverages = suite('uncovered intervals');

coverages('are the days that are asked for and have no segment, up to the limit', async () => {
  const day = fc.nat({ max: DAYS - 1 });
  const interval = fc.tuple(day, day).map(([a, b]) => days(Math.min(a, b), Math.max(a, b) + 1));
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(day),
      fc.uniqueArray(day),
      fc.array(interval, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 7 }),
      async (withRows, empty, asked, limit) => {
        const view = new ClusterView();
        const hidden = empty.map((each) => tombstone({ ...segmentOf('ds', each, 'v2').id }));
        await view.adopt({ revision: 1, segments: [...withRows.map((each) => segmentOf('ds', each, 'v1')), ...hidden] });
        const coverage = new Coverage(limit);
        // One that has only tombstones is no table of queries, but the days of these are known to be empty.
        const pinned = view.pin('ds')?.view;
        coverage.note(pinned, asked);
        const wanted = expected(asked, new Set([...withRows, ...empty]));
        assert.equal(told(coverage), {
          uncoveredIntervals: wanted.slice(0, limit),
          uncoveredIntervalsOverflowed: wanted.length > limit,
        });
      },
    ),
  );
});

coverages('of several tables are those that some table lacks', () => {
  const coverage = new Coverage(5);
  coverage.note(undefined, [days(0, 1)]);
  coverage.note(undefined, [days(3, 4), days(1, 2)]);
  assert.equal(told(coverage).uncoveredIntervals, [days(0, 2), days(3, 4)].map(formatInterval));
});

coverages('fit into a header, however many are asked for', () => {
  const coverage = new Coverage(100_000);
  coverage.note(
    undefined,
    Array.from({ length: 5000 }, (_, at) => days(2 * at, 2 * at + 1)),
  );
  const { uncoveredIntervals, uncoveredIntervalsOverflowed } = told(coverage);
  assert.ok(uncoveredIntervals.length > 100 && uncoveredIntervalsOverflowed);
  assert.ok((coverage.header()['X-Svc-Response-Context'] ?? '').length < 8000);
});

coverages('are told of the segments that a query is pinned to, and only where its context asks for them', async () => {
  assert.is(Coverage.of({}), undefined);
  assert.is(Coverage.of({ uncoveredIntervalsLimit: 0 }), undefined);
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: EVERYWHERE });
  const limits = { uncoveredIntervalsLimit: 3 };
  const coverage = Coverage.of(limits);
  const options = { queryId: 'q', deadlineMs: Date.now() + 60_000, priority: 0, kernels: null, signal: new AbortController().signal };
  for await (const frame of broker.run(scanPlan('ds', [days(1, 5)]), { ...options, limits, coverage })) assert.ok(frame);
  assert.equal(coverage && told(coverage), { uncoveredIntervals: [formatInterval(days(3, 5))], uncoveredIntervalsOverflowed: false });
  await broker.stop();
});

coverages.run();
