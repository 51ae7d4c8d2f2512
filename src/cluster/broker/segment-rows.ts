// Rows of `sys.segments`: what the Broker knows of all used and all served segments, and their columns.

import { stringifyJson } from '../../base/json.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { own } from '../../base/names.js';
import { formatInstant } from '../../base/time.js';
import type { Frame, FrameColumn } from '../../model/frame.js';
import { type SegmentDescriptor, type SegmentId, shardSpecBody } from '../../model/segment.js';
import { parseSegmentId } from '../../model/segment-id.js';
import { SYSTEM_TABLES } from '../../planner/sql/catalog/system-schema.js';
import type { Copies, SegmentServer } from '../rpc/services.js';
import { countCopies } from './known/used-segments.js';
import type { ClusterView } from './view.js';

/** Live segments by printed id, with the number of tasks that have each. */
export type LiveCounts = ReadonlyMap<string, { readonly segment: SegmentDescriptor; readonly count: number }>;

/** Facts about segments, by row. */
export class SegmentRows {
  readonly texts: string[] = [];
  /** Null of those that are still served and no longer used: servers tell their names only. */
  readonly segments: (SegmentDescriptor | null)[] = [];
  readonly ids: (SegmentId | null)[] = [];
  /** Historicals that serve it, and tasks that have it. */
  readonly loaded: number[] = [];
  readonly live: number[] = [];
  readonly states: SegmentState[] = [];
  /** Copies that the rules ask for; -1: it is not used. */
  readonly factors: number[] = [];

  add(
    text: string,
    segment: SegmentDescriptor | null,
    {
      loaded,
      live,
      state,
      factor,
    }: { readonly loaded: number; readonly live: number; readonly state: SegmentState; readonly factor: number },
  ): void {
    this.texts.push(text);
    this.segments.push(segment);
    this.ids.push(segment?.id ?? parseSegmentId(text) ?? null);
    this.loaded.push(loaded);
    this.live.push(live);
    this.states.push(state);
    this.factors.push(factor);
  }
}

/** `served`: no longer used; `live`: not published yet. */
type SegmentState = 'visible' | 'overshadowed' | 'served' | 'live';

/** All segments that are used, served or live. Gives the event loop its turns: the view may not change meanwhile. */
async function segmentRows(view: ClusterView, live: LiveCounts): Promise<SegmentRows> {
  const turns = new LoopTurns();
  const rows = new SegmentRows();
  const { visible, used, served, servers } = view;
  const counts = new Map<readonly SegmentServer[], number>();
  const loadedOf = (list: readonly SegmentServer[] | undefined): number => {
    if (list === undefined) return 0;
    const known = counts.get(list) ?? list.filter(({ host }) => !view.isTask(host)).length;
    counts.set(list, known);
    return known;
  };
  const factors = new Map<Copies, number>();
  const factorOf = (copies: Copies): number => {
    const known = factors.get(copies) ?? countCopies(copies, servers);
    factors.set(copies, known);
    return known;
  };
  let servedCount = 0;
  const add = (id: string, segment: SegmentDescriptor, state: SegmentState, factor: number): void => {
    const list = served.get(id);
    if (list !== undefined) servedCount++;
    rows.add(id, segment, { loaded: loadedOf(list), live: live.size === 0 ? 0 : (live.get(id)?.count ?? 0), state, factor });
  };
  for (const dataSource of [...new Set([...visible.keys(), ...used.dataSources])].sort()) {
    for (const [id, segment] of visible.get(dataSource)?.segments ?? []) {
      add(id, segment, 'visible', factorOf(used.copiesOf(id)));
      if (turns.isDue) await turns.give();
    }
    for (const [id, { segment, isOvershadowed }] of used.othersOf(dataSource)) {
      add(id, segment, isOvershadowed ? 'overshadowed' : 'visible', 0);
      if (turns.isDue) await turns.give();
    }
  }
  if (servedCount === served.size && live.size === 0) return rows;
  const known = new Set(rows.texts);
  for (const [id, list] of served) {
    if (turns.isDue) await turns.give();
    const loaded = loadedOf(list);
    if (loaded === 0 || known.has(id)) continue;
    known.add(id);
    rows.add(id, null, { loaded, live: 0, state: 'served', factor: -1 });
  }
  for (const [id, { segment, count }] of live)
    if (!known.has(id)) rows.add(id, segment, { loaded: 0, live: count, state: 'live', factor: -1 });
  return rows;
}

/** The table `sys.segments` of a view, kept with the columns that were read of it until the view changes. */
export class SegmentTable {
  readonly #view: ClusterView;
  #kept: { readonly changes: number; readonly frame: Frame } | undefined;

  constructor(view: ClusterView) {
    this.#view = view;
  }

