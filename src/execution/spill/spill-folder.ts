// Folder of this process for spill files; removes those of processes that are gone.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

/**
 * A folder of this process alone below `directory`, not made yet: `<pid>-<random>`. Removes the folders of processes
 * that are no more; others may share the directory.
 */
export function claimSpillFolder(directory: string, isAlive: (pid: number) => boolean = isProcess): string {
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(directory)) {
    const pid = /^(\d+)-[0-9a-f]+$/.exec(name)?.[1];
    // In a container the number of the process that died may be our own.
    if (pid !== undefined && (Number(pid) === process.pid || !isAlive(Number(pid))))
      rmSync(path.join(directory, name), { recursive: true, force: true });
  }
  return path.join(directory, `${process.pid}-${randomBytes(6).toString('hex')}`);
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
