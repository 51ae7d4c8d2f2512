import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DolmenProcess, startDolmen } from '../../bench/server.js';
import { ask, connected, execute, send } from './avatica-requests.js';
import { loadCaseTables } from './cases.js';

/** Avatica requests of JDBC drivers in JSON, over HTTP, through the router. */
const jdbc = suite<{ server: DolmenProcess; dataDir: string }>('JDBC by Avatica');

const PROPERTIES = {
  'svc.server.http.apiName': 'druid',
  'svc.sql.avatica.maxConnections': '4',
  'svc.sql.avatica.maxStatementsPerConnection': '2',
  'svc.sql.avatica.maxRowsPerFrame': '4',
  'svc.sql.avatica.minRowsPerFrame': '2',
  'svc.sql.avatica.connectionIdleTimeout': '1500',
};

jdbc.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-jdbc-'));
  context.server = await startDolmen({
    dataDir: context.dataDir,
    portOffset: 2_300,
    flags: Object.entries(PROPERTIES).flatMap(([name, value]) => ['--property', `${name}=${value}`]),
  });
  await loadCaseTables(context.server.url);
});

jdbc.after(async (context) => {
  await context.server?.stop();
  rmSync(context.dataDir, { recursive: true, force: true });
});

jdbc('a statement is executed, and its rows are fetched in frames', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const sql = 'SELECT n FROM (VALUES (1), (2), (3), (4), (5), (6), (7)) AS t (n) ORDER BY n';
    const first = await execute(url, connectionId, sql, { maxRowsInFirstFrame: 3 });
    const { statementId } = first;
    assert.equal(first['firstFrame'], { offset: 0, done: false, rows: [[1], [2], [3]] });
    assert.is(first['updateCount'], -1);
    assert.is(first['ownStatement'], false);
    assert.is(first['rpcMetadata'].response, 'rpcMetadata');
    const fetched = (offset: number, fetchMaxRowCount: number) =>
      ask(url, { request: 'fetch', connectionId, statementId, offset, fetchMaxRowCount });
    // One row is fewer than the least: two come.
    assert.equal((await fetched(3, 1))['frame'], { offset: 3, done: false, rows: [[4], [5]] });
    const last = await fetched(5, 1000);
    assert.equal([last['frame'].rows, last['missingStatement'], last['missingResults']], [[[6], [7]], false, false]);
    if (!last['frame'].done) assert.equal((await fetched(7, 100))['frame'], { offset: 7, done: true, rows: [] });
    await ask(url, { request: 'closeStatement', connectionId, statementId });
    const gone = await fetched(7, 100);
    assert.equal([gone['frame'], gone['missingStatement'], gone['missingResults']], [null, true, true]);
  });
});

jdbc('a statement of a hundred thousand values is prepared and executed', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const values = Array.from({ length: 100_000 }, (_, index) => index * 2).join(', ');
    const sql = `SELECT COUNT(*) AS n, MAX(n) AS m FROM (VALUES (1), (2), (3), (4)) AS t (n) WHERE n IN (${values}) AND n < ?`;
    const { statement } = await ask(url, { request: 'prepare', connectionId, sql, maxRowsTotal: -1 });
    assert.equal([statement.signature.sql, statement.signature.parameters.length], [sql, 1]);
    const parameterValues = [{ type: 'LONG', value: 4 }];
    const answer = await ask(url, {
      request: 'execute',
      statementHandle: { connectionId, id: statement.id },
      parameterValues,
      maxRowCount: -1,
    });
    assert.equal(answer['resultSets'][0].firstFrame.rows, [[1, 2]]);
    const { answer: refused } = await send(url, { request: 'prepareAndExecute', connectionId, statementId: 'x', sql });
    assert.match(refused['errorMessage'], /statementId/);
  });
});

jdbc('a frame has no more rows than the server allows, and a result no more than the client wants', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const sql = 'SELECT n FROM (VALUES (1), (2), (3), (4), (5), (6), (7)) AS t (n) ORDER BY n';
    assert.is((await execute(url, connectionId, sql))['firstFrame'].rows.length, 4);
    const limited = await execute(url, connectionId, sql, { maxRowsTotal: 3 });
    assert.equal(limited['firstFrame'], { offset: 0, done: true, rows: [[1], [2], [3]] });
  });
});