  /** Gives the event loop its turns: the view may not change meanwhile. With live segments, which change all the time, none is kept. */
  async frame(live: LiveCounts): Promise<Frame> {
    const { changes } = this.#view;
    if (live.size > 0) return segmentsFrame(await segmentRows(this.#view, live));
    if (this.#kept?.changes !== changes) this.#kept = { changes, frame: segmentsFrame(await segmentRows(this.#view, live)) };
    return this.#kept.frame;
  }
}

/** The table: its columns are made when they are read. */
function segmentsFrame(rows: SegmentRows): Frame {
  const columns = SYSTEM_TABLES.segments.map(([name]) => {
    const column = own(COLUMNS, name);
    if (column === undefined) throw new Error(`sys.segments has no values of ${name}`);
    return column(rows, name);
  });
  return { rowCount: rows.texts.length, columns };
}

type Column = (rows: SegmentRows, name: string) => FrameColumn;

/** Makers of the columns by name. A row without the part that a column shows has null. */
const COLUMNS: Readonly<Record<string, Column>> = {
  segment_id: ({ texts }, name) => ({
    kind: 'string',
    name,
    dictionary: texts,
    get ids() {
      return Uint32Array.from(texts.keys());
    },
  }),
  datasource: texts(({ ids }, row) => ids[row]?.dataSource),
  start: texts(({ ids }, row) => ids[row]?.interval.start, formatInstant),
  end: texts(({ ids }, row) => ids[row]?.interval.end, formatInstant),
  size: longs(({ segments, states }, row) => (states[row] === 'live' ? 0 : (segments[row]?.sizeBytes ?? 0))),
  version: texts(({ ids }, row) => ids[row]?.version),
  partition_num: longs(({ ids }, row) => ids[row]?.partitionNumber ?? null),
  num_replicas: longs(({ loaded, live }, row) => replicas(loaded, live, row)),
  num_rows: longs(({ segments }, row) => segments[row]?.rowCount ?? 0),
  is_active: longs(({ states }, row) => Number(states[row] === 'visible' || states[row] === 'live')),
  is_published: longs(({ states }, row) => Number(states[row] === 'visible' || states[row] === 'overshadowed')),
  is_available: longs(({ loaded, live }, row) => Number(replicas(loaded, live, row) > 0)),
  is_realtime: longs(({ loaded, live }, row) => Number((live[row] ?? 0) > 0 && loaded[row] === 0)),
  is_overshadowed: longs(({ states }, row) => Number(states[row] === 'overshadowed')),
  shard_spec: texts(
    ({ segments }, row) => segments[row]?.shardSpec,
    (shard) => stringifyJson(shardSpecBody(shard)),
  ),
  dimensions: texts(({ segments }, row) => segments[row]?.dimensions, stringifyJson),
  metrics: texts(({ segments }, row) => segments[row]?.metrics, stringifyJson),
  last_compaction_state: texts(({ segments, states }, row) => (states[row] === 'live' ? undefined : segments[row]?.lastCompactionState)),
  replication_factor: longs(({ factors }, row) => factors[row] ?? -1),
  projections: texts(() => undefined),
};

function replicas(loaded: readonly number[], live: readonly number[], row: number): number {
  return (loaded[row] ?? 0) + (live[row] ?? 0);
}

/** @param print  of each different value once; left out: the values are texts */
function texts<Value>(valueOf: (rows: SegmentRows, row: number) => Value | undefined, print: (value: Value) => string = String): Column {
  return (rows, name) => {
    const made = lazily(() => {
      const ids = new Uint32Array(rows.texts.length);
      const dictionary: (string | null)[] = [];
      const places = new Map<Value | undefined, number>();
      for (let row = 0; row < ids.length; row++) {
        const value = valueOf(rows, row);
        let place = places.get(value);
        if (place === undefined) {
          place = dictionary.length;
          places.set(value, place);
          dictionary.push(value === undefined ? null : print(value));
        }
        ids[row] = place;
      }
      return { ids, dictionary };
    });
    return {
      kind: 'string',
      name,
      get ids() {
        return made().ids;
      },
      get dictionary() {
        return made().dictionary;
      },
    };
  };
}

function longs(valueOf: (rows: SegmentRows, row: number) => number | null): Column {
  return (rows, name) => {
    const made = lazily(() => {
      const values = new BigInt64Array(rows.texts.length);
      let nulls: Uint32Array | null = null;
      for (let row = 0; row < values.length; row++) {
        const value = valueOf(rows, row);
        values[row] = BigInt(value ?? 0);
        if (value !== null) continue;
        nulls ??= new Uint32Array(Math.ceil(values.length / 32));
        nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
      }
      return { values, nulls };
    });
    return {
      kind: 'long',
      name,
      get values() {
        return made().values;
      },
      get nulls() {
        return made().nulls;
      },
    };
  };
}

function lazily<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
