// Users of JDBC connections that bring user and password in their properties rather than in a header.

import { BoundedCache } from '../../base/bounded-cache.js';
import type { ObjectReader } from '../../base/json-reader.js';
import type { UserPassword } from '../../cluster/access/credentials.js';
import { type Caller, NOBODY_CALLER } from '../../model/access/authorizer.js';
import type { HttpRequest } from '../http.types.js';

/** Connections whose users are known; of more, those that were used last. */
const KNOWN_MAX = 10_000;

export interface AvaticaLoginsOptions {
  /** @throws ServiceError `unauthorized`, `capacity_exceeded` */
  login(credentials: UserPassword, remoteAddress: string): Promise<Caller>;
  /**
   * Who a request without credentials comes from, where such requests are let in.
   * @throws ServiceError `unauthorized`
   */
  stranger(request: HttpRequest): Promise<Caller>;
}

export class AvaticaLogins {
  readonly #options: AvaticaLoginsOptions;
  readonly #callers = new BoundedCache<string, Caller>(KNOWN_MAX);

  constructor(options: AvaticaLoginsOptions) {
    this.#options = options;
  }

  /**
   * The sender of a request: the one of its header, else the user that opened the connection, else who may come without credentials.
   * @throws ServiceError `unauthorized`, `capacity_exceeded`
   */
  async callerOf(fields: ObjectReader, request: HttpRequest): Promise<Caller> {
    if (request.caller !== NOBODY_CALLER) return request.caller;
    if (fields.optionalString('request') === 'openConnection') {
      const info = fields.optionalObject('info');
      const [user, password] = [info?.optionalString('user'), info?.optionalString('password')];
      if (user !== undefined && password !== undefined) return this.#options.login({ user, password }, request.remoteAddress);
    }
    return this.#callers.find(fields.optionalString('connectionId') ?? '') ?? this.#options.stranger(request);
  }

  /** To be called when a connection has been opened. */
  opened(fields: ObjectReader, request: HttpRequest, caller: Caller): void {
    const id = fields.optionalString('connectionId');
    if (id !== undefined && request.caller === NOBODY_CALLER && fields.optionalString('request') === 'openConnection')
      this.#callers.keep(id, caller);
  }
}
