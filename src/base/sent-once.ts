// Sends data to a thread once and refers to it by number from then on.

import { BoundedCache } from './bounded-cache.js';
import { assert } from './errors.js';

/**
 * Reference to data in a message to a thread. Copying the data costs more than many queries, so a thread receives it
 * once and told its number from then on.
 */
export interface DataReference<Data> {
  readonly number: number;
  /** Along with its first mention. */
  readonly data: Data | null;
  /** A number that will not be mentioned any more. */
  readonly forget: number | null;
}

const REMEMBERED_MAX = 64;

/** The sending side, of one thread: data is known by the identity of an object that stays the same while nothing changes. */
export class SentOnce<Data> {
  readonly #numbers = new BoundedCache<object, number>(REMEMBERED_MAX);
  #next = 1;

  refer(identity: object, data: Data): DataReference<Data> {
    const known = this.#numbers.find(identity);
    if (known !== undefined) return { number: known, data: null, forget: null };
    const number = this.#next++;
    const [forget = null] = this.#numbers.keep(identity, number);
    return { number, data, forget };
  }
}

/** The thread's side. */
export class ReceivedOnce<Data> {
  readonly #data = new Map<number, Data>();

  resolve({ number, data, forget }: DataReference<Data>): Data {
    if (data !== null) this.#data.set(number, data);
    const known = this.#data.get(number);
    assert(known !== undefined, `data ${number} was never sent`);
    if (forget !== null) this.#data.delete(forget);
    return known;
  }
}
