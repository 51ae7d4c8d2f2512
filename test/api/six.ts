import { callJson, type DolmenProcess, startDolmen } from '../../bench/server.js';

/** The six roles as six processes that share a SQLite file and folders. */
export interface SixProcesses {
  /** Address of the router. */
  readonly url: string;
  readonly processes: readonly DolmenProcess[];
  /** Exit codes. */
  stop(): Promise<readonly (number | null)[]>;
}

/** Coordinator and overlord share port 8081 by the interface; alone, the overlord moves to a port of its own. */
const ROLES: readonly (readonly [string, readonly string[]])[] = [
  ['coordinator', []],
  ['overlord', ['--property', 'svc.overlord.port=8090']],
  ['historical', []],
  ['broker', []],
  ['middleManager', []],
  ['router', []],
];

/** Gives them when queries and tasks would be answered. */
export async function startSix(dataDir: string, portOffset: number, flags: readonly string[] = []): Promise<SixProcesses> {
  const processes: DolmenProcess[] = [];
  for (const [role, own] of ROLES)
    processes.push(await startDolmen({ dataDir, portOffset, waitForReady: role === 'router', flags: ['--roles', role, ...own, ...flags] }));
  const url = `http://127.0.0.1:${8888 + portOffset}`;
  for (let attempt = 0; !(await isReady(url, portOffset)); attempt++) {
    if (attempt > 150) throw new Error(`the cluster never became ready:\n${processes.map((one) => one.output()).join('\n')}`);
    await new Promise((done) => setTimeout(done, 200));
  }
  return { url, processes, stop: () => Promise.all(processes.map((one) => one.stop())) };
}

async function isReady(url: string, portOffset: number): Promise<boolean> {
  const broker = await fetch(`http://127.0.0.1:${8082 + portOffset}/svc/broker/v1/readiness`).then(
    (answer) => answer.status === 200,
    () => false,
  );
  const workers = await callJson('GET', `${url}/svc/indexer/v1/workers`).then(
    (list) => (list as unknown[]).length,
    () => 0,
  );
  return broker && workers > 0;
}
