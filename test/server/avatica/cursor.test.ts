import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Frame } from '../../../src/model/frame.js';
import type { OutputColumn } from '../../../src/model/statement.js';
import { Cursor } from '../../../src/server/avatica/cursor.js';

const COLUMNS: readonly OutputColumn[] = [{ name: 'n', sqlType: 'BIGINT', nativeType: 'LONG' }];
/** Without the types of its columns. */
async function fetched(cursor: Cursor, asked: Parameters<Cursor['fetch']>[0]): Promise<object> {
  const { offset, done, rows } = await cursor.fetch(asked);
  return { offset, done, rows };
}

const FOREVER = Number.POSITIVE_INFINITY;

function frameOf(...values: readonly bigint[]): Frame {
  return { rowCount: values.length, columns: [{ kind: 'long', name: 'n', values: BigInt64Array.from(values), nulls: null }] };
}

/** A result that comes when it is told to. */
function slow(): { readonly frames: AsyncIterable<Frame>; give(frame: Frame): void; readonly left: () => boolean } {
  let give: (frame: Frame) => void = () => undefined;
  let left = false;
  let next = new Promise<Frame>((resolve) => {
    give = resolve;
  });
  async function* frames(): AsyncGenerator<Frame, void, undefined> {
    try {
      for (;;) {
        const frame = await next;
        next = new Promise<Frame>((resolve) => {
          give = resolve;
        });
        yield frame;
      }
    } finally {
      left = true;
    }
  }
  return { frames: frames(), give: (frame) => give(frame), left: () => left };
}

const cursors = suite('cursors of JDBC results');

cursors('rows that do not come in time are waited for by the next fetch', async () => {
  const result = slow();
  const cursor = new Cursor({ frames: result.frames, columns: COLUMNS, timeZone: 'UTC', rowsMax: null, cancel: () => undefined });
  assert.equal(await fetched(cursor, { offset: 0, rowsMax: 10, waitMs: 1 }), { offset: 0, done: false, rows: [] });
  result.give(frameOf(1n, 2n));
  assert.equal(await fetched(cursor, { offset: 0, rowsMax: 2, waitMs: FOREVER }), { offset: 0, done: false, rows: [[1n], [2n]] });
  result.give(frameOf(3n));
  assert.equal(await fetched(cursor, { offset: 2, rowsMax: 1, waitMs: FOREVER }), { offset: 2, done: false, rows: [[3n]] });
});

cursors('two requests cannot fetch at once', async () => {
  const result = slow();
  const cursor = new Cursor({ frames: result.frames, columns: COLUMNS, timeZone: 'UTC', rowsMax: null, cancel: () => undefined });
  const first = cursor.fetch({ offset: 0, rowsMax: 1, waitMs: FOREVER });
  await cursor.fetch({ offset: 0, rowsMax: 1, waitMs: FOREVER }).then(
    () => assert.unreachable('the first one waits still'),
    (error: Error) => assert.match(error.message, /being fetched/),
  );
  result.give(frameOf(1n));
  assert.equal((await first).rows, [[1n]]);
});

cursors('closing ends the query', async () => {
  let cancelled = 0;
  const result = slow();
  const cursor = new Cursor({ frames: result.frames, columns: COLUMNS, timeZone: 'UTC', rowsMax: null, cancel: () => cancelled++ });
  result.give(frameOf(1n, 2n));
  await cursor.fetch({ offset: 0, rowsMax: 1, waitMs: FOREVER });
  cursor.close();
  assert.is(cancelled, 1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(result.left());
});

cursors('a query that was ended gives back what it holds, and the next fetch tells why', async () => {
  const result = slow();
  const cursor = new Cursor({ frames: result.frames, columns: COLUMNS, timeZone: 'UTC', rowsMax: null, cancel: () => undefined });
  result.give(frameOf(1n, 2n));
  await cursor.fetch({ offset: 0, rowsMax: 1, waitMs: FOREVER });
  cursor.end(new Error('its time is up'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(result.left());
  await cursor.fetch({ offset: 1, rowsMax: 1, waitMs: FOREVER }).then(
    () => assert.unreachable('there is nobody who makes rows'),
    (error: Error) => assert.is(error.message, 'its time is up'),
  );
});

cursors('the last row that is wanted ends the query too', async () => {
  let cancelled = 0;
  const result = slow();
  const cursor = new Cursor({ frames: result.frames, columns: COLUMNS, timeZone: 'UTC', rowsMax: 3, cancel: () => cancelled++ });
  result.give(frameOf(1n, 2n, 3n, 4n));
  assert.is((await cursor.fetch({ offset: 0, rowsMax: 2, waitMs: FOREVER })).done, false);
  assert.equal(await fetched(cursor, { offset: 2, rowsMax: 2, waitMs: FOREVER }), { offset: 2, done: true, rows: [[3n]] });
  assert.is(cancelled, 1);
});
cursors.run();
