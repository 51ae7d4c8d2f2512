import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Interval } from '../../src/base/instant.js';
import type { Database, Queries } from '../../src/metadata/database.js';
import { releaseLocks } from '../../src/metadata/locks.js';
import { publishSegments, segmentsToRead, visibleSegments } from '../../src/metadata/publish.js';
import { currentRevision, deleteUnused, markUnused, markUsed, selectSegments } from '../../src/metadata/segments.js';
import { finishTask } from '../../src/metadata/tasks.js';
import type { PublishRequest } from '../../src/model/publication.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { DAY, day, openMetadata, pushed, runningTask } from './fixture.js';

type Context = Awaited<ReturnType<typeof openMetadata>>;
const publish = suite<Context>('publish');
publish.before.each(async (context) => {
  Object.assign(context, await openMetadata());
});
publish.after.each((context) => context.close());

async function replace(
  database: Database,
  taskId: string,
  intervals: readonly Interval[],
  chunks: readonly Interval[],
  nowMs: number,
): Promise<readonly string[]> {
  await runningTask(database, taskId, 'exclusive', intervals, 'ds', nowMs);
  const request: PublishRequest = {
    taskId,
    dataSource: 'ds',
    segments: chunks.map((chunk) => pushed(chunk)),
    mode: { kind: 'replace', intervals },
  };
  const ids = await database.transaction((queries) => publishSegments(queries, request, nowMs));
  await database.transaction((queries) => releaseLocks(queries, taskId));
  return ids;
}

async function append(database: Database, taskId: string, chunks: readonly Interval[], nowMs: number): Promise<readonly string[]> {
  await runningTask(database, taskId, 'shared', [{ start: -100 * DAY, end: 100 * DAY }], 'ds', nowMs);
  const request: PublishRequest = { taskId, dataSource: 'ds', segments: chunks.map((chunk) => pushed(chunk)), mode: { kind: 'append' } };
  const ids = await database.transaction((queries) => publishSegments(queries, request, nowMs));
  await database.transaction((queries) => releaseLocks(queries, taskId));
  return ids;
}

const usedIds = async (queries: Queries): Promise<readonly string[]> =>
  (await selectSegments(queries, { dataSource: 'ds', used: true })).map((each) => segmentIdText(each.id));

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return 'nothing was thrown';
}

publish('a replace takes the version of its lock and counts partitions from 0 in each chunk', async ({ database }) => {
  const ids = await replace(database, 'first', [day(0), day(1)], [day(0), day(0), day(1)], 5000);
  const version = '1970-01-01T00:00:05.000Z';
  assert.equal(ids, [
    `ds_1970-01-01T00:00:00.000Z_1970-01-02T00:00:00.000Z_${version}`,
    `ds_1970-01-01T00:00:00.000Z_1970-01-02T00:00:00.000Z_${version}_1`,
    `ds_1970-01-02T00:00:00.000Z_1970-01-03T00:00:00.000Z_${version}`,
  ]);
  const segments = await selectSegments(database, { dataSource: 'ds' });
  assert.equal(
    segments.map((each) => each.shardSpec.partitions),
    [2, 2, 1],
  );
});

publish('a replace makes everything inside its intervals unused, also where it brings nothing', async ({ database }) => {
  await replace(database, 'old', [day(0), day(1), day(2)], [day(0), day(1), day(2)], 1000);
  const ids = await replace(database, 'new', [{ start: 0, end: 2 * DAY }], [day(1)], 2000);
  assert.equal((await usedIds(database)).length, 2);
  assert.ok((await usedIds(database)).includes(ids[0] ?? ''));
  assert.is((await selectSegments(database, { dataSource: 'ds', used: false })).length, 2);
});

