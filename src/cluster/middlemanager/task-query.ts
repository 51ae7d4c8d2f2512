// Reads datasources for a task, through a Broker.

import { ServiceError } from '../../base/errors.js';
import type { TableQuery } from '../../ingestion/contract.js';
import type { Frame } from '../../model/frame.js';
import type { PinnedSegments } from '../../model/publication.js';
import type { Peers } from '../rpc/peers.js';
import { untilLed } from '../rpc/until-led.js';

interface TaskQueryOptions {
  readonly taskId: string;
  readonly peers: Pick<Peers, 'all'>;
  /** Segments that it reads of the datasource that it replaces. */
  readonly pinned: PinnedSegments | null;
  /** Time that is waited for a Broker. */
  readonly waitMs: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** The frames of a query of a task. */
export async function* queryForTask(
  query: TableQuery,
  { taskId, peers, pinned, waitMs, deadlineMs, signal }: TaskQueryOptions,
): AsyncGenerator<Frame, void, undefined> {
  const find = async () => {
    const [found] = peers.all('broker');
    if (found === undefined) throw new ServiceError('unavailable', 'no broker is there to read datasources for the task');
    return found;
  };
  const broker = await untilLed(find, { limitMs: waitMs, keepsTrying: () => !signal.aborted });
  yield* broker.service.runForTask({ taskId, ...query, pinned, deadlineMs }, signal);
}
