import { stringifyJson } from '../../src/base/json.js';
import type { Answer, Json } from './case.js';

export function failure(status: number, text: string): Answer {
  return { state: status >= 500 && status !== 501 ? 'broken' : 'refused', message: text.slice(0, 600) };
}

/** Connections kept open, each of which may have been closed while it was idle. */
const TRIES = 5;

/** Tried again when the connection was closed before an answer began; an answer that breaks off is thrown. */
export async function post(url: string, body: Json | object, deadline: AbortSignal): Promise<{ status: number; text: string }> {
  const answer = await beginAnswer(url, stringifyJson(body), deadline);
  return { status: answer.status, text: await answer.text() };
}

async function beginAnswer(url: string, body: string, signal: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  for (let tried = 1; ; tried++) {
    try {
      return await fetch(url, { method: 'POST', headers, body, signal });
    } catch (error) {
      if (signal.aborted || tried === TRIES) throw error;
    }
  }
}
