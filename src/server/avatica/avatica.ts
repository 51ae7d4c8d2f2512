// Requests of Avatica, the protocol of JDBC drivers.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { createByName, own } from '../../base/names.js';
import type { Caller } from '../../model/access/authorizer.js';
import type { OutputColumn } from '../../model/statement.js';
import { refuse } from '../../planner/native/reader.js';
import { readSqlContext } from '../../planner/sql/context.js';
import { EXPLAIN_COLUMNS } from '../../planner/sql/explain/explain.js';
import type { PlanWatch } from '../../planner/sql/plan-watch.js';
import { type Answerable, isIngestion, type SqlStatements } from '../queries/sql-statements.js';
import { columnMetaData } from './column.js';
import { type AvaticaLimits, type Connection, Connections, type Statement } from './connections.js';
import { Cursor } from './cursor.js';
import { METADATA_QUERIES } from './metadata.js';
import { type ParameterValue, readParameter } from './parameter.js';
import type { AvaticaResponse, ResultSet, Signature, WireFrame } from './protocol.js';

/** Circumstances of a request beside its fields. */
export interface AvaticaCall {
  readonly remoteAddress: string;
  readonly caller: Caller;
  readonly viaAlias: boolean;
  /** `performance.now()` when it came in. */
  readonly receivedMs: number;
}

interface Execution {
  readonly sql: string;
  readonly parameters: readonly ParameterValue[];
  /** Limit on the rows of the whole result; null for none. */
  readonly rowsMax: number | null;
}

type Handler = (request: ObjectReader, call: AvaticaCall) => Promise<AvaticaResponse> | AvaticaResponse;

const ALL_ROWS = { offset: null, rowsMax: Number.POSITIVE_INFINITY, waitMs: Number.POSITIVE_INFINITY };

/**
 * The requests of Avatica, the protocol of Apache Calcite's JDBC driver: connections that live over many HTTP requests,
 * statements in them, and results that are fetched in stretches of rows. The bytes they come in are another's matter.
 */
export class Avatica {
  readonly #statements: SqlStatements;
  readonly #limits: AvaticaLimits;
  readonly #connections: Connections;
  readonly #handlers: ReadonlyMap<string, Handler>;

