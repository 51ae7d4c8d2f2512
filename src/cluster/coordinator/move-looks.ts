// The order in which segments of a server are looked at for a move.

import type { AssignedServer } from './assignment.js';

/** Part of a list from one look to the next: looks of any number are spread evenly over it. */
const GOLDEN_PART = (Math.sqrt(5) - 1) / 2;

type Holder = Pick<AssignedServer, 'host' | 'served'>;

/**
 * Looks at the segments of servers, in turn and far from each other: neighbours in time are read together, and shall not go to one
 * server together. A look goes on where the one before has ended.
 */
export class MoveLooks {
  /** The next place in the order, by host. */
  readonly #places = new Map<string, number>();
  /** Segments that were looked at in this round, by host. */
  readonly #looked = new Map<string, number>();

  /** Begins to count anew which segments have been looked at; the next ones are those behind the last. */
  beginRounds(): void {
    this.#looked.clear();
  }

  /** Whether each segment was looked at in this round. */
  isThrough({ host, served }: Holder): boolean {
    return (this.#looked.get(host) ?? 0) >= served.size;
  }

  /** The next ids of a server, at most so many and each once in a round. Those that are left out come next time. */
  *next({ host, served }: Holder, most: number): Generator<string, void, undefined> {
    const ids = [...served];
    const step = stepOf(ids.length);
    let looked = this.#looked.get(host) ?? 0;
    for (const end = Math.min(ids.length, looked + most); looked < end; ) {
      const place = (this.#places.get(host) ?? 0) % ids.length;
      this.#places.set(host, (place + step) % ids.length);
      this.#looked.set(host, ++looked);
      yield ids[place] as string;
    }
  }
}

/** A step that comes to each place of a list of this length before it comes to one again: they have no divisor in common. */
function stepOf(length: number): number {
  let step = Math.max(1, Math.round(length * GOLDEN_PART));
  while (divisorOf(step, length) > 1) step++;
  return step;
}

function divisorOf(a: number, b: number): number {
  return b === 0 ? a : divisorOf(b, a % b);
}
