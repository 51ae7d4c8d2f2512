// Virtual time, chance and processes of a simulation: everything that happens is an event of one queue.

import { createHash } from 'node:crypto';
import { BinaryHeap } from '../../src/base/binary-heap.js';
import type { Clock } from '../../src/base/clock/clock.js';

/** Calendar time at the beginning. */
const BEGIN_MS = Date.UTC(2026, 0, 1);
/** Last lines of a trace that are kept for a failure. */
const LINES_KEPT = 5000;

/** Pseudorandom numbers of one seed (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 0x9e3779b1) >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  is(share: number): boolean {
    return this.next() < share;
  }

  /** A whole number from `low` up to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}

interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly run: Happening;
}

/** An event; `false`: nothing has happened, as of a timer that was cleared. */
export type Happening = () => void | false;

/** The queue of events, the trace of what happened, and the calendar that all processes see. */
export class World {
  readonly chance: Chance;
  #nowMs = 0;
  #order = 0;
  #calendarMs = 0;
  readonly #events = new BinaryHeap<Event>([], (a, b) => b.atMs - a.atMs || b.order - a.order);
  readonly #digest = createHash('sha256');
  readonly #lines: string[] = [];
  /** Broken promises of the simulation, in words. */
  readonly violations: string[] = [];

  constructor(seed: number) {
    this.chance = new Chance(seed);
  }

  /** Milliseconds since the beginning. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Time of the calendar, which a fault may set. */
  get calendarMs(): number {
    return BEGIN_MS + this.#calendarMs + this.#nowMs;
  }

  stepCalendar(byMs: number): void {
    this.#calendarMs += byMs;
  }

  after(delayMs: number, run: Happening): void {
    this.#events.push({ atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run });
  }

  note(line: string): void {
    const whole = `${this.#nowMs} ${line}`;
    this.#digest.update(whole);
    this.#lines.push(whole);
    if (this.#lines.length >= 2 * LINES_KEPT) this.#lines.splice(0, LINES_KEPT);
  }

  violated(what: string): void {
    this.note(`VIOLATED ${what}`);
    this.violations.push(`at ${this.#nowMs} ms: ${what}`);
  }

  /** Last lines of the trace. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Hash of the whole trace; asked for once, at the end. */
  traceHash(): string {
    return this.#digest.digest('hex');
  }

  /** Runs one event after the other until an instant. Nothing but promises is awaited in between, so all of them are through. */
  async runUntil(endMs: number, isOver: () => boolean = () => false): Promise<void> {
    for (;;) {
      const event = this.#events.first;
      if (event === undefined || event.atMs > endMs || isOver()) break;
      this.#events.dropFirst();
      this.#nowMs = event.atMs;
      if (event.run() !== false) await new Promise(setImmediate);
    }
    if (!isOver()) this.#nowMs = endMs;
  }
}

/** One run of a process, from its start to its crash, after which nothing of it runs any more. */
export class Process {
  readonly world: World;
  readonly name: string;
  readonly session: string;
  readonly clock: Clock;
  #isAlive = true;
  #isPaused = false;
  readonly #held: (() => void)[] = [];
  readonly #ends: (() => void)[] = [];

  constructor(world: World, name: string, run: number) {
    this.world = world;
    this.name = name;
    this.session = `${name}-${run}`;
    this.clock = {
      now: () => world.calendarMs,
      monotonicMs: () => world.nowMs,
      setTimer: (callback, delayMs, told) => {
        const timer = { isSet: true, unref: () => undefined };
        const fire = (): void => {
          if (timer.isSet) callback(told);
        };
        world.after(Math.max(1, delayMs) + world.chance.between(0, 2), () => timer.isSet && this.deliver(fire));
        // Only its identity is used.
        return timer as unknown as ReturnType<Clock['setTimer']>;
      },
      clearTimer: (timer) => {
        if (timer !== undefined) (timer as unknown as { isSet: boolean }).isSet = false;
      },
    };
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Something reaches the process: once it is not paused, and never when it has crashed. */
  deliver(run: () => void): void | false {
    if (!this.#isAlive) return false;
    if (!this.#isPaused) return run();
    this.#held.push(run);
    return false;
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.setTimer(resolve, delayMs, undefined);
    });
  }

  onEnd(run: () => void): void {
    this.#ends.push(run);
  }

  crash(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    for (const run of this.#ends) run();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    // One event each: the order in which a process finds what came meanwhile.
    for (const run of this.#held.splice(0)) this.world.after(0, () => this.deliver(run));
  }
}
