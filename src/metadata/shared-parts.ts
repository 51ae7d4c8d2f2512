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
const COLUMNS = new Parts<string, ColumnSchema>();
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
  return COLUMNS.of(columnKey(column), column);
}

/** Specs of numbered segments; specs by values differ from each other. */
export function sharedShard(shard: ShardSpec): ShardSpec {
  if (shard.type !== 'numbered' || Object.keys(shard).length !== 3) return shard;
  return SHARDS.of(`${shard.partitionNum}/${shard.partitions}`, shard);
}

/** Equal for equal columns; they may have fields that this version does not know. */
function columnKey(column: ColumnSchema): string {
  const { name, type, multiValue, hasNulls, distinctCount } = column;
  const isPlain = Object.keys(column).length === (distinctCount === undefined ? 4 : 5);
  return isPlain ? `${type} ${multiValue} ${hasNulls} ${distinctCount} ${name}` : JSON.stringify(column);
}
