// Points at which a test may kill the process.

/** Environment variable with the name of a point; the process dies there as by a failure of the machine. */
export const FAILPOINT_VARIABLE = 'DOLMEN_FAILPOINT';

/** Kills the process when it is told to die at this point. */
export function failpoint(name: string): void {
  if (process.env[FAILPOINT_VARIABLE] === name) process.kill(process.pid, 'SIGKILL');
}
