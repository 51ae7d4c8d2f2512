import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callJson, type DolmenProcess, runTask, startDolmen, waitForCount } from '../../bench/server.js';
import { until } from '../api/large-cluster.js';
import { type Service, startService } from '../services.js';
import { FaultProxy } from '../storage/fault-proxy.js';
import { DAYS, LOOKUP, loadOf, ROWS, TABLE } from './known-answers.js';

/* Three Historicals with two copies of every segment, which lie in S3 where there is one, and what can happen to them. */

export const HISTORICALS = 3;
const FAST = [
  ['coordination.heartbeat', 'PT0.5S'],
  ['coordinator.load.retry', 'PT1S'],
  ['server.http.defaultQueryTimeout', 'PT30S'],
] as const;
const SETTLED_WITHIN_MS = 180_000;

interface OneHistorical {
  readonly host: string;
  readonly cache: string;
  readonly flags: readonly string[];
  process: DolmenProcess;
}

export class HistoricalCluster {
  readonly url: string;
  /** Stands before S3; undefined: deep storage is a folder. */
  readonly proxy: FaultProxy | undefined;
  readonly historicals: OneHistorical[] = [];
  readonly #folder: string;
  readonly #portOffset: number;
  readonly #s3: Service | undefined;
  readonly #others: DolmenProcess[] = [];

  private constructor(portOffset: number, s3: Service | undefined, proxy: FaultProxy | undefined) {
    this.#folder = mkdtempSync(path.join(tmpdir(), 'dolmen-historicals-'));
    this.#portOffset = portOffset;
    this.#s3 = s3;
    this.proxy = proxy;
    this.url = `http://127.0.0.1:${8888 + portOffset}`;
  }

