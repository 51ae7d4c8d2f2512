// Points at which a test may kill the process, or fill its disk.

import { readFileSync, rmSync } from 'node:fs';
import type { FailpointName } from './failpoints.js';

/**
 * Environment variable with the path of a file that arms a point: `kill`, `stop` or `fill` and its name. The first process that
 * gets there takes the file away and dies as by a failure of the machine, stops until it is sent SIGCONT, or finds its disk full.
 */
export const FAILPOINT_VARIABLE = 'DOLMEN_FAILPOINT_FILE';

const FILE = process.env[FAILPOINT_VARIABLE];

/** Does what the test has asked for at this point, if it has. */
export function failpoint(name: FailpointName): void {
  if (FILE !== undefined) reached(FILE, name);
}

function reached(file: string, name: FailpointName): void {
  let action: string;
  try {
    const [asked = '', point] = readFileSync(file, 'utf8').split(' ');
    if (point !== name) return;
    rmSync(file);
    action = asked;
  } catch {
    // Not armed, or another process was first.
    return;
  }
  if (action === 'kill') process.kill(process.pid, 'SIGKILL');
  if (action === 'stop') process.kill(process.pid, 'SIGSTOP');
  if (action === 'fill') throw Object.assign(new Error(`ENOSPC: no space left on device, ${name}`), { code: 'ENOSPC' });
}
