// Routes of JDBC drivers.

import type { ServiceError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import type { Avatica } from '../avatica/avatica.js';
import { AVATICA_CODECS } from '../avatica/codecs.js';
import { NoSuchConnection } from '../avatica/connections.js';
import type { AvaticaLogins } from '../avatica/logins.js';
import { type AvaticaError, type AvaticaResponse, requestOf } from '../avatica/protocol.js';
import { asServiceError } from '../errors.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';
import { READ_HERE_BYTES_MAX } from '../planning/plan-thread.js';
import { found } from './exchange.js';

export interface AvaticaRouteOptions {
  /** `host:port` of this broker: a client that is asked may tell it apart from others. */
  readonly host: string;
  readonly log: Pick<Log, 'error'>;
  readonly logins: AvaticaLogins;
  /** Reads a long request elsewhere, by the codec of its path. */
  readLong(path: string, request: HttpRequest, receivedMs: number): Promise<object>;
}

/** JDBC by the Avatica driver. Failures have the protocol's own form, whose status is 500 whatever they are. */
export function avaticaRoutes(avatica: Pick<Avatica, 'answer'>, { host, log, logins, readLong }: AvaticaRouteOptions): Route[] {
  return Object.entries(AVATICA_CODECS).map(([path, codec]) => {
    const respond = (status: number, response: AvaticaResponse): HttpResponse => ({
      status,
      headers: { 'Content-Type': codec.contentType },
      body: codec.encode(response, host),
    });
    return {
      method: 'POST',
      path,
      permission: found('query'),
      errors: 'query',
      handle: async (request) => {
        const receivedMs = performance.now();
        try {
          const isShort = request.body.length <= READ_HERE_BYTES_MAX;
          const fields = isShort ? codec.read(request.body) : await readLong(path, request, receivedMs);
          const read = requestOf(fields);
          const caller = await logins.callerOf(read, request);
          const response = await avatica.answer(read, {
            caller,
            remoteAddress: request.remoteAddress,
            viaAlias: request.viaAlias,
            receivedMs,
          });
          logins.answered(read, request);
          return respond(200, response);
        } catch (thrown) {
          const error = asServiceError(thrown);
          if (error.code === 'internal') log.error('a JDBC request failed', { error });
          return respond(500, avaticaError(error));
        }
      },
    };
  });
}

/** Numbers that drivers know: 1 makes them open the connection again. */
const UNKNOWN_ERROR = -1;
const MISSING_CONNECTION = 1;

function avaticaError(error: ServiceError): AvaticaError {
  return {
    response: 'error',
    exceptions: [`${error.code}: ${error.message}`],
    errorMessage: error.message,
    errorCode: error instanceof NoSuchConnection ? MISSING_CONNECTION : UNKNOWN_ERROR,
    sqlState: '00000',
    severity: 'ERROR',
  };
}
