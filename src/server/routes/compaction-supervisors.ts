// Answers about supervisors that compact a datasource, under the paths of all supervisors.

import { ServiceError } from '../../base/errors.js';
import { type CompactionSupervisor, compactionDocument } from '../../cluster/compaction/compaction-supervisor.js';
import { type CompactionSupervisors, stateOf } from '../../cluster/compaction/compaction-supervisors.js';
import { notEnabled } from '../../cluster/compaction/snapshot.js';
import type { CoordinatorService } from '../../cluster/rpc/services.js';
import type { HttpRequest, HttpResponse } from '../http.types.js';
import { formatInstant, json, readAuthor } from './exchange.js';

export interface CompactionSupervisorSource {
  readonly supervisors: CompactionSupervisors;
  /** The Coordinator whose duty compacts. */
  coordinator(): Pick<CoordinatorService, 'compactionReport'>;
  readonly now: () => number;
}

type Answer = (request: HttpRequest, supervisor: CompactionSupervisor) => Promise<HttpResponse>;

/** Answers under each path behind the id of a supervisor, by method and path. */
export function compactionAnswers({ supervisors, coordinator, now }: CompactionSupervisorSource): ReadonlyMap<string, Answer> {
  const setSuspended =
    (suspended: boolean): Answer =>
    async (request, supervisor) =>
      json(200, compactionDocument(await supervisors.setSuspended(supervisor.id, suspended, readAuthor(request))));
  const terminate: Answer = async (request, supervisor) => {
    await supervisors.terminate(supervisor, readAuthor(request));
    return json(200, { id: supervisor.id });
  };
  const noStream: Answer = async (_request, { id }) => {
    throw new ServiceError('unsupported', `[${id}] compacts a datasource: it reads no stream, and has neither offsets nor groups of tasks`);
  };
  return new Map<string, Answer>([
    ['GET ', async (_request, supervisor) => json(200, compactionDocument(supervisor))],
    ['GET /status', async (_request, supervisor) => json(200, await statusBody(supervisor, coordinator(), now()))],
    ['GET /health', async () => json(200, { healthy: true })],
    ['GET /stats', async () => json(200, {})],
    ['GET /parseErrors', async () => json(200, [])],
    ['POST /suspend', setSuspended(true)],
    ['POST /resume', setSuspended(false)],
    ['POST /terminate', terminate],
    ['POST /shutdown', terminate],
    ['POST /reset', noStream],
    ['POST /resetOffsets', noStream],
    ['POST /taskGroups/handoff', noStream],
  ]);
}

async function statusBody(
  supervisor: CompactionSupervisor,
  coordinator: Pick<CoordinatorService, 'compactionReport'>,
  nowMs: number,
): Promise<unknown> {
  const { id, suspended, config } = supervisor;
  const { snapshots } = await coordinator.compactionReport(null);
  const found = suspended ? undefined : snapshots.find(({ dataSource }) => dataSource === config.dataSource);
  // Until the duty has looked at the datasource nothing is known of it.
  const snapshot = found ?? { ...notEnabled(config.dataSource), ...(suspended ? {} : { scheduleStatus: 'RUNNING' }) };
  const state = stateOf(supervisor);
  return { id, generationTime: formatInstant(nowMs), payload: { ...snapshot, suspended, healthy: true, state, detailedState: state } };
}
