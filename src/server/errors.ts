import { type ErrorCode, ServiceError } from '../base/errors.js';
import type { HttpResponse, Route } from './http.types.js';

/**
 * What a failure looks like over HTTP. A code without a row does not compile. Names in quotes of existing clients
 * ("SQL parse failed", "Query timeout", ...) and statuses come from the interface specification.
 */
export const HTTP_ERRORS: Readonly<Record<ErrorCode, { readonly status: number; readonly error: string }>> = {
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

/** Anything thrown, as the one kind of error the interface knows. */
export function asServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  return new ServiceError('internal', thrown instanceof Error ? thrown.message : String(thrown), thrown);
}

/**
 * The response for a failure before the body began. `query`: the error object of the query endpoints; `map`: `{error}`.
 * @param host  `host:port` of this process
 */
export function errorResponse(error: ServiceError, shape: Route['errors'], host: string): HttpResponse {
  const { status, error: name } = HTTP_ERRORS[error.code];
  const body =
    shape === 'query'
      ? { error: name, errorMessage: error.message, errorClass: `${error.name}.${error.code}`, host }
      : { error: error.message };
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (status === 401) headers['WWW-Authenticate'] = 'Basic';
  if (status === 429 || status === 503) headers['Retry-After'] = '1';
  return { status, headers, body: JSON.stringify(body) };
}
