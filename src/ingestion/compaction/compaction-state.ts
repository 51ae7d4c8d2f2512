// The state that a compaction leaves with its segments: how they were made.

import type { ObjectReader } from '../../base/json-reader.js';
import { type Granularity, granularityJson, granularityName } from '../../model/granularity.js';
import type { ColumnPlan } from '../builder/run-buffer.js';
import type { PartitionsSpec } from '../task-spec/partitions-spec.js';
import type { CompactSpec } from './contract.js';

/** A state, in the form that clients know as `lastCompactionState`. */
export type CompactionState = Readonly<Record<string, unknown>>;

/** Parts of the state that a payload decides; whoever compares states looks at these alone. */
export function requestedState(fields: ObjectReader, spec: Omit<CompactSpec, 'state'>): CompactionState {
  const tuning = fields.optionalObject('tuningConfig');
  const dividesRows = tuning?.has('maxRowsPerSegment') === true || tuning?.has('partitionsSpec') === true;
  const granularitySpec = {
    ...(spec.segmentGranularity === null ? {} : { segmentGranularity: granularityText(spec.segmentGranularity) }),
    ...(spec.queryGranularity === null ? {} : { queryGranularity: granularityText(spec.queryGranularity) }),
    ...(spec.rollup === null ? {} : { rollup: spec.rollup }),
  };
  return {
    ...(dividesRows ? { partitionsSpec: partitionsState(spec.tuning.partitions) } : {}),
    ...(spec.dimensions === null && spec.dimensionExclusions.length === 0
      ? {}
      : { dimensionsSpec: dimensionsState(spec.dimensions, spec.dimensionExclusions) }),
    ...(spec.aggregators === null ? {} : { metricsSpec: spec.aggregators }),
    ...(spec.filter === null ? {} : { transformSpec: { filter: fields.object('transformSpec').raw('filter') } }),
    ...(Object.keys(granularitySpec).length === 0 ? {} : { granularitySpec }),
  };
}

export function partitionsState(partitions: PartitionsSpec): CompactionState {
  switch (partitions.kind) {
    case 'dynamic':
      return { type: 'dynamic', maxRowsPerSegment: partitions.maxRowsPerSegment };
    case 'hashed': {
      const { numShards, targetRowsPerSegment, dimensions } = partitions;
      return { type: 'hashed', ...(numShards === null ? { targetRowsPerSegment } : { numShards }), partitionDimensions: dimensions };
    }
    case 'range': {
      const { isSingle, isLimit, rowsPerSegment, dimensions } = partitions;
      const rows = isLimit ? { maxRowsPerSegment: rowsPerSegment } : { targetRowsPerSegment: rowsPerSegment };
      return isSingle
        ? { type: 'single_dim', partitionDimension: dimensions[0], ...rows }
        : { type: 'range', partitionDimensions: dimensions, ...rows };
    }
  }
}

export function dimensionsState(dimensions: readonly ColumnPlan[] | null, dimensionExclusions: readonly string[]): CompactionState {
  return {
    ...(dimensions === null ? {} : { dimensions: dimensions.map(dimensionState) }),
    dimensionExclusions,
  };
}

function dimensionState({ name, type, multiValueHandling }: ColumnPlan): unknown {
  if (type !== 'STRING') return { type: type.toLowerCase(), name };
  return { type: 'string', name, multiValueHandling: multiValueHandling === 'SINGLE' ? 'ARRAY' : multiValueHandling };
}

/** `DAY`, or an object where there is no simple name. */
export function granularityText(granularity: Granularity): unknown {
  const name = granularityName(granularity);
  return /^[a-z_]+$/.test(name) ? name.toUpperCase() : granularityJson(granularity);
}
