// Counters and histograms by labels, bounded in number.

import type { Labels, Sample } from './exposition.js';

/** Label values that are told apart; what comes later counts under `OTHER`. */
const SERIES_MAX = 1000;
const OTHER = '(other)';
/** Upper bounds in seconds, as those of the field's usual client. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Series by the values of their labels. */
class Series<State> {
  readonly #names: readonly string[];
  readonly #create: () => State;
  readonly #states = new Map<string, { readonly labels: Labels; readonly state: State }>();

  constructor(names: readonly string[], create: () => State) {
    this.#names = names;
    this.#create = create;
  }

  at(values: readonly string[]): State {
    const key = values.join('\0');
    const known = this.#states.get(key);
    if (known !== undefined) return known.state;
    if (this.#states.size >= SERIES_MAX && values.some((value) => value !== OTHER)) return this.at(values.map(() => OTHER));
    const state = this.#create();
    this.#states.set(key, { labels: Object.fromEntries(this.#names.map((name, at) => [name, values[at] ?? ''])), state });
    return state;
  }

  all(): Iterable<{ readonly labels: Labels; readonly state: State }> {
    return this.#states.values();
  }
}

/** Counts that only grow. */
export class Counter {
  readonly #series: Series<{ count: number }>;

  constructor(...labels: readonly string[]) {
    this.#series = new Series(labels, () => ({ count: 0 }));
    // One without labels is there from the start: whoever looks for growth needs the 0.
    if (labels.length === 0) this.#series.at([]);
  }

  add(...values: readonly string[]): void {
    this.#series.at(values).count++;
  }

  samples(): readonly Sample[] {
    return Array.from(this.#series.all(), ({ labels, state }) => ({ labels, value: state.count }));
  }
}

/** Seconds in buckets. */
export class Timer {
  readonly #series: Series<{ sum: number; count: number; readonly buckets: number[] }>;

  constructor(...labels: readonly string[]) {
    this.#series = new Series(labels, () => ({ sum: 0, count: 0, buckets: new Array<number>(BOUNDS.length).fill(0) }));
  }

  add(seconds: number, ...values: readonly string[]): void {
    const state = this.#series.at(values);
    state.sum += seconds;
    state.count++;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) state.buckets[bucket] = (state.buckets[bucket] ?? 0) + 1;
  }

  samples(): readonly Sample[] {
    const samples: Sample[] = [];
    for (const { labels, state } of this.#series.all()) {
      let below = 0;
      for (const [at, bound] of BOUNDS.entries()) {
        below += state.buckets[at] ?? 0;
        samples.push({ suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: below });
      }
      samples.push({ suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: state.count });
      samples.push({ suffix: '_sum', labels, value: state.sum }, { suffix: '_count', labels, value: state.count });
    }
    return samples;
  }
}
