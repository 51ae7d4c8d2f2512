// Running queries by id, for cancelling them.

import type { Deadline } from '../rpc/deadline.js';

interface RunningQuery {
  readonly queryId: string;
  readonly deadline: Deadline;
}

/**
 * Queries by id, for cancelling; several may share an id. A list that is searched: few run at a time, and a map that
 * entries leave as fast as they come keeps those alive that have left.
 */
export class RunningQueries {
  readonly #queries: RunningQuery[] = [];

  add(queryId: string, deadline: Deadline): void {
    this.#queries.push({ queryId, deadline });
  }

  remove(deadline: Deadline): void {
    const at = this.#queries.findIndex((query) => query.deadline === deadline);
    const last = at < 0 ? undefined : this.#queries.pop();
    // The last one takes its place.
    if (last !== undefined && at < this.#queries.length) this.#queries[at] = last;
  }

  cancel(queryId: string): boolean {
    const found = this.#queries.filter((query) => query.queryId === queryId);
    for (const { deadline } of found) deadline.cancel();
    return found.length > 0;
  }
}
