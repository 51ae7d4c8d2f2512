import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY, type Interval } from '../../src/base/instant.js';
import { allocateSegment } from '../../src/metadata/allocation.js';
import type { Queries } from '../../src/metadata/database.js';
import { locksOfTask } from '../../src/metadata/locks.js';
import { APPENDING, lockOver, publishSegments } from '../../src/metadata/publish.js';
import { selectSegments } from '../../src/metadata/segments.js';
import type { SegmentId } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import type { StreamPosition } from '../../src/model/stream/offsets.js';
import { day, openMetadata, pushed, runningTask } from './fixture.js';

type Context = Awaited<ReturnType<typeof openMetadata>>;
const allocations = suite<Context>('segments given before they are published');
allocations.before.each(async (context) => {
  Object.assign(context, await openMetadata());
});
allocations.after.each((context) => context.close());

const at = (offset: string): StreamPosition => ({ kind: 'kafka', stream: 't', offsets: new Map([['0', offset]]), exclusive: new Set() });

const lockIn = (queries: Queries, taskId: string) => async (interval: Interval) =>
  lockOver(await locksOfTask(queries, taskId), interval, APPENDING, taskId);

/** Calls for two tasks that append beside each other. */
async function appending({ database }: Context) {
  for (const id of ['a', 'b']) await runningTask(database, id, 'append', [ETERNITY]);
  let offset = 0;
  return {
    allocate: (taskId: string, sequence: string, number = 0): Promise<SegmentId> =>
      database.transaction((queries) =>
        allocateSegment(queries, { dataSource: 'ds', sequence, interval: day(number) }, lockIn(queries, taskId), 1000),
      ),
    publish: (taskId: string, sequence: string, allocated: SegmentId): Promise<readonly string[]> =>
      database.transaction((queries) =>
        publishSegments(
          queries,
          {
            taskId,
            dataSource: 'ds',
            segments: [{ ...pushed(allocated.interval), allocated }],
            mode: { kind: 'append' },
            stream: { supervisorId: sequence, sequence, start: at(`${offset}`), end: at(`${++offset}`) },
          },
          1000,
        ),
      ),
  };
}

allocations('a sequence has one segment in a chunk, whoever asks; sequences share the version of the chunk', async (context) => {
  const { allocate } = await appending(context);
  const first = await allocate('a', 'q');
  assert.equal(await allocate('b', 'q'), first);
  const second = await allocate('b', 'r');
  assert.equal(second, { ...first, partitionNumber: 1 });
  assert.is((await allocate('b', 'q', 1)).partitionNumber, 0);
});

allocations(
  'published as they were given, after others that got their numbers later, and beside appends of other tasks',
  async (context) => {
    const { allocate, publish } = await appending(context);
    const [first, second] = [await allocate('a', 'q'), await allocate('b', 'r')];
    assert.equal(await publish('b', 'r', second), [segmentIdText(second)]);
    const third = await allocate('a', 's');
    assert.equal(third, { ...first, partitionNumber: 2 });
    assert.equal(await publish('a', 'q', first), [segmentIdText(first)]);
    assert.equal(await allocate('a', 'q'), first, 'a replica that lags behind gets the same');
  },
);

allocations('a chunk that was replaced since: the segment joins the new one, and tells what it was live as', async (context) => {
  const { database } = context;
  const { allocate, publish } = await appending(context);
  const given = await allocate('a', 'q');
  await runningTask(database, 'replacing', 'replace', [day(0)]);
  await database.transaction((queries) =>
    publishSegments(
      queries,
      { taskId: 'replacing', dataSource: 'ds', segments: [pushed(day(0))], mode: { kind: 'replace', intervals: [day(0)] } },
      2000,
    ),
  );
  const [id] = await publish('a', 'q', given);
  assert.not.equal(id, segmentIdText(given));
  const used = await selectSegments(database, { dataSource: 'ds', used: true });
  assert.equal(
    used.map(({ id: { partitionNumber }, liveId }) => [partitionNumber, liveId]),
    [
      [0, undefined],
      [1, segmentIdText(given)],
    ],
  );
});

allocations('refused without a lock', async (context) => {
  const { allocate } = await appending(context);
  const code = await allocate('nobody', 'q').then(
    () => 'done',
    (error: { code?: unknown }) => error.code,
  );
  assert.is(code, 'conflict');
});

allocations.run();
