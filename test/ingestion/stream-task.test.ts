import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { PublishRequest } from '../../src/ingestion/contract.js';
import { OffsetsGone } from '../../src/ingestion/stream/stream-reader.js';
import type { CheckpointRequest, OffsetsLost } from '../../src/model/stream/control.js';
import { caseCount } from '../case-count.js';
import { FakeStream, SKIPPED } from './fake-stream.js';
import { taskContext } from './run-task.js';
import { begin, bounds, DAY, message, numbersOf, type Options, reading, type Task, until } from './stream-task-run.js';

const tasks = suite('streaming tasks');

tasks('rows from one offset to another are published with the offsets, whatever lies between them', async () => {
  const stream = new FakeStream(2);
  stream.send(0, message(0), SKIPPED, message(2), null, '', message(5, DAY), 'no JSON', message(7), message(8));
  stream.send(1, `${message(100)}\n${message(101)}`, SKIPPED, SKIPPED);
  const read = reading();
  const task = begin(stream, {
    starts: { 0: '2' },
    ends: { 0: '8', 1: '3' },
    tuning: { maxSavedParseExceptions: 5 },
    context: read.context,
  });
  const { succeeded, report, errorMessage } = await task.outcome;
  assert.is(errorMessage, null);
  assert.ok(succeeded);
  assert.equal(
    read.numbers.sort((a, b) => a - b),
    [2, 5, 7, 100, 101],
  );
  assert.equal(read.published.map(bounds), [['base_0', { 0: '2', 1: '0' }, { 0: '8', 1: '3' }]]);
  assert.equal(
    read.published[0]?.segments.map(({ allocated, rowCount }) => [allocated?.interval.start, rowCount]),
    [
      [0, 4],
      [DAY, 1],
    ],
  );
  const payload = (report as { ingestionStatsAndErrors: { payload: { rowStats: { buildSegments: object }; rows: object } } })
    .ingestionStatsAndErrors.payload;
  const { processed, thrownAway, unparseable } = payload.rowStats.buildSegments as Record<string, number>;
  assert.equal([processed, thrownAway, unparseable], [5, 1, 2]);
  assert.equal(payload.rows, { read: 8, stored: 5, rolledUp: 0, filtered: 1, rejected: 2 });
});

tasks('rows are read from the first one on; a pause holds them, and ends set then are where sequences end', async () => {
  const stream = new FakeStream(2);
  const read = reading();
  const task = begin(stream, { context: read.context });
  stream.send(0, message(1), message(2));
  await until(async () => (await task.chat('GET', 'status')) === 'READING' && (await task.count()) === 2);
  assert.equal({ ...((await task.chat('POST', 'pause')) as object) }, { 0: 2, 1: 0 });
  assert.is(await task.chat('GET', 'status'), 'PAUSED');
  stream.send(0, message(3), message(4));
  stream.send(1, message(10), message(11));
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.is(await task.count(), 2);
  const refused = await task.chat('POST', 'offsets/end', { 0: 1 }).catch((error: { code?: unknown }) => error.code);
  assert.is(refused, 'input_invalid');
  await task.chat('POST', 'offsets/end', { 0: 3, 1: 1 }, { finish: 'false' });
  await until(() => read.published.length === 1);
  assert.equal(read.published.map(bounds), [['base_0', { 0: '0', 1: '0' }, { 0: '3', 1: '1' }]]);
  await until(async () => JSON.stringify(await task.chat('GET', 'offsets/current')) === '{"0":4,"1":2}');
  await until(async () => JSON.stringify(await task.chat('GET', 'checkpoints')) === '{"1":{"0":3,"1":1}}');
  await task.chat('POST', 'pause');
  await task.chat('POST', 'offsets/end', { 0: 4, 1: 2 }, { finish: 'true' });
  assert.ok((await task.outcome).succeeded);
  assert.equal(read.published.map(bounds)[1], ['base_1', { 0: '3', 1: '1' }, { 0: '4', 1: '2' }]);
  assert.equal(
    read.numbers.sort((a, b) => a - b),
    [1, 2, 3, 4, 10, 11],
  );
  const late = await task.chat('POST', 'pause').catch((error: { code?: unknown }) => error.code);
  assert.is(late, 'conflict');
});

