// Finds the keys at which segments divided by ranges begin.

import { compareText } from '../../expression/ordering.js';
import type { Frame, FrameColumn } from '../../model/frame.js';
import type { SortKey } from '../../model/plan.js';
import type { PartitionKey } from '../../model/segment.js';
import type { RangePartitions } from '../task-spec/partitions-spec.js';
import type { FrameEngine } from './frame-engine.js';

type Sizes = Pick<RangePartitions, 'rowsPerSegment' | 'isLimit'>;

/** Nulls come first. */
export function compareKeys(a: PartitionKey, b: PartitionKey): number {
  for (const [at, left] of a.entries()) {
    const right = b[at] ?? null;
    if (left === right) continue;
    if (left === null) return -1;
    if (right === null) return 1;
    return compareText(left, right);
  }
  return 0;
}

/** Keys at which segments begin, the first segment apart. @param sorted  the different keys */
export function boundsOf(sorted: readonly PartitionKey[], rowsByKey: Float64Array, sizes: Sizes): readonly PartitionKey[] {
  const begins = segmentBegins(
    rowsByKey.reduce((sum, rows) => sum + rows, 0),
    sizes,
  );
  return sorted.filter((_, place) => begins(rowsByKey[place] ?? 0));
}

/**
 * The same of more keys than memory holds: they are sorted by way of the disk.
 * @param frames  columns of texts, the dimensions in their order
 */
export async function sortedBounds(
  { dimensions, ...sizes }: Sizes & Pick<RangePartitions, 'dimensions'>,
  rowCount: number,
  frames: AsyncIterable<Frame>,
  engine: FrameEngine,
): Promise<readonly PartitionKey[]> {
  const by = dimensions.map((column): SortKey => ({ column, descending: false, nulls: 'first', ordering: 'lexicographic' }));
  const begins = segmentBegins(rowCount, sizes);
  const bounds: PartitionKey[] = [];
  let key: PartitionKey | null = null;
  let rows = 0;
  const take = (): void => {
    if (key !== null && begins(rows)) bounds.push(key);
  };
  for await (const { rowCount: count, columns } of engine.finish([{ step: 'sort', by, offset: 0, limit: null }], frames)) {
    const texts = columns.map(textsOf);
    for (let row = 0; row < count; row++) {
      const next = texts.map((textAt) => textAt(row));
      if (key !== null && compareKeys(key, next) === 0) {
        rows++;
        continue;
      }
      take();
      [key, rows] = [next, 1];
    }
  }
  take();
  return bounds;
}

/** Whether a segment, other than the first one, begins with a key; takes the rows of each key, in order. */
function segmentBegins(total: number, { rowsPerSegment, isLimit }: Sizes): (rowsOfKey: number) => boolean {
  // Segments of about equal size rather than a small last one.
  const size = isLimit ? rowsPerSegment : total / Math.max(1, Math.round(total / rowsPerSegment));
  let rows = 0;
  return (added) => {
    const isOver = isLimit ? rows + added > size : rows + added / 2 > size;
    const begins = rows > 0 && isOver;
    rows = begins ? added : rows + added;
    return begins;
  };
}

function textsOf(column: FrameColumn): (row: number) => string | null {
  if (column.kind !== 'string') return () => null;
  return (row) => column.dictionary[column.ids[row] ?? 0] ?? null;
}
