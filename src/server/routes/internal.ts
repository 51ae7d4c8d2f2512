// Routes for calls between roles.

import { answerCall } from '../../cluster/rpc/answer.js';
import type { RpcRole, RpcServices } from '../../cluster/rpc/descriptions.js';
import { REMAINING_HEADER, RPC_CONTENT_TYPE } from '../../cluster/rpc/message.js';
import type { Route } from '../http.types.js';

/** Longest time a caller may ask for; without the header it is this. */
const REMAINING_MS_MAX = 86_400_000;

/**
 * The door for other processes of the cluster, one for each role. `access: internal` lets in only who knows the
 * cluster's key; nothing else ever deserialises a body.
 */
export function internalRoutes<Role extends RpcRole>(role: Role, service: RpcServices[Role]): readonly Route[] {
  return [
    {
      method: 'POST',
      path: `/internal/v1/${role}/{method}`,
      permission: { access: 'internal' },
      errors: 'map',
      async handle(request, { method = '' }) {
        const written = Number(request.headers[REMAINING_HEADER] ?? REMAINING_MS_MAX);
        const remainingMs = Number.isFinite(written) ? Math.min(written, REMAINING_MS_MAX) : REMAINING_MS_MAX;
        return {
          status: 200,
          headers: { 'Content-Type': RPC_CONTENT_TYPE },
          body: answerCall(role, service, { method, body: request.body, remainingMs, signal: request.signal }),
        };
      },
    },
  ];
}