tasks('rows enough for a sequence: the supervisor is asked once to end it; without one it ends where it is', async () => {
  const stream = new FakeStream(1);
  const read = reading();
  const task = begin(stream, { tuning: { maxRowsPerSegment: 3 }, context: read.context });
  for (let n = 0; n < 20; n++) {
    stream.send(0, message(n));
    await task.chat('GET', 'status');
  }
  await until(async () => (await task.count()) === 20);
  await until(() => task.asked.length > 0);
  stream.send(0, message(20));
  await until(async () => (await task.count()) === 21);
  assert.is(task.asked.length, 1);
  assert.equal(Object.fromEntries(task.asked[0]?.start.offsets ?? []), { 0: '0' });
  await task.chat('POST', 'stop');
  assert.ok((await task.outcome).succeeded);
  assert.equal(read.published, [], 'what no sequence has ended with is left to the next task');

  const alone = reading();
  const nobody = {
    checkpoint: async (): Promise<never> => {
      throw new ServiceError('not_found', 'no supervisor');
    },
    offsetsLost: async () => undefined,
  };
  const other = begin(stream, { tuning: { maxTotalRows: 1 }, ends: { 0: '21' }, context: { ...alone.context, stream: nobody } });
  await other.outcome;
  assert.equal(
    alone.numbers.sort((a, b) => a - b),
    Array.from({ length: 21 }, (_, n) => n),
  );
});

tasks('sequences that a supervisor knows of are read and published one by one', async () => {
  const stream = new FakeStream(1);
  stream.send(0, ...Array.from({ length: 9 }, (_, n) => message(n)));
  const read = reading();
  const task = begin(stream, { ends: { 0: '9' }, checkpoints: { 2: { 0: 1 }, 3: { 0: 4 } }, starts: { 0: '1' }, context: read.context });
  assert.ok((await task.outcome).succeeded);
  assert.equal(read.published.map(bounds), [
    ['base_2', { 0: '1' }, { 0: '4' }],
    ['base_3', { 0: '4' }, { 0: '9' }],
  ]);
});

tasks('each sequence has files of its own: those published before stay as they are', async () => {
  const stream = new FakeStream(1);
  for (let n = 0; n < 9; n++) stream.send(0, message(n));
  const published: PublishRequest[] = [];
  const found: unknown[] = [];
  const task = begin(stream, {
    ends: { 0: '9' },
    checkpoints: { 0: { 0: 0 }, 1: { 0: 5 }, 2: { 0: 8 } },
    context: {
      segments: {
        served: async () => true,
        seen: async () => undefined,
        // The Overlord gives each sequence a segment of its own.
        allocate: async ({ dataSource, interval, sequence }) => ({ dataSource, interval, version: sequence, partitionNumber: 0 }),
      },
      async publish(request) {
        published.push(request);
        found.push(await numbersOf(published));
        return request.segments.map(() => 'published');
      },
    },
  });
  assert.is((await task.outcome).errorMessage, null);
  assert.equal(found, [
    [0, 1, 2, 3, 4],
    [0, 1, 2, 3, 4, 5, 6, 7],
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
  ]);
});

tasks('replicas make equal segments, however their records come', async () => {
  const files = async (pollRows: number, maxRowsInMemory: number): Promise<readonly Buffer[]> => {
    const stream = new FakeStream(1);
    stream.pollRows = pollRows;
    for (let n = 0; n < 500; n++) stream.send(0, message(n % 7, (n * 37) % (2 * DAY)));
    const made: Buffer[] = [];
    const task = begin(stream, {
      ends: { 0: '500' },
      tuning: { maxRowsInMemory },
      context: {
        async publish({ segments }) {
          for (const { loadSpec } of segments) made.push(readFileSync(loadSpec.path));
          return segments.map(() => 'published');
        },
      },
    });
    const { errorMessage } = await task.outcome;
    assert.is(errorMessage, null);
    return made;
  };
  const [whole, pieces] = [await files(1000, 1000), await files(7, 40)];
  assert.ok(whole.length > 0);
  assert.equal(
    pieces.map((bytes, at) => bytes.equals(whole[at] ?? Buffer.alloc(0))),
    whole.map(() => true),
  );
});

