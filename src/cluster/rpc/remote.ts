// Client side of a call between roles: a service of another process as an object.

import { isCancelSignal } from '../../base/cancel-signal.js';
import { type Clock, SYSTEM_CLOCK } from '../../base/clock/clock.js';
import { ServiceError } from '../../base/errors.js';
import { startDeadline } from './deadline.js';
import type { MethodDescription, ServiceDescription } from './descriptions.js';
import type { HttpClient } from './http-client.js';
import { decodeMessages, encodeValue, REMAINING_HEADER, RPC_CONTENT_TYPE } from './message.js';
import { fromParts } from './parts.js';

export interface RemoteAddress {
  readonly role: string;
  readonly host: string;
}

/**
 * A service in another process, called as if it were here. The last argument may be an CancelSignal: it does not travel,
 * it closes the connection, which aborts the signal that the service got over there.
 */
export function remoteService<Service extends object>(
  description: ServiceDescription<Service>,
  client: Pick<HttpClient, 'send'>,
  address: RemoteAddress,
  clock: Clock = SYSTEM_CLOCK,
): Service {
  const methods = Object.entries<MethodDescription>(description).map(([name, method]) => [
    name,
    (...args: readonly unknown[]) => {
      const values = callRemote({ client, clock, address }, name, method, args);
      if (method.reply === 'stream') return values;
      return method.reply === 'parts' ? fromParts(values) : firstOf(values);
    },
  ]);
  // Built from the description, which has exactly the methods of the service.
  return Object.fromEntries(methods) as Service;
}

async function* callRemote(
  { client, clock, address }: { readonly client: Pick<HttpClient, 'send'>; readonly clock: Clock; readonly address: RemoteAddress },
  name: string,
  method: MethodDescription,
  args: readonly unknown[],
): AsyncIterable<unknown> {
  const last = args.at(-1);
  const parent = isCancelSignal(last) ? last : null;
  const nowMs = clock.now();
  const remainingMs = method.deadlineMs(args, nowMs) - nowMs;
  const silenceMs = method.reply === 'parts' ? method.silenceMs : undefined;
  const deadline = startDeadline(silenceMs ?? remainingMs, parent, clock);
  try {
    const response = await client.send({
      host: address.host,
      method: 'POST',
      path: `/internal/v1/${address.role}/${name}`,
      headers: {
        'content-type': RPC_CONTENT_TYPE,
        [REMAINING_HEADER]: String(Math.max(0, Math.ceil(remainingMs))),
      },
      asProcess: true,
      isShort: method.isShort === true,
      body: encodeValue(parent === null ? args : args.slice(0, -1)),
      signal: deadline.signal,
    });
    if (response.status !== 200) throw await refusal(response.status, response.body, address, name);
    for await (const message of decodeMessages(response.body)) {
      if (message.kind === 'error') throw message.error;
      if (message.kind === 'end') return;
      if (silenceMs !== undefined) deadline.renew(silenceMs);
      yield message.value;
    }
    throw new ServiceError('unavailable', `${address.role} at ${address.host} ended ${name} half-way`);
  } finally {
    deadline.release();
  }
}

async function firstOf(values: AsyncIterable<unknown>): Promise<unknown> {
  let first: unknown;
  for await (const value of values) first = value;
  return first;
}

/**
 * Refused before the service was reached: no such route there, another cluster, or not ready yet, which may pass. Arguments that are too
 * large stay so, however often they are sent.
 */
async function refusal(status: number, body: AsyncIterable<Uint8Array>, address: RemoteAddress, name: string): Promise<ServiceError> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8').slice(0, 500);
  const code = status === 413 ? 'body_too_large' : 'unavailable';
  return new ServiceError(code, `${address.role} at ${address.host} refused ${name} with ${status}: ${text}`);
}
