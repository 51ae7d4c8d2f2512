// Feeds rows that come as frames to a stream on a thread.

import type { Frame } from '../../model/frame.js';
import type { OpenStream } from '../threads/executor.js';
import type { StreamItem } from '../threads/stream-items.js';

/**
 * Opens a stream, gives it the rows it asks for, and gives on what it answers. The next rows are fetched while the stream
 * works on the last ones. Ends the rows and the stream, whichever way it ends; also where the stream cannot be opened or
 * closed.
 */
export async function* feed(open: () => OpenStream, rows: AsyncIterator<Frame>): AsyncGenerator<StreamItem> {
  try {
    yield* answers(open(), rows);
  } finally {
    await rows.return?.();
  }
}

async function* answers(stream: OpenStream, rows: AsyncIterator<Frame>): AsyncGenerator<StreamItem> {
  try {
    let ahead: Promise<IteratorResult<Frame>> | undefined;
    let item = await stream.next();
    while (item !== null) {
      yield item;
      if (item.isLast) return;
      if (item.frame !== null) {
        item = await stream.next();
        continue;
      }
      const { value, done } = await (ahead ?? fetched(rows));
      ahead = done === true ? undefined : fetched(rows);
      item = await stream.next({ kind: 'rows', frame: done === true ? null : value });
    }
  } finally {
    await stream.close();
  }
}

/** A failure is met by whoever awaits it; until then it is no unhandled one. */
function fetched(rows: AsyncIterator<Frame>): Promise<IteratorResult<Frame>> {
  const next = rows.next();
  next.catch(() => undefined);
  return next;
}

/** Rows of which the first have been looked at. */
export interface PeekedRows {
  /** Number of rows if few; null if more. */
  readonly rowCount: number | null;
  /** All rows, from the first one. Their holder ends them with `return`, even without having read any. */
  readonly rows: AsyncIterator<Frame>;
}

const FRAMES_AHEAD = 4;

/** Reads a few frames ahead, to know whether there are fewer rows than `few` in them. */
export async function peek(rows: AsyncIterable<Frame>, few: number): Promise<PeekedRows> {
  const source = rows[Symbol.asyncIterator]();
  const seen: Frame[] = [];
  let count = 0;
  let ended = false;
  while (!ended && count < few && seen.length < FRAMES_AHEAD) {
    const { value, done } = await source.next();
    if (done === true) ended = true;
    else {
      seen.push(value);
      count += value.rowCount;
    }
  }
  const all = again(seen, ended ? null : source);
  return {
    rowCount: ended ? count : null,
    rows: {
      next: () => all.next(),
      // A generator that was never started ends without running its `finally`, so the source is ended here.
      async return() {
        await all.return(undefined);
        await source.return?.();
        return { done: true, value: undefined };
      },
    },
  };
}

/** Frames that were read already, which are let go then, and those that follow; `source` null: none do. */
async function* again(seen: Frame[], source: AsyncIterator<Frame> | null): AsyncGenerator<Frame> {
  yield* seen;
  seen.length = 0;
  for (let next = await source?.next(); next !== undefined && next.done !== true; next = await source?.next()) yield next.value;
}
