// Parts of a scan in time order whose columns need not be in memory together.

import type { RowPlan } from '../../model/plan.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { SegmentSpan, SegmentStore } from '../../storage/contract.js';

/** Values of columns that a scan in time order holds in memory together, where it need not hold all. */
export const CELLS_AT_ONCE = 1 << 26;

/** Neighbouring segments, and the bounds of their rows. */
export interface TimePart extends SegmentSpan {
  readonly segmentIds: readonly string[];
}

/** Rows of lists of segments: a broker sends the same one for as long as nothing has changed. */
const ROWS = new WeakMap<readonly string[], number>();

/**
 * Cuts the segments of a scan in time order where no row of one side comes before one of the other: a part is read when the parts
 * before it are through, and not at all when their rows were enough.
 * @param columns  number of columns that are read
 * @returns in the order of the segments; one part where there is little to read
 */
export function partsByTime(
  plan: RowPlan,
  store: Pick<SegmentStore, 'span'>,
  segmentIds: readonly string[],
  { columns, cellsAtOnce }: { readonly columns: number; readonly cellsAtOnce: number },
): readonly TimePart[] {
  if (plan.operator !== 'scan' || plan.timeOrder === null || segmentIds.length < 2) return [];
  // Rows are merged by the time that is put out, which is to be that of the segments.
  if ((plan.stages?.length ?? 0) > 0 || plan.virtualColumns.some(({ name }) => name === TIME_COLUMN)) return [];
  const rowsAtOnce = cellsAtOnce / Math.max(1, columns);
  if (rowsOf(store, segmentIds) <= rowsAtOnce) return [];
  const spans = segmentIds.map((id) => store.span(id));
  const firstAfter = new Float64Array(spans.length + 1).fill(Infinity);
  for (const [at, { timeMin }] of [...spans.entries()].reverse()) firstAfter[at] = Math.min(timeMin, firstAfter[at + 1] ?? Infinity);
  const parts: TimePart[] = [];
  let part = emptyPart();
  let last = -Infinity;
  for (const [at, span] of spans.entries()) {
    const id = segmentIds[at] ?? '';
    if (part.rowCount > 0 && part.rowCount + span.rowCount > rowsAtOnce && last <= (firstAfter[at] ?? Infinity)) {
      parts.push(part);
      part = emptyPart();
    }
    part.segmentIds.push(id);
    part.rowCount += span.rowCount;
    part.timeMin = Math.min(part.timeMin, span.timeMin);
    part.timeMax = Math.max(part.timeMax, span.timeMax);
    last = Math.max(last, span.timeMax);
  }
  return [...parts, part];
}

function emptyPart(): { segmentIds: string[]; rowCount: number; timeMin: number; timeMax: number } {
  return { segmentIds: [], rowCount: 0, timeMin: Infinity, timeMax: -Infinity };
}

function rowsOf(store: Pick<SegmentStore, 'span'>, segmentIds: readonly string[]): number {
  let rows = ROWS.get(segmentIds);
  if (rows === undefined) {
    rows = segmentIds.reduce((sum, id) => sum + store.span(id).rowCount, 0);
    ROWS.set(segmentIds, rows);
  }
  return rows;
}