const refusals: readonly {
  readonly name: string;
  readonly options: Options;
  readonly numbers?: readonly number[];
  readonly error?: RegExp;
}[] = [
  { name: 'late messages are thrown away', options: { io: { minimumMessageTime: '1970-01-01T00:00:00.005Z' } }, numbers: [5, 6, 7, 8, 9] },
  { name: 'early messages are thrown away', options: { io: { maximumMessageTime: '1970-01-01T00:00:00.002Z' } }, numbers: [0, 1] },
  { name: 'a task is not run a second time', options: { context: { attempt: 2 } }, error: /its supervisor replaces it/ },
];
for (const { name, options, numbers, error } of refusals)
  tasks(name, async () => {
    const stream = new FakeStream(1);
    stream.send(0, ...Array.from({ length: 10 }, (_, n) => message(n)));
    const read = reading();
    const task = begin(stream, { ends: { 0: '10' }, ...options, context: { ...read.context, ...options.context } });
    const { errorMessage } = await task.outcome;
    if (error === undefined) assert.is(errorMessage, null);
    else assert.match(errorMessage ?? '', error);
    assert.equal(
      read.numbers.sort((a, b) => a - b),
      numbers ?? [],
    );
  });

tasks('too many messages that cannot be parsed end the task, and nothing is published', async () => {
  const stream = new FakeStream(1);
  stream.send(0, message(1), 'x', 'y', message(2));
  const task = begin(stream, { ends: { 0: '4' }, tuning: { maxParseExceptions: 1 } });
  const { succeeded, errorMessage } = await task.outcome;
  assert.not.ok(succeeded);
  assert.match(errorMessage ?? '', /maxParseExceptions/);
  assert.equal(task.published, []);
});

tasks('a stream that cannot be reached for a moment is read on; offsets that are gone are told', async () => {
  const stream = new FakeStream(1);
  stream.send(0, message(1), message(2));
  stream.faults.push(new ServiceError('unavailable', 'the broker restarts'));
  const read = reading();
  assert.ok((await begin(stream, { ends: { 0: '2' }, context: read.context }).outcome).succeeded);
  assert.equal(read.numbers, [1, 2]);
  stream.earliest[0] = 1;
  const kept = begin(stream, { ends: { 0: '2' } });
  assert.match((await kept.outcome).errorMessage ?? '', /offset 0 of partition 0/);
  assert.equal(kept.lost.length, 1);
  const reset = begin(stream, { ends: { 0: '2' }, tuning: { resetOffsetAutomatically: true } });
  assert.not.ok((await reset.outcome).succeeded);
  assert.equal(
    reset.lost.map(({ lost }) => Object.fromEntries(lost.offsets)),
    [{ 0: '0' }],
  );
});

for (const { name, fault, reason } of [
  { name: 'a topic that is deleted', fault: new ServiceError('not_found', 'there is no topic t'), reason: /there is no topic t; what/ },
  { name: 'an offset that is gone', fault: new OffsetsGone(new Map([['0', '2']])), reason: /offset 2 of partition 0; what/ },
])
  for (const ended of ['by nobody', 'by its supervisor', 'by a new leader', 'by a supervisor that does not answer'] as const)
    tasks(`${name}: what was read is published, ended ${ended}, and the task says why it halts`, async () => {
      const stream = new FakeStream(2);
      stream.send(0, message(1), message(2));
      stream.send(1, message(3));
      const read = reading();
      let nowMs = 0;
      let task: Task | undefined;
      const told: unknown[] = [];
      const supervision = {
        async checkpoint({ finish }: CheckpointRequest): Promise<void> {
          told.push(`checkpoint ${finish}`);
          if (ended === 'by nobody') throw new ServiceError('not_found', 'no supervisor');
          if (ended === 'by a new leader' && told.length === 1) throw new ServiceError('unavailable', 'no Overlord leads');
          if (ended === 'by its supervisor' || ended === 'by a new leader') {
            const at = task?.chat('POST', 'pause');
            void at?.then((offsets) => task?.chat('POST', 'offsets/end', offsets, { finish: 'true' }));
          } else nowMs += 60_000;
        },
        async offsetsLost({ lost }: OffsetsLost): Promise<void> {
          told.push(Object.fromEntries(lost.offsets), read.numbers.length);
        },
      };
      task = begin(stream, { context: { ...read.context, stream: supervision, now: () => nowMs } });
      await until(async () => (await task.count()) === 3);
      stream.faults.push(fault);
      const { succeeded, errorMessage } = await task.outcome;
      assert.not.ok(succeeded);
      assert.match(errorMessage ?? '', reason);
      assert.equal(read.published.map(bounds), [['base_0', { 0: '0', 1: '0' }, { 0: '2', 1: '1' }]]);
      assert.equal(read.numbers.length, 3);
      const asked = ended === 'by a new leader' ? ['checkpoint true', 'checkpoint true'] : ['checkpoint true'];
      assert.equal(told, [...asked, ...(fault instanceof OffsetsGone ? [{ 0: '2' }, 3] : [])]);
    });

