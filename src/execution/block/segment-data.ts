// Data of segments that a query's threads read: views and dictionaries.

import type { GlobalDictionaryView, SegmentView } from '../../storage/view.js';

/** Segment views and dictionaries of a query's columns. */
export interface SegmentData {
  readonly views: readonly SegmentView[];
  /** Global dictionaries of the columns whose ids must be comparable between segments. */
  readonly dictionaries: Readonly<Record<string, GlobalDictionaryView>>;
}
