// The rules of the SQL engine for compactions.

import type { ObjectReader } from '../../base/json-reader.js';
import type { Metric } from '../task-spec/metric.js';
import type { CompactSpec } from './contract.js';

/** Refuses what the SQL engine compacts otherwise than the native one, by the rules that clients know. */
export function checkMsq(fields: ObjectReader, { metrics, rollup, segmentGranularity, tuning }: Omit<CompactSpec, 'state'>): void {
  const granularity = fields.optionalObject('granularitySpec');
  if (segmentGranularity?.kind === 'all' && granularity !== undefined)
    throw granularity.unsupported('segmentGranularity', 'expected time chunks of a bounded length with engine msq');
  const hasMetrics = metrics !== null && metrics.length > 0;
  if (granularity !== undefined && rollup !== null && rollup !== hasMetrics)
    throw granularity.invalid('rollup', 'engine msq rolls rows up if, and only if, metricsSpec names metrics');
  const position = metrics?.findIndex((metric) => !combinesItself(metric)) ?? -1;
  if (position >= 0)
    throw fields.invalid(
      `metricsSpec[${position}]`,
      'with engine msq a metric must combine the column of its own name, so that it can run again',
    );
  const partitions = fields.optionalObject('tuningConfig')?.optionalObject('partitionsSpec');
  if (partitions !== undefined && tuning.partitions.kind === 'hashed')
    throw partitions.unsupported('type', 'expected dynamic or range with engine msq');
  if (partitions?.has('maxTotalRows') === true) throw partitions.unsupported('maxTotalRows', 'give maxRowsPerSegment with engine msq');
  const context = fields.optionalObject('context');
  if ((context?.optionalInteger('maxNumTasks', 1) ?? 2) < 2)
    throw fields.object('context').invalid('maxNumTasks', 'expected at least 2 with engine msq');
}

/** Whether it reads the column of its own name, and gives the same over what it gave before. */
function combinesItself({ name, aggregator, inputs }: Metric): boolean {
  if (aggregator.kind === 'count' || (aggregator.kind === 'state' && aggregator.input === 'values')) return false;
  return inputs.length > 0 && inputs.every(({ field, isConsumed }) => !isConsumed || field === name);
}