  constructor(statements: SqlStatements, limits: AvaticaLimits) {
    this.#statements = statements;
    this.#limits = limits;
    this.#connections = new Connections(limits);
    this.#handlers = new Map<string, Handler>([
      ['openConnection', (request, { caller }) => this.#open(request, caller)],
      ['closeConnection', (request, { caller }) => this.#close(request, caller)],
      ['connectionSync', (request, call) => this.#within(request, call, (connection) => sync(connection, request))],
      // There are no transactions: nothing is ever pending, so nothing is left to do.
      ['commit', (request, call) => this.#within(request, call, () => ({ response: 'commit' }))],
      ['rollback', (request, call) => this.#within(request, call, () => ({ response: 'rollback' }))],
      ['databaseProperties', (request, call) => this.#within(request, call, () => ({ response: 'databaseProperties', map: {} }))],
      ['createStatement', (request, call) => this.#within(request, call, createStatement)],
      ['closeStatement', (request, call) => this.#within(request, call, (connection) => closeStatement(connection, request))],
      ['prepare', (request, call) => this.#within(request, call, (connection) => this.#prepare(connection, request, call))],
      [
        'prepareAndExecute',
        (request, call) => this.#within(request, call, (connection) => this.#prepareAndExecute(connection, request, call)),
      ],
      ['execute', (request, call) => this.#execute(request, call)],
      ['fetch', (request, call) => this.#within(request, call, (connection) => this.#fetch(connection, request))],
      ...Object.keys(METADATA_QUERIES).map((name): [string, Handler] => [
        name,
        (request, call) => this.#within(request, call, (each) => this.#metadata(name, each, request, call)),
      ]),
    ]);
  }

  /** @throws ServiceError, whose code `not_found` with the class NoSuchConnection asks the client to connect again */
  async answer(request: ObjectReader, call: AvaticaCall): Promise<AvaticaResponse> {
    const name = request.string('request');
    const handler = this.#handlers.get(name);
    if (handler !== undefined) return handler(request, call);
    if (UNSUPPORTED.includes(name)) throw new ServiceError('unsupported', `request: ${name} is not supported`);
    return refuse('request', `one of ${[...this.#handlers.keys()].join(', ')}`, name);
  }

  stop(): void {
    this.#connections.closeAll();
  }

  #open(request: ObjectReader, caller: Caller): AvaticaResponse {
    const id = request.string('connectionId');
    const context = connectionContext(request.optionalObject('info') === undefined ? {} : request.raw('info'));
    readSqlContext(context);
    this.#connections.open(id, context, caller.identity);
    return { response: 'openConnection' };
  }

  #close(request: ObjectReader, caller: Caller): AvaticaResponse {
    this.#connections.closeOf(caller.identity, request.string('connectionId'));
    return { response: 'closeConnection' };
  }

  #within(
    request: ObjectReader,
    { caller }: AvaticaCall,
    work: (connection: Connection) => Promise<AvaticaResponse> | AvaticaResponse,
  ): Promise<AvaticaResponse> {
    return this.#connections.use(caller.identity, request.string('connectionId'), work);
  }

  async #prepare(connection: Connection, request: ObjectReader, call: AvaticaCall): Promise<AvaticaResponse> {
    const sql = request.string('sql');
    const rowsMax = readRowsMax(request, ['maxRowsTotal', 'maxRowCount']);
    const watch = this.#statements.planWatch(readSqlContext(connection.context), call.receivedMs);
    const parameters = await this.#statements.unknownParameters(sql, { caller: call.caller, watch });
    const { columns } = columnsOf(await this.#plan(connection, { sql, parameters, rowsMax }, call, watch));
    const signature = signatureOf(sql, columns, parameters.length);
    const statement = connection.createStatement();
    statement.prepared = { sql, parameterCount: parameters.length, rowsMax };
    return { response: 'prepare', statement: { connectionId: connection.id, id: statement.id, signature } };
  }

  async #prepareAndExecute(connection: Connection, request: ObjectReader, call: AvaticaCall): Promise<AvaticaResponse> {
    const sql = request.string('sql');
    const statement = connection.find(readId(request, 'statementId'));
    const rowsMax = readRowsMax(request, ['maxRowsTotal', 'maxRowCount']);
    const rowsInFrame = request.optionalInteger('maxRowsInFirstFrame', -1);
    if (statement === undefined) return { response: 'executeResults', resultSets: [], missingStatement: true };
    return this.#run(connection, statement, { sql, parameters: [], rowsMax }, rowsInFrame, call);
  }

  async #execute(request: ObjectReader, call: AvaticaCall): Promise<AvaticaResponse> {
    const handle = request.object('statementHandle');
    return this.#within(handle, call, async (connection) => {
      const id = readId(handle, 'id');
      const parameters = request.list('parameterValues', (value, path) => readParameter(request.reader(value, path)));
      const rowsInFrame = request.optionalInteger('maxRowCount', -1);
      const statement = connection.find(id);
      if (statement === undefined) return { response: 'executeResults', resultSets: [], missingStatement: true };
      const { prepared } = statement;
      if (prepared === null) throw new ServiceError('input_invalid', `statementHandle.id: statement ${id} was not prepared`);
      if (parameters.length !== prepared.parameterCount)
        throw new ServiceError('input_invalid', `parameterValues: found ${parameters.length} values, expected ${prepared.parameterCount}`);
      const { sql, rowsMax } = prepared;
      return this.#run(connection, statement, { sql, parameters, rowsMax }, rowsInFrame, call);
    });
  }

  async #fetch(connection: Connection, request: ObjectReader): Promise<AvaticaResponse> {
    const statement = connection.find(readId(request, 'statementId'));
    const offset = request.optionalInteger('offset', 0) ?? null;
    const rowsMax = this.#rowsInFrame(request.optionalInteger('fetchMaxRowCount', -1));
    const missing = { missingStatement: statement === undefined, missingResults: (statement?.cursor ?? null) === null };
    if (!statement?.cursor) return { response: 'fetch', frame: null, ...missing };
    return { response: 'fetch', frame: await statement.cursor.fetch({ offset, rowsMax, waitMs: this.#limits.fetchTimeoutMs }), ...missing };
  }

  /** All of it at once: it belongs to no statement that a client would have to close. */
  async #metadata(name: string, connection: Connection, request: ObjectReader, call: AvaticaCall): Promise<AvaticaResponse> {
    const query = own(METADATA_QUERIES, name)?.(request);
    if (query === undefined) throw new ServiceError('internal', `no query for ${name}`);
    const execution = { ...query, rowsMax: null };
    const { cursor, columns } = await this.#begin(connection, execution, call);
    const firstFrame = await cursor.fetch(ALL_ROWS);
    const statementId = connection.nextStatementId();
    return { ...resultSet(connection, statementId, signatureOf(query.sql, columns, 0), firstFrame), ownStatement: true };
  }

  async #run(
    connection: Connection,
    statement: Statement,
    execution: Execution,
    rowsInFrame: number | undefined,
    call: AvaticaCall,
  ): Promise<AvaticaResponse> {
    // Executed anew, a statement gives up the result it had.
    statement.cursor?.close();
    statement.cursor = null;
    const { cursor, columns } = await this.#begin(connection, execution, call);
    if (connection.find(statement.id) !== statement) {
      cursor.close();
      return { response: 'executeResults', resultSets: [], missingStatement: true };
    }
    statement.cursor = cursor;
    const firstFrame = await cursor.fetch({ offset: 0, rowsMax: this.#rowsInFrame(rowsInFrame), waitMs: this.#limits.fetchTimeoutMs });
    const signature = signatureOf(execution.sql, columns, execution.parameters.length);
    return {
      response: 'executeResults',
      resultSets: [resultSet(connection, statement.id, signature, firstFrame)],
      missingStatement: false,
    };
  }

  async #begin(
    connection: Connection,
    execution: Execution,
    call: AvaticaCall,
  ): Promise<{ cursor: Cursor; columns: readonly OutputColumn[] }> {
    const read = readSqlContext(connection.context);
    const watch = this.#statements.planWatch(read, call.receivedMs);
    const statement = await this.#plan(connection, execution, call, watch);
    const ending = new AbortController();
    const { columns, frames, logged } = this.#statements.run(statement, {
      sql: execution.sql,
      read,
      caller: call.caller,
      request: { remoteAddress: call.remoteAddress, sql: execution.sql, context: connection.context, parameters: execution.parameters },
      sqlQueryId: read.sqlQueryId ?? this.#statements.newQueryId(),
      receivedMs: call.receivedMs,
      watch,
      signal: ending.signal,
    });
    const cancel = () => ending.abort();
    const cursor = new Cursor({ frames: logged.body(frames), columns, timeZone: read.timeZone, rowsMax: execution.rowsMax, cancel });
    logged.ended.addEventListener('abort', () => cursor.end(logged.ended.reason), { once: true });
    return { cursor, columns };
  }

  async #plan(
    { context }: Connection,
    { sql, parameters }: Execution,
    { viaAlias, caller, remoteAddress }: AvaticaCall,
    watch: PlanWatch,
  ): Promise<Answerable> {
    try {
      this.#statements.authorizeContext(context, caller);
      const statement = await this.#statements.plan({ query: sql, context, parameters }, viaAlias, { caller, watch });
      if (!isIngestion(statement)) return statement;
      throw new ServiceError('unsupported', `${statement.kind.toUpperCase()} is not run over JDBC: send it to /svc/v2/sql/task`);
    } catch (error) {
      this.#statements.refused({ remoteAddress, sql, context, parameters }, caller, error);
      throw error;
    }
  }

