// Servers that do not answer at the moment, or are there no more, as the Broker knows them, and who waits for them.

import type { Serving } from '../scatter.js';

/** Silent servers by host; tells readers when theirs becomes one. */
export class Silence {
  readonly #readers = new Map<string, Set<() => void>>();
  #hosts: ReadonlySet<string> = new Set();
  #passing: { readonly serving: Serving; readonly over: Serving } | undefined;

  get hosts(): ReadonlySet<string> {
    return this.#hosts;
  }

  has(host: string): boolean {
    return this.#hosts.has(host);
  }

  set(hosts: ReadonlySet<string>): void {
    const before = this.#hosts;
    if (before.size === 0 && hosts.size === 0) return;
    this.#hosts = hosts;
    this.#passing = undefined;
    for (const host of hosts) if (!before.has(host)) for (const tell of [...(this.#readers.get(host) ?? [])]) tell();
  }

  /** Whether somebody waits for an answer of a server. */
  isAwaited(host: string): boolean {
    return this.#readers.has(host);
  }

  /** The same with the silent ones; another one whenever either has changed. */
  over(serving: Serving): Serving {
    if (this.#hosts.size === 0) return serving;
    if (this.#passing?.serving !== serving) this.#passing = { serving, over: { ...serving, silent: this.#hosts } };
    return this.#passing.over;
  }

  /** Calls back when a server becomes silent; returns how to stop that. */
  watch(host: string, tell: () => void): () => void {
    let readers = this.#readers.get(host);
    if (readers === undefined) {
      readers = new Set();
      this.#readers.set(host, readers);
    }
    readers.add(tell);
    return () => {
      readers.delete(tell);
      if (readers.size === 0 && this.#readers.get(host) === readers) this.#readers.delete(host);
    };
  }
}
