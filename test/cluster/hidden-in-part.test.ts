import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Interval } from '../../src/base/instant.js';
import { SegmentCatalog } from '../../src/cluster/coordinator/catalog.js';
import { Retention } from '../../src/cluster/coordinator/retention.js';
import { decisionOn } from '../../src/cluster/coordinator/targets.js';
import { Unneeded } from '../../src/cluster/coordinator/unneeded.js';
import type { Database } from '../../src/metadata/database.js';
import { releaseLocks } from '../../src/metadata/locks.js';
import { publishSegments } from '../../src/metadata/publish.js';
import { markUnused } from '../../src/metadata/segments.js';
import { writeRules } from '../../src/metadata/settings.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { DAY, day, openMetadata, pushed, runningTask } from '../metadata/fixture.js';

const HOUR = DAY / 24;
const NOW = 100 * DAY;

/** Publishes one segment over an interval, or none. */
async function replace(database: Database, taskId: string, interval: Interval, nowMs: number, isEmpty = false): Promise<void> {
  await runningTask(database, taskId, 'exclusive', [interval], 'ds', nowMs);
  const segments = isEmpty ? [] : [pushed(interval)];
  const request = { taskId, dataSource: 'ds', segments, mode: { kind: 'replace', intervals: [interval] } } as const;
  await database.transaction((queries) => publishSegments(queries, request, nowMs));
  await database.transaction((queries) => releaseLocks(queries, taskId));
}

const tests = suite('segments that hide parts of others');

tests('are kept by rules as long as what they hide, with rows and without', async () => {
  const { database, close } = await openMetadata();
  try {
    await replace(database, 'whole', day(0), 1000);
    await replace(database, 'hour', { start: 3 * HOUR, end: 4 * HOUR }, 2000);
    await replace(database, 'empty', { start: 5 * HOUR, end: 6 * HOUR }, 3000, true);
    // Everything that lies within the first half of the day is dropped: the day itself is not.
    const written = [
      { type: 'dropByInterval', interval: '1970-01-01T00/PT12H' },
      { type: 'loadForever', tieredReplicants: { _default_tier: 1 } },
    ];
    await database.transaction((queries) => writeRules(queries, 'ds', JSON.stringify(written), NOW));
    const catalog = new SegmentCatalog(database);
    await catalog.refresh();
    const retention = await Retention.read(database);
    const rules = { catalog, retention, nowMs: NOW };
    assert.equal(
      catalog.used('ds').map((segment) => [retention.decide(segment, NOW).kind, decisionOn(segment, rules).kind]),
      [
        ['load', 'load'],
        ['drop', 'load'],
        ['drop', 'load'],
      ],
    );
    assert.equal([...(await new Unneeded(catalog).find(retention, NOW, true))], []);
    const [whole] = catalog.used('ds');
    assert.ok(whole);
    await database.transaction((queries) => markUnused(queries, 'ds', { kind: 'ids', ids: [segmentIdText(whole.id)] }, 4000));
    await catalog.refresh();
    const left = await new Unneeded(catalog).find(retention, NOW, true);
    assert.is(left.get('ds')?.length, 2);
  } finally {
    await close();
  }
});

tests.run();
