// Parts that very many descriptors of segments have in common, each held once by a process.

import type { EpochMs, Interval } from '../base/instant.js';
import { type SegmentColumn, type SegmentDescriptor, type ShardSpec, segmentColumns } from '../model/segment.js';

/** Parts of one kind that are remembered; then all are forgotten, and those that come are held anew. */
export const SHARED_PARTS_KEPT = 1 << 17;

/** Equal parts as one object. */
class Parts<Key, Part> {
  readonly #known = new Map<Key, Part>();

  of(key: Key, part: Part): Part {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= SHARED_PARTS_KEPT) this.#known.clear();
    this.#known.set(key, part);
    return part;
  }
}

/** Lists of equal items, in one order, as one object. A list is found item by item: no key is made for it. */
class Lists<Item> {
  #first = new Step<Item>();
  #steps = 0;

  of(items: readonly Item[]): readonly Item[] {
    if (this.#steps >= SHARED_PARTS_KEPT) {
      this.#first = new Step();
      this.#steps = 0;
    }
    let step = this.#first;
    for (const item of items) {
      let next = step.next.get(item);
      if (next === undefined) {
        step.next.set(item, (next = new Step()));
        this.#steps++;
      }
      step = next;
    }
    step.list ??= items;
    return step.list;
  }
}

/** Lists that begin with the same items. */
class Step<Item> {
  readonly next = new Map<Item, Step<Item>>();
  /** The list that ends here. */
  list: readonly Item[] | undefined;
}

const TEXTS = new Parts<string, string>();
const NAMES = new Lists<string>();
/** Columns with fields that this version does not know, by their JSON. */
const COLUMNS = new Parts<string, SegmentColumn>();
/** The others by name: a key of all fields would be made anew for every column of every segment. */
const PLAIN_COLUMNS = new Parts<string, SegmentColumn[]>();
const COLUMN_LISTS = new Lists<SegmentColumn>();
const SHARDS = new Parts<string, ShardSpec>();
/** Ends of one start that are remembered: they are looked through one by one. */
const ENDS_KEPT = 64;
/** Intervals by their start. */
const INTERVALS = new Parts<EpochMs, Interval[]>();

/** The same descriptor with parts that others have as well: a catalogue of many segments takes half of the memory. */
export function withSharedParts(segment: SegmentDescriptor): SegmentDescriptor {
  const { id, shardSpec, loadSpec, dimensions, metrics, columns } = segment;
  return {
    ...segment,
    id: { ...id, dataSource: sharedText(id.dataSource), interval: sharedInterval(id.interval), version: sharedText(id.version) },
    shardSpec: sharedShard(shardSpec),
    loadSpec: { ...loadSpec, type: sharedText(loadSpec.type) },
    dimensions: sharedNames(dimensions),
    metrics: sharedNames(metrics),
    columns: sharedColumns(columns),
  };
}

/** A descriptor of versions that counted different values in the columns themselves, as it is now. */
export function withCountsApart(segment: SegmentDescriptor): SegmentDescriptor {
  if (segment.columns.every(({ distinctCount }) => distinctCount === undefined)) return segment;
  return { ...segment, ...segmentColumns(segment.columns) };
}

export function sharedText(text: string): string {
  return TEXTS.of(text, text);
}

export function sharedNames(names: readonly string[]): readonly string[] {
  return NAMES.of(names);
}

export function sharedColumns(columns: readonly SegmentColumn[]): readonly SegmentColumn[] {
  return COLUMN_LISTS.of(columns.map(sharedColumn));
}

function sharedColumn(column: SegmentColumn): SegmentColumn {
  const { name, type, multiValue, hasNulls } = column;
  if (Object.keys(column).length !== 4) return COLUMNS.of(JSON.stringify(column), column);
  const ofName = PLAIN_COLUMNS.of(name, []);
  const known = ofName.find((each) => each.type === type && each.multiValue === multiValue && each.hasNulls === hasNulls);
  if (known === undefined) ofName.push(column);
  return known ?? column;
}

/** The same interval for all segments of a day or an hour, whatever their datasource. */
export function sharedInterval(interval: Interval): Interval {
  const ofStart = INTERVALS.of(interval.start, []);
  const known = ofStart.find(({ end }) => end === interval.end);
  if (known === undefined && ofStart.length < ENDS_KEPT) ofStart.push(interval);
  return known ?? interval;
}

/** Specs of numbered segments; specs by values differ from each other. */
export function sharedShard(shard: ShardSpec): ShardSpec {
  if (shard.type !== 'numbered' || Object.keys(shard).length !== 3) return shard;
  return SHARDS.of(`${shard.partitionNum}/${shard.partitions}`, shard);
}
