import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Binding, Queries } from '../../src/metadata/database.js';
import { bumpRevision, insertSegments, segmentsChanged } from '../../src/metadata/segments.js';
import { segmentOf } from '../cluster/fakes.js';
import { openSqliteStore } from './fixture.js';

const reading = suite('segments that have changed are read by an index');

const SEGMENTS = 1000;
const ROWS_A_PART = 200;

for (const [what, after] of [
  ['all', 0],
  ['those of a later revision', 1],
] as const)
  reading(`${what}: each part is found, and nothing is sorted`, async () => {
    const { database, close } = await openSqliteStore();
    const segments = Array.from({ length: SEGMENTS }, (_, day) => segmentOf(`ds${day % 10}`, day, '2026-01-01T00:00:00.000Z'));
    // The first revision has none of them.
    await database.transaction((queries) => bumpRevision(queries));
    const revision = await database.transaction(async (queries) => {
      const made = await bumpRevision(queries);
      await insertSegments(queries, segments, 0, made);
      return made;
    });
    const plans: string[][] = [];
    const watched: Queries = {
      faults: database.faults,
      async rows<Row extends object>(sql: string, bindings: readonly Binding[] = []): Promise<readonly Row[]> {
        const steps = await database.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bindings);
        plans.push(steps.map(({ detail }) => detail));
        return database.rows<Row>(sql, bindings);
      },
    };
    let read = 0;
    for await (const part of segmentsChanged(watched, after, revision)) read += part.length;
    assert.is(read, SEGMENTS);
    // The last part is empty.
    assert.is(plans.length, SEGMENTS / ROWS_A_PART + 1);
    for (const steps of plans) {
      assert.is(steps.length, 1);
      assert.match(steps[0] ?? '', /USING INDEX segments_by_change \(\(revision,id\)>/);
    }
    await close();
  });

reading.run();