  /** Gives it with all rows loaded, two copies of each. */
  static async start(portOffset: number): Promise<HistoricalCluster> {
    const s3 = await startService('s3');
    const proxy = s3 === undefined ? undefined : await FaultProxy.open(s3.port);
    const cluster = new HistoricalCluster(portOffset, s3, proxy);
    try {
      await cluster.#start();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  async #start(): Promise<void> {
    this.#others.push(await this.#process('coordinator,overlord,middleManager'));
    for (let index = 0; index < HISTORICALS; index++) {
      const cache = path.join(this.#folder, `cache-${index}`);
      const flags = [`historical.port=${8100 + index}`, `segmentCache.directory=${cache}`];
      const host = `127.0.0.1:${8100 + index + this.#portOffset}`;
      this.historicals.push({ host, cache, flags, process: await this.#process('historical', flags) });
    }
    this.#others.push(await this.#process('broker,router', [], true));
    for (let attempt = 0; (await this.#workers()) === 0; attempt++) {
      if (attempt > 300) throw new Error(`no worker came:\n${this.output()}`);
      await sleep(200);
    }
    // On a busy machine a leader may be lost and found again meanwhile.
    await until('rules', () => this.setRules({ _default_tier: 2 }).then(() => true));
    await callJson('POST', `${this.url}/svc/coordinator/v1/lookups/config/__default/parity`, {
      version: 'v1',
      lookupExtractorFactory: { type: 'map', map: LOOKUP },
    });
    await runTask(this.url, loadOf());
    await waitForCount(this.url, TABLE, ROWS);
    await this.settled();
  }

  #process(roles: string, own: readonly string[] = [], waitForReady = false): Promise<DolmenProcess> {
    const { user = '', password = '', database = '' } = this.#s3 ?? {};
    const properties: readonly string[] = [
      ...FAST.map(([name, value]) => `${name}=${value}`),
      ...(this.proxy === undefined
        ? []
        : [
            'storage.type=s3',
            `storage.bucket=${database}`,
            'storage.baseKey=segments',
            `s3.accessKey=${user}`,
            `s3.secretKey=${password}`,
            `s3.endpoint.url=http://127.0.0.1:${this.proxy.port}`,
            's3.enablePathStyleAccess=true',
          ]),
      ...own,
    ];
    const flags = ['--roles', roles, ...properties.flatMap((each) => ['--property', `svc.${each}`])];
    return startDolmen({ dataDir: this.#folder, portOffset: this.#portOffset, flags, waitForReady });
  }

  async #workers(): Promise<number> {
    return callJson('GET', `${this.url}/svc/indexer/v1/workers`).then(
      (workers) => (workers as unknown[]).length,
      () => 0,
    );
  }

  output(): string {
    return [...this.#others, ...this.historicals.map(({ process }) => process)].map((one) => one.output()).join('\n');
  }

  at(index: number): OneHistorical {
    const found = this.historicals[index];
    if (found === undefined) throw new Error(`no Historical ${index}`);
    return found;
  }

  /** Starts one that ended again. */
  async restart(index: number, more: readonly string[] = []): Promise<void> {
    const one = this.at(index);
    one.process = await this.#process('historical', [...one.flags, ...more]);
  }

  setRules(tieredReplicants: Readonly<Record<string, number>>): Promise<unknown> {
    return callJson('POST', `${this.url}/svc/coordinator/v1/rules/${TABLE}`, [{ type: 'loadForever', tieredReplicants }]);
  }

  decommission(hosts: readonly string[]): Promise<unknown> {
    return callJson('POST', `${this.url}/svc/coordinator/v1/config`, { decommissioningNodes: hosts });
  }

  /** Segments that each one serves, told by itself; undefined of one that does not answer or is not ready. */
  async served(): Promise<readonly (number | undefined)[]> {
    return Promise.all(this.historicals.map(({ host }) => servedBy(host).catch(() => undefined)));
  }

  /**
   * Waits until all Historicals are there and this many copies are served.
   * @param holds  whether it also has to be true of the counts by Historical
   */
  async settled(copies = 2 * DAYS, holds: (counts: readonly number[]) => boolean = () => true): Promise<void> {
    let last: readonly (number | undefined)[] = [];
    for (const startMs = performance.now(); performance.now() < startMs + SETTLED_WITHIN_MS; await sleep(200)) {
      last = await this.served().catch(() => []);
      const counts = last.flatMap((count) => count ?? []);
      if (counts.length === HISTORICALS && counts.reduce((all, count) => all + count, 0) === copies && holds(counts)) return;
    }
    throw new Error(`the segments never settled at ${copies} copies: ${JSON.stringify(last)}\n${this.output().slice(-20_000)}`);
  }

  /** Overwrites the middle of a local file. */
  corrupt(index: number, count = 1): void {
    const folder = path.join(this.at(index).cache, 'segments');
    const files = existsSync(folder) ? readdirSync(folder) : [];
    for (const file of files.slice(0, count)) writeFileSync(path.join(folder, file), 'no segment', { flag: 'r+' });
  }

  removeCache(index: number): void {
    rmSync(this.at(index).cache, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    for (const each of [...this.#others, ...this.historicals.map(({ process }) => process)]) await each.kill();
    await this.proxy?.close();
    await this.#s3?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function servedBy(host: string): Promise<number | undefined> {
  const get = (url: string): Promise<Response> => fetch(`http://${host}${url}`, { signal: AbortSignal.timeout(2000) });
  const { cacheInitialized } = (await (await get('/svc/historical/v1/loadstatus')).json()) as { readonly cacheInitialized: boolean };
  if (!cacheInitialized) return undefined;
  const counts = (await (await get('/metrics')).text()).matchAll(/segment_served_count\{[^}]*\} (\d+)/g);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Something that happens to a Historical; resolves once it is over, before all segments are where they should be. */
export type HistoricalFault = (cluster: HistoricalCluster, index: number, seconds: number) => Promise<void>;

/** Faults by name. */
export const HISTORICAL_FAULTS: Readonly<Record<string, HistoricalFault>> = {
  async killed(cluster, index) {
    await cluster.at(index).process.kill();
    await cluster.restart(index);
  },
  async 'killed, its cache deleted'(cluster, index) {
    await cluster.at(index).process.kill();
    cluster.removeCache(index);
    await cluster.restart(index);
  },
  async 'ended and started'(cluster, index) {
    await cluster.at(index).process.stop();
    await cluster.restart(index);
  },
  async 'killed and away'(cluster, index, seconds) {
    await cluster.at(index).process.kill();
    await sleep(seconds * 1000);
    await cluster.restart(index);
  },
  async paused(cluster, index, seconds) {
    const { child } = cluster.at(index).process;
    child.kill('SIGSTOP');
    await sleep(seconds * 1000);
    child.kill('SIGCONT');
  },
  async 'paused, then killed'(cluster, index, seconds) {
    cluster.at(index).process.child.kill('SIGSTOP');
    await sleep(Math.min(seconds, 3) * 1000);
    await cluster.at(index).process.kill();
    await cluster.restart(index);
  },
  async 'moved: decommissioned'(cluster, index) {
    await cluster.decommission([cluster.at(index).host]);
    await cluster.settled(2 * DAYS, (counts) => counts[index] === 0);
    await cluster.decommission([]);
    // It takes segments again when another one has to give some up.
    await cluster.setRules({ _default_tier: 3 });
    await cluster.settled(3 * DAYS);
    await cluster.setRules({ _default_tier: 2 });
  },
  async 'moved: fewer copies, then more'(cluster) {
    await cluster.setRules({ _default_tier: 1 });
    await cluster.settled(DAYS);
    await cluster.setRules({ _default_tier: 2 });
  },
  async 'moved: to another tier'(cluster, index) {
    await cluster.at(index).process.kill();
    await cluster.restart(index, ['server.tier=cold']);
    await cluster.setRules({ _default_tier: 1, cold: 1 });
    await cluster.settled(2 * DAYS, (counts) => counts[index] === DAYS);
    await cluster.at(index).process.kill();
    await cluster.restart(index);
    await cluster.setRules({ _default_tier: 2 });
  },
  async 'a file corrupted under it'(cluster, index) {
    cluster.corrupt(index, 3);
    await sleep(500);
    await cluster.at(index).process.kill();
    await cluster.restart(index);
  },
  async 'its cache deleted under it'(cluster, index) {
    cluster.removeCache(index);
    await sleep(500);
    await cluster.at(index).process.kill();
    await cluster.restart(index);
  },
  async 'deep storage failing while it loads'(cluster, index, seconds) {
    const kinds = [503, 'reset', 'cut', 'flip'] as const;
    if (cluster.proxy !== undefined) cluster.proxy.faultOf = ({ method, before }) => (method === 'GET' ? kinds[before % 4] : undefined);
    await cluster.at(index).process.kill();
    cluster.removeCache(index);
    await cluster.restart(index);
    await sleep(Math.min(seconds, 5) * 1000);
    cluster.proxy?.reset();
  },
  async 'two killed'(cluster, index) {
    const other = (index + 1) % HISTORICALS;
    await Promise.all([cluster.at(index).process.kill(), cluster.at(other).process.kill()]);
    await Promise.all([cluster.restart(index), cluster.restart(other)]);
  },
};
