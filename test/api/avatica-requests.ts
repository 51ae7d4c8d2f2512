import * as assert from 'uvu/assert';

/* Avatica requests in JSON, for tests. */

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at, not typed
export type Answer = Record<string, any>;

/** Sends a request, which may be refused. */
export async function send(
  url: string,
  body: unknown,
  where = '/svc/v2/sql/avatica/',
): Promise<{ readonly status: number; readonly answer: Answer }> {
  const response = await fetch(url + where, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, answer: (await response.json()) as Answer };
}

/** Asks for what must succeed. */
export async function ask(url: string, body: unknown, where?: string): Promise<Answer> {
  const { status, answer } = await send(url, body, where);
  assert.is(status, 200, JSON.stringify(answer));
  return answer;
}

let connections = 0;

/** A connection that is closed at the end. */
export async function connected(
  url: string,
  info: Record<string, string>,
  work: (connectionId: string) => Promise<void>,
  where?: string,
): Promise<void> {
  const connectionId = `test-${connections++}`;
  await ask(url, { request: 'openConnection', connectionId, info }, where);
  try {
    await work(connectionId);
  } finally {
    await ask(url, { request: 'closeConnection', connectionId }, where);
  }
}

/** Runs a statement on a statement of its own; gives its first result set. */
export async function execute(url: string, connectionId: string, sql: string, more: object = {}, where?: string): Promise<Answer> {
  const { statementId } = await ask(url, { request: 'createStatement', connectionId }, where);
  const answer = await ask(
    url,
    { request: 'prepareAndExecute', connectionId, statementId, sql, maxRowsTotal: -1, maxRowsInFirstFrame: -1, ...more },
    where,
  );
  assert.is(answer['response'], 'executeResults');
  return answer['resultSets'][0];
}
