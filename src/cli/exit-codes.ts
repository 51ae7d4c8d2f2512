// Exit codes of the program.

import { ServiceError } from '../base/errors.js';

/** Exit codes of the program; printed by `dolmen --help`. */
export const EXIT = {
  done: 0,
  /** A query, a task or a start failed. */
  failed: 1,
  /** Wrong command line or configuration. */
  usage: 2,
  /** Server not reachable, or port taken. */
  unreachable: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_HELP = `Exit codes:
  0  done
  1  the query, the task or the start failed
  2  wrong command line or configuration
  3  no server answers there, or a port is taken`;

export function exitCodeOf(error: unknown): ExitCode {
  if (!(error instanceof ServiceError)) return EXIT.failed;
  if (error.code === 'unavailable') return EXIT.unreachable;
  return error.code === 'input_invalid' ? EXIT.usage : EXIT.failed;
}
