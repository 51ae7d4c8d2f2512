// Orders of the Coordinator to Historicals: what to load and what to drop.

import { type Clock, SYSTEM_CLOCK, type Timer } from '../../base/clock/clock.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { toServiceError } from '../rpc/message.js';
import type { HistoricalService } from '../rpc/services.js';
import { LOOK_WAIT_MS } from '../server-looks.js';

interface Ordered {
  readonly host: string;
  readonly service: Pick<HistoricalService, 'loadSegments' | 'dropSegments'>;
}

/** Orders, one open call to each server at a time; a server that does not answer holds up nobody for long. */
export class Orders {
  readonly #log: (line: string) => void;
  readonly #clock: Clock;
  readonly #open = new Map<string, Promise<void>>();

  constructor(log: (line: string) => void, clock: Clock = SYSTEM_CLOCK) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Whether a server has not yet answered to what it was told before. */
  isOpen(host: string): boolean {
    return this.#open.has(host);
  }

  /** Resolves when all have answered, or after a while. */
  async give(
    servers: readonly Ordered[],
    loads: ReadonlyMap<string, readonly SegmentDescriptor[]>,
    drops: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    for (const { host, service } of servers) {
      const [loaded, dropped] = [loads.get(host), drops.get(host)];
      if (this.#open.has(host) || (loaded === undefined && dropped === undefined)) continue;
      const told = Promise.all([
        loaded === undefined ? undefined : service.loadSegments(loaded),
        dropped === undefined ? undefined : service.dropSegments(dropped),
      ]);
      const answered = told
        .then(() => undefined)
        .catch((error: unknown) => this.#log(`coordinator: ${host} was not told what to load: ${toServiceError(error).message}`))
        .finally(() => this.#open.delete(host));
      this.#open.set(host, answered);
    }
    if (this.#open.size === 0) return;
    let timer: Timer | undefined;
    const late = new Promise<void>((resolve) => {
      timer = this.#clock.setTimer(resolve, LOOK_WAIT_MS, undefined);
    });
    await Promise.race([Promise.all(this.#open.values()), late]);
    this.#clock.clearTimer(timer);
  }
}
