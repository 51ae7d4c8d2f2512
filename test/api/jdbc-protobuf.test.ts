import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DolmenProcess, startDolmen } from '../../bench/server.js';
import {
  type Decoded,
  envelope,
  type Fields,
  type FieldValue,
  openEnvelope,
  type ProtobufResponse,
  rowsOf,
  type Typed,
} from '../server/avatica/protobuf-client.js';
import { loadCaseTables } from './cases.js';

/** Avatica requests of JDBC drivers in Protocol Buffers, over HTTP, through the router. */
const jdbc = suite<{ server: DolmenProcess; dataDir: string }>('JDBC by Avatica over Protocol Buffers');

const PROPERTIES = {
  'svc.server.http.apiName': 'druid',
  'svc.server.http.maxRequestBytes': '2000000',
  'svc.sql.avatica.maxRowsPerFrame': '4',
  'svc.sql.avatica.minRowsPerFrame': '2',
};

jdbc.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-jdbc-protobuf-'));
  context.server = await startDolmen({
    dataDir: context.dataDir,
    portOffset: 2_400,
    flags: Object.entries(PROPERTIES).flatMap(([name, value]) => ['--property', `${name}=${value}`]),
  });
  await loadCaseTables(context.server.url);
});

jdbc.after(async (context) => {
  await context.server?.stop();
  rmSync(context.dataDir, { recursive: true, force: true });
});

const WHERE = '/svc/v2/sql/avatica-protobuf/';

async function send(url: string, body: Buffer, where = WHERE): Promise<ProtobufResponse & { readonly status: number }> {
  const response = await fetch(url + where, { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body });
  assert.is(response.headers.get('content-type'), 'application/octet-stream');
  return { status: response.status, ...openEnvelope(Buffer.from(await response.arrayBuffer())) };
}

/** Asks for what must succeed. */
async function ask(url: string, name: string, fields: Fields, where?: string): Promise<Decoded> {
  const response = await send(url, envelope(`${name}Request`, fields), where);
  if (response.status !== 200) throw new Error(response.message.text(2));
  return response.message;
}

let connections = 0;

/** A connection that is closed at the end. */
async function connected(
  url: string,
  info: Readonly<Record<string, string>>,
  work: (id: string) => Promise<void>,
  where?: string,
): Promise<void> {
  const id = `protobuf-${connections++}`;
  const entries = Object.entries(info).map(([key, value]): Fields[number] => [
    2,
    {
      message: [
        [1, key],
        [2, value],
      ],
    },
  ]);
  await ask(url, 'OpenConnection', [[1, id], ...entries], where);
  try {
    await work(id);
  } finally {
    await ask(url, 'CloseConnection', [[1, id]], where);
  }
}

/** Runs a statement on a statement of its own; gives its first result set. */
async function execute(url: string, connectionId: string, sql: string, more: Fields = [[6, -1n]], where?: string): Promise<Decoded> {
  const statement = await ask(url, 'CreateStatement', [[1, connectionId]], where);
  const executed = await ask(url, 'PrepareAndExecute', [[1, connectionId], [2, sql], [4, statement.long(2)], [5, -1n], ...more], where);
  assert.is(executed.bool(2), false);
  const [result] = executed.messages(1);
  return result as Decoded;
}

