// A datasource as the Broker knows it, and as it shows it.

import { SegmentTimeline } from '../../../metadata/segment-timeline.js';
import type { SegmentDescriptor, UnreadableSegment } from '../../../model/segment.js';

/** A datasource as of the last snapshot, and what of it the view does not show yet. */
export interface Known {
  /** Visible segments by printed id. */
  readonly segments: Map<string, SegmentDescriptor>;
  unreadable: readonly UnreadableSegment[];
  /** The visible segments of the view. */
  readonly shown: SegmentTimeline<SegmentDescriptor>;
  /** Segments that are shown; each as it is shown. */
  readonly shownSegments: Map<string, SegmentDescriptor>;
  /** Segments that could not be read as of what is shown: they stay refused until what took their place is shown. */
  shownUnreadable: readonly UnreadableSegment[];
  /** Printed ids of which the snapshot may say otherwise than the view. */
  readonly behind: Set<string>;
  /** Segments of the snapshot that are served nowhere. */
  readonly awaited: Set<string>;
}

export function newKnown(): Known {
  return {
    segments: new Map(),
    unreadable: [],
    shown: new SegmentTimeline(),
    shownSegments: new Map(),
    shownUnreadable: [],
    behind: new Set(),
    awaited: new Set(),
  };
}
