// Parts that very many descriptors of segments have in common, each held once by a process.

import type { ColumnSchema } from '../model/schema.js';
import type { SegmentDescriptor, ShardSpec } from '../model/segment.js';

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

const TEXTS = new Parts<string, string>();
const LISTS = new Parts<string, readonly string[]>();
/** Columns with fields that this version does not know, by their JSON. */
const COLUMNS = new Parts<string, ColumnSchema>();
/** Columns that differ in their count of values alone, by it. */
interface Alike extends Omit<ColumnSchema, 'distinctCount'> {
  readonly byCount: Map<number | undefined, ColumnSchema>;
}
/**
 * The others by name, then by count of values: a key of all fields would be made anew for every column of every segment. There are very many
 * counts, and those that are found are not looked at: they would have to come from memory.
 */
const PLAIN_COLUMNS = new Map<string, Alike[]>();
let plainColumnsKept = 0;
const SHARDS = new Parts<string, ShardSpec>();

/** The same descriptor with parts that others have as well: a catalogue of many segments takes half of the memory. */
export function withSharedParts(segment: SegmentDescriptor): SegmentDescriptor {
  const { id, shardSpec, loadSpec, dimensions, metrics, columns } = segment;
  return {
    ...segment,
    id: { ...id, dataSource: sharedText(id.dataSource), version: sharedText(id.version) },
    shardSpec: sharedShard(shardSpec),
    loadSpec: { ...loadSpec, type: sharedText(loadSpec.type) },
    dimensions: sharedList(dimensions),
    metrics: sharedList(metrics),
    columns: columns.map(sharedColumn),
  };
}

export function sharedText(text: string): string {
  return TEXTS.of(text, text);
}

export function sharedList(list: readonly string[]): readonly string[] {
  return LISTS.of(JSON.stringify(list), list);
}

export function sharedColumn(column: ColumnSchema): ColumnSchema {
  const { name, type, multiValue, hasNulls, distinctCount } = column;
  const isPlain = Object.keys(column).length === (distinctCount === undefined ? 4 : 5);
  if (!isPlain) return COLUMNS.of(JSON.stringify(column), column);
  let ofName = PLAIN_COLUMNS.get(name);
  if (ofName === undefined) PLAIN_COLUMNS.set(name, (ofName = []));
  let alike = ofName.find((each) => each.type === type && each.multiValue === multiValue && each.hasNulls === hasNulls);
  if (alike === undefined) ofName.push((alike = { name, type, multiValue, hasNulls, byCount: new Map() }));
  const known = alike.byCount.get(distinctCount);
  if (known !== undefined) return known;
  if (plainColumnsKept++ >= SHARED_PARTS_KEPT) {
    plainColumnsKept = 0;
    PLAIN_COLUMNS.clear();
    return sharedColumn(column);
  }
  alike.byCount.set(distinctCount, column);
  return column;
}

/** Specs of numbered segments; specs by values differ from each other. */
export function sharedShard(shard: ShardSpec): ShardSpec {
  if (shard.type !== 'numbered' || Object.keys(shard).length !== 3) return shard;
  return SHARDS.of(`${shard.partitionNum}/${shard.partitions}`, shard);
}
