import type { Frame } from '../../model/frame.js';
import type { StreamItem } from '../threads/work.js';
import type { OpenStream } from '../threads/workplace.js';

/**
 * Gives a stream the rows it asks for, and gives on what it answers. The next rows are fetched while the stream works on
 * the last ones. Ends the rows and the stream, whichever way it ends.
 */
export async function* feed(stream: OpenStream, rows: AsyncIterator<Frame>): AsyncGenerator<StreamItem> {
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
    await rows.return?.();
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
  /** Of all of them, when there are few; null: more. */
  readonly rowCount: number | null;
  /** From the first one on. */
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
  async function* again(): AsyncGenerator<Frame> {
    try {
      yield* seen;
      seen.length = 0;
      for (let next = ended ? undefined : await source.next(); next !== undefined && next.done !== true; next = await source.next())
        yield next.value;
    } finally {
      await source.return?.();
    }
  }
  return { rowCount: ended ? count : null, rows: again() };
}
