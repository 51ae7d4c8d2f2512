import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FollowedTopic } from '../../src/cluster/lookups/followed-topic.js';
import { blockOf } from '../../src/ingestion/stream/message-block.js';
import { type MessageBlock, OffsetsGone, type StreamReader } from '../../src/ingestion/stream/stream-reader.js';
import { entriesOf } from './lookup-entries.js';

type Message = readonly [key: string | null, value: string | null];

function messageBlock(partition: string, first: number, messages: readonly Message[]): MessageBlock {
  const bytesOf = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text));
  const records = messages.map(([key, value], at) => ({
    partition,
    offset: String(first + at),
    timestampMs: 0,
    topic: 'topic',
    key: bytesOf(key),
    values: [bytesOf(value)],
    headers: [],
  }));
  return {
    ...blockOf(records),
    partition,
    offsets: Float64Array.from(messages, (_, at) => first + at),
    record: () => {
      throw new Error('no record is made of a message');
    },
    part: (from, to) => messageBlock(partition, first + from, messages.slice(from, to)),
  };
}

/** A topic in memory: messages by partition, of which the first may be gone. */
class Topic {
  readonly partitions: Message[][] = [];
  first = 0;
  failure: Error | undefined;
  opened = 0;
  closed = 0;

  open = async (): Promise<StreamReader> => {
    this.opened++;
    const at = new Map<string, number>();
    const fail = (): void => {
      if (this.failure !== undefined) throw this.failure;
    };
    const offsets = (names: readonly string[], of: (messages: readonly unknown[]) => number) =>
      new Map(names.map((name) => [name, String(of(this.partitions[Number(name)] ?? []))]));
    return {
      kind: 'kafka',
      partitions: async () => {
        fail();
        return this.partitions.map((_, index) => String(index));
      },
      earliest: async (names) => offsets(names, () => this.first),
      latest: async (names) => offsets(names, ({ length }) => length),
      gone: async () => [],
      assign: async (from) => {
        at.clear();
        for (const [name, { offset }] of from) at.set(name, Number(offset));
      },
      poll: async () => {
        fail();
        for (const [name, offset] of at) {
          const messages = this.partitions[Number(name)] ?? [];
          if (offset < this.first || offset > messages.length) throw new OffsetsGone(new Map([[name, String(offset)]]));
          if (offset === messages.length) continue;
          // Two messages at a time.
          const taken = messages.slice(offset, offset + 2);
          at.set(name, offset + taken.length);
          const blocks = [messageBlock(name, offset, taken)];
          return { records: [], blocks, positions: new Map(), isFull: offset + taken.length < messages.length };
        }
        return { records: [], blocks: [], positions: new Map(), isFull: false };
      },
      close: async () => {
        this.closed++;
      },
    };
  };
}

const followed = suite<{ topic: Topic }>('followed topics');
const { signal } = new AbortController();

followed.before.each((context) => {
  context.topic = new Topic();
});

/** The entries after a look; undefined where they are those of before, or no table is made as yet. */
async function look(topic: FollowedTopic): Promise<Record<string, string> | undefined> {
  const state = await topic.read(signal);
  return state === null || !('table' in state) ? undefined : entriesOf(state.table);
}

/** Looks until there is a table: between two of them is a rest. */
async function nextTable(topic: FollowedTopic): Promise<Record<string, string>> {
  for (;;) {
    const entries = await look(topic);
    if (entries !== undefined) return entries;
    await new Promise((done) => setTimeout(done, 2));
  }
}

const followerOf = (topic: Topic, more: { bytesMax?: number; connectMs?: number } = {}) =>
  new FollowedTopic({ open: topic.open, connectMs: null, bytesMax: 1000, ...more });

followed('the first look reads to the end, the next ones on from there', async ({ topic }) => {
  topic.partitions.push(
    [
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
      [null, 'without key'],
      ['', 'an empty key'],
    ],
    [
      ['c', '4'],
      ['d', ''],
      ['c', null],
      ['never there', null],
    ],
  );
  const follower = followerOf(topic);
  assert.equal(await look(follower), { a: '3', b: '2', '': 'an empty key', d: '' });
  assert.is(await look(follower), undefined);
  topic.partitions[0]?.push(['b', null], ['e', '5'], ['a', '3']);
  assert.equal(await nextTable(follower), { a: '3', '': 'an empty key', d: '', e: '5' });
  // Equal entries are no change.
  topic.partitions[0]?.push(['a', '3'], ['b', null], [null, null]);
  assert.is(await look(follower), undefined);
  assert.is(topic.opened, 1);
  follower.close();
  assert.is(topic.closed, 1);
});

followed('a topic without messages is a lookup without entries', async ({ topic }) => {
  topic.partitions.push([]);
  assert.equal(await look(followerOf(topic)), {});
});

followed('after a failure it reads on where it was, over another connection', async ({ topic }) => {
  topic.partitions.push([['a', '1']]);
  const follower = followerOf(topic);
  assert.equal(await look(follower), { a: '1' });
  topic.failure = new Error('the broker is away');
  for (let tries = 0; tries < 3; tries++)
    await look(follower).then(
      () => assert.unreachable(),
      (error: unknown) => {
        assert.match(String(error), /the broker is away/);
      },
    );
  topic.failure = undefined;
  topic.first = 1;
  topic.partitions[0]?.push(['b', '2']);
  assert.equal(await nextTable(follower), { a: '1', b: '2' });
  assert.is(topic.opened, topic.closed + 1);
});

followed('where messages are gone that it has not read, it begins anew', async ({ topic }) => {
  topic.partitions.push([
    ['a', '1'],
    ['b', '2'],
  ]);
  const follower = followerOf(topic);
  assert.equal(await look(follower), { a: '1', b: '2' });
  topic.partitions[0]?.push(['c', '3'], ['b', '4']);
  topic.first = 3;
  await look(follower).then(
    () => assert.unreachable(),
    (error: unknown) => {
      assert.match(String(error), /does not have offset 2 of partition 0/);
    },
  );
  assert.equal(await nextTable(follower), { b: '4' });
});

followed('a lookup that is too large says so, and is read again', async ({ topic }) => {
  topic.partitions.push([
    ['a', '123'],
    ['b', '456'],
  ]);
  const follower = followerOf(topic, { bytesMax: 8 });
  assert.equal(await look(follower), { a: '123', b: '456' });
  topic.partitions[0]?.push(['c', '7']);
  for (let tries = 0; tries < 2; tries++)
    await look(follower).then(
      () => assert.unreachable(),
      (error: unknown) => {
        assert.match(String(error), /more than svc\.lookup\.maxBytes \(8\)/);
      },
    );
  topic.first = 1;
  assert.equal(await nextTable(follower), { b: '456', c: '7' });
});

followed('a removed lookup is read no further', async ({ topic }) => {
  topic.partitions.push([['a', '1']]);
  const follower = followerOf(topic);
  const looking = look(follower);
  follower.close();
  await looking.then(
    () => assert.unreachable(),
    (error: unknown) => {
      assert.match(String(error), /no longer followed/);
    },
  );
  assert.is(topic.opened, topic.closed);
});

followed.run();
