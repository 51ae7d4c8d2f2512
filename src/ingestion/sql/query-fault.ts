// Faults of a statement's task, as its report names them.

import { type ErrorCode, ServiceError } from '../../base/errors.js';

/** Documented code of a fault with its fields. */
export interface FaultBody {
  readonly errorCode: string;
  readonly [field: string]: unknown;
}

/** An error that the report of a statement tells with fields of its own. */
export class QueryFault extends ServiceError {
  readonly body: FaultBody;

  constructor(code: ErrorCode, message: string, body: FaultBody) {
    super(code, message);
    this.body = body;
  }
}

/** Codes of errors that have no fields of their own. */
const FAULT_CODES: Partial<Readonly<Record<ErrorCode, string>>> = {
  input_unreadable: 'CannotParseExternalData',
  cancelled: 'Canceled',
  resource_limit: 'NotEnoughMemory',
  input_invalid: 'QueryRuntimeError',
  unsupported: 'QueryNotSupported',
};

/** The body of an error report. */
export function faultOf(error: unknown): FaultBody & { readonly errorMessage: string } {
  const errorMessage = error instanceof Error ? error.message : String(error);
  if (error instanceof QueryFault) return { ...error.body, errorMessage };
  if (isFullDisk(error))
    return { errorCode: 'NotEnoughTemporaryStorage', suggestedMinimumStorage: null, configuredTemporaryStorage: null, errorMessage };
  const errorCode = error instanceof ServiceError ? FAULT_CODES[error.code] : undefined;
  return errorCode === undefined ? { errorCode: 'UnknownError', message: errorMessage, errorMessage } : { errorCode, errorMessage };
}

/** Whether it was the disk that had no room. */
function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EFBIG')) || isFullDisk(error.cause);
}
