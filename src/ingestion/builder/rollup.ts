// Rollup as a group plan over ingested rows.

import { ETERNITY } from '../../base/instant.js';
import { parseJsonWithDoubles } from '../../base/json.js';
import type { Frame, FrameColumn } from '../../model/frame.js';
import type { GroupPlan } from '../../model/plan.js';
import { ARRIVAL_TIME } from '../../model/rewrite/arrival-time.js';
import { joinedAggregator, type Metric } from '../task-spec/metric.js';

/** The number of a row in its run, where every row is a group of its own. */
export const ROW_NUMBER = '\u0000row';

/** The number of a row in the whole input, for columns that are made of it. */
export const INPUT_ROW = '\u0000input row';

/** The grouping that rolls rows up: by time and all dimensions. The input has the columns that metrics read. */
export function rollupPlan(dataSource: string, dimensions: readonly string[], metrics: readonly Metric[]): GroupPlan {
  return groupPlan(dataSource, [ARRIVAL_TIME, ...dimensions], metrics);
}

/** The metrics of each row for itself. */
export function rowPlan(dataSource: string, metrics: readonly Metric[]): GroupPlan {
  return groupPlan(dataSource, [ROW_NUMBER], metrics);
}

function groupPlan(dataSource: string, keys: readonly string[], metrics: readonly Metric[]): GroupPlan {
  return {
    operator: 'group',
    dataSource,
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: metrics.flatMap(({ virtualColumns }) => virtualColumns),
    keys: keys.map((name) => ({ kind: 'column', name, column: name, type: null })),
    aggregators: metrics.map(({ aggregator }) => aggregator),
    emptyGroup: false,
    post: [],
  };
}

/** The grouping that joins rows of several runs, each rolled up before: they have each metric under its name. */
export function joinPlan(dataSource: string, dimensions: readonly string[], metrics: readonly Metric[]): GroupPlan {
  const plan = rollupPlan(dataSource, dimensions, metrics);
  return { ...plan, virtualColumns: [], aggregators: plan.aggregators.map(joinedAggregator) };
}

/** Begins the text of a list; a value that begins so is written as a list of one. */
const LIST = '\u0000';

/**
 * Grouping takes a row of several values as one row for each, rollup keeps it whole: so lists are grouped as text.
 */
export function encodeLists(frame: Frame, lists: ReadonlySet<string>): Frame {
  return {
    ...frame,
    columns: frame.columns.map((column) => (column.kind === 'multi' && lists.has(column.name) ? encodeList(column) : column)),
  };
}

function encodeList(column: Extract<FrameColumn, { readonly kind: 'multi' }>): FrameColumn {
  const dictionary: (string | null)[] = [];
  const places = new Map<string | null, number>();
  const ids = new Uint32Array(column.offsets.length - 1);
  for (let row = 0; row < ids.length; row++) {
    const values = Array.from(column.ids.subarray(column.offsets[row], column.offsets[row + 1]), (id) => column.dictionary[id] ?? null);
    const [first = null] = values;
    const text = values.length > 1 || first?.startsWith(LIST) === true ? LIST + JSON.stringify(values) : first;
    let place = places.get(text);
    if (place === undefined) {
      place = dictionary.push(text) - 1;
      places.set(text, place);
    }
    ids[row] = place;
  }
  return { kind: 'string', name: column.name, ids, dictionary };
}

/** @param lists  names of the columns that were encoded */
export function decodeLists(frame: Frame, lists: ReadonlySet<string>): Frame {
  return {
    ...frame,
    columns: frame.columns.map((column) => (column.kind === 'string' && lists.has(column.name) ? decodeList(column) : column)),
  };
}

function decodeList(column: Extract<FrameColumn, { readonly kind: 'string' }>): FrameColumn {
  const lists = column.dictionary.map((text) =>
    text === null ? [] : text.startsWith(LIST) ? (parseJsonWithDoubles(text.slice(1)) as readonly (string | null)[]) : [text],
  );
  const dictionary = lists.flat();
  const starts: number[] = [];
  let total = 0;
  for (const list of lists) {
    starts.push(total);
    total += list.length;
  }
  const offsets = new Uint32Array(column.ids.length + 1);
  const ids: number[] = [];
  for (let row = 0; row < column.ids.length; row++) {
    const id = column.ids[row] ?? 0;
    for (let at = 0; at < (lists[id]?.length ?? 0); at++) ids.push((starts[id] ?? 0) + at);
    offsets[row + 1] = ids.length;
  }
  return { kind: 'multi', name: column.name, offsets, ids: Uint32Array.from(ids), dictionary };
}
