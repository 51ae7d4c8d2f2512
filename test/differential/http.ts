import { stringifyJson } from '../../src/base/json.js';
import type { Answer, Json } from './case.js';

export function failure(status: number, text: string): Answer {
  return { state: status >= 500 && status !== 501 ? 'broken' : 'refused', message: text.slice(0, 600) };
}

/** Tried once more when the connection was closed while idle. */
export async function post(url: string, body: Json | object, deadline: AbortSignal): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json' };
  const once = (): Promise<Response> => fetch(url, { method: 'POST', headers, body: stringifyJson(body), signal: deadline });
  const answer = await once().catch((error: unknown) => {
    if (deadline.aborted) throw error;
    return once();
  });
  return { status: answer.status, text: await answer.text() };
}
