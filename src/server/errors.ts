// Table of error codes → HTTP statuses and error names.

import { type ErrorCode, ServiceError } from '../base/errors.js';
import type { HttpResponse, Route } from './http.types.js';

interface HttpError {
  readonly status: number;
  readonly error: string;
  /** Added for clients under the alias: the category of the failure, and the persona who can mend it. */
  readonly category: string;
  readonly persona: 'USER' | 'ADMIN' | 'OPERATOR' | 'DEVELOPER';
}

/**
 * HTTP status and name of every error code. A code without a row does not compile. Names in quotes of existing clients
 * ("SQL parse failed", "Query timeout", ...) and statuses come from the interface specification.
 */
export const HTTP_ERRORS: Readonly<Record<ErrorCode, HttpError>> = {
  query_invalid: { status: 400, error: 'Query parse failed', category: 'INVALID_INPUT', persona: 'USER' },
  sql_invalid: { status: 400, error: 'SQL parse failed', category: 'INVALID_INPUT', persona: 'USER' },
  sql_plan_invalid: { status: 400, error: 'Plan validation failed', category: 'INVALID_INPUT', persona: 'USER' },
  unsupported: { status: 501, error: 'Unsupported operation', category: 'UNSUPPORTED', persona: 'USER' },
  input_invalid: { status: 400, error: 'Invalid input', category: 'INVALID_INPUT', persona: 'USER' },
  input_unreadable: { status: 400, error: 'Unreadable input', category: 'INVALID_INPUT', persona: 'USER' },
  not_found: { status: 404, error: 'Not found', category: 'NOT_FOUND', persona: 'USER' },
  method_not_allowed: { status: 405, error: 'Method not allowed', category: 'INVALID_INPUT', persona: 'USER' },
  content_type_unsupported: { status: 415, error: 'Unsupported content type', category: 'INVALID_INPUT', persona: 'USER' },
  body_too_large: { status: 413, error: 'Request body too large', category: 'INVALID_INPUT', persona: 'USER' },
  unauthorized: { status: 401, error: 'Unauthorized', category: 'UNAUTHORIZED', persona: 'USER' },
  forbidden: { status: 403, error: 'Forbidden', category: 'FORBIDDEN', persona: 'USER' },
  conflict: { status: 409, error: 'Conflict', category: 'CONFLICT', persona: 'USER' },
  resource_limit: { status: 400, error: 'Resource limit exceeded', category: 'CAPACITY_EXCEEDED', persona: 'USER' },
  capacity_exceeded: { status: 429, error: 'Query capacity exceeded', category: 'CAPACITY_EXCEEDED', persona: 'OPERATOR' },
  timeout: { status: 504, error: 'Query timeout', category: 'TIMEOUT', persona: 'OPERATOR' },
  cancelled: { status: 500, error: 'Query cancelled', category: 'CANCELED', persona: 'USER' },
  segments_unavailable: { status: 503, error: 'Segments unavailable', category: 'RUNTIME_FAILURE', persona: 'OPERATOR' },
  segment_corrupt: { status: 500, error: 'Segment corrupt', category: 'RUNTIME_FAILURE', persona: 'OPERATOR' },
  not_leader: { status: 503, error: 'Not the leader', category: 'SERVICE_UNAVAILABLE', persona: 'OPERATOR' },
  unavailable: { status: 503, error: 'Service unavailable', category: 'SERVICE_UNAVAILABLE', persona: 'OPERATOR' },
  internal: { status: 500, error: 'Unknown exception', category: 'UNCATEGORIZED', persona: 'OPERATOR' },
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
  const { status, error: name, category, persona } = HTTP_ERRORS[error.code];
  const details = { errorCode: camelCase(error.code), persona, category, context: { host } };
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

/** `sql_invalid` → `sqlInvalid`. */
function camelCase(code: string): string {
  return code.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
