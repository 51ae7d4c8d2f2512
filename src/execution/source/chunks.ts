import type { Frame } from '../../model/frame.js';
import { concatFrames } from '../merge/concat.js';
import { frameBytes } from './rows.js';

/** Enough rows that placing them and starting a run costs little beside the run. */
const CHUNK_ROWS = 1 << 17;
/** Wide rows fill a chunk earlier. */
const CHUNK_BYTES = 32 << 20;

/** Frames of one source joined to larger ones; only the chunk being filled is held. */
export async function* chunksOf(frames: AsyncIterable<Frame>, chunkRows: number = CHUNK_ROWS): AsyncGenerator<Frame> {
  let pending: Frame[] = [];
  let rows = 0;
  let bytes = 0;
  for await (const frame of frames) {
    if (frame.rowCount === 0) continue;
    pending.push(frame);
    rows += frame.rowCount;
    bytes += frameBytes(frame);
    if (rows < chunkRows && bytes < CHUNK_BYTES) continue;
    yield concatFrames(pending);
    [pending, rows, bytes] = [[], 0, 0];
  }
  if (rows > 0) yield concatFrames(pending);
}
