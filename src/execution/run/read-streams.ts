// Reads a stream of frames from a thread, counting its rows in the profile.

import { ServiceError } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import type { Profile } from '../../model/profile.js';
import { addCounts, type RowCounts } from '../block/row-counts.js';
import type { BuildSide } from '../join/build-side.js';
import type { OpenStream } from '../threads/executor.js';
import type { StreamInput } from '../threads/stream-items.js';
import type { RunCounters } from './engine.js';
import { feed } from './row-feed.js';

/** Profile stage that the rows of a stream count in. */
export type Reads = 'group' | 'scan' | 'merge';

/** Takes a result that was left in kernel memory, and tells of it. */
export type KeepBuilt = (built: BuildSide) => Frame;

function refuseBuilt(): never {
  throw new ServiceError('internal', 'a result was left in memory that nobody asked for');
}

/** Reads the frames of streams, and counts the rows that went into them. */
export class StreamReader {
  readonly counters: RunCounters = { rowsScanned: 0, rowsMatched: 0, segments: 0 };

  /** The frames of a stream; closes it when the reader stops early. */
  async *read(
    stream: OpenStream,
    reads: Reads,
    profile: Profile | undefined,
    { input, keep = refuseBuilt }: { readonly input?: StreamInput; readonly keep?: KeepBuilt | undefined } = {},
  ): AsyncGenerator<Frame> {
    let last: RowCounts | undefined;
    try {
      for (let item = await stream.next(input); item !== null; item = item.isLast ? null : await stream.next()) {
        last = item.counts;
        if (item.built !== undefined) yield keep(item.built);
        if (item.frame !== null) yield item.frame;
      }
    } finally {
      if (last !== undefined) this.count(last, reads, profile);
      await stream.close();
    }
  }

  /** The frames of a stream that merges rows, which it is fed. */
  async *readFed(open: () => OpenStream, rows: AsyncIterator<Frame>, profile: Profile | undefined): AsyncGenerator<Frame> {
    let last: RowCounts | undefined;
    try {
      for await (const { frame, counts } of feed(open, rows)) {
        last = counts;
        if (frame !== null) yield frame;
      }
    } finally {
      if (last !== undefined) this.count(last, 'merge', profile);
    }
  }

  count(counts: RowCounts, reads: Reads, profile: Profile | undefined): void {
    if (reads !== 'merge') {
      this.counters.rowsScanned += counts.rowsScanned;
      this.counters.rowsMatched += counts.rowsMatched;
    }
    if (profile !== undefined) addCounts(profile, counts, reads);
  }
}
