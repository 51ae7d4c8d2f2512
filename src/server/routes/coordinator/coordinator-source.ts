// Interface that Coordinator routes answer from.

import type { Coordinator } from '../../../cluster/coordinator/coordinator.js';
import type { Peers } from '../../../cluster/rpc/peers.js';
import type { Database } from '../../../metadata/database.js';

/** The parts of the cluster that Coordinator routes answer from. */
export interface CoordinatorSource {
  readonly coordinator: Coordinator;
  readonly database: Database;
  readonly peers: Pick<Peers, 'leading' | 'all'>;
  /** `svc.audit.manager.auditHistoryMillis`. */
  readonly auditHistoryMs: number;
  readonly now: () => number;
}
