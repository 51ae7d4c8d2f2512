import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { noCounts } from '../../../src/execution/block/row-counts.js';
import { feed, peek } from '../../../src/execution/run/row-feed.js';
import type { OpenStream } from '../../../src/execution/threads/executor.js';
import type { Frame } from '../../../src/model/frame.js';

const frame = (rowCount: number): Frame => ({
  rowCount,
  columns: [{ kind: 'long', name: 'x', values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)), nulls: null }],
});

/** Frames of ten rows, and how often what is behind them was given back. */
function source(frames: number): { readonly rows: AsyncIterable<Frame>; ended(): number } {
  let ended = 0;
  async function* rows(): AsyncGenerator<Frame> {
    try {
      for (let at = 0; at < frames; at++) yield frame(10);
    } finally {
      ended++;
    }
  }
  return { rows: rows(), ended: () => ended };
}

const stream = (changes: Partial<OpenStream> = {}): OpenStream => ({ next: async () => null, close: async () => undefined, ...changes });

async function failureOf(work: AsyncIterable<unknown>): Promise<string | undefined> {
  try {
    for await (const _ of work);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const feeds = suite('rows for streams');

feeds('that were looked at are all there, and counted when they are few', async () => {
  for (const [frames, rowCount] of [
    [0, 0],
    [2, 20],
    [3, null],
    [9, null],
  ] as const) {
    const { rows, ended } = source(frames);
    const peeked = await peek(rows, 30);
    assert.is(peeked.rowCount, rowCount, `${frames} frames`);
    let count = 0;
    for (let next = await peeked.rows.next(); next.done !== true; next = await peeked.rows.next()) count += next.value.rowCount;
    assert.is(count, frames * 10);
    await peeked.rows.return?.();
    assert.is(ended(), 1);
  }
});

const refused = (): Promise<never> => Promise.reject(new Error('refused'));

for (const [name, open, failure] of [
  ['ends before it asks for any', () => stream(), undefined],
  ['fails before it asks for any', () => stream({ next: refused }), 'refused'],
  ['cannot be closed', () => stream({ close: refused }), 'refused'],
  [
    'cannot be opened',
    () => {
      throw new Error('no thread');
    },
    'no thread',
  ],
] as const)
  feeds(`are given back by a stream that ${name}`, async () => {
    const { rows, ended } = source(9);
    const peeked = await peek(rows, 30);
    assert.is(ended(), 0);
    assert.is(await failureOf(feed(open, peeked.rows)), failure);
    assert.is(ended(), 1);
    assert.is((await peeked.rows.next()).done, true);
  });

feeds('are given back when the reader stops in the middle', async () => {
  const { rows, ended } = source(9);
  let asked = 0;
  const asking = stream({
    next: async (input) => ({ frame: input?.kind === 'rows' ? input.frame : null, isLast: ++asked > 8, counts: noCounts() }),
  });
  for await (const { frame: answer } of feed(() => asking, (await peek(rows, 30)).rows)) if (answer !== null) break;
  assert.is(ended(), 1);
});

feeds.run();
