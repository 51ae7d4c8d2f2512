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
};

/** The body of an error report. */
export function faultOf(error: unknown): FaultBody & { readonly errorMessage: string } {
  const errorMessage = error instanceof Error ? error.message : String(error);
  if (error instanceof QueryFault) return { ...error.body, errorMessage };
  return { errorCode: (error instanceof ServiceError ? FAULT_CODES[error.code] : undefined) ?? 'UnknownError', errorMessage };
}