publish('a replace of a part of a segment hides that part, where it writes rows and where it writes none', async ({ database }) => {
  const [whole = ''] = await replace(database, 'old', [{ start: 0, end: 4 * DAY }], [{ start: 0, end: 4 * DAY }], 1000);
  const ids = await replace(database, 'new', [{ start: DAY, end: 3 * DAY }], [day(1)], 2000);
  assert.equal(ids, [
    'ds_1970-01-02T00:00:00.000Z_1970-01-03T00:00:00.000Z_1970-01-01T00:00:02.000Z',
    'ds_1970-01-03T00:00:00.000Z_1970-01-04T00:00:00.000Z_1970-01-01T00:00:02.000Z',
  ]);
  assert.equal(await usedIds(database), [whole, ...ids]);
  assert.equal(
    (await visibleSegments(database, 'ds', [{ start: 0, end: 4 * DAY }])).map(({ segment, visible }) => [segment.shardSpec.type, visible]),
    [
      ['numbered', [day(0), day(3)]],
      ['numbered', [day(1)]],
      ['tombstone', [day(2)]],
    ],
  );
  assert.is((await segmentsToRead(database, 'ds', [{ start: 0, end: 4 * DAY }])).length, 2);
});

publish('a tombstone makes way for the next replace, takes appended segments along, and leaves no file behind', async ({ database }) => {
  await replace(database, 'old', [day(0)], [day(0)], 1000);
  const hours = { start: 0, end: DAY / 2 };
  const [hidden = ''] = await replace(database, 'hide', [hours], [], 2000);
  const [appended = ''] = await append(database, 'more', [hours], 3000);
  assert.is(appended, `${hidden}_1`);
  const replaced = await replace(database, 'again', [hours], [hours], 4000);
  assert.equal((await usedIds(database)).slice(-1), replaced);
  assert.is((await usedIds(database)).length, 2);
  const removed = await database.transaction((queries) => deleteUnused(queries, { dataSource: 'ds', interval: day(0) }, 10));
  assert.equal([removed.count, removed.files.length], [2, 1]);
});

publish('a segment across two adjacent replaced intervals is not cut', async ({ database }) => {
  await replace(database, 'old', [{ start: 0, end: 2 * DAY }], [{ start: 0, end: 2 * DAY }], 1000);
  await runningTask(database, 'new', 'exclusive', [{ start: 0, end: 2 * DAY }], 'ds', 2000);
  const request: PublishRequest = {
    taskId: 'new',
    dataSource: 'ds',
    segments: [pushed(day(0))],
    mode: { kind: 'replace', intervals: [day(1), day(0)] },
  };
  const ids = await database.transaction((queries) => publishSegments(queries, request, 2000));
  assert.equal(await usedIds(database), ids);
});

publish('a replace leaves what lies between its intervals', async ({ database }) => {
  const days = Array.from({ length: 9 }, (_, at) => day(at));
  const even = days.filter((_, at) => at % 2 === 0);
  const old = await replace(database, 'old', days, days, 1000);
  const made = await replace(database, 'new', even, even, 9000);
  assert.equal(await usedIds(database), [...old.filter((_, at) => at % 2 === 1), ...made].sort());
});

publish('a replace of many chunks with gaps between takes few statements', async ({ database }) => {
  const CHUNKS = 2000;
  const chunks = Array.from({ length: CHUNKS }, (_, at) => ({ start: 2 * at * 3_600_000, end: (2 * at + 1) * 3_600_000 }));
  const all = { start: 0, end: 2 * CHUNKS * 3_600_000 };
  await runningTask(database, 'many', 'exclusive', [all], 'ds', 1000);
  let statements = 0;
  const segments = chunks.map((chunk) => pushed(chunk));
  const ids = await database.transaction((queries) => {
    const counted: Queries = {
      faults: queries.faults,
      rows(sql, bindings) {
        statements++;
        return queries.rows(sql, bindings);
      },
    };
    return publishSegments(counted, { taskId: 'many', dataSource: 'ds', segments, mode: { kind: 'replace', intervals: chunks } }, 1000);
  });
  assert.is(ids.length, CHUNKS);
  assert.ok(statements < 50, `${statements} statements`);
});

