// Repeats rows for each value of a multi-value join key.

import type { Address } from '../../base/layout.js';
import { own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { Frame, FrameColumn } from '../../model/frame.js';
import type { StageKey } from '../../model/stage.js';
import { plainFrame, type SegmentFrame } from '../../storage/columns/packed-column.js';
import type { ColumnView, SegmentView } from '../../storage/view.js';
import type { RunContext } from '../block/context.js';
import { gatherColumn } from '../block/view-rows.js';
import { openScope } from '../expression/open-scope.js';
import { gatherFrame } from './rows.js';
import { unnestRows } from './unnest-rows.js';

/*
 * Multi-value columns as keys of joins: a row meets what any of its values equals. For each of its values it is looked up once.
 */

/** Rows of a view as often as their keys have values. */
export interface ListedRows {
  /** The columns that keys read. */
  readonly view: SegmentView;
  /** u32 numbers of the rows in the view they are of. */
  readonly rows: Address;
}

/** Undefined where no key is a multi-value column. */
export function listedRows(context: RunContext, arena: Arena, view: SegmentView, keys: readonly StageKey[]): ListedRows | undefined {
  let listed: ListedRows | undefined;
  for (const { probe, nullsMeet } of keys) {
    // A row without values would equal a null: such keys are refused.
    if (probe.kind !== 'column' || nullsMeet === true) continue;
    const current: SegmentView = listed?.view ?? view;
    const column = own(current.columns, probe.name);
    if (column?.kind === 'string' && column.offsets !== 0) listed = withValuesOf(context, arena, probe.name, current, listed?.rows);
  }
  return listed;
}

function withValuesOf(context: RunContext, arena: Arena, name: string, view: SegmentView, before: Address | undefined): ListedRows {
  const [values] = unnestRows(openScope(context, view, {}, arena), name);
  if (values === undefined) return { view: { ...view, rowCount: 0 }, rows: 0 };
  const { at, count } = values.rows;
  const columns = Object.entries(view.columns).map(([each, column]): readonly [string, ColumnView] => [
    each,
    each === name ? values.values : gatherColumn(context, arena, column, values.rows),
  ]);
  let rows = at;
  if (before !== undefined) {
    rows = arena.take(count * 4);
    context.kernels.gather32(before, at, count, rows);
  }
  return { view: { ...view, rowCount: count, columns: Object.fromEntries(columns) }, rows };
}

/** Rows of a build side as often as their keys have values, each with one of them; where nulls are equal a row without values has a null. */
export function withEachKey(frame: SegmentFrame, keys: readonly Pick<StageKey, 'build' | 'nullsMeet'>[]): SegmentFrame {
  if (!frame.columns.some(({ kind, name }) => kind === 'multi' && keys.some(({ build }) => build === name))) return frame;
  let current = plainFrame(frame);
  for (const { build, nullsMeet } of keys) {
    const column = current.columns.find((each) => each.name === build);
    if (column?.kind === 'multi') current = withValues(current, column, nullsMeet === true);
  }
  return current;
}

function withValues(frame: Frame, column: Extract<FrameColumn, { kind: 'multi' }>, withNone: boolean): Frame {
  const { name, offsets, ids: values, dictionary } = column;
  const isNone = (row: number): boolean => withNone && offsets[row] === offsets[row + 1];
  let none = 0;
  for (let row = 0; row < frame.rowCount; row++) none += Number(isNone(row));
  const [rows, ids] = [new Uint32Array(values.length + none), new Uint32Array(values.length + none)];
  for (let row = 0, at = 0; row < frame.rowCount; row++) {
    const start = at;
    if (isNone(row)) ids[at++] = dictionary.length;
    else for (let value = offsets[row] ?? 0; value < (offsets[row + 1] ?? 0); value++) ids[at++] = values[value] ?? 0;
    rows.fill(row, start, at);
  }
  const others = gatherFrame({ rowCount: frame.rowCount, columns: frame.columns.filter((each) => each !== column) }, rows);
  const entries = none === 0 ? dictionary : [...dictionary, null];
  return { rowCount: others.rowCount, columns: [...others.columns, { kind: 'string', name, ids, dictionary: entries }] };
}
