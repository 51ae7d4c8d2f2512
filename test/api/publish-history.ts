import { setTimeout as sleep } from 'node:timers/promises';

/** Errors of clients while a process is away: all say that they can be asked again. */
const RETRYABLE = /^(50[234]|no connection)/;

/** Rows that a table is to have: 0, 1, 2, … in the order of their publishes. */
export interface Numbered {
  readonly table: string;
  /** Numbers that may be there: handed over for publishing. */
  readonly handedOver: () => number;
}

/** History of a table as one client has seen it, and whether it may have been: each row once, none before those that were published before it. */
export class PublishHistory {
  readonly violations: string[] = [];
  /** Rows of the last answer. */
  rows = 0;
  answers = 0;
  errors = 0;
  /** Longest time of an answer or error. */
  slowestMs = 0;
  /** Fewest rows of the next answer: those of the last. */
  floor = 0;
  #isEnded = false;
  readonly #turns: Promise<void>;
  readonly url: string;
  readonly numbered: Numbered;
  readonly #goesOn: boolean;

  /**
   * @param goesOn  whether answers may never go back: those of one Broker; the Router asks one or the other
   */
  constructor(url: string, numbered: Numbered, goesOn: boolean) {
    this.url = url;
    this.numbered = numbered;
    this.#goesOn = goesOn;
    this.#turns = this.#ask();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#turns;
  }

  async #ask(): Promise<void> {
    const query = `SELECT n, COUNT(*) AS copies FROM "${this.numbered.table}" GROUP BY 1 ORDER BY 1`;
    const body = JSON.stringify({
      query,
      resultFormat: 'array',
      context: { useCache: false, useResultLevelCache: false, timeout: 60_000 },
    });
    for (; !this.#isEnded; await sleep(100)) {
      const { floor } = this;
      const beganMs = performance.now();
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: AbortSignal.timeout(90_000) };
      const answer = await fetch(`${this.url}/svc/v2/sql`, init).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - beganMs);
      if (answer?.status === 200 && text !== undefined) this.#check(text, floor);
      else {
        this.errors++;
        const error = answer === undefined || text === undefined ? 'no connection' : `${answer.status} ${text}`;
        if (!RETRYABLE.test(error)) this.violations.push(error);
      }
    }
  }

  #check(text: string, floor: number): void {
    let rows: readonly (readonly [number, number])[];
    try {
      rows = JSON.parse(text) as readonly (readonly [number, number])[];
    } catch {
      // An answer that its server did not end.
      this.errors++;
      return;
    }
    this.answers++;
    this.rows = rows.length;
    const { table, handedOver } = this.numbered;
    const told = `${this.url}: ${table}`;
    for (const [at, [n, copies]] of rows.entries())
      if (n !== at || copies !== 1) return void this.violations.push(`${told} has ${n} ${copies} times in place ${at} of ${rows.length}`);
    if (rows.length > handedOver()) this.violations.push(`${told} has ${rows.length} rows of ${handedOver()}`);
    if (this.#goesOn && rows.length < floor) this.violations.push(`${told} has ${rows.length} rows after ${floor}`);
    this.floor = Math.max(this.floor, rows.length);
  }
}