publish('an append joins the visible chunk: same version, next number, not part of the core', async ({ database }) => {
  await replace(database, 'old', [day(0)], [day(0), day(0)], 1000);
  const [id] = await append(database, 'more', [day(0)], 9000);
  assert.is(id, 'ds_1970-01-01T00:00:00.000Z_1970-01-02T00:00:00.000Z_1970-01-01T00:00:01.000Z_2');
  const appended = (await selectSegments(database, { dataSource: 'ds' })).find((each) => each.id.partitionNumber === 2);
  assert.is(appended?.shardSpec.partitions, 2);
});

publish('an append to an empty chunk opens it at the version of its lock, and the next one joins it', async ({ database }) => {
  const first = await append(database, 'a', [day(0)], 1000);
  const second = await append(database, 'b', [day(0)], 2000);
  assert.equal(
    [first, second],
    [
      ['ds_1970-01-01T00:00:00.000Z_1970-01-02T00:00:00.000Z_1970-01-01T00:00:01.000Z'],
      ['ds_1970-01-01T00:00:00.000Z_1970-01-02T00:00:00.000Z_1970-01-01T00:00:01.000Z_1'],
    ],
  );
});

publish('an append never takes the number of a segment that was marked unused', async ({ database }) => {
  await replace(database, 'old', [day(0)], [day(0)], 1000);
  const [second = ''] = await append(database, 'b', [day(0)], 2000);
  await database.transaction((queries) => markUnused(queries, 'ds', { kind: 'ids', ids: [second] }, 3000));
  const [third = ''] = await append(database, 'c', [day(0)], 4000);
  assert.ok(third.endsWith('_2'), third);
});

publish('an append never takes the number of a segment that was removed for good', async ({ database }) => {
  await replace(database, 'old', [day(0)], [day(0)], 1000);
  const [second = ''] = await append(database, 'b', [day(0)], 2000);
  const selection = { dataSource: 'ds', interval: day(0) };
  await database.transaction((queries) => markUnused(queries, 'ds', { kind: 'ids', ids: [second] }, 3000));
  await database.transaction((queries) => deleteUnused(queries, selection, 10));
  const [third = ''] = await append(database, 'c', [day(0)], 4000);
  assert.ok(third.endsWith('_2'), third);
  // Nothing is noted of a chunk that is gone as a whole.
  await database.transaction((queries) => markUnused(queries, 'ds', { kind: 'all' }, 5000));
  await database.transaction((queries) => deleteUnused(queries, selection, 10));
  assert.equal(await database.rows('SELECT * FROM killed_partitions'), []);
});

publish('a finer append joins the coarser chunk; a coarser one over finer chunks is a conflict', async ({ database }) => {
  await replace(database, 'old', [day(0), day(1)], [day(0), day(1)], 1000);
  const [id = ''] = await append(database, 'hour', [{ start: DAY / 2, end: DAY / 2 + 3_600_000 }], 2000);
  assert.is(id, 'ds_1970-01-01T00:00:00.000Z_1970-01-02T00:00:00.000Z_1970-01-01T00:00:01.000Z_1');
  assert.is(await codeOf(append(database, 'month', [{ start: 0, end: 30 * DAY }], 3000)), 'conflict');
});

publish(
  'repeating a publish gives the same ids and stores nothing twice; another publish of the task is a conflict',
  async ({ database }) => {
    await runningTask(database, 'task', 'shared', [day(0)]);
    const request: PublishRequest = { taskId: 'task', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'append' } };
    const first = await database.transaction((queries) => publishSegments(queries, request, 1000));
    const revision = await currentRevision(database);
    assert.equal(await database.transaction((queries) => publishSegments(queries, request, 2000)), first);
    assert.is(await currentRevision(database), revision);
    assert.is(
      await codeOf(database.transaction((queries) => publishSegments(queries, { ...request, segments: [pushed(day(0))] }, 3000))),
      'conflict',
    );
    assert.is((await usedIds(database)).length, 1);
  },
);

