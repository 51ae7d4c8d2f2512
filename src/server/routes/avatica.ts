import { ServiceError } from '../../base/errors.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import type { Log } from '../../base/log.js';
import { ObjectReader } from '../../planner/native/reader.js';
import type { Avatica, AvaticaResponse } from '../avatica/avatica.js';
import { NoSuchConnection } from '../avatica/connections.js';
import { asServiceError } from '../errors.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';

export interface AvaticaRouteOptions {
  /** `host:port` of this broker: a client that is asked may tell it apart from others. */
  readonly host: string;
  readonly log: Pick<Log, 'error'>;
}

/** JDBC by the Avatica driver, in JSON. Failures have the protocol's own form, whose status is 500 whatever they are. */
export function avaticaRoutes(avatica: Pick<Avatica, 'answer'>, options: AvaticaRouteOptions): Route[] {
  const rpcMetadata = { response: 'rpcMetadata', serverAddress: options.host };
  const respond = (status: number, response: AvaticaResponse): HttpResponse => ({
    status,
    headers: { 'Content-Type': 'application/json;charset=utf-8' },
    body: stringifyJson(withMetadata(response, rpcMetadata)),
  });
  return [
    {
      method: 'POST',
      path: '/svc/v2/sql/avatica',
      permission: { access: 'datasources' },
      errors: 'query',
      handle: async (request) => {
        const receivedMs = performance.now();
        try {
          return respond(200, await avatica.answer(readRequest(request), { viaAlias: request.viaAlias, receivedMs }));
        } catch (thrown) {
          const error = asServiceError(thrown);
          if (error.code === 'internal') options.log.error('a JDBC request failed', { error });
          return respond(500, errorResponse(error));
        }
      },
    },
  ];
}

function readRequest(request: HttpRequest): ObjectReader {
  const body = parseJson(request.body.toString('utf8'));
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ServiceError('input_invalid', 'body: expected a JSON object with the field "request"');
  // Newer drivers send fields that older servers do not know.
  return new ObjectReader(body, '', { lenient: true, ignoredKeys: [] });
}

/** In each answer, and in each result set inside of one. */
function withMetadata(response: AvaticaResponse, rpcMetadata: unknown): AvaticaResponse {
  const { resultSets } = response;
  const inner = Array.isArray(resultSets) ? { resultSets: resultSets.map((each: AvaticaResponse) => ({ ...each, rpcMetadata })) } : {};
  return { ...response, ...inner, rpcMetadata };
}

/** Numbers that drivers know: 1 makes them open the connection again. */
const UNKNOWN_ERROR = -1;
const MISSING_CONNECTION = 1;

function errorResponse(error: ServiceError): AvaticaResponse {
  return {
    response: 'error',
    exceptions: [`${error.code}: ${error.message}`],
    errorMessage: error.message,
    errorCode: error instanceof NoSuchConnection ? MISSING_CONNECTION : UNKNOWN_ERROR,
    sqlState: '00000',
    severity: 'ERROR',
  };
}
