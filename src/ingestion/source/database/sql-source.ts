// The input source `sql`: rows of statements to PostgreSQL, MySQL and MariaDB.

import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import type { InputEntity, InputSource, InputSourceKind, SourceLimits, SourceUnit, UnitOrigin } from '../source-kind.js';
import { type Connector, connectTo, databaseError, readConnector } from './connector.js';
import type { TableColumn, TableReader } from './table-reader.js';

/** Longest time of one statement. */
const STATEMENT_MS = 24 * 3600_000;
const DATABASES = ['postgresql', 'mysql', 'mariadb'] as const;
/** Number of JSON. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

interface SqlSource {
  readonly connector: Connector;
  readonly statements: readonly string[];
  readonly foldsCase: boolean;
}

/** Each statement is a part of its own: its rows as lines of JSON, columns under the names that the database gives them. */
export const SQL: InputSourceKind = {
  type: 'sql',
  open(fields): InputSource {
    const source = parseSqlSource(fields);
    const origin: UnitOrigin = { specsOf: (sqls) => [{ ...fields.members, sqls }] };
    return {
      type: 'sql',
      needsFormat: false,
      bringsFormat: true,
      async parts(limits) {
        source.connector.check(rulesOf(limits));
        return source.statements.map((_, at) => entityOf(source, at, limits));
      },
      units: async () => source.statements.map((statement): SourceUnit => ({ sizeBytes: null, origin, item: statement })),
    };
  },
};

function parseSqlSource(fields: ObjectReader): SqlSource {
  fields.accept(['database', 'sqls', 'foldCase']);
  const database = fields.object('database');
  const type = database.type(DATABASES);
  database.accept(['connectorConfig', 'driverClassName']);
  if (database.has('driverClassName')) throw database.unsupported('driverClassName', 'there are no Java drivers here');
  const connector = readConnector(database.object('connectorConfig'));
  const isPostgresql = connector.connection.database === 'postgresql';
  if (isPostgresql !== (type === 'postgresql'))
    throw database.invalid('connectorConfig', `expected a connectURI of ${type}, found one of ${connector.connection.database}`);
  const statements = fields.strings('sqls');
  if (statements.length === 0) throw fields.invalid('sqls', 'expected at least one statement');
  return { connector, statements, foldsCase: fields.boolean('foldCase', false) };
}

function rulesOf({ http, databaseHosts = [] }: SourceLimits) {
  return { allowedHosts: databaseHosts, passwordVariables: http.passwordVariables ?? [] };
}

function entityOf(source: SqlSource, at: number, limits: SourceLimits): InputEntity {
  const { host, port, databaseName } = source.connector.connection;
  return {
    name: `statement ${at + 1} to ${databaseName} of ${host}:${port}`,
    sizeBytes: null,
    localFile: null,
    isJsonLines: true,
    isPlain: true,
    open: async () => Readable.from(linesOf(source, at, limits)),
  };
}

async function* linesOf(
  { connector: { connection, user, password }, statements, foldsCase }: SqlSource,
  at: number,
  limits: SourceLimits,
): AsyncGenerator<Buffer> {
  const { signal } = limits;
  const statement = (statements[at] ?? '').trim().replace(/;\s*$/, '');
  let reader: TableReader | undefined;
  try {
    reader = await connectTo({ connection, user, password: password(rulesOf(limits)), timeoutMs: STATEMENT_MS, signal });
    let write: ((row: readonly (string | null)[]) => string) | undefined;
    const described = (columns: readonly TableColumn[]): void => {
      write = rowWriter(columns, foldsCase);
    };
    for await (const rows of reader.rows(statement, described)) {
      const print = write;
      if (print === undefined) throw new ServiceError('input_unreadable', 'the statement is not one that gives rows');
      if (rows.length > 0) yield Buffer.from(rows.map(print).join(''));
    }
  } catch (error) {
    throw databaseError(error, connection, signal.aborted ? 'the task was cancelled' : null);
  } finally {
    await reader?.close();
  }
}

/** Prints a row as a line of JSON. */
function rowWriter(columns: readonly TableColumn[], foldsCase: boolean): (row: readonly (string | null)[]) => string {
  const seen = new Set<string>();
  const members = columns.map(({ name: written, kind }) => {
    const name = foldsCase ? written.toLowerCase() : written;
    if (seen.has(name)) throw new ServiceError('input_unreadable', `the statement names the column "${name}" twice`);
    seen.add(name);
    return { key: JSON.stringify(name), kind };
  });
  return (row) => `{${members.map(({ key, kind }, column) => `${key}:${valueText(row[column] ?? null, kind)}`).join(',')}}\n`;
}

/** A value as JSON: times in milliseconds, bytes as base64. A number or time that JSON has not, such as an infinite one, is a string. */
function valueText(value: string | null, kind: TableColumn['kind']): string {
  if (value === null) return 'null';
  switch (kind) {
    case 'number':
      return NUMBER.test(value) ? value : JSON.stringify(value);
    case 'boolean':
      return String(value === 't' || value === 'true' || (/^-?\d+$/.test(value) && Number(value) !== 0));
    case 'time': {
      const ms = millisOf(value);
      return ms === null ? JSON.stringify(value) : String(ms);
    }
    case 'bytes':
      return JSON.stringify(bytesOf(value).toString('base64'));
    case 'text':
      return JSON.stringify(value);
  }
}

const TIME = /^(\d{4,6}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00(?::?00)?)?)?$/;

/** Milliseconds of a time in UTC as both databases write it; null for another text. */
function millisOf(text: string): number | null {
  const [, date, time = '00:00:00'] = TIME.exec(text) ?? [];
  if (date === undefined) return null;
  const [year = '', ...rest] = date.split('-');
  const ms = Date.parse(`${year.length > 4 ? `+${year.padStart(6, '0')}` : year}-${rest.join('-')}T${time}Z`);
  return Number.isNaN(ms) ? null : ms;
}

/** Bytes in PostgreSQL's hexadecimal form, or a character a byte. */
function bytesOf(text: string): Buffer {
  return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex') : Buffer.from(text, 'latin1');
}