publish('only a running task that holds the right lock may publish', async ({ database }) => {
  await runningTask(database, 'shared', 'shared', [day(0)]);
  const request: PublishRequest = {
    taskId: 'shared',
    dataSource: 'ds',
    segments: [pushed(day(0))],
    mode: { kind: 'replace', intervals: [day(0)] },
  };
  assert.is(await codeOf(database.transaction((queries) => publishSegments(queries, request, 1))), 'conflict');
  const outside: PublishRequest = { taskId: 'shared', dataSource: 'ds', segments: [pushed(day(1))], mode: { kind: 'append' } };
  assert.is(await codeOf(database.transaction((queries) => publishSegments(queries, outside, 1))), 'conflict');
  await database.transaction((queries) => finishTask(queries, 'shared', { succeeded: false, error: 'shut down', report: null }, 2));
  const late: PublishRequest = { taskId: 'shared', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'append' } };
  assert.is(await codeOf(database.transaction((queries) => publishSegments(queries, late, 3))), 'conflict');
  assert.equal(await usedIds(database), []);
});

publish('a publish that breaks off after any of its statements leaves everything as it was', async ({ database, open }) => {
  await replace(database, 'old', [day(0), day(1), day(2)], [day(0), day(1), day(2)], 1000);
  await runningTask(database, 'new', 'exclusive', [{ start: 0, end: 3 * DAY }], 'ds', 2000);
  const request: PublishRequest = {
    taskId: 'new',
    dataSource: 'ds',
    segments: [pushed(day(0)), pushed(day(1)), pushed(day(2))],
    mode: { kind: 'replace', intervals: [{ start: 0, end: 3 * DAY }] },
  };
  const before = [await usedIds(database), await currentRevision(database)];
  let breakAfter = 0;
  for (let finished = false; !finished; breakAfter++) {
    try {
      await database.transaction((queries) => publishSegments(breaking(queries, breakAfter), request, 3000));
      finished = true;
    } catch (error) {
      assert.is((error as Error).message, 'broken off');
      // Also for another process that reads the file.
      const other = await open();
      assert.equal([await usedIds(other), await currentRevision(other)], before, `after ${breakAfter} statements`);
      await other.close();
    }
  }
  assert.ok(breakAfter > 6, `only ${breakAfter} statements were seen`);
  const after = await selectSegments(database, { dataSource: 'ds', used: true });
  assert.equal(
    after.map((each) => each.id.version),
    Array(3).fill('1970-01-01T00:00:02.000Z'),
  );
});

/** Queries that throw after so many statements. */
function breaking(queries: Queries, after: number): Queries {
  let count = 0;
  return {
    faults: queries.faults,
    async rows(sql, bindings) {
      if (count++ === after) throw new Error('broken off');
      return queries.rows(sql, bindings);
    },
  };
}

publish('marking used skips what a newer used version hides, and counts what changed', async ({ database }) => {
  await replace(database, 'old', [day(0), day(1)], [day(0), day(1)], 1000);
  await replace(database, 'new', [day(0)], [day(0)], 2000);
  const revision = await currentRevision(database);
  assert.is(await database.transaction((queries) => markUsed(queries, 'ds', { kind: 'all' }, 3000)), 0);
  assert.is(await database.transaction((queries) => markUnused(queries, 'ds', { kind: 'within', interval: day(1) }, 3000)), 1);
  assert.is(await database.transaction((queries) => markUsed(queries, 'ds', { kind: 'within', interval: day(1) }, 3000)), 1);
  assert.is(await database.transaction((queries) => markUnused(queries, 'ds', { kind: 'ids', ids: ['unknown'] }, 3000)), 0);
  assert.ok((await currentRevision(database)) >= revision + 2);
});

