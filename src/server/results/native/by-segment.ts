// Writes results by segment (`bySegment`).

import { formatInterval } from '../../../base/interval.js';
import { formatInstant } from '../../../base/time.js';
import type { SegmentToRun } from '../../../cluster/broker/contract.js';
import type { WriteOptions } from './write-rows.js';

/** Segments that are run over before their turn to be written has come: their servers work side by side. */
const SEGMENTS_AHEAD = 8;
/** Characters of a result that are made before its turn has come. */
const LENGTH_AHEAD = 65_536;

/** The first chunks of a text, and how it goes on; undefined: that was all of it. */
interface Begun {
  readonly chunks: readonly string[];
  readonly rest: AsyncIterator<string> | undefined;
}

/**
 * `[{"timestamp": ..., "result": {"results": [...], "segment": ..., "interval": ...}}]`: for each segment the JSON that
 * the query has over it alone.
 * @param segments  in one list, which is good until the iteration ends
 */
export async function* writeBySegment(
  segments: AsyncIterable<readonly SegmentToRun[]>,
  results: (segment: SegmentToRun) => AsyncIterable<string>,
  { timesAsLong }: WriteOptions,
): AsyncIterable<string> {
  let separator = '[';
  for await (const all of segments)
    for await (const [{ id, interval }, { chunks, rest }] of begunAhead(all, results)) {
      const time = timesAsLong ? String(interval.start) : `"${formatInstant(interval.start)}"`;
      yield `${separator}{"timestamp":${time},"result":{"results":`;
      yield* chunks;
      if (rest !== undefined) yield* { [Symbol.asyncIterator]: () => rest };
      yield `,"segment":${JSON.stringify(id)},"interval":"${formatInterval(interval)}"}}`;
      separator = ',';
    }
  yield separator === '[' ? '[]' : ']';
}

/** Results in the order of their segments, some of which are under way before they are asked for. */
async function* begunAhead(
  segments: readonly SegmentToRun[],
  results: (segment: SegmentToRun) => AsyncIterable<string>,
): AsyncIterable<readonly [SegmentToRun, Begun]> {
  const begun: Promise<Begun>[] = [];
  try {
    for (const [at, segment] of segments.entries()) {
      while (begun.length < SEGMENTS_AHEAD && at + begun.length < segments.length) {
        const next = begin(results(segments[at + begun.length] as SegmentToRun));
        // It is told when its turn comes, and to nobody when that is never.
        next.catch(() => undefined);
        begun.push(next);
      }
      const current = await (begun.shift() as Promise<Begun>);
      try {
        yield [segment, current];
      } finally {
        // Nothing happens when all of it was read.
        await current.rest?.return?.();
      }
    }
  } finally {
    for (const next of begun) next.then(({ rest }) => rest?.return?.()).catch(() => undefined);
  }
}

async function begin(text: AsyncIterable<string>): Promise<Begun> {
  const rest = text[Symbol.asyncIterator]();
  const chunks: string[] = [];
  for (let length = 0; length < LENGTH_AHEAD; ) {
    const { value, done = false } = await rest.next();
    if (done) return { chunks, rest: undefined };
    chunks.push(value);
    length += value.length;
  }
  return { chunks, rest };
}
