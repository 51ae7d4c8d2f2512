import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { publishSegments } from '../../src/metadata/publish.js';
import { findOffsets, removeOffsets } from '../../src/metadata/stream-offsets.js';
import type { PublishRequest } from '../../src/model/publication.js';
import type { StreamKind, StreamPosition } from '../../src/model/stream/offsets.js';
import { compareOffsets, parseOffsets, parsePosition, writtenPosition } from '../../src/model/stream/offsets.js';
import { day, openMetadata, pushed, runningTask } from './fixture.js';

type Context = Awaited<ReturnType<typeof openMetadata>>;
const offsets = suite<Context>('offsets of streams');
offsets.before.each(async (context) => {
  Object.assign(context, await openMetadata());
});
offsets.after.each((context) => context.close());

const at = (map: Readonly<Record<string, string>>, kind: StreamKind = 'kafka', stream = 't'): StreamPosition => ({
  kind,
  stream,
  offsets: new Map(Object.entries(map)),
  exclusive: new Set(),
});

const request = (taskId: string, sequence: string, start: StreamPosition, end: StreamPosition, rows = 1): PublishRequest => ({
  taskId,
  dataSource: 'ds',
  segments: rows === 0 ? [] : [pushed(day(0))],
  mode: { kind: 'append' },
  stream: { supervisorId: 's', sequence, start, end },
});

const code = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { code?: unknown }) => error.code,
  );

offsets(
  'a sequence moves the offsets on with its segments; a replica gets the same segments, a gap and an overlap are refused',
  async ({ database }) => {
    for (const id of ['a', 'b', 'c']) await runningTask(database, id, 'shared', [ETERNITY]);
    const publish = (each: PublishRequest) => database.transaction((queries) => publishSegments(queries, each, 1000));
    const first = await publish(request('a', 'q_0', at({ 0: '5', 1: '7' }), at({ 0: '10', 1: '7' })));
    assert.is(first.length, 1);
    assert.equal(
      (await findOffsets(database, 's'))?.offsets,
      new Map([
        ['0', '10'],
        ['1', '7'],
      ]),
    );
    assert.equal(await publish(request('b', 'q_0', at({ 0: '5', 1: '7' }), at({ 0: '10', 1: '7' }))), first);
    assert.is(await code(publish(request('b', 'r_0', at({ 0: '9' }), at({ 0: '12' })))), 'conflict');
    assert.is(await code(publish(request('b', 'r_0', at({ 0: '11' }), at({ 0: '12' })))), 'unavailable');
    assert.is(await code(publish(request('b', 'r_0', at({ 0: '10' }, 'kafka', 'other'), at({ 0: '12' }, 'kafka', 'other')))), 'conflict');
    // A task publishes each of its sequences; partitions that nobody has read yet are new.
    await publish(request('a', 'q_1', at({ 0: '10', 2: '3' }), at({ 0: '12', 2: '4' }), 0));
    assert.equal(
      (await findOffsets(database, 's'))?.offsets,
      new Map([
        ['0', '12'],
        ['1', '7'],
        ['2', '4'],
      ]),
    );
    // Names of sequences are used once: another end under a name that is published is a mistake.
    assert.is(await code(publish(request('b', 'q_0', at({ 0: '5', 1: '7' }), at({ 0: '11', 1: '7' })))), 'conflict');
    const rows = await database.rows<{ count: number }>('SELECT COUNT(*) AS count FROM segments');
    assert.is(rows[0]?.count, 1);
    assert.ok(await removeOffsets(database, 's'));
    assert.not.ok(await removeOffsets(database, 's'));
  },
);

const ORDER: readonly (readonly [string, string, number])[] = [
  ['9', '10', -1],
  ['10', '9', 1],
  ['007', '7', 0],
  ['49590338271490256608559692538361571095921575989136588898', '49590338271490256608559692538361571095921575989136588899', -1],
  ['49590338271490256608559692538361571095921575989136588898', 'NO_END_SEQUENCE_NUMBER', -1],
  ['NO_END_SEQUENCE_NUMBER', 'EOS', -1],
  ['EOS', 'EOS', 0],
  ['EOS', '3', 1],
];
for (const [left, right, sign] of ORDER) offsets(`${left} against ${right}`, () => assert.is(Math.sign(compareOffsets(left, right)), sign));

const read = (kind: StreamKind, value: unknown) =>
  parseOffsets(kind, new ObjectReader(value, '', readContextOf('input_invalid', 'offsets')));

offsets('offsets are read and written as documents have them', () => {
  assert.equal(
    read('kafka', { 0: 5, 'a:1': '7', 2: 2n ** 60n, 3: 2 ** 63 }),
    new Map([
      ['0', '5'],
      ['2', '1152921504606846976'],
      ['3', '9223372036854775807'],
      ['a:1', '7'],
    ]),
  );
  assert.equal(
    read('kinesis', { 's-0': '123', 's-1': 'EOS' }),
    new Map([
      ['s-0', '123'],
      ['s-1', 'EOS'],
    ]),
  );
  for (const wrong of [{ 0: -1 }, { 0: 'x' }, { 0: 1.5 }, { 0: null }, { 0: '9223372036854775808' }])
    assert.throws(() => read('kafka', wrong), /expected an offset/);
  assert.throws(() => read('kinesis', { s: 5 }), /expected a sequence number/);
  const written = { type: 'start', stream: 't', partitionSequenceNumberMap: { 0: 5 }, exclusivePartitions: [] };
  const parsed = parsePosition('kafka', new ObjectReader(written, '', readContextOf('input_invalid', 'p')));
  assert.equal(JSON.parse(JSON.stringify(writtenPosition('start', parsed))), written);
  const older = parsePosition(
    'kafka',
    new ObjectReader({ type: 'end', topic: 't', partitionOffsetMap: { 0: 5 } }, '', readContextOf('input_invalid', 'p')),
  );
  assert.equal(older, parsed);
});

offsets.run();
