// Faults of a statement's task, as its report names them.

import { ERROR_KINDS, type ErrorCode, type ErrorDetails, errorCodeName, ServiceError } from '../../base/errors.js';
import type { TaskRules } from '../contract.js';

/** Documented code of a fault with its fields. */
export type FaultBody = ErrorDetails;

/** An error that the report of a statement tells with fields of its own. */
export class QueryFault extends ServiceError {
  override readonly details: FaultBody;
  /** The worker task that has told it; null: the controller. */
  readonly taskId: string | null;

  constructor(code: ErrorCode, message: string, body: FaultBody, taskId: string | null = null) {
    super(code, message, undefined, body);
    this.details = body;
    this.taskId = taskId;
  }
}

/** Codes of errors that have no fields of their own. */
const FAULT_CODES: Partial<Readonly<Record<ErrorCode, string>>> = {
  input_unreadable: 'CannotParseExternalData',
  cancelled: 'Canceled',
  input_invalid: 'QueryRuntimeError',
  unsupported: 'QueryNotSupported',
};

/** Faults of work that may succeed when it is tried again, beside those that say so themselves. */
const PASSING_FAULTS: ReadonlySet<string> = new Set([
  'InsertLockPreempted',
  'WorkerFailed',
  'TooManyAttemptsForWorker',
  'TooManyAttemptsForJob',
]);

export type TaskMemory = Pick<TaskRules, 'maxBytesInMemory' | 'maxKernelBytes'>;

/** The body of an error report. */
export function faultOf(error: unknown, memory: TaskMemory): FaultBody & { readonly errorMessage: string } {
  const errorMessage = error instanceof Error ? error.message : String(error);
  if (isFullDisk(error))
    return { errorCode: 'NotEnoughTemporaryStorage', suggestedMinimumStorage: null, configuredTemporaryStorage: null, errorMessage };
  if (!(error instanceof ServiceError) || error.code === 'internal')
    return { ...(error instanceof QueryFault ? error.details : { errorCode: 'UnknownError', message: errorMessage }), errorMessage };
  if (error.details !== null) return { ...error.details, errorMessage };
  if (error.code === 'resource_limit') return { ...notEnoughMemory(memory), errorMessage };
  const errorCode = FAULT_CODES[error.code];
  return errorCode === undefined ? { ...structuredFault(error.code), errorMessage } : { errorCode, errorMessage };
}

/** Whether the statement that a fault has ended may succeed when it is sent again, though nobody mends anything. */
export function mayBeTriedAgain({ errorCode, context }: FaultBody): boolean {
  if (PASSING_FAULTS.has(errorCode)) return true;
  return typeof context === 'object' && context !== null && 'canBeTriedAgain' in context && context.canBeTriedAgain === 'true';
}

/** A failure of none of the documented kinds: its own code, and who can mend it. */
export function structuredFault(code: ErrorCode): FaultBody {
  const { category, persona, passes } = ERROR_KINDS[code];
  return {
    errorCode: 'DruidException',
    druidErrorCode: errorCodeName(code),
    persona,
    category,
    context: { canBeTriedAgain: String(passes) },
  };
}

/** Fault of a step that outgrew the memory of its task; the size that would have been enough is not known. */
function notEnoughMemory({ maxBytesInMemory, maxKernelBytes }: TaskMemory): FaultBody {
  const serverMemory = maxBytesInMemory + maxKernelBytes;
  return {
    errorCode: 'NotEnoughMemory',
    suggestedServerMemory: null,
    serverMemory,
    usableMemory: serverMemory,
    serverWorkers: 1,
    serverThreads: 1,
  };
}

/** Whether it was the disk that had no room. */
function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EFBIG')) || isFullDisk(error.cause);
}
