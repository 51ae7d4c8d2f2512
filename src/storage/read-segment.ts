// The unit that a pin reads: a segment, or several as one.

import type { Resident } from './buffer-pool.js';
import type { StoredColumn } from './format.js';
import type { GlobalDictionary } from './global-dictionaries.js';
import type { ColumnView, DictionaryView, SegmentRows } from './view.js';

/** A column held in memory for its readers. */
export interface PinnedColumn {
  readonly resident: Resident;
  readonly view: ColumnView;
  /** 0 when it was resident, or someone else was reading it already. */
  readonly bytesRead: number;
}

/** A unit to read; its `id` is unique in the process while anything of it is pinned. */
export interface ReadSegment extends SegmentRows {
  /** The stored column to read for a name: the column, the field, or the JSON column that would hold the field. */
  nameToRead(name: string): string;
  /** Undefined when it has no such column. */
  kindOf(name: string): StoredColumn['kind'] | undefined;
  /** Whether it is, or holds, one of these segments. */
  isAmong(segmentIds: ReadonlySet<string>): boolean;
  /** Loads a column that it has, unless it is resident; pinned for the caller. */
  pin(name: string): Promise<PinnedColumn>;
  /** u32 [dictionary count]: datasource-wide ids of a column that the caller has pinned; pinned too. */
  pinRemap(name: string, dictionary: DictionaryView, global: GlobalDictionary): Promise<Resident>;
}