jdbc('a statement is executed, and its rows are fetched in frames', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const sql = 'SELECT CAST(n AS BIGINT) FROM (VALUES (1), (2), (3), (4), (5), (6), (7)) AS t (n) ORDER BY n';
    const first = await execute(url, connectionId, sql, [[6, 3]]);
    assert.equal([first.text(1), first.bool(3)], [connectionId, false]);
    // A result that has rows: -1, as an unsigned number.
    assert.is(first.long(6), 2n ** 64n - 1n);
    assert.match(first.message(7).text(1), /:\d+$/);
    assert.equal(rowsOf(first.message(5)), [['LONG 1'], ['LONG 2'], ['LONG 3']]);
    const statementId = first.long(2);
    const fetched = (offset: number, count: number) =>
      ask(url, 'Fetch', [
        [1, connectionId],
        [2, statementId],
        [3, offset],
        [5, count],
      ]);
    // One row is fewer than the least: two come.
    const second = (await fetched(3, 1)).message(1);
    assert.equal([second.long(1), rowsOf(second)], [3n, [['LONG 4'], ['LONG 5']]]);
    const third = await fetched(5, 1000);
    assert.equal([rowsOf(third.message(1)), third.bool(2), third.bool(3)], [[['LONG 6'], ['LONG 7']], false, false]);
    await ask(url, 'CloseStatement', [
      [1, connectionId],
      [2, statementId],
    ]);
    const gone = await fetched(7, 100);
    assert.equal([gone.has(1), gone.bool(2), gone.bool(3)], [false, true, true]);
  });
});

const TYPES: readonly { readonly sql: string; readonly id: number; readonly rep: number; readonly value: Typed }[] = [
  { sql: "'a'", id: 12, rep: 21, value: 'STRING a' },
  { sql: 'CAST(NULL AS VARCHAR)', id: 12, rep: 21, value: 'NULL true' },
  { sql: '9223372036854775807', id: -5, rep: 13, value: 'LONG 9223372036854775807' },
  { sql: 'CAST(7 AS INTEGER)', id: 4, rep: 12, value: 'INTEGER 7' },
  { sql: 'CAST(7 AS DOUBLE)', id: 8, rep: 15, value: 'DOUBLE 7' },
  { sql: 'CAST(1.5 AS FLOAT)', id: 6, rep: 14, value: 'FLOAT 1.5' },
  { sql: 'CAST(1.25 AS DECIMAL)', id: 8, rep: 15, value: 'DOUBLE 1.25' },
  { sql: 'LN(0)', id: 8, rep: 15, value: 'DOUBLE -Infinity' },
  { sql: 'LN(-1)', id: 8, rep: 15, value: 'DOUBLE NaN' },
  { sql: '1 = 2', id: 16, rep: 8, value: 'BOOLEAN false' },
  { sql: "TIMESTAMP '2024-01-01 00:00:00'", id: 93, rep: 13, value: 'LONG 1704067200000' },
  { sql: "CAST('2024-01-01' AS DATE)", id: 91, rep: 12, value: 'INTEGER 19723' },
  { sql: "ARRAY['a', NULL]", id: 2003, rep: 27, value: ['STRING a', 'NULL true'] },
  { sql: 'ARRAY[1.5, 2]', id: 2003, rep: 27, value: ['DOUBLE 1.5', 'DOUBLE 2'] },
];

for (const { sql, id, rep, value } of TYPES) {
  jdbc(`the type and the value of ${sql}`, async ({ server: { url } }) => {
    await connected(url, {}, async (connectionId) => {
      const result = await execute(url, connectionId, `SELECT ${sql} AS x`);
      const signature = result.message(4);
      const [column] = signature.messages(1);
      const type = column?.message(20);
      assert.equal([column?.text(9), column?.text(10), signature.message(4).long(1)], ['x', 'x', 4n]);
      assert.equal([type?.long(1), type?.long(3)], [BigInt(id >>> 0), BigInt(rep)]);
      assert.equal(rowsOf(result.message(5)), [[value]]);
    });
  });
}

const typed = (type: number, ...fields: Fields): FieldValue => ({ message: [[1, type], ...fields] });

