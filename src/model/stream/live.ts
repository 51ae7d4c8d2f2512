// Live segments as plain data: rows of a stream that are queried before they are published.

import type { SegmentDescriptor } from '../segment.js';

/** A live segment as its server announces it. */
export interface LiveDescriptor extends SegmentDescriptor {
  /** The task was told that it is published: it has the rows of the published segment, and no further one comes. */
  readonly isPublished: boolean;
}

/** Parts of live segments that a query reads, which stay until it releases them. */
export interface HeldParts {
  /** Printed ids of the parts by the printed id of their segment. */
  readonly parts: ReadonlyMap<string, readonly string[]>;
  readonly rowCount: number;
  release(): void;
}

/** The live segments of a task, to be read. */
export interface LiveParts {
  describe(): readonly LiveDescriptor[];
  /** The parts of these segments as they are now; of those that are not here, none. */
  hold(segmentIds: readonly string[]): HeldParts;
  /** Rows that came before are read from then on. */
  settle(): Promise<void>;
}
