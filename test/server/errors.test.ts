import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ErrorCode, ServiceError } from '../../src/base/errors.js';
import { asServiceError, errorResponse, HTTP_ERRORS } from '../../src/server/errors.js';

const errors = suite('errors');

/** The specified names of query errors, with the statuses of the public documentation. */
const SPECIFIED: readonly { code: ErrorCode; status: number; error: string }[] = [
  { code: 'sql_invalid', status: 400, error: 'SQL parse failed' },
  { code: 'sql_plan_invalid', status: 400, error: 'Plan validation failed' },
  { code: 'resource_limit', status: 400, error: 'Resource limit exceeded' },
  { code: 'capacity_exceeded', status: 429, error: 'Query capacity exceeded' },
  { code: 'unsupported', status: 501, error: 'Unsupported operation' },
  { code: 'timeout', status: 504, error: 'Query timeout' },
  { code: 'cancelled', status: 500, error: 'Query cancelled' },
  { code: 'internal', status: 500, error: 'Unknown exception' },
];
for (const { code, status, error } of SPECIFIED) {
  errors(`${code} is ${status} '${error}'`, () => {
    assert.is(HTTP_ERRORS[code].status, status);
    assert.is(HTTP_ERRORS[code].error, error);
  });
}

errors('every code of base/errors.ts has a row, and every row a code', () => {
  const source = readFileSync(fileURLToPath(new URL('../../../src/base/errors.ts', import.meta.url)), 'utf8');
  const union = /export type ErrorCode =([\s\S]*?);/.exec(source)?.[1] ?? '';
  const codes = [...union.matchAll(/'([a-z_]+)'/g)].map((match) => match[1]);
  assert.ok(codes.length > 10);
  assert.equal(Object.keys(HTTP_ERRORS).sort(), codes.sort());
});

errors('statuses are errors, names are said once', () => {
  const rows = Object.values(HTTP_ERRORS);
  for (const { status } of rows) assert.ok(status >= 400 && status < 600);
  assert.is(new Set(rows.map(({ error }) => error)).size, rows.length);
});

errors('401 names the scheme, 429 and 503 when to come back', () => {
  const headers = (code: ErrorCode) => errorResponse(new ServiceError(code, ''), 'map', 'h:1').headers ?? {};
  assert.is(headers('unauthorized')['WWW-Authenticate'], 'Basic');
  assert.is(headers('capacity_exceeded')['Retry-After'], '1');
  assert.is(headers('not_found')['Retry-After'], undefined);
});

errors('under the alias a query error also says code, persona, category and context, for every code', () => {
  for (const code of Object.keys(HTTP_ERRORS) as ErrorCode[]) {
    const read = (viaAlias: boolean): Record<string, unknown> =>
      JSON.parse(String(errorResponse(new ServiceError(code, 'why'), 'query', 'h:1', viaAlias).body));
    const { errorCode, persona, category, context, ...rest } = read(true);
    assert.match(String(errorCode), /^[a-z][A-Za-z]+$/);
    assert.match(String(persona), /^(USER|ADMIN|OPERATOR|DEVELOPER)$/);
    assert.match(String(category), /^[A-Z_]+$/);
    assert.equal(context, { host: 'h:1' });
    assert.equal(rest, read(false));
  }
});

errors('thrown values that are not errors become errors', () => {
  assert.is(asServiceError('text').message, 'text');
  assert.is(asServiceError(undefined).code, 'internal');
  const typed = new ServiceError('conflict', 'x');
  assert.is(asServiceError(typed), typed);
});

errors.run();
