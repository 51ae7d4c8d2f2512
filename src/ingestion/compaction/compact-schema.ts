// Decides which columns a compaction writes, and how it rolls rows up.

import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../../base/errors.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { own } from '../../base/names.js';
import { parseGranularity } from '../../model/granularity.js';
import { type ColumnType, isComplexType, JSON_TYPE, TIME_COLUMN, widestType } from '../../model/schema.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../../model/segment.js';
import { type ColumnPlan, columnPlan } from '../builder/run-buffer.js';
import { combiningMetric, type Metric, parseMetric } from '../task-spec/metric.js';
import { type CompactionState, dimensionsState, granularityText, partitionsState } from './compaction-state.js';
import type { CompactSpec } from './contract.js';

/** Columns of a unit: what is read of its segments, and what is written. */
export interface CompactSchema {
  /** Columns to read besides `__time`. */
  readonly columns: readonly string[];
  /** Columns that segments have of several types, with the type that they are read as. */
  readonly mixed: ReadonlyMap<string, ColumnType>;
  /** Columns of the rows that are stored; metrics that are kept as they are, last. */
  readonly stored: readonly ColumnPlan[];
  /** Metrics that are computed. */
  readonly metrics: readonly Metric[];
  readonly metricNames: readonly string[];
  readonly rollup: boolean;
  readonly aggregators: readonly unknown[] | null;
  readonly timestampSpec: unknown;
  readonly queryGranularity: unknown;
  readonly state: CompactionState;
}

interface SeenColumn {
  readonly types: Set<ColumnType>;
  isDimension: boolean;
}

/** @param segments  with the analysis of each: aggregators, rollup, queryGranularity and timestampSpec */
export function compactSchema(
  spec: CompactSpec,
  segments: readonly SegmentDescriptor[],
  analyses: readonly SegmentAnalysis[],
): CompactSchema {
  const seen = seenColumns(segments);
  const rollup = spec.rollup ?? analyses.every((analysis) => analysis.rollup === true);
  const found = [...seen].flatMap(([name, { types, isDimension }]) => (isDimension ? [] : [{ name, type: widestType(types) }]));
  const excluded = new Set([...spec.dimensionExclusions, ...(spec.metrics ?? []).map(({ name }) => name)]);
  const dimensions =
    spec.dimensions ??
    [...seen].flatMap(([name, { types, isDimension }]) =>
      isDimension && !excluded.has(name) ? [columnPlan(name, widestType(types), 'ARRAY')] : [],
    );
  const clash = (spec.metrics ?? []).find(({ name }) => dimensions.some((dimension) => dimension.name === name));
  if (clash !== undefined) throw new ServiceError('input_invalid', `metricsSpec: "${clash.name}" is among the dimensions too`);
  const names = new Set(dimensions.map(({ name }) => name));
  const kept = spec.metrics === null ? found.filter(({ name }) => !names.has(name)) : [];
  const described =
    spec.aggregators ??
    aggregatorsOf(
      kept.map(({ name }) => name),
      analyses,
    );
  const metrics = spec.metrics ?? (rollup ? combining(kept, described) : []);
  for (const metric of metrics) if (spec.metrics !== null) checkInput(metric, seen);
  const mixed = [...seen].flatMap(([name, { types }]): [string, ColumnType][] => (types.size > 1 ? [[name, widestType(types)]] : []));
  const passed = metrics.length > 0 ? [] : kept.map(({ name, type }) => columnPlan(name, type, 'ARRAY'));
  const read = new Set([...dimensions.map(({ name }) => name), ...passed.map(({ name }) => name), ...fieldsOf(metrics)]);
  const queryGranularity = spec.queryGranularityText ?? common(analyses.map((analysis) => analysis.queryGranularity));
  return {
    columns: [...read].filter((name) => name !== TIME_COLUMN && seen.has(name)),
    mixed: new Map(mixed),
    stored: [...dimensions, ...passed],
    metrics,
    metricNames: metrics.length > 0 ? metrics.map(({ name }) => name) : kept.map(({ name }) => name),
    rollup,
    aggregators: described,
    timestampSpec: common(analyses.map(({ timestampSpec }) => timestampSpec)),
    queryGranularity,
    state: stateOf(spec, dimensions, described, rollup, queryGranularity),
  };
}