  #rowsInFrame(asked: number | undefined): number {
    const { maxRowsPerFrame, minRowsPerFrame } = this.#limits;
    const most = maxRowsPerFrame < 0 ? Number.POSITIVE_INFINITY : maxRowsPerFrame;
    return asked === undefined || asked < 0 ? most : Math.min(Math.max(asked, minRowsPerFrame), most);
  }
}

/** Requests of the protocol that are refused: results run forward only, and there are no batches of updates. */
const UNSUPPORTED: readonly string[] = ['executeBatch', 'prepareAndExecuteBatch', 'syncResults'];

/** Connection properties that are credentials, and so not part of the context of statements. */
const CREDENTIALS: ReadonlySet<string> = new Set(['user', 'password']);

/** Texts all of them, as JDBC has them. */
function connectionContext(info: unknown): Readonly<Record<string, unknown>> {
  const context = createByName<unknown>();
  for (const [key, value] of Object.entries(info as Readonly<Record<string, unknown>>)) {
    if (typeof value !== 'string') refuse(`info.${key}`, 'a string', value);
    if (!CREDENTIALS.has(key)) context[key] = value;
  }
  return context;
}

const DEFAULT_PROPERTIES = { autoCommit: true, readOnly: true, transactionIsolation: 0, catalog: null, schema: null };

