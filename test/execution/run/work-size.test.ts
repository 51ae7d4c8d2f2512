import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../../src/base/instant.js';
import { bucketsToFill } from '../../../src/execution/run/work-size.js';
import { type Granularity, parseGranularity } from '../../../src/model/granularity.js';
import type { PostStep } from '../../../src/model/plan.js';

const DAY = { start: Date.UTC(2024, 0, 1), end: Date.UTC(2024, 0, 2) };
const LATER = { start: Date.UTC(2024, 1, 1), end: Date.UTC(2024, 1, 3) };

const fillOf = (granularity: Granularity): PostStep[] => [{ step: 'fillBuckets', bucket: '__time', granularity }];

const sizes = suite('estimates of work');

sizes('buckets without rows count: few rows over a long time are no small plan', () => {
  for (const [granularity, intervals, expected] of [
    ['hour', [DAY], 24],
    ['minute', [DAY, LATER], 3 * 1440],
    [{ type: 'duration', duration: 1000 }, [DAY], 86_400],
    [{ type: 'period', period: 'PT30M', timeZone: 'Europe/Berlin' }, [DAY], 48],
    ['second', [], 0],
    // Rows tell: as many as there are between the first one and the last.
    ['day', [ETERNITY], Infinity],
    // Only those that rows fall into.
    ['none', [DAY], 0],
  ] as const)
    assert.is(
      bucketsToFill({ post: fillOf(parseGranularity(granularity, 'granularity')), intervals }),
      expected,
      JSON.stringify(granularity),
    );
});

sizes('of a plan that fills nothing, none', () => {
  assert.is(bucketsToFill({ post: [{ step: 'limit', offset: 0, limit: 5 }], intervals: [ETERNITY] }), 0);
});

sizes.run();
