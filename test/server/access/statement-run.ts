import { setTimeout as wait } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { Caller } from '../../../src/model/access/authorizer.js';
import type { SecuredHouse } from './secured-house.js';

export interface StatementRun {
  readonly id: string;
  readonly rows: readonly object[];
}

/** Runs a statement as a task, and gives its results. */
export async function runStatement(house: SecuredHouse, caller: Caller, query: string, context: object = {}): Promise<StatementRun> {
  const sent = await house.ask(caller, 'POST', '/svc/v2/sql/statements', { query, context: { executionMode: 'ASYNC', ...context } });
  assert.is(sent.status, 200, sent.body);
  const { queryId: id } = JSON.parse(sent.body);
  for (;;) {
    const { body } = await house.ask(caller, 'GET', `/svc/v2/sql/statements/${id}`);
    const { state } = JSON.parse(body);
    if (state === 'SUCCESS') break;
    assert.is.not(state, 'FAILED', body);
    await wait(100);
  }
  const { body } = await house.ask(caller, 'GET', `/svc/v2/sql/statements/${id}/results`);
  return { id, rows: body === '' ? [] : JSON.parse(body) };
}

export async function rowsOfStatement(house: SecuredHouse, caller: Caller, query: string): Promise<readonly object[]> {
  return (await runStatement(house, caller, query)).rows;
}
