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
  /** Least recently sent first. */
  readonly #numbers = new Map<object, number>();
  #next = 1;

  refer(identity: object, data: Data): DataReference<Data> {
    const known = this.#numbers.get(identity);
    const number = known ?? this.#next++;
    this.#numbers.delete(identity);
    this.#numbers.set(identity, number);
    if (known !== undefined) return { number, data: null, forget: null };
    const [oldest] = this.#numbers;
    if (this.#numbers.size <= REMEMBERED_MAX || oldest === undefined) return { number, data, forget: null };
    this.#numbers.delete(oldest[0]);
    return { number, data, forget: oldest[1] };
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
