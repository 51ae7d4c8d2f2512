// Routes of JDBC drivers.

import type { ServiceError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import type { Avatica } from '../avatica/avatica.js';
import { NoSuchConnection } from '../avatica/connections.js';
import { JSON_CODEC } from '../avatica/json-codec.js';
import { PROTOBUF_CODEC } from '../avatica/protobuf-codec.js';
import type { AvaticaCodec, AvaticaError, AvaticaResponse } from '../avatica/protocol.js';
import { asServiceError } from '../errors.js';
import type { HttpResponse, Route } from '../http.types.js';

export interface AvaticaRouteOptions {
  /** `host:port` of this broker: a client that is asked may tell it apart from others. */
  readonly host: string;
  readonly log: Pick<Log, 'error'>;
}

/** Codec (JSON or protobuf) by request path. */
export const AVATICA_CODECS: Readonly<Record<string, AvaticaCodec>> = {
  '/svc/v2/sql/avatica': JSON_CODEC,
  '/svc/v2/sql/avatica-protobuf': PROTOBUF_CODEC,
};

/** JDBC by the Avatica driver. Failures have the protocol's own form, whose status is 500 whatever they are. */
export function avaticaRoutes(avatica: Pick<Avatica, 'answer'>, { host, log }: AvaticaRouteOptions): Route[] {
  return Object.entries(AVATICA_CODECS).map(([path, codec]) => {
    const respond = (status: number, response: AvaticaResponse): HttpResponse => ({
      status,
      headers: { 'Content-Type': codec.contentType },
      body: codec.encode(response, host),
    });
    return {
      method: 'POST',
      path,
      permission: { access: 'datasources' },
      errors: 'query',
      handle: async (request) => {
        const receivedMs = performance.now();
        try {
          return respond(200, await avatica.answer(codec.decode(request.body), { viaAlias: request.viaAlias, receivedMs }));
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