const TYPES: readonly {
  readonly sql: string;
  readonly id: number;
  readonly name: string;
  readonly rep: string;
  readonly value: unknown;
}[] = [
  { sql: "'a'", id: 12, name: 'VARCHAR', rep: 'STRING', value: 'a' },
  { sql: 'CAST(7 AS BIGINT)', id: -5, name: 'BIGINT', rep: 'LONG', value: 7 },
  { sql: 'CAST(1.5 AS DOUBLE)', id: 8, name: 'DOUBLE', rep: 'DOUBLE', value: 1.5 },
  { sql: 'CAST(1.5 AS FLOAT)', id: 6, name: 'FLOAT', rep: 'FLOAT', value: 1.5 },
  { sql: '1 = 1', id: 16, name: 'BOOLEAN', rep: 'BOOLEAN', value: true },
  // 2024-01-01 in UTC is 1,704,067,200 seconds, 19,723 days.
  { sql: "TIMESTAMP '2024-01-01 00:00:00'", id: 93, name: 'TIMESTAMP', rep: 'LONG', value: 1_704_067_200_000 },
  { sql: "CAST('2024-01-01' AS DATE)", id: 91, name: 'DATE', rep: 'INTEGER', value: 19_723 },
  { sql: 'CAST(NULL AS BIGINT)', id: -5, name: 'BIGINT', rep: 'LONG', value: null },
];

for (const { sql, id, name, rep, value } of TYPES) {
  jdbc(`the type and the value of ${sql}`, async ({ server: { url } }) => {
    await connected(url, {}, async (connectionId) => {
      const { signature, firstFrame } = await execute(url, connectionId, `SELECT ${sql} AS x`);
      assert.equal(signature.columns[0].type, { type: 'scalar', id, name, rep });
      assert.equal([signature.columns[0].label, signature.columns[0].ordinal], ['x', 0]);
      assert.equal([signature.cursorFactory.style, signature.statementType], ['LIST', 'SELECT']);
      assert.equal(firstFrame, { offset: 0, done: true, rows: [[value]] });
    });
  });
}

jdbc('arrays are arrays, of a type that names that of their elements', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const { signature, firstFrame } = await execute(url, connectionId, "SELECT counts FROM orders WHERE label = 'o1'");
    assert.equal(signature.columns[0].type, {
      type: 'array',
      id: 2003,
      name: 'BIGINT ARRAY',
      rep: 'ARRAY',
      // Any number: the driver casts no elements.
      component: { type: 'scalar', id: -5, name: 'BIGINT', rep: 'NUMBER' },
    });
    assert.equal(firstFrame.rows, [[[1, null, 3]]]);
  });
});

jdbc('longs keep all of their digits', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const { statementId } = await ask(url, { request: 'createStatement', connectionId });
    const body = { request: 'prepareAndExecute', connectionId, statementId, sql: 'SELECT 9223372036854775807 AS x', maxRowsTotal: -1 };
    const response = await fetch(`${url}/svc/v2/sql/avatica/`, { method: 'POST', body: JSON.stringify(body) });
    assert.match(await response.text(), '[[9223372036854775807]]');
  });
});

jdbc('the context of a connection holds for its statements', async ({ server: { url } }) => {
  await connected(url, { sqlTimeZone: 'Asia/Kolkata', user: 'me', password: 'secret' }, async (connectionId) => {
    const { firstFrame } = await execute(url, connectionId, "SELECT TIMESTAMP '2024-01-01 00:00:00', CAST('2024-01-01' AS DATE)");
    // The wall clock of the zone, as it was written.
    assert.equal(firstFrame.rows, [[1_704_067_200_000, 19_723]]);
  });
});

