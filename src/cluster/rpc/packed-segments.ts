// Descriptors of segments as they travel: many of them in columns, what they have in common once.

import type { Interval } from '../../base/instant.js';
import { sharedColumns, sharedInterval, sharedNames, sharedShard, sharedText } from '../../metadata/shared-parts.js';
import type { SegmentColumn, SegmentDescriptor, ShardSpec } from '../../model/segment.js';

/**
 * One message of descriptors in columns. Places (`Uint32Array`) are those in tables of different values, which grow from message to
 * message: each has the values that none before it had.
 */
export interface PackedSegments {
  readonly count: number;
  readonly texts: readonly string[];
  readonly intervals: readonly Interval[];
  readonly shardSpecs: readonly ShardSpec[];
  readonly lists: readonly (readonly string[])[];
  readonly columnLists: readonly (readonly SegmentColumn[])[];
  readonly dataSources: Uint32Array;
  readonly versions: Uint32Array;
  readonly loadTypes: Uint32Array;
  readonly times: Uint32Array;
  readonly paths: readonly string[];
  /** Partition number, bytes and rows of each. */
  readonly sizes: Float64Array;
  readonly shards: Uint32Array;
  readonly dimensions: Uint32Array;
  readonly metrics: Uint32Array;
  readonly columns: Uint32Array;
  /** Counts of different values that each has, of its columns or none, and those of all, one after the other. */
  readonly countLengths: Uint32Array;
  readonly distinctCounts: Int32Array;
  /** Texts that few segments have, by place. */
  readonly compactionStates: readonly (readonly [number, string])[];
  readonly liveIds: readonly (readonly [number, string])[];
  /** Descriptors, by place, that have something which the columns have no room for; theirs there is of no meaning. */
  readonly whole: readonly (readonly [number, SegmentDescriptor])[];
}

const SIZES = 3;

/** Different values and their places. Objects of a process are the same where they are equal, mostly: they are not compared further. */
class Table<Value> {
  readonly #places = new Map<Value, number>();
  #added: Value[] = [];

  place(value: Value): number {
    let place = this.#places.get(value);
    if (place === undefined) {
      place = this.#places.size;
      this.#places.set(value, place);
      this.#added.push(value);
    }
    return place;
  }

  /** Values that came since the last call. */
  takeAdded(): readonly Value[] {
    const added = this.#added;
    this.#added = [];
    return added;
  }
}

/** The sending end of a list of descriptors. */
export class SegmentPacker {
  readonly #texts = new Table<string>();
  readonly #intervals = new Table<Interval>();
  readonly #shardSpecs = new Table<ShardSpec>();
  readonly #lists = new Table<readonly string[]>();
  readonly #columnLists = new Table<readonly SegmentColumn[]>();