const PARAMETERS: readonly {
  readonly name: string;
  readonly sql: string;
  readonly values: readonly FieldValue[];
  readonly rows: Typed[][];
}[] = [
  { name: 'a text', sql: 'SELECT COUNT(*) FROM orders WHERE label = ?', values: [typed(21, [3, 'o1'])], rows: [['LONG 1']] },
  {
    name: 'a text with quotes',
    sql: 'SELECT COUNT(*) FROM orders WHERE label = ?',
    values: [typed(21, [3, "' OR 1=1 --"])],
    rows: [['LONG 0']],
  },
  {
    name: 'a long and a double',
    sql: 'SELECT ? + 1, ?',
    values: [typed(13, [4, { signed: 41n }]), typed(15, [6, { double: 2.5 }])],
    rows: [['LONG 42', 'DOUBLE 2.5']],
  },
  { name: 'a truth value', sql: 'SELECT ?', values: [typed(8, [2, true])], rows: [['BOOLEAN true']] },
  { name: 'a day', sql: 'SELECT ?', values: [typed(18, [4, { signed: 19_723n }])], rows: [['INTEGER 19723']] },
  {
    name: 'an instant',
    sql: 'SELECT COUNT(*) FROM orders WHERE __time >= ?',
    values: [typed(17, [4, { signed: BigInt(Date.UTC(2024, 0, 2)) }])],
    rows: [['LONG 3']],
  },
  { name: 'a decimal', sql: 'SELECT ? * 2', values: [typed(26, [3, '1.25'])], rows: [['DOUBLE 2.5']] },
  {
    name: 'an array of texts',
    sql: 'SELECT COUNT(*) FROM orders WHERE SCALAR_IN_ARRAY(label, ?)',
    values: [typed(27, [8, typed(21, [3, 'o1'])], [8, typed(24, [7, true])], [8, typed(21, [3, 'o3'])], [9, 21])],
    rows: [['LONG 2']],
  },
  {
    name: 'an array of doubles that are whole',
    sql: 'SELECT ?',
    values: [typed(27, [8, typed(15, [6, { double: 3 }])], [8, typed(15, [6, { double: 7 }])], [9, 15])],
    rows: [[['DOUBLE 3', 'DOUBLE 7']]],
  },
  { name: 'an empty array', sql: 'SELECT ?', values: [typed(27, [9, 13])], rows: [[[]]] },
  { name: 'a null', sql: 'SELECT COALESCE(CAST(? AS BIGINT), 5)', values: [typed(23, [7, true])], rows: [['LONG 5']] },
];

for (const { name, sql, values, rows } of PARAMETERS) {
  jdbc(`a prepared statement is executed with ${name}`, async ({ server: { url } }) => {
    await connected(url, {}, async (connectionId) => {
      const handle = (
        await ask(url, 'Prepare', [
          [1, connectionId],
          [2, sql],
          [4, -1n],
        ])
      ).message(1);
      const signature = handle.message(3);
      assert.equal([signature.text(2), signature.messages(3).length], [sql, values.length]);
      for (let times = 0; times < 2; times++) {
        const statement: FieldValue = {
          message: [
            [1, connectionId],
            [2, handle.long(2)],
            [3, handle.bytes(3)],
          ],
        };
        const given = values.map((value): Fields[number] => [2, value]);
        const [result] = (await ask(url, 'Execute', [[1, statement], ...given, [4, true], [5, 100]])).messages(1);
        assert.equal(rowsOf((result as Decoded).message(5)), rows);
      }
    });
  });
}

const METADATA: readonly {
  readonly name: string;
  readonly fields: Fields;
  readonly connection?: number;
  readonly columns: number;
  readonly rows: readonly (readonly string[])[];
}[] = [
  { name: 'Catalogs', fields: [], columns: 1, rows: [['svc']] },
  {
    name: 'Schemas',
    fields: [
      [2, 's%'],
      [5, true],
    ],
    connection: 3,
    columns: 2,
    rows: [
      ['svc', 'svc'],
      ['sys', 'svc'],
    ],
  },
  {
    name: 'Schemas',
    fields: [
      [2, ''],
      [5, true],
    ],
    connection: 3,
    columns: 2,
    rows: [],
  },
  { name: 'TableTypes', fields: [], columns: 1, rows: [['SYSTEM_TABLE'], ['TABLE']] },
  {
    name: 'Tables',
    fields: [
      [2, 'svc'],
      [3, '%d%'],
      [4, 'TABLE'],
      [6, true],
      [9, true],
      [10, true],
    ],
    connection: 7,
    columns: 10,
    rows: [
      ['svc', 'svc', 'edits', 'TABLE'],
      ['svc', 'svc', 'orders', 'TABLE'],
    ],
  },
  {
    name: 'Columns',
    fields: [
      [1, 'svc'],
      [2, 'svc'],
      [3, 'edits'],
      [4, '\\_\\_time'],
      [6, true],
      [7, true],
      [8, true],
      [9, true],
    ],
    connection: 5,
    columns: 24,
    rows: [['svc', 'svc', 'edits', '__time']],
  },
];

