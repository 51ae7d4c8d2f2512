import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callJson, type DolmenProcess, startDolmen } from '../../bench/server.js';
import type { Role } from '../../src/configuration/properties.js';

/** Ports below those that the system gives to outgoing connections. */
const PORT_OFFSET = 14_000;
const COPIES: Readonly<Record<Role, number>> = { coordinator: 2, overlord: 2, historical: 3, broker: 2, middleManager: 2, router: 1 };
const PORTS: Readonly<Record<Role, number>> = {
  coordinator: 8081,
  overlord: 8090,
  historical: 8083,
  broker: 8082,
  middleManager: 8091,
  router: 8888,
};
/** The last Historical is of another tier. */
const HOT_TIER = ['--property', 'svc.server.tier=hot'];
const LOOK_MS = 200;
/** A cold machine that others share may need minutes. */
const LOOKS_MAX = 900;

/** A process of the cluster. */
export interface Member {
  readonly role: Role;
  readonly copy: number;
  readonly url: string;
  /** Undefined while it is away. */
  process: DolmenProcess | undefined;
}

/** Looks again and again, three minutes at least; what cannot be asked is asked again. */
export async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  let last = '';
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const holds = await look().catch((error: unknown) => {
      last = String(error);
      return false;
    });
    if (holds) return;
    await sleep(LOOK_MS);
  }
  throw new Error(`never: ${what} ${last}`);
}

/** Twelve processes that share no file: two or three of each role, one Router. */
export class LargeCluster {
  readonly #folder: string;
  readonly #flags: readonly string[];
  readonly members: readonly Member[];

  private constructor(folder: string, flags: readonly string[]) {
    this.#folder = folder;
    this.#flags = flags;
    this.members = Object.entries(COPIES).flatMap(([name, copies]) => {
      const role = name as Role;
      return Array.from({ length: copies }, (_, copy): Member => {
        return { role, copy, url: `http://127.0.0.1:${PORTS[role] + PORT_OFFSET + 100 * copy}`, process: undefined };
      });
    });
  }

  /** Gives it when queries and tasks would be answered. */
  static async start(folder: string, flags: readonly string[]): Promise<LargeCluster> {
    const cluster = new LargeCluster(folder, flags);
    try {
      for (const member of cluster.members) await cluster.start(member);
      for (const member of cluster.members) await cluster.untilBack(member);
    } catch (error) {
      await cluster.kill();
      throw new Error(`${error}\n${cluster.members.map(({ process }) => process?.output()).join('\n')}`);
    }
    return cluster;
  }

  of(role: Role): readonly Member[] {
    return this.members.filter((member) => member.role === role);
  }

  /** The leader of a role, once there is one. */
  async leader(role: 'coordinator' | 'overlord'): Promise<Member> {
    const name = role === 'overlord' ? 'indexer' : role;
    let found: Member | undefined;
    await until(`a leading ${role}`, async () => {
      for (const member of this.of(role)) {
        if (member.process === undefined) continue;
        const answer = await fetch(`${member.url}/svc/${name}/v1/isLeader`, { signal: AbortSignal.timeout(5000) }).catch(() => undefined);
        await answer?.text();
        if (answer?.status === 200) found = member;
      }
      return found !== undefined;
    });
    return found as Member;
  }

  async start(member: Member): Promise<void> {
    const { role, copy } = member;
    const own = [
      ...(role === 'overlord' ? ['--property', `svc.overlord.port=${PORTS.overlord}`] : []),
      // One worker alone has room for a stream beside other tasks.
      ...(role === 'middleManager' ? ['--property', 'svc.worker.capacity=4'] : []),
      ...(role === 'historical' && copy === COPIES.historical - 1 ? HOT_TIER : []),
    ];
    member.process = await startDolmen({
      dataDir: path.join(this.#folder, `${role}-${copy}`),
      portOffset: PORT_OFFSET + 100 * copy,
      waitForReady: false,
      flags: ['--roles', role, '--property', 'svc.processing.numThreads=1', ...own, ...this.#flags],
    });
  }

  /** Ends a process with SIGKILL. */
  async lose(member: Member): Promise<void> {
    const { process } = member;
    member.process = undefined;
    await process?.kill();
  }

  /** Waits until a process that was started does its work. */
  async untilBack({ role, url }: Member): Promise<void> {
    const isOk = async (at: string): Promise<boolean> => {
      const answer = await fetch(at, { signal: AbortSignal.timeout(5000) });
      await answer.text();
      return answer.status === 200;
    };
    if (role === 'broker' || role === 'historical') await until(`${role} ready`, () => isOk(`${url}/svc/${role}/v1/readiness`));
    else await until(`${role} there`, () => isOk(`${url}/status/health`));
    if (role === 'middleManager') {
      const overlord = await this.leader('overlord');
      await until('all workers', async () => {
        const workers = (await callJson('GET', `${overlord.url}/svc/indexer/v1/workers`)) as unknown[];
        return workers.length === this.of('middleManager').filter(({ process }) => process !== undefined).length;
      });
    }
  }

  /** Ends all with SIGTERM; their exit codes. */
  stop(): Promise<readonly (number | null)[]> {
    return Promise.all(this.members.flatMap(({ process }) => (process === undefined ? [] : [process.stop()])));
  }

  async kill(): Promise<void> {
    for (const member of this.members) await this.lose(member).catch(() => undefined);
  }
}
