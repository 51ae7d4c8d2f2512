// Streams of frames between the parts of a row source.

import { frameBytes } from '../../execution/block/frame-bytes.js';
import type { Frame, Uploaded } from '../../model/frame.js';

/** Right sides larger than this are not sent to other processes: rows of the left side come here instead. */
const SENT_BYTES_MAX = 32 << 20;

/** Frames of which the first was asked for. */
export interface PeekedFrames {
  /** Rows that were left in memory in their place. */
  readonly uploaded?: Uploaded;
  /** Ids that they were left under. */
  readonly ids?: readonly string[];
  readonly frames: AsyncIterable<Frame>;
  /** Ends them, also where nobody came to read them. */
  end(): Promise<void>;
}

/** The frames, or what was left in memory in their place. */
export async function peekUploaded(frames: AsyncIterable<Frame>): Promise<PeekedFrames> {
  const rows = frames[Symbol.asyncIterator]();
  const end = async (): Promise<void> => {
    await rows.return?.();
  };
  const first = await rows.next();
  if (first.done !== true && first.value.uploaded !== undefined) {
    // Nothing follows: who is read to its end has nothing to cancel.
    if ((await rows.next()).done !== true) await end();
    return { uploaded: first.value.uploaded, ids: [first.value.uploaded.id], frames: NO_FRAMES, end };
  }
  return { frames: again(first, rows), end };
}

/** Frames of which the first was asked for; ends them when it is left. */
async function* again(first: IteratorResult<Frame>, rows: AsyncIterator<Frame>): AsyncGenerator<Frame> {
  try {
    for (let next = first; next.done !== true; next = await rows.next()) yield next.value;
  } finally {
    await rows.return?.();
  }
}

/** Rows that were left in memory in place of frames; undefined where frames came. */
export async function leftInMemory(frames: AsyncIterable<Frame>): Promise<Uploaded | undefined> {
  const found = await peekUploaded(frames);
  await found.end();
  return found.uploaded;
}

export const NO_FRAMES: AsyncIterable<Frame> = { async *[Symbol.asyncIterator]() {} };

/** Frames with only the columns that are read, so that no others are uploaded. */
export async function* pruned(frames: AsyncIterable<Frame>, columns: readonly string[]): AsyncGenerator<Frame> {
  const wanted = new Set(columns);
  for await (const frame of frames)
    yield frame.uploaded === undefined ? { ...frame, columns: frame.columns.filter(({ name }) => wanted.has(name)) } : frame;
}

export async function* mapped(frames: AsyncIterable<Frame>, change: (frame: Frame) => Frame): AsyncGenerator<Frame> {
  for await (const frame of frames) yield change(frame);
}

/** Frames for other processes; null: nobody asks for them, or there are too many. */
export interface KeptFrames {
  frames: Frame[] | null;
  bytes: number;
}

/** The same frames, which are also kept. */
export async function* keeping(frames: AsyncIterable<Frame>, kept: KeptFrames): AsyncGenerator<Frame> {
  for await (const frame of frames) {
    if (kept.frames !== null) {
      kept.bytes += frameBytes(frame);
      if (kept.bytes <= SENT_BYTES_MAX) kept.frames.push(frame);
      else kept.frames = null;
    }
    yield frame;
  }
}

export async function* once(frame: Frame): AsyncGenerator<Frame> {
  yield frame;
}

export async function* lazily(make: () => Frame): AsyncGenerator<Frame> {
  yield make();
}
