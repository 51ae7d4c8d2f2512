// Segments that a task hands over to be published.

import type { Interval } from '../base/instant.js';
import type { Granularity } from './granularity.js';
import type { SegmentFile, SegmentId, SegmentPart } from './segment.js';
import type { StreamPosition } from './stream/offsets.js';

/** A segment file that has no identity yet: version and partition number are given at publish. */
export interface PushedSegment extends SegmentFile {
  readonly interval: Interval;
  /** Part of its chunk that it holds, by values; null: any rows. */
  readonly part: SegmentPart | null;
  /** Segment that its rows were given before, as which they are live: it is published as that one, unless its chunk was replaced since. */
  readonly allocated?: SegmentId;
}

export interface PublishRequest {
  readonly taskId: string;
  readonly dataSource: string;
  readonly segments: readonly PushedSegment[];
  /**
   * `append`: joins the version of the chunk, with the next partition numbers. `replace`: in the same transaction
   * every used segment inside `intervals` becomes unused, and of one that crosses their bounds the part inside is hidden.
   */
  readonly mode: { readonly kind: 'append' } | ReplaceMode;
  /** Printed ids of the segments that the rows were read from: nothing is published when one of them is not used any more. */
  readonly inputs?: readonly string[];
  /** The worker answers its task only when every segment is served somewhere, or has not been for a quarter of an hour. */
  readonly waitsUntilLoaded?: boolean;
  /** A shorter time than that. */
  readonly loadWaitMs?: number;
  /** Rows of a stream: its stored offsets are compared and moved on in the same transaction. */
  readonly stream?: StreamPublication;
}

/** A sequence of rows of a stream that is published, with no segment where it had no rows. */
export interface StreamPublication {
  readonly supervisorId: string;
  /** Name of the sequence, the same in all replicas: the first of them publishes it, the others are told its segments. */
  readonly sequence: string;
  /** Beginning of its rows: nothing is published (`conflict`) unless the stored offsets of these partitions, where there are any, are these. */
  readonly start: StreamPosition;
  readonly end: StreamPosition;
}

export interface ReplaceMode {
  readonly kind: 'replace';
  readonly intervals: readonly Interval[];
  /** Time chunks in which tombstones are left where rows were and none are written; left out: tombstones are where segments are cut only. */
  readonly granularity?: Granularity;
}

/** More time chunks that had rows are not left without any in one publish. */
export const TOMBSTONES_MAX = 5000;

/** Segments that a task reads of the datasource that it replaces: those that were there when it got its lock. */
export interface PinnedSegments {
  readonly dataSource: string;
  /** Elsewhere it reads what is visible. */
  readonly intervals: readonly Interval[];
  /** Printed ids. */
  readonly ids: readonly string[];
}
