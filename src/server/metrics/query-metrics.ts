// Metrics of the queries that a Broker answers.

import { Counter, Timer } from './counted.js';
import { type Metric, writeMetric } from './exposition.js';

/** A query that has ended. */
export interface EndedQuery {
  readonly queryType: string;
  readonly dataSource: string | null;
  readonly milliseconds: number;
  readonly planningMs: number;
  /** Code of its error; undefined: its answer is whole. */
  readonly errorCode: string | undefined;
}

const SQL = 'sql';

/** Counts queries as they end. */
export class QueryMetrics {
  readonly #count = new Counter();
  readonly #succeeded = new Counter();
  readonly #failed = new Counter();
  readonly #interrupted = new Counter();
  readonly #timedOut = new Counter();
  readonly #time = new Timer('dataSource', 'type');
  readonly #sqlTime = new Timer('dataSource');
  readonly #planningTime = new Timer('dataSource');

  ended({ queryType, dataSource, milliseconds, planningMs, errorCode }: EndedQuery): void {
    this.#count.add();
    const outcome =
      errorCode === undefined
        ? this.#succeeded
        : errorCode === 'cancelled'
          ? this.#interrupted
          : errorCode === 'timeout'
            ? this.#timedOut
            : this.#failed;
    outcome.add();
    this.#time.add(milliseconds / 1000, dataSource ?? '', queryType);
    if (queryType !== SQL) return;
    this.#sqlTime.add(milliseconds / 1000, dataSource ?? '');
    this.#planningTime.add(planningMs / 1000, dataSource ?? '');
  }

  write(namespace: string): string {
    const rows: readonly (readonly [Metric['type'], string, string, Counter | Timer])[] = [
      ['counter', 'query/count', 'Queries that have ended.', this.#count],
      ['counter', 'query/success/count', 'Queries whose answer was whole.', this.#succeeded],
      ['counter', 'query/failed/count', 'Queries that failed, cancelled ones and those out of time apart.', this.#failed],
      ['counter', 'query/interrupted/count', 'Queries that were cancelled, or left by their client.', this.#interrupted],
      ['counter', 'query/timeout/count', 'Queries whose time was up.', this.#timedOut],
      ['histogram', 'query/time', 'Seconds from a request to the end of its answer.', this.#time],
      ['histogram', 'sqlQuery/time', 'The same, of SQL queries.', this.#sqlTime],
      ['histogram', 'sqlQuery/planningTimeMs', 'Seconds of planning of SQL queries.', this.#planningTime],
    ];
    return rows.map(([type, name, help, counted]) => writeMetric(namespace, { type, name, help }, counted.samples())).join('');
  }
}
