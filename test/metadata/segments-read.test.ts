import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Binding, Queries } from '../../src/metadata/database.js';
import { bumpRevision, insertSegments, segmentsChanged } from '../../src/metadata/segments.js';
import { segmentIdText } from '../../src/model/segment-id.js';
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

reading('documents of versions that counted different values in the columns are read, what are no counts is set aside', async () => {
  const { database, close } = await openSqliteStore();
  const column = (name: string) => ({ name, type: 'STRING', multiValue: false, hasNulls: false }) as const;
  const columns = [column('__time'), column('a'), column('b')];
  const documents: readonly (readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>> | undefined])[] = [
    [{ columns }, { columns }],
    [{ columns: [columns[0], { ...columns[1], distinctCount: 7 }, columns[2]] }, { columns, distinctCounts: [-1, 7, -1] }],
    [
      { columns, distinctCounts: [-1, 0, 3] },
      { columns, distinctCounts: [-1, 0, 3] },
    ],
    ...[[1, 2], [1, 2, -2], [1, 2, 2 ** 31], [1, 2, 0.5], [1, 2, '3'], {}, 'x', null].map(
      (distinctCounts) => [{ columns, distinctCounts }, undefined] as const,
    ),
  ];
  await database.transaction(async (queries) => {
    const segments = documents.map(([document], day) => ({ ...segmentOf('ds', day, 'v'), ...document }));
    await insertSegments(queries, segments as never, 0, await bumpRevision(queries));
  });
  const read = new Map<string, unknown>();
  for await (const part of segmentsChanged(database, 0, 1)) for (const { id, segment } of part) read.set(id, segment);
  for (const [day, [, expected]] of documents.entries()) {
    const segment = segmentOf('ds', day, 'v');
    assert.equal(read.get(segmentIdText(segment.id)), expected === undefined ? undefined : { ...segment, ...expected });
  }
  assert.is(database.faults.list().length, 8);
  await close();
});

reading.run();