tasks('rows that were taken in part are not read again: an error among them ends the task', async () => {
  const stream = new FakeStream(1);
  stream.send(0, message(1), message(2));
  const task = begin(stream, {
    ends: { 0: '2' },
    context: {
      segments: {
        ...taskContext('', []).segments,
        allocate: async () => {
          throw new ServiceError('unavailable', 'no Overlord leads');
        },
      },
    },
  });
  assert.is((await task.outcome).errorMessage, 'no Overlord leads');
});

tasks('a publish that finds other offsets ends the task', async () => {
  const stream = new FakeStream(1);
  stream.send(0, message(1));
  const task = begin(stream, {
    ends: { 0: '1' },
    context: {
      publish: async () => {
        throw new ServiceError('conflict', 'the offsets are others');
      },
    },
  });
  assert.is((await task.outcome).errorMessage, 'the offsets are others');
});

const send = fc.record({ partition: fc.nat(2), count: fc.integer({ min: 1, max: 8 }), skipped: fc.boolean() });
const act = fc.constantFrom('checkpoint', 'look', 'pause');
tasks('every row comes once, in sequences that follow each other, and a reader never sees fewer than before', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 3, arbitrary: send }, { weight: 2, arbitrary: act }), { maxLength: 25 }),
      async (steps) => {
        const stream = new FakeStream(3);
        const read = reading();
        const task = begin(stream, { tuning: { maxRowsInMemory: 10 }, context: read.context });
        let [sent, seen] = [0, 0];
        // Rows that others serve are those that are published.
        const look = async (): Promise<void> => {
          const before = read.numbers.length;
          const count = await task.count();
          const served = Math.max(count, before);
          assert.ok(served >= Math.min(seen, served), 'rows went');
          seen = Math.max(seen, served);
        };
        for (const step of steps) {
          if (typeof step === 'object') {
            for (let each = 0; each < step.count; each++) stream.send(step.partition, message(sent++, (sent * 7919) % (2 * DAY)));
            if (step.skipped) stream.send(step.partition, SKIPPED);
          } else if (step === 'look') await look();
          else {
            const at = (await task.chat('POST', 'pause')) as Record<string, number>;
            if (step === 'checkpoint') await task.chat('POST', 'offsets/end', at, { finish: 'false' });
            else await task.chat('POST', 'resume');
          }
        }
        const ends = Object.fromEntries(stream.partitions.map((messages, partition) => [partition, messages.length]));
        await task.chat('POST', 'pause');
        await task.chat('POST', 'offsets/end', ends, { finish: 'true' });
        const { errorMessage } = await task.outcome;
        assert.is(errorMessage, null);
        assert.equal(
          read.numbers.sort((a, b) => a - b),
          Array.from({ length: sent }, (_, n) => n),
        );
        let place: unknown = { 0: '0', 1: '0', 2: '0' };
        for (const [, start, end] of read.published.map((request) => bounds(request) as [string, unknown, unknown])) {
          assert.equal(start, place);
          place = end;
        }
      },
    ),
    { numRuns: caseCount(6), seed: 1378482024, includeErrorInReport: true },
  ),
);

tasks.run();
