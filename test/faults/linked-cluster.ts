import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DolmenProcess, startDolmen } from '../../bench/server.js';
import type { Service } from '../services.js';
import { Link } from './link.js';

/** Processes by name: their roles, and the ports that they listen on. The two masters elect who leads. */
const PROCESSES = {
  'master 0': { roles: 'coordinator,overlord', ports: [8081] },
  'master 1': { roles: 'coordinator,overlord', ports: [8181] },
  'historical 0': { roles: 'historical', ports: [8083] },
  'historical 1': { roles: 'historical', ports: [8183] },
  worker: { roles: 'middleManager', ports: [8091] },
  broker: { roles: 'broker', ports: [8082] },
  router: { roles: 'router', ports: [8888] },
} as const;

export type ProcessName = keyof typeof PROCESSES;
/** A process, or the metadata database. */
export type Target = ProcessName | 'database';
const NAMES = Object.keys(PROCESSES) as ProcessName[];
const REDIRECT = new URL('./redirect.js', import.meta.url).href;

/** Seven processes over PostgreSQL, every one of which reaches each other, and the database, by a way of its own (`Link`). */
export class LinkedCluster {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'dolmen-linked-'));
  readonly #links = new Map<string, Link>();
  readonly #processes: DolmenProcess[] = [];
  readonly #portOffset: number;

  private constructor(portOffset: number) {
    this.#portOffset = portOffset;
  }

  static async start(portOffset: number, postgresql: Service): Promise<LinkedCluster> {
    const cluster = new LinkedCluster(portOffset);
    try {
      for (const name of NAMES) await cluster.#start(name, postgresql);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  urlOf(name: ProcessName): string {
    return `http://127.0.0.1:${PROCESSES[name].ports[0] + this.#portOffset}`;
  }

  /** The way from one to another. */
  link(from: ProcessName, to: Target): Link {
    const link = this.#links.get(`${from} ${to}`);
    if (link === undefined) throw new Error(`there is no way from ${from} to ${to}`);
    return link;
  }

  /** All ways from a process, and all to it. */
  around(name: ProcessName): readonly Link[] {
    const others = NAMES.filter((other) => other !== name);
    return [this.link(name, 'database'), ...others.flatMap((other) => [this.link(name, other), this.link(other, name)])];
  }

  output(): string {
    return this.#processes.map((each) => each.output().slice(-2000)).join('\n');
  }

  async stop(): Promise<void> {
    for (const process of this.#processes) await process.kill();
    for (const link of this.#links.values()) link.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(name: ProcessName, { uri, user, password, port }: Service): Promise<void> {
    const database = await Link.open(port);
    this.#links.set(`${name} database`, database);
    const links: Record<string, number> = { [port]: database.port };
    for (const other of NAMES) {
      if (other === name) continue;
      const listens = PROCESSES[other].ports[0] + this.#portOffset;
      const link = await Link.open(listens);
      this.#links.set(`${name} ${other}`, link);
      links[listens] = link.port;
    }
    const { roles, ports } = PROCESSES[name];
    const properties = [
      ...roles.split(',').map((role) => `${role}.port=${ports[0]}`),
      `segmentCache.directory=${path.join(this.#folder, name)}`,
      'processing.numThreads=1',
      'coordination.heartbeat=PT0.5S',
      'metadata.storage.type=postgresql',
      `metadata.storage.connector.connectURI=${uri}`,
      `metadata.storage.connector.user=${user}`,
      `metadata.storage.connector.password=${password}`,
    ];
    const process = await startDolmen({
      dataDir: this.#folder,
      portOffset: this.#portOffset,
      waitForReady: false,
      flags: ['--roles', roles, ...properties.flatMap((each) => ['--property', `svc.${each}`])],
      environment: { NODE_OPTIONS: `--import=${REDIRECT}`, DOLMEN_TEST_LINKS: JSON.stringify(links) },
    });
    this.#processes.push(process);
  }
}
