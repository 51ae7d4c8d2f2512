// Users of JDBC connections that bring user and password in their properties rather than in a header.

import { BoundedCache } from '../../base/bounded-cache.js';
import type { ObjectReader } from '../../base/json-reader.js';
import type { UserPassword } from '../../cluster/access/credentials.js';
import { type Caller, NOBODY_CALLER } from '../../model/access/authorizer.js';
import type { HttpRequest } from '../http.types.js';

/** Connections whose credentials are known; of more, those that were used last. */
const KNOWN_MAX = 10_000;

export interface AvaticaLoginsOptions {
  /** Checks credentials, or recognises them as checked. @throws ServiceError `unauthorized`, `capacity_exceeded` */
  login(credentials: UserPassword, remoteAddress: string): Promise<Caller>;
  /**
   * Who a request without credentials comes from, where such requests are let in.
   * @throws ServiceError `unauthorized`
   */
  stranger(request: HttpRequest): Promise<Caller>;
}

export class AvaticaLogins {
  readonly #options: AvaticaLoginsOptions;
  /** Credentials that connections were opened with. Each request is let in by them, as by a header: users and passwords change. */
  readonly #credentials = new BoundedCache<string, UserPassword>(KNOWN_MAX);

  constructor(options: AvaticaLoginsOptions) {
    this.#options = options;
  }

  /**
   * The sender of a request: the one of its header, else the user that opens or opened the connection, else who may come without credentials.
   * @throws ServiceError `unauthorized`, `capacity_exceeded`
   */
  async callerOf(fields: ObjectReader, request: HttpRequest): Promise<Caller> {
    if (request.caller !== NOBODY_CALLER) return request.caller;
    const credentials = isOpening(fields) ? credentialsOf(fields) : this.#credentials.find(connectionOf(fields) ?? '');
    return credentials === undefined ? this.#options.stranger(request) : this.#options.login(credentials, request.remoteAddress);
  }

  /** To be called when a request has been answered. */
  answered(fields: ObjectReader, request: HttpRequest): void {
    const id = connectionOf(fields);
    if (id === undefined || request.caller !== NOBODY_CALLER) return;
    if (fields.optionalString('request') === 'closeConnection') this.#credentials.delete(id);
    const credentials = isOpening(fields) ? credentialsOf(fields) : undefined;
    if (credentials !== undefined) this.#credentials.keep(id, credentials);
  }
}

function isOpening(fields: ObjectReader): boolean {
  return fields.optionalString('request') === 'openConnection';
}

/** The connection that a request is about, which `execute` names in its statement. */
function connectionOf(fields: ObjectReader): string | undefined {
  return fields.optionalString('connectionId') ?? fields.optionalObject('statementHandle')?.optionalString('connectionId');
}

function credentialsOf(fields: ObjectReader): UserPassword | undefined {
  const info = fields.optionalObject('info');
  const [user, password] = [info?.optionalString('user'), info?.optionalString('password')];
  return user === undefined || password === undefined ? undefined : { user, password };
}
