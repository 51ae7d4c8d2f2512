// Server side of a call between roles: decodes the request, runs the method, writes its reply.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { type Clock, SYSTEM_CLOCK } from '../../base/clock/clock.js';
import { ServiceError } from '../../base/errors.js';
import { startDeadline } from './deadline.js';
import { DESCRIPTIONS, type MethodDescription, type RpcRole, type RpcServices } from './descriptions.js';
import { decodeValue, encodeMessage, toServiceError } from './message.js';
import { inParts } from './parts.js';

export interface RpcCall {
  readonly method: string;
  readonly body: Uint8Array;
  /** Milliseconds the caller still waits. */
  readonly remainingMs: number;
  /** Aborted when the caller went away. */
  readonly signal: CancelSignal;
}

/** The other end of `remoteService`: calls the local service and gives its reply as messages; never throws. */
export async function* answerCall<Role extends RpcRole>(
  role: Role,
  service: RpcServices[Role],
  call: RpcCall,
  clock: Clock = SYSTEM_CLOCK,
): AsyncIterable<Uint8Array> {
  const deadline = startDeadline(call.remainingMs, call.signal, clock);
  try {
    const description = new Map(Object.entries<MethodDescription>(DESCRIPTIONS[role])).get(call.method);
    if (description === undefined) throw new ServiceError('not_found', `${role} has no internal method ${call.method}`);
    const args = decodeValue(call.body);
    if (!Array.isArray(args)) throw new ServiceError('input_invalid', `arguments of ${call.method} are not a list`);
    // The description names exactly the methods of the service; methods without a signal parameter ignore it.
    const methods = service as unknown as Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;
    const reply = methods[call.method]?.(...args, deadline.signal);
    if (description.reply === 'stream')
      for await (const value of reply as AsyncIterable<unknown>) yield encodeMessage({ kind: 'value', value });
    else if (description.reply === 'parts')
      for await (const value of inParts(await reply, description.lists)) yield encodeMessage({ kind: 'value', value });
    else yield encodeMessage({ kind: 'value', value: await reply });
    yield encodeMessage({ kind: 'end' });
  } catch (error) {
    yield encodeMessage({ kind: 'error', error: toServiceError(error) });
  } finally {
    deadline.release();
  }
}