  /** The next ones of the list. */
  pack(segments: readonly SegmentDescriptor[]): PackedSegments {
    const count = segments.length;
    const places = (): Uint32Array => new Uint32Array(count);
    const [dataSources, times, versions, loadTypes, shards] = [places(), places(), places(), places(), places()];
    const [dimensions, metrics, columns, countLengths] = [places(), places(), places(), places()];
    const sizes = new Float64Array(SIZES * count);
    const [paths, allCounts]: [string[], number[]] = [[], []];
    const [compactionStates, liveIds, whole]: [[number, string][], [number, string][], [number, SegmentDescriptor][]] = [[], [], []];
    for (let at = 0; at < count; at++) {
      const segment = segments[at] as SegmentDescriptor;
      if (!isPlain(segment)) {
        whole.push([at, segment]);
        paths.push('');
        continue;
      }
      const { id, loadSpec, distinctCounts = [], lastCompactionState, liveId } = segment;
      dataSources[at] = this.#texts.place(id.dataSource);
      times[at] = this.#intervals.place(id.interval);
      versions[at] = this.#texts.place(id.version);
      loadTypes[at] = this.#texts.place(loadSpec.type);
      paths.push(loadSpec.path);
      sizes[SIZES * at] = id.partitionNumber;
      sizes[SIZES * at + 1] = segment.sizeBytes;
      sizes[SIZES * at + 2] = segment.rowCount;
      shards[at] = this.#shardSpecs.place(segment.shardSpec);
      dimensions[at] = this.#lists.place(segment.dimensions);
      metrics[at] = this.#lists.place(segment.metrics);
      columns[at] = this.#columnLists.place(segment.columns);
      countLengths[at] = distinctCounts.length;
      for (let column = 0; column < distinctCounts.length; column++) allCounts.push(distinctCounts[column] ?? -1);
      if (lastCompactionState !== undefined) compactionStates.push([at, lastCompactionState]);
      if (liveId !== undefined) liveIds.push([at, liveId]);
    }
    return {
      ...{ count, texts: this.#texts.takeAdded(), intervals: this.#intervals.takeAdded(), shardSpecs: this.#shardSpecs.takeAdded() },
      ...{ lists: this.#lists.takeAdded(), columnLists: this.#columnLists.takeAdded(), dataSources, times, versions, loadTypes, paths },
      ...{ sizes, shards, dimensions, metrics },
      ...{ columns, countLengths, distinctCounts: Int32Array.from(allCounts), compactionStates, liveIds, whole },
    };
  }
}

/** The receiving end: descriptors with parts that all of this process share. */
export class SegmentUnpacker {
  readonly #texts: string[] = [];
  readonly #intervals: Interval[] = [];
  readonly #shardSpecs: ShardSpec[] = [];
  readonly #lists: (readonly string[])[] = [];
  readonly #columnLists: (readonly SegmentColumn[])[] = [];

  /** @param packed  what the packer of the other end gave, in its order */
  unpack(packed: PackedSegments): readonly SegmentDescriptor[] {
    for (const text of packed.texts) this.#texts.push(sharedText(text));
    for (const interval of packed.intervals) this.#intervals.push(sharedInterval(interval));
    for (const shard of packed.shardSpecs) this.#shardSpecs.push(sharedShard(shard));
    for (const list of packed.lists) this.#lists.push(sharedNames(list));
    for (const list of packed.columnLists) this.#columnLists.push(sharedColumns(list));
    const whole = new Map(packed.whole);
    const states = new Map(packed.compactionStates);
    const liveIds = new Map(packed.liveIds);
    const segments: SegmentDescriptor[] = [];
    const { sizes, countLengths } = packed;
    let counted = 0;
    for (let at = 0; at < packed.count; at++) {
      const own = whole.size === 0 ? undefined : whole.get(at);
      if (own !== undefined) {
        segments.push(own);
        continue;
      }
      const distinctCounts = new Array<number>(countLengths[at] ?? 0);
      for (let column = 0; column < distinctCounts.length; column++) distinctCounts[column] = packed.distinctCounts[counted++] ?? -1;
      const size = (field: number): number => sizes[SIZES * at + field] ?? 0;
      const lastCompactionState = states.size === 0 ? undefined : states.get(at);
      const liveId = liveIds.size === 0 ? undefined : liveIds.get(at);
      const segment: SegmentDescriptor = {
        id: {
          dataSource: valueAt(this.#texts, packed.dataSources, at),
          interval: valueAt(this.#intervals, packed.times, at),
          version: valueAt(this.#texts, packed.versions, at),
          partitionNumber: size(0),
        },
        shardSpec: valueAt(this.#shardSpecs, packed.shards, at),
        loadSpec: { type: valueAt(this.#texts, packed.loadTypes, at), path: packed.paths[at] ?? '' },
        sizeBytes: size(1),
        rowCount: size(2),
        dimensions: valueAt(this.#lists, packed.dimensions, at),
        metrics: valueAt(this.#lists, packed.metrics, at),
        columns: valueAt(this.#columnLists, packed.columns, at),
        distinctCounts,
      };
      if (lastCompactionState === undefined && liveId === undefined && distinctCounts.length > 0) segments.push(segment);
      else {
        const { distinctCounts: _, ...uncounted } = segment;
        segments.push({
          ...(distinctCounts.length === 0 ? uncounted : segment),
          ...(lastCompactionState === undefined ? {} : { lastCompactionState }),
          ...(liveId === undefined ? {} : { liveId }),
        });
      }
    }
    return segments;
  }
}

function valueAt<Value>(table: readonly Value[], places: Uint32Array, at: number): Value {
  return table[places[at] ?? 0] as Value;
}

/** Fields that every descriptor has. */
const FIELDS = 8;

/** Whether a descriptor has the fields that are known, and no others. Those of its columns travel as they are. */
function isPlain(segment: SegmentDescriptor): boolean {
  const { id, loadSpec, distinctCounts, lastCompactionState, liveId } = segment;
  const optional = countOf(distinctCounts) + countOf(lastCompactionState) + countOf(liveId);
  const isKnown =
    Object.keys(segment).length === FIELDS + optional &&
    Object.keys(id).length === 4 &&
    Object.keys(id.interval).length === 2 &&
    Object.keys(loadSpec).length === 2;
  // None and no counts are not told apart in columns.
  return isKnown && distinctCounts?.length !== 0;
}

function countOf(field: unknown): number {
  return field === undefined ? 0 : 1;
}