/** Columns of all segments: those of the newest first, in its order. */
function seenColumns(segments: readonly SegmentDescriptor[]): ReadonlyMap<string, SeenColumn> {
  const seen = new Map<string, SeenColumn>();
  for (const { dimensions, metrics, columns } of segments.toReversed()) {
    const types = new Map(columns.map(({ name, type }) => [name, type]));
    const isMetric = new Set(metrics);
    const others = columns.flatMap(({ name }) => (name === TIME_COLUMN || isMetric.has(name) || dimensions.includes(name) ? [] : [name]));
    for (const name of [...dimensions, ...others, ...metrics]) {
      const type = types.get(name);
      // A column that no row has a value of is not stored.
      if (type === undefined) continue;
      const column = seen.get(name) ?? { types: new Set(), isDimension: false };
      column.types.add(type);
      if (!isMetric.has(name)) column.isDimension = true;
      seen.set(name, column);
    }
  }
  return seen;
}

function fieldsOf(metrics: readonly Metric[]): readonly string[] {
  return metrics.flatMap(({ inputs }) => inputs.map(({ field }) => field));
}

/** Aggregators that the segments name for these metrics; null: they do not agree, or say nothing of one. */
function aggregatorsOf(names: readonly string[], analyses: readonly SegmentAnalysis[]): readonly unknown[] | null {
  const described = names.map((name) => common(analyses.flatMap(({ aggregators }) => own(aggregators ?? {}, name) ?? [])));
  return described.includes(null) ? null : described;
}

/** Metrics that add up what the segments hold of them. */
function combining(
  metrics: readonly { readonly name: string; readonly type: ColumnType }[],
  described: readonly unknown[] | null,
): readonly Metric[] {
  return metrics.map(({ name, type }, position) => {
    const aggregator = described?.[position];
    if (aggregator === undefined)
      throw new ServiceError(
        'input_invalid',
        `metricsSpec: the segments do not agree on how "${name}" was made, so its rows cannot be rolled up; give a metricsSpec, or granularitySpec.rollup false`,
      );
    const made = parseMetric(new ObjectReader(aggregator, `aggregator of "${name}"`, readContextOf('input_invalid', 'a segment', true)));
    if (made.type !== type)
      throw new ServiceError(
        'input_invalid',
        `metricsSpec: segments hold "${name}" as ${type}, not as the ${made.type} that its aggregator makes; give a metricsSpec`,
      );
    return combiningMetric(made);
  });
}

/** A sketch of the texts of sketches would be a plausible wrong number. */
function checkInput({ name, aggregator, inputs }: Metric, seen: ReadonlyMap<string, SeenColumn>): void {
  if (aggregator.kind === 'state' && aggregator.input !== 'values') return;
  const states = inputs.find(({ field }) => [...(seen.get(field)?.types ?? [])].some((type) => isComplexType(type) && type !== JSON_TYPE));
  if (states !== undefined)
    throw new ServiceError(
      'input_invalid',
      `metricsSpec: "${name}" reads the values of "${states.field}", which holds aggregate states; give the aggregator that merges them`,
    );
}

/** The value that all have; null: they differ, or there is none. */
function common(values: readonly unknown[]): unknown {
  const [first = null] = values;
  return values.every((value) => isDeepStrictEqual(value, first)) ? first : null;
}

/** The state of the segments: what the payload decides as it says it, the rest as it was found. */
function stateOf(
  { state, tuning, segmentGranularity }: CompactSpec,
  dimensions: readonly ColumnPlan[],
  aggregators: readonly unknown[] | null,
  rollup: boolean,
  queryGranularity: unknown,
): CompactionState {
  return {
    partitionsSpec: partitionsState(tuning.partitions),
    dimensionsSpec: dimensionsState(dimensions, []),
    metricsSpec: aggregators ?? [],
    transformSpec: null,
    ...state,
    granularitySpec: {
      segmentGranularity: segmentGranularity === null ? null : granularityText(segmentGranularity),
      queryGranularity: queryGranularity === null ? null : granularityText(parseGranularity(queryGranularity, 'queryGranularity')),
      rollup,
      ...(state['granularitySpec'] as CompactionState | undefined),
    },
  };
}
