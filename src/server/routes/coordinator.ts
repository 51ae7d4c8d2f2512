// Routes of the Coordinator.

import type { Interval } from '../../base/instant.js';
import type { Route } from '../http.types.js';
import { catalogRoutes } from './coordinator/catalog.js';
import type { CoordinatorSource } from './coordinator/coordinator-source.js';
import { deepStorageRoutes } from './coordinator/deep-storage.js';
import { dynamicConfigRoutes } from './coordinator/dynamic-config.js';
import { loadingRoutes } from './coordinator/loading.js';
import { lookupStatusRoutes } from './coordinator/lookup-status.js';
import { lookupRoutes } from './coordinator/lookups.js';
import { metadataRoutes } from './coordinator/metadata.js';
import { ruleRoutes } from './coordinator/rules.js';
import { segmentRoutes } from './coordinator/segments.js';
import { metadataFaultRoutes } from './metadata-faults.js';

/** Everything the leading Coordinator answers, one file for each area of the specification. */
export function coordinatorRoutes(source: CoordinatorSource): readonly Route[] {
  const { coordinator, database, peers } = source;
  const { marking } = coordinator;
  const kill = (dataSource: string, interval: Interval) => peers.leading('overlord').kill(dataSource, interval);
  const areas = [
    metadataRoutes,
    deepStorageRoutes,
    catalogRoutes,
    loadingRoutes,
    ruleRoutes,
    dynamicConfigRoutes,
    lookupRoutes,
    lookupStatusRoutes,
  ];
  return [
    ...metadataFaultRoutes('/svc/coordinator/v1', database),
    ...areas.flatMap((area) => area(source)),
    ...segmentRoutes('/svc/coordinator/v1/datasources', { marking, kill }),
  ];
}
