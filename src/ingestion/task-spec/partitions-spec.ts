// Reads the `partitionsSpec` of a task.

import type { ObjectReader } from '../../base/json-reader.js';
import { PARTITION_FUNCTION, type PartitionKey } from '../../model/segment.js';
import { acceptWithInert, INERT_KEYS } from './inert-keys.js';

/** Rule by which the rows of a time chunk are divided into segments. */
export type PartitionsSpec = DynamicPartitions | HashedPartitions | RangePartitions;

/** Segments of so many rows, in order of arrival. */
export interface DynamicPartitions {
  readonly kind: 'dynamic';
  readonly maxRowsPerSegment: number;
}

export interface HashedPartitions {
  readonly kind: 'hashed';
  /** null: as many as make segments of about `targetRowsPerSegment` rows. */
  readonly numShards: number | null;
  readonly targetRowsPerSegment: number;
  /** None: all dimensions and the time. */
  readonly dimensions: readonly string[];
}

/** Segments of about so many rows by the order of their values. Rows with one key stay together. */
export interface RangePartitions {
  readonly kind: 'range';
  readonly dimensions: readonly string[];
  /** Asked for as `single_dim`. */
  readonly isSingle: boolean;
  readonly rowsPerSegment: number;
  /** No segment of several keys has more rows; else it may have half as many again. */
  readonly isLimit: boolean;
  /** Keys at which segments begin, the first segment apart; absent: made of the rows. */
  readonly bounds?: readonly PartitionKey[];
  /** Rows of several values in one of the dimensions fail the task; else its segments are dynamic then. */
  readonly refusesMultiValues: boolean;
}

/** Rows of a segment where rows are not divided by values. */
export function maxRowsOf(spec: PartitionsSpec): number {
  return spec.kind === 'dynamic' ? spec.maxRowsPerSegment : spec.kind === 'range' ? spec.rowsPerSegment : spec.targetRowsPerSegment;
}

const ROWS_PER_SEGMENT = 5_000_000;
/** Segments that a time chunk may be divided into by hash. */
const SHARDS_MAX = 100_000;

export function parsePartitionsSpec(fields: ObjectReader | undefined, maxRowsPerSegment: number | undefined): PartitionsSpec {
  const kind = fields?.type(['dynamic', 'hashed', 'single_dim', 'range'], { otherwise: 'dynamic' }) ?? 'dynamic';
  if (fields === undefined || kind === 'dynamic') {
    if (fields !== undefined) acceptWithInert(fields, ['maxRowsPerSegment'], INERT_KEYS.dynamicPartitions);
    return { kind: 'dynamic', maxRowsPerSegment: (fields && rows(fields, 'maxRowsPerSegment')) ?? maxRowsPerSegment ?? ROWS_PER_SEGMENT };
  }
  if (kind === 'hashed') return parseHashed(fields, maxRowsPerSegment);
  fields.accept([
    kind === 'range' ? 'partitionDimensions' : 'partitionDimension',
    'targetRowsPerSegment',
    'maxRowsPerSegment',
    'assumeGrouped',
    'targetPartitionSize',
    'maxPartitionSize',
  ]);
  // To group rows before they are counted saves nothing here: all of them are at hand.
  fields.boolean('assumeGrouped', false);
  const target = rows(fields, 'targetRowsPerSegment') ?? rows(fields, 'targetPartitionSize');
  const limit = rows(fields, 'maxRowsPerSegment') ?? rows(fields, 'maxPartitionSize');
  if ((target === undefined) === (limit === undefined))
    throw fields.invalid('targetRowsPerSegment', 'give either targetRowsPerSegment or maxRowsPerSegment, with a number above 0');
  const dimensions = kind === 'range' ? fields.strings('partitionDimensions') : [fields.string('partitionDimension')];
  if (dimensions.length === 0) throw fields.invalid('partitionDimensions', 'name one dimension at least');
  refuseRepeats(fields, dimensions);
  return {
    kind: 'range',
    dimensions,
    isSingle: kind === 'single_dim',
    rowsPerSegment: target ?? limit ?? 0,
    isLimit: target === undefined,
    refusesMultiValues: true,
  };
}

function parseHashed(fields: ObjectReader, maxRowsPerSegment: number | undefined): HashedPartitions {
  fields.accept([
    'numShards',
    'partitionDimensions',
    'partitionFunction',
    'targetRowsPerSegment',
    'maxRowsPerSegment',
    'targetPartitionSize',
    'maxPartitionSize',
  ]);
  const numShards = rows(fields, 'numShards', SHARDS_MAX) ?? null;
  const sizes = ['targetRowsPerSegment', 'maxRowsPerSegment', 'targetPartitionSize', 'maxPartitionSize'].flatMap(
    (key) => rows(fields, key) ?? [],
  );
  const [target, second] = sizes;
  if (second !== undefined || (numShards !== null && target !== undefined))
    throw fields.invalid('numShards', 'give one of numShards, targetRowsPerSegment and maxRowsPerSegment');
  fields.choice('partitionFunction', [PARTITION_FUNCTION], PARTITION_FUNCTION);
  const dimensions = fields.strings('partitionDimensions');
  refuseRepeats(fields, dimensions);
  return { kind: 'hashed', numShards, targetRowsPerSegment: target ?? maxRowsPerSegment ?? ROWS_PER_SEGMENT, dimensions };
}

/** -1 and 0 stand for the default in public specs. */
function rows(fields: ObjectReader, key: string, max?: number): number | undefined {
  const value = fields.optionalInteger(key, -1, max);
  return value === undefined || value <= 0 ? undefined : value;
}

function refuseRepeats(fields: ObjectReader, dimensions: readonly string[]): void {
  const repeated = dimensions.find((name, index) => dimensions.indexOf(name) !== index);
  if (repeated !== undefined) throw fields.invalid('partitionDimensions', `"${repeated}" is named twice`);
}