for (const { name, fields, connection = 1, columns, rows } of METADATA) {
  jdbc(
    `metadata: ${name} ${fields.filter(([, value]) => typeof value === 'string').map(([, value]) => value)}`,
    async ({ server: { url } }) => {
      await connected(url, {}, async (connectionId) => {
        const result = await ask(url, name, [...fields, [connection, connectionId]]);
        assert.equal([result.message(4).messages(1).length, result.bool(3), result.message(5).bool(2)], [columns, true, true]);
        const found = rowsOf(result.message(5)).map((row) => row.slice(0, rows[0]?.length));
        assert.equal(
          found,
          rows.map((row) => row.map((value) => `STRING ${value}`)),
        );
      });
    },
  );
}

jdbc('the types there are, in the order of their numbers', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    const rows = rowsOf((await ask(url, 'TypeInfo', [[1, connectionId]])).message(5));
    const names = ['BIGINT', 'FLOAT', 'DOUBLE', 'VARCHAR', 'BOOLEAN', 'DATE', 'TIMESTAMP'];
    assert.equal(
      rows.map(([name]) => name),
      names.map((name) => `STRING ${name}`),
    );
  });
});

jdbc('connection properties set by a client are kept', async ({ server: { url } }) => {
  await connected(url, {}, async (connectionId) => {
    await ask(url, 'ConnectionSync', [
      [1, connectionId],
      [
        2,
        {
          message: [
            [2, true],
            [7, true],
            [6, 'sys'],
          ],
        },
      ],
    ]);
    const properties = (
      await ask(url, 'ConnectionSync', [
        [1, connectionId],
        [2, { message: [[8, true]] }],
      ])
    ).message(1);
    assert.equal(
      [properties.bool(2), properties.bool(7), properties.bool(3), properties.bool(8), properties.text(6)],
      [true, true, false, true, 'sys'],
    );
    assert.equal((await ask(url, 'DatabaseProperty', [[1, connectionId]])).messages(1), []);
  });
});

jdbc('a connection is the same in both forms, and its context holds in both', async ({ server: { url } }) => {
  await connected(url, { sqlTimeZone: 'Asia/Kolkata' }, async (connectionId) => {
    const sql = "SELECT TIME_FORMAT(TIMESTAMP '2024-01-01 00:00:00', 'Z')";
    const { statementId } = await json(url, { request: 'createStatement', connectionId });
    const { resultSets } = await json(url, { request: 'prepareAndExecute', connectionId, statementId, sql, maxRowsTotal: -1 });
    assert.equal(resultSets[0].firstFrame.rows, [['+0530']]);
    const again = await ask(url, 'PrepareAndExecute', [
      [1, connectionId],
      [2, sql],
      [4, statementId],
      [5, -1n],
      [6, -1n],
    ]);
    assert.equal(
      again.messages(1).map((result) => rowsOf(result.message(5))),
      [[['STRING +0530']]],
    );
  });
});

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at, not typed
async function json(url: string, body: object): Promise<any> {
  const response = await fetch(`${url}/svc/v2/sql/avatica/`, { method: 'POST', body: JSON.stringify(body) });
  assert.is(response.status, 200);
  return response.json();
}

