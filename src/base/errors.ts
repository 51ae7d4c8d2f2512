/**
 * Every failure a module can report, as one code. `server/errors.ts` alone turns codes into HTTP statuses and
 * error names; no code looks inside a message. A message names the field or position, what was found and what is
 * accepted.
 */
export type ErrorCode =
  | 'query_invalid' //          a native query body: syntax, unknown key, wrong type
  | 'sql_invalid' //            SQL text that does not parse
  | 'sql_plan_invalid' //       SQL that parses but names an unknown table, column or function, or does not type
  | 'unsupported' //            understood and refused by name
  | 'input_invalid' //          any other request body, parameter, ingestion spec or configuration
  | 'input_unreadable' //       an input source or file that cannot be read, or is of another format
  | 'not_found'
  | 'method_not_allowed'
  | 'content_type_unsupported'
  | 'body_too_large'
  | 'unauthorized'
  | 'forbidden'
  | 'conflict'
  | 'resource_limit' //         the message names the limit's property
  | 'capacity_exceeded' //      try again later (429)
  | 'timeout'
  | 'cancelled'
  | 'segments_unavailable' //   a pinned segment is served nowhere
  | 'segment_corrupt'
  | 'not_leader'
  | 'unavailable' //            the role is starting, draining, or a peer cannot be reached
  | 'internal';

/** Fields of a failure: the code that documents know it by, and its figures. */
export interface ErrorDetails {
  readonly errorCode: string;
  readonly [field: string]: unknown;
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  /** Plain data for whoever tells the failure by fields; null: there is none. */
  readonly details: ErrorDetails | null;

  constructor(code: ErrorCode, message: string, cause?: unknown, details: ErrorDetails | null = null) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

export interface ErrorKind {
  /** Category of the failure, and the persona who can mend it, for clients that know the original's. */
  readonly category: string;
  readonly persona: 'USER' | 'ADMIN' | 'OPERATOR' | 'DEVELOPER';
  /** Whether the same request may succeed a while later, though nobody mends anything. */
  readonly passes: boolean;
}

const lasting = (category: string, persona: ErrorKind['persona']): ErrorKind => ({ category, persona, passes: false });
const passing = (category: string, persona: ErrorKind['persona']): ErrorKind => ({ category, persona, passes: true });

/** The kind of every error code. */
export const ERROR_KINDS: Readonly<Record<ErrorCode, ErrorKind>> = {
  query_invalid: lasting('INVALID_INPUT', 'USER'),
  sql_invalid: lasting('INVALID_INPUT', 'USER'),
  sql_plan_invalid: lasting('INVALID_INPUT', 'USER'),
  unsupported: lasting('UNSUPPORTED', 'USER'),
  input_invalid: lasting('INVALID_INPUT', 'USER'),
  input_unreadable: lasting('INVALID_INPUT', 'USER'),
  not_found: lasting('NOT_FOUND', 'USER'),
  method_not_allowed: lasting('INVALID_INPUT', 'USER'),
  content_type_unsupported: lasting('INVALID_INPUT', 'USER'),
  body_too_large: lasting('INVALID_INPUT', 'USER'),
  unauthorized: lasting('UNAUTHORIZED', 'USER'),
  forbidden: lasting('FORBIDDEN', 'USER'),
  conflict: lasting('CONFLICT', 'USER'),
  resource_limit: lasting('CAPACITY_EXCEEDED', 'USER'),
  capacity_exceeded: passing('CAPACITY_EXCEEDED', 'OPERATOR'),
  timeout: passing('TIMEOUT', 'OPERATOR'),
  cancelled: lasting('CANCELED', 'USER'),
  segments_unavailable: passing('RUNTIME_FAILURE', 'OPERATOR'),
  segment_corrupt: lasting('RUNTIME_FAILURE', 'OPERATOR'),
  not_leader: passing('SERVICE_UNAVAILABLE', 'OPERATOR'),
  unavailable: passing('SERVICE_UNAVAILABLE', 'OPERATOR'),
  internal: lasting('UNCATEGORIZED', 'OPERATOR'),
};

/** `sql_invalid` → `sqlInvalid`, as clients are told it. */
export function errorCodeName(code: ErrorCode): string {
  return code.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Finds our own mistakes; never for input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new ServiceError('internal', `invariant broken: ${message}`);
}
