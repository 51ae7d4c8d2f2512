// Tells why a task failed, in its log and in its outcome.

import { ServiceError } from '../../base/errors.js';
import type { TaskContext } from '../contract.js';

/** The error that ended a task: that it was cancelled, where it was; logged, with its place in the code unless it is one of ours. */
export function failureOf(
  error: unknown,
  { signal, log }: Pick<TaskContext, 'signal' | 'log'>,
): { readonly failure: unknown; readonly errorMessage: string } {
  const failure = signal.aborted ? new ServiceError('cancelled', 'the task was cancelled', error) : (diskFull(error) ?? error);
  const errorMessage = failure instanceof Error ? failure.message : String(failure);
  log(`failed: ${errorMessage}`);
  if (!(failure instanceof ServiceError) && failure instanceof Error) log(failure.stack ?? '');
  return { failure, errorMessage };
}

/** Codes of the operating system for a disk, a share of it, or a file that cannot take more. */
const FULL_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** undefined: it is another error. */
export function diskFull(error: unknown): ServiceError | undefined {
  const isFull = error instanceof Error && 'code' in error && FULL_CODES.has(error.code);
  return isFull ? new ServiceError('resource_limit', `the disk is full: ${error.message}; nothing was published`, error) : undefined;
}
