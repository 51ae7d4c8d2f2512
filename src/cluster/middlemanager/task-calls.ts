// Everything that a task asks the Overlord through the worker that runs it: its children, its supervisor.

import { stringifyJson } from '../../base/json.js';
import type { TaskCalls } from '../../ingestion/contract.js';
import type { Peers } from '../rpc/peers.js';
import type { OverlordService, ParentRun } from '../rpc/services.js';
import { untilLed } from '../rpc/until-led.js';
import { untilServed } from './load-wait.js';
import { tellEnd } from './task-end.js';

interface TaskCallOptions {
  readonly parent: ParentRun;
  readonly peers: Pick<Peers, 'leading' | 'all'>;
  /** Time that is waited for an Overlord. */
  readonly waitMs: number;
  readonly keepsTrying: () => boolean;
  /** Resolves when the Brokers have seen what was announced before. */
  readonly seen: () => Promise<void>;
}

export function taskCalls({ parent, peers, waitMs, keepsTrying, seen }: TaskCallOptions): TaskCalls {
  const ask = <Answer>(call: (overlord: OverlordService) => Promise<Answer>): Promise<Answer> =>
    untilLed(async () => call(peers.leading('overlord')), { limitMs: waitMs, keepsTrying });
  return {
    submit: (payloads) => ask((overlord) => overlord.submitChildren(parent, payloads.map(stringifyJson))),
    list: () => ask((overlord) => overlord.children(parent)),
    documents: (id) => ask((overlord) => overlord.childDocuments(parent, id)),
    look: (ids) => ask((overlord) => overlord.lookAtChildren(parent, ids)),
    claim: (id) => ask((overlord) => overlord.claimChild(parent, id)),
    ended: (taskId, attempt, outcome) => ask((overlord) => tellEnd(overlord, { taskId, run: { ...parent.run, attempt }, ...outcome })),
    checkpoint: (request) => ask((overlord) => overlord.checkpointStream(request)),
    offsetsLost: (lost) => ask((overlord) => overlord.streamOffsetsLost(lost)),
    allocate: (request) => ask((overlord) => overlord.allocateSegment(request, parent)),
    served: (ids, limitMs) => untilServed(ids, { peers, limitMs, keepsWaiting: keepsTrying }),
    seen,
    stop: (id, reason) => ask((overlord) => overlord.stopChild(parent, id, reason)),
  };
}
