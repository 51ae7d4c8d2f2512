// The targets that may have something to be loaded or dropped.

import type { Target } from './assignment.js';

/** Ids of targets to look at: first those of which something has changed, then in turn those that wait for room on a server. */
export class Unsettled {
  readonly #changed = new Set<string>();
  readonly #waiting = new Set<string>();

  /** Targets that are all to be looked at, from the first one that was not. */
  #all: Iterator<string> | undefined;

  /** Whether some have changed that were not looked at since. */
  get hasChanged(): boolean {
    return this.#changed.size > 0 || this.#all !== undefined;
  }

  /** All targets that are there when it is their turn. */
  addAll(targets: ReadonlyMap<string, Target>): void {
    this.#all = targets.keys();
  }

  add(ids: Iterable<string>): void {
    for (const id of ids) this.#changed.add(id);
  }

  /** The next ones, which wait from now on, unless they are settled. */
  next(targets: ReadonlyMap<string, Target>, most: { readonly changed: number; readonly waiting: number }): readonly Target[] {
    const found: Target[] = [];
    const take = (ids: Set<string>, count: number): void => {
      for (const id of ids) {
        if (found.length >= count) return;
        ids.delete(id);
        const target = targets.get(id);
        if (target !== undefined) found.push(target);
      }
    };
    take(this.#changed, most.changed);
    while (found.length < most.changed && this.#all !== undefined) {
      const next = this.#all.next();
      const target = next.done === true ? undefined : targets.get(next.value);
      if (next.done === true) this.#all = undefined;
      else if (target !== undefined) found.push(target);
    }
    for (const { id } of found) this.#waiting.delete(id);
    take(this.#waiting, found.length + most.waiting);
    for (const { id } of found) this.#waiting.add(id);
    return found;
  }

  settle(ids: Iterable<string>): void {
    for (const id of ids) this.#waiting.delete(id);
  }
}