const PARAMETERS: readonly { readonly name: string; readonly sql: string; readonly values: readonly unknown[]; readonly rows: unknown }[] =
  [
    { name: 'a text', sql: 'SELECT COUNT(*) FROM orders WHERE label = ?', values: [{ type: 'STRING', value: 'o1' }], rows: [[1]] },
    {
      name: 'a text with quotes',
      sql: 'SELECT COUNT(*) FROM orders WHERE label = ?',
      values: [{ type: 'STRING', value: "' OR 1=1 --" }],
      rows: [[0]],
    },
    {
      name: 'a long and a double',
      sql: 'SELECT ? + 1, ?',
      values: [
        { type: 'LONG', value: 41 },
        { type: 'DOUBLE', value: 2.5 },
      ],
      rows: [[42, 2.5]],
    },
    { name: 'a truth value', sql: 'SELECT ?', values: [{ type: 'BOOLEAN', value: true }], rows: [[true]] },
    {
      name: 'instants',
      sql: 'SELECT COUNT(*) FROM orders WHERE __time >= ?',
      values: [{ type: 'JAVA_SQL_TIMESTAMP', value: Date.UTC(2024, 0, 2) }],
      rows: [[3]],
    },
    { name: 'a day', sql: 'SELECT ?', values: [{ type: 'JAVA_SQL_DATE', value: 19_723 }], rows: [[19_723]] },
    {
      name: 'a number of rows',
      sql: 'SELECT label FROM orders ORDER BY label LIMIT ? OFFSET ?',
      values: [
        { type: 'INTEGER', value: 1 },
        { type: 'LONG', value: 2 },
      ],
      rows: [['o3']],
    },
    {
      name: 'an array of texts',
      sql: 'SELECT COUNT(*) FROM orders WHERE SCALAR_IN_ARRAY(label, ?)',
      values: [{ type: 'ARRAY', componentType: 'STRING', value: ['o1', null, 'o3'] }],
      rows: [[2]],
    },
    {
      name: 'an array whose type nobody tells',
      sql: 'SELECT COUNT(*) FROM orders WHERE ARRAY_CONTAINS(counts, ?)',
      values: [{ type: 'ARRAY', value: [2] }],
      rows: [[3]],
    },
    { name: 'an object that is a number', sql: 'SELECT ? * 2', values: [{ type: 'OBJECT', value: 21 }], rows: [[42]] },
    { name: 'a null', sql: 'SELECT COALESCE(?, 5)', values: [{ type: 'NULL', value: null }], rows: [[5]] },
  ];

for (const { name, sql, values, rows } of PARAMETERS) {
  jdbc(`a prepared statement is executed with ${name}`, async ({ server: { url } }) => {
    await connected(url, {}, async (connectionId) => {
      const { statement } = await ask(url, { request: 'prepare', connectionId, sql, maxRowsTotal: -1 });
      assert.is(statement.signature.parameters.length, values.length);
      for (let times = 0; times < 2; times++) {
        const { resultSets } = await ask(url, {
          request: 'execute',
          statementHandle: statement,
          parameterValues: values,
          maxRowCount: 100,
        });
        assert.equal(resultSets[0].firstFrame.rows, rows);
      }
    });
  });
}

const METADATA: readonly { readonly request: object; readonly columns: number; readonly rows: unknown }[] = [
  { request: { request: 'getCatalogs' }, columns: 1, rows: [['svc']] },
  {
    request: { request: 'getSchemas', schemaPattern: 's%' },
    columns: 2,
    rows: [
      ['svc', 'svc'],
      ['sys', 'svc'],
    ],
  },
  { request: { request: 'getTableTypes' }, columns: 1, rows: [['SYSTEM_TABLE'], ['TABLE']] },
  {
    request: { request: 'getTables', schemaPattern: 'svc', tableNamePattern: '%d%', typeList: ['TABLE'] },
    columns: 10,
    rows: ['edits', 'orders'].map((name) => ['svc', 'svc', name, 'TABLE', ...Array(6).fill(null)]),
  },
  // `_` stands for any character unless it is escaped.
  {
    request: { request: 'getTables', tableNamePattern: 'server\\_segments' },
    columns: 10,
    rows: [['svc', 'sys', 'server_segments', 'SYSTEM_TABLE', ...Array(6).fill(null)]],
  },
  { request: { request: 'getTables', tableNamePattern: "' OR '1' = '1" }, columns: 10, rows: [] },
  {
    request: { request: 'getColumns', catalog: 'svc', schemaPattern: 'svc', tableNamePattern: 'edits', columnNamePattern: '\\_\\_time' },
    columns: 24,
    rows: [
      [
        'svc',
        'svc',
        'edits',
        '__time',
        93,
        'TIMESTAMP',
        null,
        null,
        null,
        null,
        0,
        null,
        null,
        null,
        null,
        null,
        1,
        'NO',
        null,
        null,
        null,
        null,
        'NO',
        'NO',
      ],
    ],
  },
];

for (const { request, columns, rows } of METADATA) {
  jdbc(`metadata: ${JSON.stringify(request)}`, async ({ server: { url } }) => {
    await connected(url, {}, async (connectionId) => {
      const answer = await ask(url, { ...request, connectionId });
      assert.is(answer['response'], 'resultSet');
      assert.is(answer['signature'].columns.length, columns);
      assert.equal(answer['firstFrame'], { offset: 0, done: true, rows });
    });
  });
}

