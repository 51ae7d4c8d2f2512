import { stringifyJson } from '../../src/base/json.js';
import type { Answer, Json } from './case.js';

export function failure(status: number, text: string): Answer {
  return { state: status >= 500 && status !== 501 ? 'broken' : 'refused', message: text.slice(0, 600) };
}

/** Connections kept open, each of which may have been closed while it was idle. */
const TRIES = 5;

/** Tried again when the connection was closed while idle. */
export async function post(url: string, body: Json | object, deadline: AbortSignal): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json' };
  for (let tried = 1; ; tried++) {
    try {
      const answer = await fetch(url, { method: 'POST', headers, body: stringifyJson(body), signal: deadline });
      return { status: answer.status, text: await answer.text() };
    } catch (error) {
      if (deadline.aborted || tried === TRIES) throw error;
    }
  }
}
