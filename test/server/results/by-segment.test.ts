import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SegmentToRun } from '../../../src/cluster/broker/contract.js';
import { writeBySegment } from '../../../src/server/results/native/by-segment.js';

// Results by segment: several segments at once, written in their order, whatever each of them does.

const DAY = 86_400_000;
const segmentsOf = (count: number): readonly SegmentToRun[] =>
  Array.from({ length: count }, (_, day) => ({
    id: `s${day}`,
    interval: { start: day * DAY, end: (day + 1) * DAY },
    run: () => {
      throw new Error('results are made by the test');
    },
  }));

/** A list that is good until its iteration ends. */
function listOf(segments: readonly SegmentToRun[]) {
  const state = { isOver: false };
  async function* lists() {
    try {
      yield segments;
    } finally {
      state.isOver = true;
    }
  }
  return { state, lists: lists() };
}

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

const PLAIN = { timesAsLong: true, asArray: false };
const writing = suite('results by segment');

writing('each segment has its own results, in order, though later ones are ready first', async () => {
  const { state, lists } = listOf(segmentsOf(20));
  const waiting = new Map<string, () => void>();
  const begun: string[] = [];
  async function* results({ id }: SegmentToRun): AsyncIterable<string> {
    begun.push(id);
    assert.is(state.isOver, false);
    yield '[';
    await new Promise<void>((resolve) => waiting.set(id, resolve));
    yield `"${id}"]`;
  }
  const text = textOf(writeBySegment(lists, results, PLAIN));
  while (waiting.size < 2) await new Promise(setImmediate);
  // One alone is waited for, and others are under way; not all at once.
  assert.ok(begun.length > 1 && begun.length < 20, `${begun.length} begun`);
  for (let released = 0; released < 20; ) {
    const last = [...waiting].at(-1);
    if (last !== undefined) {
      waiting.delete(last[0]);
      last[1]();
      released++;
    }
    await new Promise(setImmediate);
  }
  const found = JSON.parse(await text) as readonly { readonly timestamp: number; readonly result: Readonly<Record<string, unknown>> }[];
  assert.equal(
    found.map(({ timestamp, result }) => [timestamp, result['results'], result['segment']]),
    segmentsOf(20).map(({ id, interval }) => [interval.start, [id], id]),
  );
  assert.is(state.isOver, true);
});

writing('a long result is made as it is read', async () => {
  let made = 0;
  async function* results(): AsyncIterable<string> {
    yield '[';
    for (let part = 0; part < 1000; part++) {
      made++;
      yield `${part === 0 ? '' : ','}"${'x'.repeat(10_000)}"`;
    }
    yield ']';
  }
  const parts = writeBySegment(listOf(segmentsOf(3)).lists, results, PLAIN)[Symbol.asyncIterator]();
  await parts.next();
  while (made < 21) await new Promise(setImmediate);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  assert.ok(made < 100, `${made} parts of 3,000`);
  const rest = await textOf({ [Symbol.asyncIterator]: () => parts });
  assert.is(rest.split('x'.repeat(10_000)).length - 1, 3000);
});

writing('what fails is told in its turn, and what was begun is ended', async () => {
  const open = new Set<string>();
  async function* results({ id }: SegmentToRun): AsyncIterable<string> {
    open.add(id);
    try {
      if (id === 's2') throw new Error('gone');
      yield '[';
      if (id !== 's0') yield 'x'.repeat(100_000);
      yield '1]';
    } finally {
      open.delete(id);
    }
  }
  const { state, lists } = listOf(segmentsOf(6));
  let text = '';
  const error = await (async () => {
    for await (const part of writeBySegment(lists, results, PLAIN)) text += part;
  })().catch((thrown: Error) => thrown.message);
  assert.is(error, 'gone');
  assert.ok(text.includes('"segment":"s1"') && !text.includes('"timestamp":172800000'));
  assert.is(state.isOver, true);
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  assert.equal([...open], []);
});

writing('whoever leaves early ends what was begun', async () => {
  const open = new Set<string>();
  async function* results({ id }: SegmentToRun): AsyncIterable<string> {
    open.add(id);
    try {
      for (;;) yield 'x'.repeat(1000);
    } finally {
      open.delete(id);
    }
  }
  const { state, lists } = listOf(segmentsOf(4));
  for await (const part of writeBySegment(lists, results, PLAIN)) if (part.startsWith('x')) break;
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  assert.equal([[...open], state.isOver], [[], true]);
});

writing.run();
