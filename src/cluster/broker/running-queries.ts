import type { Deadline } from '../rpc/deadline.js';

/** Queries by id, for cancelling; several may share an id. */
export class RunningQueries {
  readonly #queries = new Map<string, Set<Deadline>>();

  add(queryId: string, deadline: Deadline): void {
    const same = this.#queries.get(queryId);
    if (same === undefined) this.#queries.set(queryId, new Set([deadline]));
    else same.add(deadline);
  }

  remove(queryId: string, deadline: Deadline): void {
    const same = this.#queries.get(queryId);
    same?.delete(deadline);
    if (same?.size === 0) this.#queries.delete(queryId);
  }

  cancel(queryId: string): boolean {
    const same = this.#queries.get(queryId);
    for (const deadline of same ?? []) deadline.cancel();
    return same !== undefined;
  }
}
