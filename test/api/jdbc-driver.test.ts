import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DolmenProcess, startDolmen } from '../../bench/server.js';
import { loadCaseTables } from './cases.js';

/** Avatica's own JDBC driver: `AVATICA_JAR` says where it is, or `scripts/outside-clients.sh` has fetched it. */
const JAR = process.env['AVATICA_JAR'] ?? fetchedJar();
if (JAR === undefined) console.log('skipped: no jar of the Avatica driver in build/clients/jars (scripts/outside-clients.sh)');
const PROGRAM = fileURLToPath(new URL('../../../test/api/clients/JdbcDriver.java', import.meta.url));

const driver = suite<{ server?: DolmenProcess; dataDir?: string }>("Avatica's JDBC driver");

driver.before(async (context) => {
  if (JAR === undefined) return;
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-jdbc-driver-'));
  context.server = await startDolmen({ dataDir: context.dataDir, portOffset: 2_500 });
  await loadCaseTables(context.server.url);
});

driver.after(async ({ server, dataDir }) => {
  await server?.stop();
  if (dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true });
});

const EXPECTED: Readonly<Record<string, string | RegExp>> = {
  numbers: '[Integer 1, Long 9223372036854775807, Double 1.5, Double 7.0, Double 1.5]',
  texts: '[String tæxt, String , null, Boolean true]',
  instants: '[Timestamp 2024-01-01 00:00:00.0, Date 2024-01-01]',
  arrays: '[[1, null, 3], [a, null], [1.5, 2.0]]',
  'not finite': '[Double -Infinity, Double NaN]',
  // The driver of 1.25 writes as many digits as the column says that it has; older ones write none.
  getters: /^\[7, 7, 1\.5, 1\.5, 1\.5, 2024-01-01 00:00:00\.0, 2024-01-01 00:00:00(?:\.000)?\]$/,
  frames: '[Integer 1, Integer 2, Integer 3, Integer 4, Integer 5]',
  'most rows': '[Integer 1, Integer 2, Integer 3]',
  parameters: '[Long 42, Double 2.5, String x, Boolean true, Double 2.5]',
  'parameter instants': '[Timestamp 2024-01-02 03:04:05.0, Date 2024-01-02]',
  'parameter null': '[Long 5]',
  'parameter array of texts': '[Long 2]',
  'parameter array of numbers': '[Integer 3]',
  'prepared again': '[Long 2, Long 4, Long 6]',
  description: '[l, VARCHAR, java.lang.String, 1]',
  catalogs: '[svc]',
  schemas: '[INFORMATION_SCHEMA, lookup, svc, sys]',
  tables: '[orders]',
  columns: '[TIMESTAMP]',
  'table types': '[SYSTEM_TABLE, TABLE]',
  types: '[BIGINT, FLOAT, DOUBLE, VARCHAR, BOOLEAN, DATE, TIMESTAMP]',
  properties: '[sys, true, true]',
  'unknown table': /^AvaticaSqlException: .*unknown table ordres; did you mean orders\?/,
  commit: 'done',
  cancelled: 'SQLException: Statement canceled',
  closed: 'in the end',
};

function fetchedJar(): string | undefined {
  const folder = fileURLToPath(new URL('../../../build/clients/jars', import.meta.url));
  if (!existsSync(path.join(folder, 'done'))) return undefined;
  const name = readdirSync(folder).find((file) => /^avatica-\d.*\.jar$/.test(file));
  return name === undefined ? undefined : path.join(folder, name);
}

/** Cases that fail over JSON, which has no notation for NaN and the infinities. */
const IN_JSON: Readonly<Record<string, string | RegExp>> = {
  'not finite': /^ClassCastException/,
};

const FORMS: readonly { readonly path: string; readonly expected: typeof EXPECTED }[] = [
  { path: 'avatica-protobuf/;serialization=protobuf', expected: EXPECTED },
  { path: 'avatica/', expected: { ...EXPECTED, ...IN_JSON } },
];

for (const { path: where, expected } of FORMS) {
  (JAR === undefined ? driver.skip : driver)(`at ${where}`, async ({ server }) => {
    const url = `jdbc:avatica:remote:url=${server?.url}/svc/v2/sql/${where}`;
    const { stdout } = await promisify(execFile)('java', ['-Dfile.encoding=UTF-8', '-cp', JAR ?? '', PROGRAM, url]);
    const found = new Map(stdout.split('\n').map((line): [string, string] => [line.split('\t')[0] ?? '', line.split('\t')[1] ?? '']));
    for (const [name, value] of Object.entries(expected)) {
      if (typeof value === 'string') assert.is(found.get(name), value, name);
      else assert.match(found.get(name) ?? '', value, name);
    }
  });
}
driver.run();
