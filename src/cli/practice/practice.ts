// Practice: a server that nobody asks runs queries of its own, so that the code of queries is optimised before users send theirs.

import { setTimeout as sleep } from 'node:timers/promises';
import { Canceller } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import { ALLOW_ALL_CALLER } from '../../model/access/authorizer.js';
import type { HttpRequest, HttpResponse, Route } from '../../server/http.types.js';
import { type PracticeRequest, practiceRequest } from './practice-statements.js';
import { openPractised, type PractisedCluster, type PractisedOptions } from './practised-cluster.js';

export interface PracticeOptions extends Omit<PractisedOptions, 'pause'> {
  /** Queries to run. */
  readonly queries: number;
  /** Time for which nobody has asked. */
  idleMs(): number;
  /** Fires when the process ends. */
  readonly signal: AbortSignal;
}

/** A server that was asked so recently is about to be asked again. */
const QUIET_MS = 2000;
/** Least time that others have the processor between two queries; they have it as long as the query took. */
const REST_MS = 1;

/**
 * Runs queries of its own while nobody asks, and no more of them once somebody does until that has been a while: each goes through
 * everything that a user's goes through but the socket (decision 43).
 * @throws ServiceError  of a query that was not answered
 */
export async function practise(options: PracticeOptions): Promise<void> {
  const { queries, idleMs, signal } = options;
  const rest = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false, signal });
  const pause = async (workedMs: number): Promise<void> => {
    await rest(Math.max(REST_MS, workedMs));
    for (let waitMs = QUIET_MS - idleMs(); waitMs > 0; waitMs = QUIET_MS - idleMs()) await rest(waitMs);
  };
  let cluster: PractisedCluster | undefined;
  try {
    await pause(QUIET_MS);
    cluster = await openPractised({ ...options, pause: () => pause(REST_MS) });
    for (let number = 0; number < queries; number++) {
      const began = performance.now();
      const routes = cluster.routes[number % cluster.routes.length] ?? [];
      await ask(routes, practiceRequest(number));
      await pause(performance.now() - began);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await cluster?.close();
  }
}

/** Sends a request to the route of its path, and reads the answer to its end. */
async function ask(routes: readonly Route[], { path, body }: PracticeRequest): Promise<void> {
  const route = routes.find((each) => each.method === 'POST' && each.path === path);
  const answer = await route?.handle(requestOf(path, body), {});
  const text = answer === undefined ? '' : await textOf(answer.body);
  if (answer?.status !== 200) throw new ServiceError('internal', `a query of practice was answered ${answer?.status}: ${text}`);
}

function requestOf(path: string, body: PracticeRequest['body']): HttpRequest {
  return {
    method: 'POST',
    path,
    rawUrl: path,
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(stringifyJson(body)),
    remoteAddress: '',
    signal: new Canceller(),
    viaAlias: false,
    caller: ALLOW_ALL_CALLER,
  };
}

async function textOf(body: HttpResponse['body']): Promise<string> {
  if (body === undefined || typeof body === 'string') return body ?? '';
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
