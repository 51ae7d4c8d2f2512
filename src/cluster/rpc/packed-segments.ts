// Descriptors of segments as they travel: many of them in columns, what they have in common once.

import { sharedColumn, sharedList, sharedShard, sharedText } from '../../metadata/shared-parts.js';
import type { ColumnSchema } from '../../model/schema.js';
import type { SegmentDescriptor, ShardSpec } from '../../model/segment.js';

/** A list of descriptors in columns. Places (`Uint32Array`) are those of the tables of different values beside them. */
export interface PackedSegments {
  readonly count: number;
  readonly texts: readonly string[];
  readonly dataSources: Uint32Array;
  readonly versions: Uint32Array;
  readonly loadTypes: Uint32Array;
  readonly paths: readonly string[];
  /** Start, end, partition number, bytes and rows of each. */
  readonly numbers: Float64Array;
  readonly shardSpecs: readonly ShardSpec[];
  readonly shards: Uint32Array;
  readonly lists: readonly (readonly string[])[];
  readonly dimensions: Uint32Array;
  readonly metrics: Uint32Array;
  /** Columns without their counts of values. */
  readonly tables: readonly (readonly Column[])[];
  readonly columns: Uint32Array;
  /** Counts of values of all columns of all segments; NaN: not known. */
  readonly counts: Float64Array;
  /** Texts that few segments have, by place. */
  readonly compactionStates: readonly (readonly [number, string])[];
  readonly liveIds: readonly (readonly [number, string])[];
  /** Descriptors, by place, that have something which the columns have no room for; theirs there is of no meaning. */
  readonly whole: readonly (readonly [number, SegmentDescriptor])[];
}

type Column = Omit<ColumnSchema, 'distinctCount'>;

const NUMBERS = 5;

/** Different values and their places. */
class Table<Value> {
  readonly values: Value[] = [];
  readonly #places = new Map<unknown, number>();

  place(value: Value, key: unknown = value): number {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.values.length;
      this.#places.set(key, place);
      this.values.push(value);
    }
    return place;
  }
}

export function packSegments(segments: readonly SegmentDescriptor[]): PackedSegments {
  const count = segments.length;
  const places = (): Uint32Array => new Uint32Array(count);
  const [texts, shardSpecs, lists, tables] = [
    new Table<string>(),
    new Table<ShardSpec>(),
    new Table<readonly string[]>(),
    new Table<readonly Column[]>(),
  ];
  const [dataSources, versions, loadTypes, shards, dimensions, metrics, columns] = [
    places(),
    places(),
    places(),
    places(),
    places(),
    places(),
    places(),
  ];
  const numbers = new Float64Array(NUMBERS * count);
  const [paths, counts]: [string[], number[]] = [[], []];
  const [compactionStates, liveIds, whole]: [[number, string][], [number, string][], [number, SegmentDescriptor][]] = [[], [], []];
  segments.forEach((segment, at) => {
    if (!isPlain(segment)) {
      whole.push([at, segment]);
      columns[at] = tables.place(NO_COLUMNS, '');
      return;
    }
    const { id, loadSpec, lastCompactionState, liveId } = segment;
    dataSources[at] = texts.place(id.dataSource);
    versions[at] = texts.place(id.version);
    loadTypes[at] = texts.place(loadSpec.type);
    paths[at] = loadSpec.path;
    numbers.set([id.interval.start, id.interval.end, id.partitionNumber, segment.sizeBytes, segment.rowCount], NUMBERS * at);
    shards[at] = shardSpecs.place(segment.shardSpec);
    dimensions[at] = lists.place(segment.dimensions);
    metrics[at] = lists.place(segment.metrics);
    columns[at] = tables.place(segment.columns, tableKey(segment.columns));
    for (const { distinctCount } of segment.columns) counts.push(distinctCount ?? Number.NaN);
    if (lastCompactionState !== undefined) compactionStates.push([at, lastCompactionState]);
    if (liveId !== undefined) liveIds.push([at, liveId]);
  });
  return {
    ...{ count, texts: texts.values, dataSources, versions, loadTypes, paths, numbers },
    ...{ shardSpecs: shardSpecs.values, shards, lists: lists.values, dimensions, metrics },
    ...{ tables: tables.values.map((table) => table.map(withoutCount)), columns, counts: Float64Array.from(counts) },
    ...{ compactionStates, liveIds, whole },
  };
}

/** The descriptors that were packed, with parts that all of this process share. */
export function unpackSegments(packed: PackedSegments): readonly SegmentDescriptor[] {
  const texts = packed.texts.map(sharedText);
  const lists = packed.lists.map(sharedList);
  const shardSpecs = packed.shardSpecs.map(sharedShard);
  const whole = new Map(packed.whole);
  const states = new Map(packed.compactionStates);
  const liveIds = new Map(packed.liveIds);
  const segments: SegmentDescriptor[] = [];
  const { numbers } = packed;
  let counted = 0;
  for (let at = 0; at < packed.count; at++) {
    const own = whole.get(at);
    if (own !== undefined) {
      segments.push(own);
      continue;
    }
    const table = valueAt(packed.tables, packed.columns, at);
    const columns = table.map((column, index) => {
      const distinctCount = packed.counts[counted + index] ?? Number.NaN;
      return sharedColumn(Number.isNaN(distinctCount) ? column : { ...column, distinctCount });
    });
    counted += table.length;
    const number = (field: number): number => numbers[NUMBERS * at + field] ?? 0;
    const [lastCompactionState, liveId] = [states.get(at), liveIds.get(at)];
    segments.push({
      id: {
        dataSource: valueAt(texts, packed.dataSources, at),
        interval: { start: number(0), end: number(1) },
        version: valueAt(texts, packed.versions, at),
        partitionNumber: number(2),
      },
      shardSpec: valueAt(shardSpecs, packed.shards, at),
      loadSpec: { type: valueAt(texts, packed.loadTypes, at), path: packed.paths[at] ?? '' },
      sizeBytes: number(3),
      rowCount: number(4),
      dimensions: valueAt(lists, packed.dimensions, at),
      metrics: valueAt(lists, packed.metrics, at),
      columns,
      ...(lastCompactionState === undefined ? {} : { lastCompactionState }),
      ...(liveId === undefined ? {} : { liveId }),
    });
  }
  return segments;
}

const NO_COLUMNS: readonly Column[] = [];

function valueAt<Value>(table: readonly Value[], places: Uint32Array, at: number): Value {
  return table[places[at] ?? 0] as Value;
}

const FIELDS = 8;

/** Whether a descriptor has the fields that are known, and no others. */
function isPlain(segment: SegmentDescriptor): boolean {
  const { id, loadSpec, columns, lastCompactionState, liveId } = segment;
  const optional = (lastCompactionState === undefined ? 0 : 1) + (liveId === undefined ? 0 : 1);
  return (
    Object.keys(segment).length === FIELDS + optional &&
    Object.keys(id).length === 4 &&
    Object.keys(id.interval).length === 2 &&
    Object.keys(loadSpec).length === 2 &&
    columns.every((column) => Object.keys(column).length === (column.distinctCount === undefined ? 4 : 5))
  );
}

function tableKey(columns: readonly ColumnSchema[]): string {
  let key = 'columns';
  for (const { name, type, multiValue, hasNulls } of columns) key += `\n${type} ${multiValue} ${hasNulls} ${JSON.stringify(name)}`;
  return key;
}

function withoutCount({ name, type, multiValue, hasNulls }: ColumnSchema | Column): Column {
  return { name, type, multiValue, hasNulls };
}
