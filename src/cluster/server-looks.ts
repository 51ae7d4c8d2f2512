// Looks at all servers of a role, which one that does not answer does not hold up.

import { type Clock, SYSTEM_CLOCK } from '../base/clock/clock.js';
import { ServiceError } from '../base/errors.js';

/** Server as a look finds it. The same address with another session has forgotten everything. */
export interface LookedAt<Service> {
  readonly host: string;
  readonly session: string;
  readonly service: Service;
}

/** News of one look. */
export interface Look<Told> {
  readonly told: readonly Told[];
  /** Servers that did not fail. */
  readonly hosts: readonly string[];
  /** Some answer is of a call of an earlier look, and may be older than this one: once it is taken in, look again. */
  readonly isOld: boolean;
}

interface OpenCall<Service, Told> {
  readonly server: LookedAt<Service>;
  readonly answer: Promise<Answer<Told>>;
  answered: Answer<Told> | undefined;
  /** No look waits for it any more. */
  isLate: boolean;
}

type Answer<Told> = { readonly kind: 'told'; readonly told: Told } | { readonly kind: 'failed'; readonly error: unknown };

/** Time that a look waits for a server. */
export const LOOK_WAIT_MS = 2000;

export interface ServerLooksOptions<Service, Told> {
  /** Asks a server for what has changed since its last answer that was given to the caller. */
  readonly ask: (server: LookedAt<Service>) => Promise<Told>;
  readonly failed: (host: string, error: unknown) => void;
  /** An answer has come that no look waits for: the next one gives it. */
  readonly late: () => void;
  /** Left out: that of the machine. */
  readonly clock?: Clock | undefined;
}

/**
 * Looks, one after the other, with one open call to each server at a time. A server that has not answered in the time of a look is
 * `silent` until it does: no look waits for it meanwhile, and what is known of it stays as it is. One whose call fails is not there.
 */
export class ServerLooks<Service, Told> {
  readonly #options: ServerLooksOptions<Service, Told>;
  readonly #open = new Map<string, OpenCall<Service, Told>>();
  #silent: ReadonlySet<string> = new Set();

  constructor(options: ServerLooksOptions<Service, Told>) {
    this.#options = options;
  }

  /** Servers that did not answer during the last look, nor since. */
  get silent(): ReadonlySet<string> {
    return this.#silent;
  }

  /** Forgets all calls under way: their answers are given to nobody. */
  clear(): void {
    this.#open.clear();
    this.#silent = new Set();
  }

  async look(servers: readonly LookedAt<Service>[], waitMs = LOOK_WAIT_MS): Promise<Look<Told>> {
    for (const [host, { server }] of this.#open)
      if (!servers.some((now) => now.host === host && now.session === server.session && now.service === server.service))
        this.#open.delete(host);
    const told: Told[] = [];
    const failed = new Set<string>();
    const silent = new Set<string>();
    let isOld = false;
    const take = (host: string, answer: Answer<Told>): void => {
      this.#open.delete(host);
      if (answer.kind === 'told') {
        told.push(answer.told);
        return;
      }
      failed.add(host);
      this.#options.failed(host, answer.error);
      if (answer.error instanceof ServiceError && answer.error.code === 'timeout') silent.add(host);
    };
    const lookAt = async (server: LookedAt<Service>): Promise<void> => {
      const { host } = server;
      const earlier = this.#open.get(host);
      if (earlier !== undefined) {
        if (earlier.answered === undefined) silent.add(host);
        else take(host, earlier.answered);
        isOld ||= earlier.answered?.kind === 'told';
        return;
      }
      const call = this.#begin(server);
      const answer = await answerWithin(call, this.#silent.has(host) ? 0 : waitMs, this.#options.clock);
      if (answer === undefined) silent.add(host);
      else take(host, answer);
    };
    await Promise.all(servers.map(lookAt));
    this.#silent = silent;
    return { told, hosts: servers.flatMap(({ host }) => (failed.has(host) ? [] : [host])), isOld };
  }

  #begin(server: LookedAt<Service>): OpenCall<Service, Told> {
    const answer = this.#options.ask(server).then(
      (told): Answer<Told> => ({ kind: 'told', told }),
      (error: unknown): Answer<Told> => ({ kind: 'failed', error }),
    );
    const call: OpenCall<Service, Told> = { server, answer, answered: undefined, isLate: false };
    this.#open.set(server.host, call);
    void answer.then((answered) => {
      call.answered = answered;
      if (call.isLate && this.#open.get(server.host) === call) this.#options.late();
    });
    return call;
  }
}

/** The answer; undefined when the time is over before it has come. */
function answerWithin<Service, Told>(
  call: OpenCall<Service, Told>,
  waitMs: number,
  clock: Clock = SYSTEM_CLOCK,
): Promise<Answer<Told> | undefined> {
  return new Promise((resolve) => {
    const late = (): void => {
      call.isLate = call.answered === undefined;
      resolve(call.answered);
    };
    const timer = clock.setTimer(late, waitMs, undefined);
    void call.answer.then((answer) => {
      clock.clearTimer(timer);
      resolve(answer);
    });
  });
}
