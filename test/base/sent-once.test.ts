import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ReceivedOnce, SentOnce } from '../../src/base/sent-once.js';
import type { SegmentData } from '../../src/execution/block/segment-data.js';

const test = suite('data sent to a thread');

/** Copy of a message, as it arrives on a thread. */
const overTheWire = <Message>(message: Message): Message => structuredClone(message);
const made = (count: number): SegmentData => ({ views: [], dictionaries: { c: { count, entries: 64, remaps: {} } } });

test('goes over once and is known by its number from then on', () => {
  const sent = new SentOnce<SegmentData>();
  const received = new ReceivedOnce<SegmentData>();
  const data = made(1);
  const first = received.resolve(overTheWire(sent.refer(data.views, data)));
  assert.equal(first, data);
  const second = sent.refer(data.views, { ...data });
  assert.is(second.data, null, 'the same identity: the same data');
  assert.is(received.resolve(overTheWire(second)), first);
});

test('is forgotten on both sides when other data took its place', () => {
  const sent = new SentOnce<SegmentData>();
  const received = new ReceivedOnce<SegmentData>();
  const kept = made(0);
  const lost = made(1);
  for (const data of [lost, kept]) received.resolve(overTheWire(sent.refer(data.views, data)));
  for (let count = 2; count < 65; count++) {
    const { views, ...rest } = made(count);
    received.resolve(overTheWire(sent.refer(views, { views, ...rest })));
    assert.is(sent.refer(kept.views, kept).data, null, 'what is used stays');
  }
  const again = sent.refer(lost.views, lost);
  assert.equal(again.data, lost);
  assert.equal(received.resolve(overTheWire(again)), lost);
  assert.throws(() => received.resolve({ number: 1, data: null, forget: null }), /never sent/);
});

test.run();