jdbc('the types there are, in the order of their numbers', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const { signature, firstFrame } = await ask(url, { request: 'getTypeInfo', connectionId });
    assert.is(signature.columns.length, 18);
    assert.equal(
      firstFrame.rows.map((row: readonly unknown[]) => row.slice(0, 2)),
      [
        ['BIGINT', -5],
        ['FLOAT', 6],
        ['DOUBLE', 8],
        ['VARCHAR', 12],
        ['BOOLEAN', 16],
        ['DATE', 91],
        ['TIMESTAMP', 93],
      ],
    );
  });
});

jdbc('connection properties set by a client are kept', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const synced = (connProps: object) =>
      ask(url, { request: 'connectionSync', connectionId, connProps: { connProps: 'connPropsImpl', ...connProps } });
    await synced({ autoCommit: true, schema: 'sys' });
    const { connProps } = await synced({ readOnly: false });
    const kept = { autoCommit: true, readOnly: false, transactionIsolation: 0, catalog: null, schema: 'sys' };
    assert.equal(connProps, { connProps: 'connPropsImpl', ...kept, dirty: false });
    assert.equal((await ask(url, { request: 'databaseProperties', connectionId }))['map'], {});
  });
});

jdbc('under the alias the schema has its name', async ({ server: { url } }) => {
  const where = '/druid/v2/sql/avatica/';
  await connected(
    url,
    {},
    async (connectionId) => {
      assert.equal((await ask(url, { request: 'getCatalogs', connectionId }, where))['firstFrame'].rows, [['druid']]);
      const { firstFrame } = await execute(url, connectionId, 'SELECT COUNT(*) FROM druid.orders', {}, where);
      assert.equal(firstFrame.rows, [[6]]);
    },
    where,
  );
});

/** `C` is an open connection, `S` a statement in it. */
const REFUSED: readonly { readonly name: string; readonly body: unknown; readonly says: RegExp; readonly errorCode?: number }[] = [
  { name: 'no JSON', body: '{"request": ', says: /JSON/ },
  { name: 'a list', body: [], says: /JSON object/ },
  { name: 'no request', body: {}, says: /request: expected a string/ },
  { name: 'an unknown request', body: { request: 'getTabels' }, says: /request: expected one of openConnection, .*getTabels/ },
  { name: 'a request there is no use for', body: { request: 'syncResults', connectionId: 'C' }, says: /syncResults is not supported/ },
  { name: 'no connection id', body: { request: 'createStatement' }, says: /connectionId: expected a string/ },
  { name: 'an unknown connection', body: { request: 'createStatement', connectionId: 'none' }, says: /no connection none/, errorCode: 1 },
  { name: 'a connection that is open', body: { request: 'openConnection', connectionId: 'C' }, says: /C is open already/ },
  {
    name: 'a context that cannot be kept',
    body: { request: 'openConnection', connectionId: 'D', info: { sqlTimeZone: 'Mars' } },
    says: /sqlTimeZone/,
  },
  {
    name: 'a context that is no text',
    body: { request: 'openConnection', connectionId: 'D', info: { priority: 1 } },
    says: /info.priority: expected a string/,
  },
  { name: 'info that is a list', body: { request: 'openConnection', connectionId: 'D', info: [] }, says: /info: expected an object/ },
  {
    name: 'a statement id that is text',
    body: { request: 'fetch', connectionId: 'C', statementId: 'x' },
    says: /statementId: expected an integer/,
  },
  { name: 'SQL that is a number', body: { request: 'prepare', connectionId: 'C', sql: 7 }, says: /sql: expected a string/ },
  { name: 'SQL that does not parse', body: { request: 'prepare', connectionId: 'C', sql: 'SELECT FROM' }, says: /line 1/ },
  {
    name: 'a table there is not',
    body: { request: 'prepareAndExecute', connectionId: 'C', statementId: 1, sql: 'SELECT * FROM ordres' },
    says: /did you mean orders/,
  },
  {
    name: 'an ingestion statement',
    body: {
      request: 'prepare',
      connectionId: 'C',
      sql: "INSERT INTO w SELECT TIME_PARSE(ts) AS __time FROM TABLE(EXTERN('{}', '{}')) (ts VARCHAR) PARTITIONED BY DAY",
    },
    says: /\/svc\/v2\/sql\/task/,
  },
  {
    name: 'a handle that is no object',
    body: { request: 'execute', statementHandle: 5, parameterValues: [] },
    says: /statementHandle: expected an object/,
  },
  {
    name: 'a statement that was not prepared',
    body: { request: 'execute', statementHandle: { connectionId: 'C', id: 1 }, parameterValues: [] },
    says: /statement 1 was not prepared/,
  },
  {
    name: 'too few parameters',
    body: { request: 'execute', statementHandle: { connectionId: 'C', id: 2 }, parameterValues: [] },
    says: /parameterValues: found 0 values, expected 1/,
  },
  {
    name: 'a parameter of an unknown type',
    body: { request: 'execute', statementHandle: { connectionId: 'C', id: 2 }, parameterValues: [{ type: 'LOGN', value: 1 }] },
    says: /parameterValues\[0\]\.type/,
  },
  {
    name: 'a parameter of bytes',
    body: { request: 'execute', statementHandle: { connectionId: 'C', id: 2 }, parameterValues: [{ type: 'BYTE_STRING', value: 'AA==' }] },
    says: /BYTE_STRING is not supported/,
  },
  {
    name: 'a parameter whose value is of another type',
    body: { request: 'execute', statementHandle: { connectionId: 'C', id: 2 }, parameterValues: [{ type: 'LONG', value: 'x' }] },
    says: /parameters\[0\]\.value/,
  },
  {
    name: 'an instant that is text',
    body: {
      request: 'execute',
      statementHandle: { connectionId: 'C', id: 2 },
      parameterValues: [{ type: 'JAVA_SQL_TIMESTAMP', value: 'now' }],
    },
    says: /milliseconds/,
  },
  { name: 'one statement too many', body: { request: 'createStatement', connectionId: 'C' }, says: /maxStatementsPerConnection/ },
];

