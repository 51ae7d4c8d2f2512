import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CONTENDERS = fileURLToPath(new URL('./contenders.js', import.meta.url));

/** A bare server in a process of its own. */
export interface ContenderProcess {
  readonly url: string;
  readonly pid: number;
  stop(): void;
}

/** @param name  of `contenders.ts` */
export async function startContender(name: string): Promise<ContenderProcess> {
  // A session of its own, as Dolmen's: schedulers divide a busy machine among sessions.
  const child = spawn(process.execPath, [CONTENDERS, name], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  for await (const line of createInterface({ input: child.stdout }))
    return { url: `http://127.0.0.1:${line}`, pid: child.pid ?? 0, stop: () => child.kill() };
  throw new Error(`${name} ended before it listened`);
}
