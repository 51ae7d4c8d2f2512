// Routes of users and passwords of authenticators that keep them in the metadata store.

import { ServiceError } from '../../../base/errors.js';
import type { Route } from '../../http.types.js';
import { json, readObject } from '../exchange.js';
import { notThere, type Parameters, presentIn, reading, type SecuritySource, writing } from './security-source.js';

const BASE = '/svc-ext/basic-security/authentication';
const USERS = `${BASE}/db/{authenticatorName}/users`;

export function authenticationRoutes(source: SecuritySource): readonly Route[] {
  const { directory, store, hasher, iterations } = source;
  const authenticatorOf = ({ authenticatorName = '' }: Parameters): string => {
    if (!iterations.has(authenticatorName)) throw notThere('Basic authenticator with name', authenticatorName);
    return authenticatorName;
  };
  const loginsOf = (parameters: Parameters) => directory.logins(authenticatorOf(parameters));
  return [
    reading(source, USERS, (parameters) => json(200, [...loginsOf(parameters).keys()])),
    reading(source, `${USERS}/{userName}`, (parameters) => {
      const { userName: name = '' } = parameters;
      return json(200, { name, credentials: presentIn(loginsOf(parameters), 'User', name).credentials });
    }),
    writing('POST', `${USERS}/{userName}`, (parameters, by) =>
      store.createLogin(authenticatorOf(parameters), parameters['userName'] ?? '', by),
    ),
    writing('DELETE', `${USERS}/{userName}`, (parameters, by) =>
      store.remove('login', authenticatorOf(parameters), parameters['userName'] ?? '', by),
    ),
    writing('POST', `${USERS}/{userName}/credentials`, async (parameters, by, request) => {
      const authenticator = authenticatorOf(parameters);
      const { userName = '' } = parameters;
      const body = readObject(request);
      const password = body.get('password');
      if (typeof password !== 'string' || password === '')
        throw new ServiceError('input_invalid', 'password: expected a string that is not empty');
      const rounds = body.get('iterations') ?? iterations.get(authenticator);
      if (typeof rounds !== 'number' || !Number.isInteger(rounds) || rounds < ITERATIONS_MIN || rounds > ITERATIONS_MAX)
        throw new ServiceError('input_invalid', `iterations: expected an integer from ${ITERATIONS_MIN} to ${ITERATIONS_MAX}`);
      await directory.refresh();
      presentIn(directory.logins(authenticator), 'User', userName);
      await store.setCredentials(authenticator, userName, await hasher.hash(password, rounds), by);
    }),
    reading(source, `${BASE}/db/{authenticatorName}/cachedSerializedUserMap`, (parameters) => {
      const users = [...loginsOf(parameters)].map(([name, { credentials }]) => [name, { name, credentials }]);
      return json(200, Object.fromEntries(users));
    }),
  ];
}

const ITERATIONS_MIN = 1000;
const ITERATIONS_MAX = 10_000_000;
