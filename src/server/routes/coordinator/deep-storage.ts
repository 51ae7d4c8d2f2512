// Coordinator routes for the agreement of deep storage and metadata.

import type { Route } from '../../http.types.js';
import { json, readAuthor, route, STATE_READ, STATE_WRITE } from '../exchange.js';
import type { CoordinatorSource } from './coordinator-source.js';

const BASE = '/svc/coordinator/v1/deepStorage';

/** Whether deep storage and the metadata store agree, and a person's word when they do not (docs/operations.md). */
export function deepStorageRoutes({ coordinator }: CoordinatorSource): readonly Route[] {
  const report = () => {
    const { ownership, keptFiles, keptBytes } = coordinator.orphans.report;
    return { ...ownership, keptFiles, keptBytes };
  };
  return [
    route('GET', BASE, STATE_READ, async () => json(200, report())),
    route('POST', `${BASE}/confirm`, STATE_WRITE, async (request) => {
      await coordinator.orphans.confirm(readAuthor(request));
      return json(200, report());
    }),
  ];
}
