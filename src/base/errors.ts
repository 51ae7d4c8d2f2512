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

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Finds our own mistakes; never for input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new ServiceError('internal', `invariant broken: ${message}`);
}
