import { ALLOW_ALL_AUTHORIZERS } from '../../src/model/access/authorizer.js';
import { ALLOW_ALL_IDENTITY } from '../../src/model/access/identity.js';
import { createGate, type Gate } from '../../src/server/access/gate.js';

/** Lets everybody in; internal paths ask for the key. */
export function openGate(clusterKey = ''): Gate {
  return createGate({
    authentication: { identify: () => ALLOW_ALL_IDENTITY, recall: () => ALLOW_ALL_IDENTITY },
    authorizers: ALLOW_ALL_AUTHORIZERS,
    clusterKey,
    internalUser: null,
    unsecuredPaths: [],
    loginPaths: [],
  });
}
