import { type DolmenProcess, startDolmen } from '../../bench/server.js';
import type { Role } from '../../src/configuration/properties.js';

/** The six roles as six processes. */
export interface SixProcesses {
  /** Address of the router. */
  readonly url: string;
  readonly processes: readonly DolmenProcess[];
  /** Ends one with SIGTERM and starts it again; resolves with its exit code, once it is up. */
  restart(role: Role, between?: () => void): Promise<number | null>;
  /** Exit codes. */
  stop(): Promise<readonly (number | null)[]>;
}

/** Coordinator and overlord share port 8081 by the interface; alone, the overlord moves to a port of its own. */
const ROLES: readonly (readonly [Role, readonly string[]])[] = [
  ['coordinator', []],
  // Its worker alone has the logs of tasks, as on machines of their own.
  ['overlord', ['--property', 'svc.overlord.port=8090', '--property', 'svc.indexer.logs.directory=logs-elsewhere']],
  ['historical', []],
  ['broker', []],
  ['middleManager', []],
  ['router', []],
];

/**
 * Gives them when queries and tasks would be answered.
 * @param dataDir  the folder that they share with a SQLite file in it, or the folder of each
 * @param headers  credentials, where they are asked for
 */
export async function startSix(
  dataDir: string | ((role: Role) => string),
  portOffset: number,
  flags: readonly string[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<SixProcesses> {
  const start = (role: Role, own: readonly string[]): Promise<DolmenProcess> =>
    startDolmen({
      dataDir: typeof dataDir === 'string' ? dataDir : dataDir(role),
      portOffset,
      waitForReady: role === 'router',
      flags: ['--roles', role, ...own, ...flags],
    });
  const processes: DolmenProcess[] = [];
  for (const [role, own] of ROLES) processes.push(await start(role, own));
  const url = `http://127.0.0.1:${8888 + portOffset}`;
  const becomeReady = async (): Promise<void> => {
    for (let attempt = 0; !(await isReady(url, portOffset, headers)); attempt++) {
      if (attempt > 150) throw new Error(`the cluster never became ready:\n${processes.map((one) => one.output()).join('\n')}`);
      await new Promise((done) => setTimeout(done, 200));
    }
  };
  await becomeReady();
  return {
    url,
    processes,
    async restart(role, between) {
      const at = ROLES.findIndex(([name]) => name === role);
      const code = await processes[at]?.stop();
      between?.();
      processes[at] = await start(role, ROLES[at]?.[1] ?? []);
      await becomeReady();
      return code ?? null;
    },
    stop: () => Promise.all(processes.map((one) => one.stop())),
  };
}

async function isReady(url: string, portOffset: number, headers: Readonly<Record<string, string>>): Promise<boolean> {
  const broker = await fetch(`http://127.0.0.1:${8082 + portOffset}/svc/broker/v1/readiness`).then(
    (answer) => answer.status === 200,
    () => false,
  );
  const workers = await fetch(`${url}/svc/indexer/v1/workers`, { headers }).then(
    async (answer) => (answer.status === 200 ? ((await answer.json()) as unknown[]).length : 0),
    () => 0,
  );
  return broker && workers > 0;
}