jdbc('refusals have the form of the protocol, name what is wrong, and show no stack', async ({ server: { url } }) => {
  const connectionId = 'C';
  await ask(url, { request: 'openConnection', connectionId });
  await ask(url, { request: 'createStatement', connectionId });
  await ask(url, { request: 'prepare', connectionId, sql: 'SELECT COUNT(*) FROM orders WHERE label = ?' });
  for (const { name, body, says, errorCode = -1 } of REFUSED) {
    const { status, answer } = await send(url, body);
    assert.is(status, 500, name);
    assert.match(answer['errorMessage'], says, `${name}: ${answer['errorMessage']}`);
    const { response, errorCode: code, sqlState, severity } = answer;
    assert.equal(
      { response, code, sqlState, severity },
      { response: 'error', code: errorCode, sqlState: '00000', severity: 'ERROR' },
      name,
    );
    assert.not.match(JSON.stringify(answer), /\.js:\d/, name);
  }
  await ask(url, { request: 'closeConnection', connectionId });
});

jdbc('rows are fetched forward only', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const { statementId } = await execute(url, connectionId, 'SELECT label FROM orders ORDER BY label', { maxRowsInFirstFrame: 2 });
    const { answer } = await send(url, { request: 'fetch', connectionId, statementId, offset: 0, fetchMaxRowCount: 2 });
    assert.match(answer['errorMessage'], /offset: found 0, expected 2/);
  });
});

jdbc('a body above the limit is refused before it is read', async ({ server: { url } }) => {
  const response = await fetch(`${url}/svc/v2/sql/avatica/`, { method: 'POST', body: 'x'.repeat(65 * 1024 * 1024) }).catch(() => undefined);
  // The connection may be closed before all of it was sent.
  if (response !== undefined) assert.is(response.status, 413);
  assert.is((await fetch(`${url}/status/health`)).status, 200);
});

jdbc('there are no more connections than allowed, and unused ones expire', async ({ server: { url } }) => {
  const open = (id: string) => send(url, { request: 'openConnection', connectionId: id });
  for (const id of ['e1', 'e2', 'e3', 'e4']) assert.is((await open(id)).status, 200);
  assert.match((await open('e5')).answer['errorMessage'], /maxConnections/);
  const giveUp = Date.now() + 20_000;
  while ((await open('e5')).status !== 200) {
    assert.ok(Date.now() < giveUp, 'a connection that nobody uses must expire');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await ask(url, { request: 'closeConnection', connectionId: 'e5' });
});

jdbc.run();