/** Keeps the client's connection properties and returns them; without transactions they change nothing. */
function sync(connection: Connection, request: ObjectReader): AvaticaResponse {
  const given = request.optionalObject('connProps');
  const set = {
    autoCommit: given?.raw('autoCommit'),
    readOnly: given?.raw('readOnly'),
    transactionIsolation: given?.optionalInteger('transactionIsolation', 0),
    catalog: given?.optionalString('catalog'),
    schema: given?.optionalString('schema'),
  };
  for (const key of ['autoCommit', 'readOnly'] as const)
    if (set[key] !== undefined && typeof set[key] !== 'boolean') refuse(`connProps.${key}`, 'true or false', set[key]);
  const known = Object.entries(set).filter(([, value]) => value !== undefined);
  connection.properties = { ...connection.properties, ...Object.fromEntries(known) };
  return {
    response: 'connectionSync',
    connProps: { connProps: 'connPropsImpl', ...DEFAULT_PROPERTIES, ...connection.properties, dirty: false },
  };
}

function createStatement(connection: Connection): AvaticaResponse {
  const { id } = connection.createStatement();
  return { response: 'createStatement', connectionId: connection.id, statementId: id };
}

function closeStatement(connection: Connection, request: ObjectReader): AvaticaResponse {
  connection.closeStatement(readId(request, 'statementId'));
  return { response: 'closeStatement' };
}

function readId(request: ObjectReader, key: string): number {
  return request.optionalInteger(key, 0) ?? refuse(request.at(key), 'an integer', undefined);
}

/** The first of the names that is there; -1 and 0 mean all rows. */
function readRowsMax(request: ObjectReader, keys: readonly string[]): number | null {
  const [given = -1] = keys.map((key) => request.optionalInteger(key, -1)).filter((value) => value !== undefined);
  return given > 0 ? given : null;
}

function columnsOf(statement: Answerable): { readonly columns: readonly OutputColumn[] } {
  return statement.kind === 'explain' ? { columns: EXPLAIN_COLUMNS } : statement;
}

function signatureOf(sql: string, columns: readonly OutputColumn[], parameterCount: number): Signature {
  return {
    columns: columns.map(columnMetaData),
    sql,
    parameters: Array.from({ length: parameterCount }, (_, index) => ({
      signed: false,
      precision: 0,
      scale: 0,
      // Any type will do: the value decides.
      parameterType: 1111,
      typeName: 'OTHER',
      className: 'java.lang.Object',
      name: `?${index}`,
    })),
    cursorFactory: { style: 'LIST', clazz: null, fieldNames: null },
    statementType: 'SELECT',
  };
}

function resultSet(connection: Connection, statementId: number, signature: Signature, firstFrame: WireFrame): ResultSet {
  return { response: 'resultSet', connectionId: connection.id, statementId, ownStatement: false, signature, firstFrame, updateCount: -1 };
}
