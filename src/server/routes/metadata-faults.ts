// Routes for stored documents that could not be read.

import type { Database } from '../../metadata/database.js';
import type { Route } from '../http.types.js';
import { json, route, STATE_READ } from './exchange.js';

/**
 * The stored documents that this process could not read and set aside.
 * @param base  `/svc/coordinator/v1` or the Overlord's
 */
export function metadataFaultRoutes(base: string, database: Pick<Database, 'faults'>): readonly Route[] {
  return [route('GET', `${base}/metadataFaults`, STATE_READ, async () => json(200, database.faults.list()))];
}