jdbc('under the alias the schema has its name', async ({ server: { url } }) => {
  const where = '/druid/v2/sql/avatica-protobuf/';
  await connected(
    url,
    {},
    async (connectionId) => {
      assert.equal(rowsOf((await ask(url, 'Catalogs', [[1, connectionId]], where)).message(5)), [['STRING druid']]);
      const result = await execute(url, connectionId, 'SELECT COUNT(*) FROM druid.orders', [[6, -1n]], where);
      assert.equal(rowsOf(result.message(5)), [['LONG 6']]);
    },
    where,
  );
});

/** `C` is an open connection. */
const REFUSED: readonly { readonly name: string; readonly body: Buffer; readonly says: RegExp; readonly errorCode?: bigint }[] = [
  { name: 'no message', body: Buffer.from('garbage'), says: /^body: expected a message/ },
  { name: 'an empty body', body: Buffer.alloc(0), says: /^name: expected/ },
  { name: 'an unknown message', body: envelope('CancelRequest', []), says: /found "org.*CancelRequest"/ },
  { name: 'half a message', body: envelope('CreateStatementRequest', [[1, 'C']]).subarray(0, -1), says: /premature EOF/ },
  { name: 'no connection', body: envelope('CreateStatementRequest', []), says: /connectionId: expected a string/ },
  { name: 'an unknown connection', body: envelope('CreateStatementRequest', [[1, 'none']]), says: /no connection none/, errorCode: 1n },
  { name: 'a connection that is open', body: envelope('OpenConnectionRequest', [[1, 'C']]), says: /C is open already/ },
  {
    name: 'a context that cannot be kept',
    body: envelope('OpenConnectionRequest', [
      [1, 'D'],
      [
        2,
        {
          message: [
            [1, 'sqlTimeZone'],
            [2, 'Mars'],
          ],
        },
      ],
    ]),
    says: /sqlTimeZone/,
  },
  {
    name: 'SQL that does not parse',
    body: envelope('PrepareRequest', [
      [1, 'C'],
      [2, 'SELECT FROM'],
    ]),
    says: /line 1/,
  },
  {
    name: 'bytes as a parameter',
    body: envelope('ExecuteRequest', [
      [
        1,
        {
          message: [
            [1, 'C'],
            [2, 1],
          ],
        },
      ],
      [2, typed(20, [5, Buffer.from('x')])],
    ]),
    says: /parameterValues\[0\].type: .*BYTE_STRING is not supported/,
  },
  {
    name: 'resetting a result',
    body: envelope('SyncResultsRequest', [
      [1, 'C'],
      [2, 1],
    ]),
    says: /syncResults is not supported/,
  },
  {
    name: 'a batch',
    body: envelope('ExecuteBatchRequest', [
      [1, 'C'],
      [3, { message: [] }],
    ]),
    says: /executeBatch is not supported/,
  },
  {
    name: 'a batch of statements',
    body: envelope('PrepareAndExecuteBatchRequest', [
      [1, 'C'],
      [3, 'SELECT 1'],
    ]),
    says: /prepareAndExecuteBatch is not supported/,
  },
];

for (const { name, body, says, errorCode = 0xffffffffn } of REFUSED) {
  jdbc(`refused: ${name}`, async ({ server: { url } }) => {
    await ask(url, 'OpenConnection', [[1, 'C']]);
    try {
      const { status, name: response, message } = await send(url, body);
      assert.equal([status, response], [500, 'ErrorResponse']);
      assert.match(message.text(2), says);
      assert.equal([message.long(3), message.long(4), message.text(5), message.bool(7)], [2n, errorCode, '00000', true]);
      assert.match(message.message(6).text(1), /:\d+$/);
    } finally {
      await ask(url, 'CloseConnection', [[1, 'C']]);
    }
  });
}

jdbc('a message that is too large is refused before it is read', async ({ server: { url } }) => {
  const response = await fetch(url + WHERE, { method: 'POST', body: envelope('PrepareRequest', [[2, 'x'.repeat(3_000_000)]]) });
  assert.is(response.status, 413);
  await response.arrayBuffer();
});
jdbc.run();
