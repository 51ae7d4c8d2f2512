// Makes the query scheduler from the configuration.

import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import type { Configuration } from '../../configuration/configuration.js';
import type { BrokerQueries } from './contract.js';
import { type Laning, type PriorityThresholds, QueryScheduler } from './query-scheduler.js';

/** @throws ServiceError `input_invalid` for properties that do not go together */
export function schedulerOf(configuration: Configuration, broker: Pick<BrokerQueries, 'candidates'>, now: () => EpochMs): QueryScheduler {
  return new QueryScheduler({
    capacity: configuration.get('svc.query.scheduler.numThreads'),
    laning: laningOf(configuration),
    thresholds: thresholdsOf(configuration),
    now,
    segmentsOf: (dataSource, intervals) => broker.candidates(dataSource, { intervals }).map(({ segment }) => segment),
  });
}

function laningOf(configuration: Configuration): Laning {
  const strategy = configuration.get('svc.query.scheduler.laning.strategy');
  const capacity = configuration.get('svc.query.scheduler.numThreads');
  switch (strategy) {
    case 'none':
      return { strategy };
    case 'hilo': {
      const maxLowPercent = configuration.get('svc.query.scheduler.laning.maxLowPercent');
      if (maxLowPercent === null) throw needs('laning.strategy=hilo', 'laning.maxLowPercent');
      if (capacity === null) throw needs('laning.strategy=hilo', 'numThreads');
      return { strategy, maxLowPercent };
    }
    case 'manual': {
      const lanes = configuration.get('svc.query.scheduler.laning.lanes');
      const isLimitPercent = configuration.get('svc.query.scheduler.laning.isLimitPercent');
      if (lanes.size === 0) throw needs('laning.strategy=manual', 'laning.lanes');
      if (isLimitPercent && capacity === null) throw needs('laning.isLimitPercent=true', 'numThreads');
      return { strategy, lanes, isLimitPercent };
    }
  }
}

function thresholdsOf(configuration: Configuration): PriorityThresholds | null {
  if (configuration.get('svc.query.scheduler.prioritization.strategy') === 'manual') return null;
  const thresholds = {
    periodMs: configuration.get('svc.query.scheduler.prioritization.periodThreshold'),
    durationMs: configuration.get('svc.query.scheduler.prioritization.durationThreshold'),
    segmentCount: configuration.get('svc.query.scheduler.prioritization.segmentCountThreshold'),
    segmentRangeMs: configuration.get('svc.query.scheduler.prioritization.segmentRangeThreshold'),
  };
  if (Object.values(thresholds).every((threshold) => threshold === null))
    throw needs('prioritization.strategy=threshold', 'prioritization.periodThreshold or another threshold');
  return { ...thresholds, adjustment: configuration.get('svc.query.scheduler.prioritization.adjustment') };
}

function needs(chosen: string, missing: string): ServiceError {
  return new ServiceError('input_invalid', `property svc.query.scheduler.${chosen} needs svc.query.scheduler.${missing}`);
}
