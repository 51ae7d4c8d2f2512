import { assert } from '../../base/errors.js';
import type { SegmentView } from '../../storage/view.js';
import type { SegmentData } from '../block/segment-data.js';

/**
 * What stands for segment data in a message. To copy the data to a thread costs more than many a query, so a thread is
 * sent it once and told its number from then on.
 */
export interface DataReference {
  readonly number: number;
  /** Along with its first mention. */
  readonly data: SegmentData | null;
  /** A number that will not be mentioned any more. */
  readonly forget: number | null;
}

const REMEMBERED_MAX = 64;

/** The sending side, of one thread: data is known by the identity of its views, which pins keep while nothing moved. */
export class SentPayloads {
  /** Least recently sent first. */
  readonly #numbers = new Map<readonly SegmentView[], number>();
  #next = 1;

  refer(data: SegmentData): DataReference {
    const known = this.#numbers.get(data.views);
    const number = known ?? this.#next++;
    this.#numbers.delete(data.views);
    this.#numbers.set(data.views, number);
    if (known !== undefined) return { number, data: null, forget: null };
    const [oldest] = this.#numbers;
    if (this.#numbers.size <= REMEMBERED_MAX || oldest === undefined) return { number, data, forget: null };
    this.#numbers.delete(oldest[0]);
    return { number, data, forget: oldest[1] };
  }
}

/** The thread's side. */
export class ReceivedPayloads {
  readonly #data = new Map<number, SegmentData>();

  resolve({ number, data, forget }: DataReference): SegmentData {
    if (forget !== null) this.#data.delete(forget);
    if (data !== null) this.#data.set(number, data);
    const known = this.#data.get(number);
    assert(known !== undefined, `segment data ${number} was never sent`);
    return known;
  }
}
