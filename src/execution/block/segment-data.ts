import type { GlobalDictionaryView, SegmentView } from '../../storage/view.js';

/** Where the columns of a query lie. */
export interface SegmentData {
  readonly views: readonly SegmentView[];
  /** Of the columns whose ids must be comparable between segments. */
  readonly dictionaries: Readonly<Record<string, GlobalDictionaryView>>;
}
