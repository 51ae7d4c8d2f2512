// Children of a task, as the worker that runs it asks the Overlord for them.

import { stringifyJson } from '../../base/json.js';
import type { ChildTasks } from '../../ingestion/contract.js';
import type { Peers } from '../rpc/peers.js';
import type { OverlordService, ParentRun } from '../rpc/services.js';
import { untilLed } from '../rpc/until-led.js';

interface ChildTaskOptions {
  readonly parent: ParentRun;
  readonly peers: Pick<Peers, 'leading'>;
  /** Time that is waited for an Overlord. */
  readonly waitMs: number;
  readonly keepsTrying: () => boolean;
}

export function childTasks({ parent, peers, waitMs, keepsTrying }: ChildTaskOptions): ChildTasks {
  const ask = <Answer>(call: (overlord: OverlordService) => Promise<Answer>): Promise<Answer> =>
    untilLed(async () => call(peers.leading('overlord')), { limitMs: waitMs, keepsTrying });
  return {
    submit: (payloads) => ask((overlord) => overlord.submitChildren(parent, payloads.map(stringifyJson))),
    list: () => ask((overlord) => overlord.children(parent)),
    documents: (id) => ask((overlord) => overlord.childDocuments(parent, id)),
    look: (ids) => ask((overlord) => overlord.lookAtChildren(parent, ids)),
    claim: (id) => ask((overlord) => overlord.claimChild(parent, id)),
    ended: (taskId, attempt, outcome) => ask((overlord) => overlord.taskEnded({ taskId, run: { ...parent.run, attempt }, ...outcome })),
    stop: (id, reason) => ask((overlord) => overlord.stopChild(parent, id, reason)),
  };
}
