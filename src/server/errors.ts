// Table of error codes → HTTP statuses and error names.

import { ERROR_KINDS, type ErrorCode, errorCodeName, ServiceError } from '../base/errors.js';
import type { HttpResponse, Route } from './http.types.js';

interface HttpError {
  readonly status: number;
  readonly error: string;
}

/**
 * HTTP status and name of every error code. A code without a row does not compile. Names in quotes of existing clients
 * ("SQL parse failed", "Query timeout", ...) and statuses come from the interface specification.
 */
export const HTTP_ERRORS: Readonly<Record<ErrorCode, HttpError>> = {
  query_invalid: { status: 400, error: 'Query parse failed' },
  sql_invalid: { status: 400, error: 'SQL parse failed' },
  sql_plan_invalid: { status: 400, error: 'Plan validation failed' },
  unsupported: { status: 501, error: 'Unsupported operation' },
  input_invalid: { status: 400, error: 'Invalid input' },
  input_unreadable: { status: 400, error: 'Unreadable input' },
  not_found: { status: 404, error: 'Not found' },
  method_not_allowed: { status: 405, error: 'Method not allowed' },
  content_type_unsupported: { status: 415, error: 'Unsupported content type' },
  body_too_large: { status: 413, error: 'Request body too large' },
  unauthorized: { status: 401, error: 'Unauthorized' },
  forbidden: { status: 403, error: 'Forbidden' },
  conflict: { status: 409, error: 'Conflict' },
  resource_limit: { status: 400, error: 'Resource limit exceeded' },
  capacity_exceeded: { status: 429, error: 'Query capacity exceeded' },
  timeout: { status: 504, error: 'Query timeout' },
  cancelled: { status: 500, error: 'Query cancelled' },
  segments_unavailable: { status: 503, error: 'Segments unavailable' },
  segment_corrupt: { status: 500, error: 'Segment corrupt' },
  not_leader: { status: 503, error: 'Not the leader' },
  unavailable: { status: 503, error: 'Service unavailable' },
  internal: { status: 500, error: 'Unknown exception' },
};

/** Turns anything thrown into the one kind of error that the interface knows. */
export function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  return new ServiceError('internal', thrown instanceof Error ? thrown.message : String(thrown), thrown);
}

/**
 * The response for a failure before the body began, in one of the shapes that routes name.
 * @param host  `host:port` of this process
 * @param viaAlias  the request came in under another name: its clients show `errorCode`, `persona`, `category`, `context`
 */
export function errorResponse(error: ServiceError, shape: Route['errors'], host: string, viaAlias = false): HttpResponse {
  const { status, error: name } = HTTP_ERRORS[error.code];
  const { category, persona } = ERROR_KINDS[error.code];
  const details = { errorCode: errorCodeName(error.code), persona, category, context: { host } };
  const errorMessage = error.message;
  const origin = { errorClass: `${error.name}.${error.code}`, host };
  const bodies: Readonly<Record<Route['errors'], object>> = {
    query: { error: name, ...(viaAlias ? details : {}), errorMessage, ...origin },
    statement: { error: name, ...details, errorMessage, ...origin },
    statementStatus: { error: name, ...details, errorMessage },
    map: { error: errorMessage },
  };
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (status === 401) headers['WWW-Authenticate'] = 'Basic';
  if (status === 429 || status === 503) headers['Retry-After'] = '1';
  return { status, headers, body: JSON.stringify(bodies[shape]) };
}