publish('segments that were replaced by nothing come back by their ids only', async ({ database }) => {
  const [first = ''] = await replace(database, 'first', [day(0), day(1)], [day(0), day(1)], 5000);
  await replace(database, 'second', [day(0), day(1)], [day(1)], 6000);
  const after = await usedIds(database);
  assert.is(after.length, 1);
  assert.is(await database.transaction((queries) => markUsed(queries, 'ds', { kind: 'all' }, 7000)), 0);
  assert.is(await database.transaction((queries) => markUsed(queries, 'ds', { kind: 'within', interval: day(0) }, 7000)), 0);
  assert.equal(await usedIds(database), after);
  assert.is(await database.transaction((queries) => markUsed(queries, 'ds', { kind: 'ids', ids: [first] }, 7000)), 1);
  assert.equal(await usedIds(database), [first, ...after]);
});

publish('nothing is published of segments that are not used any more', async ({ database }) => {
  const ids = await replace(database, 'first', [day(0)], [day(0), day(0)], 5000);
  await runningTask(database, 'second', 'exclusive', [day(0)], 'ds', 6000);
  const request: PublishRequest = {
    taskId: 'second',
    dataSource: 'ds',
    segments: [pushed(day(0))],
    mode: { kind: 'replace', intervals: [day(0)] },
    inputs: ids,
  };
  await database.transaction((queries) => markUnused(queries, 'ds', { kind: 'ids', ids: ids.slice(1) }, 6500));
  assert.is(await codeOf(database.transaction((queries) => publishSegments(queries, request, 7000))), 'conflict');
  await database.transaction((queries) => markUsed(queries, 'ds', { kind: 'ids', ids }, 7500));
  assert.is(await codeOf(database.transaction((queries) => publishSegments(queries, request, 8000))), 'nothing was thrown');
});

publish('visible segments, and their visible parts', async ({ database }) => {
  await replace(database, 'first', [day(0), day(1), day(2)], [day(0), day(1), day(2)], 5000);
  const all = { start: 0, end: 2 * DAY };
  assert.equal(
    (await visibleSegments(database, 'ds', [all])).map(({ segment, visible }) => [segment.id.interval, visible]),
    [
      [day(0), [day(0)]],
      [day(1), [day(1)]],
    ],
  );
  assert.equal((await visibleSegments(database, 'ds', [{ start: DAY / 2, end: DAY * 1.5 }, day(0)])).length, 2);
  await database.rows("UPDATE segments SET payload = '{' WHERE start_ms = 0");
  assert.is(await codeOf(visibleSegments(database, 'ds', [all])), 'segments_unavailable');
  assert.equal((await visibleSegments(database, 'ds', [day(2)])).length, 1);
});

publish('a task that says what it read replaces nothing else', async ({ database }) => {
  const [first = '', second = ''] = await replace(database, 'old', [day(0)], [day(0), day(0)], 1000);
  await append(database, 'more', [day(0)], 1500);
  const all = await usedIds(database);
  await runningTask(database, 'new', 'exclusive', [day(0)], 'ds', 2000);
  const attempt = (inputs: readonly string[]) =>
    database.transaction((queries) =>
      publishSegments(
        queries,
        { taskId: 'new', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'replace', intervals: [day(0)] }, inputs },
        2000,
      ),
    );
  // The appended one was not read.
  assert.is(await codeOf(attempt([first, second])), 'conflict');
  // A part of a chunk that is not complete is hidden by nothing.
  await database.transaction((queries) => markUnused(queries, 'ds', { kind: 'ids', ids: [second] }, 1800));
  assert.is(await codeOf(attempt(all.filter((id) => id !== second && id !== first))), 'conflict');
  assert.is((await attempt(all.filter((id) => id !== second))).length, 1);
});

publish.run();
