// The lookups of one process, as the Coordinator has them configured.

import { ServiceError } from '../../base/errors.js';
import { toServiceError } from '../rpc/message.js';
import type { Peers } from '../rpc/peers.js';
import type { LookupReport } from '../rpc/services.js';
import { Ticker } from '../ticker.js';
import type { LookupStore } from './lookup-store.js';

interface ConfiguredLookupsOptions {
  readonly store: LookupStore;
  /** Tier whose lookups are loaded (`svc.lookup.lookupTier`). */
  readonly tier: string;
  readonly peers: Pick<Peers, 'leading'>;
  /** Time between two looks at the Coordinator. */
  readonly pollMs: number;
  readonly log: (line: string) => void;
}

/** Keeps the store of a process as the Coordinator has it configured; the roles of the process share it. */
export class ConfiguredLookups {
  readonly store: LookupStore;
  readonly #options: ConfiguredLookupsOptions;
  readonly #ticker: Ticker;
  #generation: string | null = null;

  constructor(options: ConfiguredLookupsOptions) {
    this.#options = options;
    this.store = options.store;
    this.#ticker = new Ticker(
      () => this.#look(),
      options.pollMs,
      (error) => options.log(`lookups: ${toServiceError(error).message}`),
    );
  }

  /** Resolves after the first look, also when that failed. */
  start(): Promise<void> {
    return this.#ticker.start();
  }

  /**
   * Resolves once the first configuration is loaded.
   * @throws ServiceError `unavailable` when the Coordinator does not tell it
   */
  async known(): Promise<void> {
    if (this.#generation !== null) return;
    await this.#ticker.wakeAndWait();
    if (this.#generation === null) throw new ServiceError('unavailable', 'the lookups of the cluster are not known yet');
  }

  async stop(): Promise<void> {
    this.store.close();
    await this.#ticker.stop();
    this.store.close();
  }

  report(): LookupReport {
    return { tier: this.#options.tier, current: this.store.current(), failed: this.store.failed() };
  }

  async #look(): Promise<void> {
    const { peers, tier } = this.#options;
    const configured = await peers.leading('coordinator').lookupsAfter(tier, this.#generation);
    if (configured === null) return;
    await this.store.replace(configured.lookups);
    this.#generation = configured.generation;
  }
}
