import { callJson } from '../../bench/server.js';
import { until } from './large-cluster.js';

const DAYS = 4;

const append = (id: string, n: number): unknown => ({
  id,
  type: 'index_parallel',
  spec: {
    ioConfig: {
      type: 'index_parallel',
      appendToExisting: true,
      inputSource: { type: 'inline', data: `2024-01-0${(n % DAYS) + 1}T00:00:00Z,${n}` },
      inputFormat: { type: 'csv', columns: ['time', 'n'] },
    },
    dataSchema: {
      dataSource: 'published',
      timestampSpec: { column: 'time', format: 'iso' },
      dimensionsSpec: { dimensions: [{ type: 'long', name: 'n' }] },
      granularitySpec: { type: 'uniform', segmentGranularity: 'day', rollup: false },
    },
    tuningConfig: { type: 'index_parallel' },
  },
});

const compaction = (id: string): unknown => ({
  id,
  type: 'compact',
  dataSource: 'published',
  ioConfig: { type: 'compact', inputSpec: { type: 'interval', interval: `2024-01-01/P${DAYS}D` } },
});

/** A client that publishes rows one after the other, each until its publish is acknowledged. */
export class Publisher {
  readonly #url: () => string;
  handedOver = 0;
  acknowledged = 0;
  compactions = 0;
  #tasks = 0;

  /**
   * @param url  address at which tasks are submitted, asked for before each call
   */
  constructor(url: () => string) {
    this.#url = url;
  }

  /** The next row, until its publish is acknowledged. */
  async publish(): Promise<void> {
    const n = this.handedOver++;
    while (!(await this.#run((id) => append(id, n))));
    this.acknowledged++;
  }

  async compact(): Promise<void> {
    while (!(await this.#run(compaction)));
    this.compactions++;
  }

  /** Whether it succeeded. */
  async #run(spec: (id: string) => unknown): Promise<boolean> {
    const id = `task-${this.#tasks++}`;
    const call = async (method: string, at: string, body?: unknown): Promise<unknown> => callJson(method, `${this.#url()}${at}`, body);
    await until(`${id} accepted`, () =>
      call('POST', '/svc/indexer/v1/task', spec(id)).then(
        () => true,
        (error: unknown) => {
          // The answer to an earlier try was lost.
          if (/already|exists/.test(String(error))) return true;
          throw error;
        },
      ),
    );
    let state = '';
    await until(`the end of ${id}`, async () => {
      const { status } = (await call('GET', `/svc/indexer/v1/task/${id}/status`)) as { status: { statusCode: string; errorMsg: unknown } };
      state = status.statusCode;
      if (state === 'FAILED') console.log(`${id} failed: ${status.errorMsg}`);
      return state === 'SUCCESS' || state === 'FAILED';
    });
    return state === 'SUCCESS';
  }
}
