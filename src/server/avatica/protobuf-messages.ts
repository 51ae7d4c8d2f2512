// Messages of Avatica with their Protocol Buffers field numbers.

import { type Enumeration, field, list, type Message, type Writer } from './protobuf.js';
import { REPRESENTATIONS, writeFrame } from './protobuf-frame.js';
import type { WireFrame } from './protocol.js';

/**
 * The messages of Avatica with the field numbers that its public protocol fixes, under the names of `protocol.ts`.
 * Fields that are deprecated, or that nothing here has a use for, are left out: readers skip them.
 */
const enumeration = (...names: readonly string[]): Enumeration => new Map(names.map((name, number) => [number, name]));

/** Around every request and every response: the name of a message, and its bytes. */
export const ENVELOPE: Message = { name: field(1, 'string'), message: field(2, 'bytes') };

const CONNECTION: Message = { connectionId: field(1, 'string') };
const RPC_METADATA: Message = { serverAddress: field(1, 'string') };
const rpcMetadata = (number: number) => field(number, () => RPC_METADATA);

/** A value of any type; `type` decides which field is set. */
const TYPED_VALUE: Message = {
  type: field(1, REPRESENTATIONS),
  bool: field(2, 'bool'),
  string: field(3, 'string'),
  number: field(4, 'sint64'),
  bytes: field(5, 'bytes'),
  double: field(6, 'double'),
  isNull: field(7, 'bool'),
  array: list(8, () => TYPED_VALUE),
  componentType: field(9, REPRESENTATIONS),
  isLeftOut: field(10, 'bool'),
};

const CONNECTION_PROPERTIES: Message = {
  dirty: field(1, 'bool'),
  autoCommit: field(2, 'bool'),
  readOnly: field(3, 'bool'),
  transactionIsolation: field(4, 'uint32'),
  catalog: field(5, 'string'),
  schema: field(6, 'string'),
  hasAutoCommit: field(7, 'bool'),
  hasReadOnly: field(8, 'bool'),
};

const TYPE: Message = {
  id: field(1, 'uint32'),
  name: field(2, 'string'),
  rep: field(3, REPRESENTATIONS),
  component: field(5, () => TYPE),
};

const COLUMN: Message = {
  ordinal: field(1, 'uint32'),
  autoIncrement: field(2, 'bool'),
  caseSensitive: field(3, 'bool'),
  searchable: field(4, 'bool'),
  currency: field(5, 'bool'),
  nullable: field(6, 'uint32'),
  signed: field(7, 'bool'),
  displaySize: field(8, 'uint32'),
  label: field(9, 'string'),
  columnName: field(10, 'string'),
  schemaName: field(11, 'string'),
  precision: field(12, 'uint32'),
  scale: field(13, 'uint32'),
  tableName: field(14, 'string'),
  catalogName: field(15, 'string'),
  readOnly: field(16, 'bool'),
  writable: field(17, 'bool'),
  definitelyWritable: field(18, 'bool'),
  columnClassName: field(19, 'string'),
  type: field(20, () => TYPE),
};

const PARAMETER: Message = {
  signed: field(1, 'bool'),
  precision: field(2, 'uint32'),
  scale: field(3, 'uint32'),
  parameterType: field(4, 'uint32'),
  typeName: field(5, 'string'),
  className: field(6, 'string'),
  name: field(7, 'string'),
};

const CURSOR_FACTORY: Message = { style: field(1, enumeration('OBJECT', 'RECORD', 'RECORD_PROJECTION', 'ARRAY', 'LIST', 'MAP')) };

const SIGNATURE: Message = {
  columns: list(1, () => COLUMN),
  sql: field(2, 'string'),
  parameters: list(3, () => PARAMETER),
  cursorFactory: field(4, () => CURSOR_FACTORY),
  statementType: field(5, enumeration('SELECT')),
};

const STATEMENT: Message = { connectionId: field(1, 'string'), id: field(2, 'uint32'), signature: field(3, () => SIGNATURE) };
/** A statement handle as clients send it back; its signature is ignored. */
const STATEMENT_ID: Message = { connectionId: field(1, 'string'), id: field(2, 'uint32') };

const FRAME = { write: (writer: Writer, value: unknown) => writeFrame(writer, value as WireFrame) };

const RESULT_SET: Message = {
  connectionId: field(1, 'string'),
  statementId: field(2, 'uint32'),
  ownStatement: field(3, 'bool'),
  signature: field(4, () => SIGNATURE),
  firstFrame: field(5, FRAME),
  updateCount: field(6, 'uint64'),
  rpcMetadata: rpcMetadata(7),
};

/** Messages by `response`: the message's name and fields. */
export const RESPONSES: Readonly<Record<string, { readonly name: string; readonly fields: Message }>> = {
  openConnection: { name: 'OpenConnectionResponse', fields: { rpcMetadata: rpcMetadata(1) } },
  commit: { name: 'CommitResponse', fields: {} },
  rollback: { name: 'RollbackResponse', fields: {} },
  closeConnection: { name: 'CloseConnectionResponse', fields: { rpcMetadata: rpcMetadata(1) } },
  closeStatement: { name: 'CloseStatementResponse', fields: { rpcMetadata: rpcMetadata(1) } },
  connectionSync: {
    name: 'ConnectionSyncResponse',
    fields: { connProps: field(1, () => CONNECTION_PROPERTIES), rpcMetadata: rpcMetadata(2) },
  },
  // There are no properties to tell: the field with the number 1 stays empty.
  databaseProperties: { name: 'DatabasePropertyResponse', fields: { rpcMetadata: rpcMetadata(2) } },
  createStatement: {
    name: 'CreateStatementResponse',
    fields: { connectionId: field(1, 'string'), statementId: field(2, 'uint32'), rpcMetadata: rpcMetadata(3) },
  },
  prepare: { name: 'PrepareResponse', fields: { statement: field(1, () => STATEMENT), rpcMetadata: rpcMetadata(2) } },
  executeResults: {
    name: 'ExecuteResponse',
    fields: { resultSets: list(1, () => RESULT_SET), missingStatement: field(2, 'bool'), rpcMetadata: rpcMetadata(3) },
  },
  fetch: {
    name: 'FetchResponse',
    fields: {
      frame: field(1, FRAME),
      missingStatement: field(2, 'bool'),
      missingResults: field(3, 'bool'),
      rpcMetadata: rpcMetadata(4),
    },
  },
  resultSet: { name: 'ResultSetResponse', fields: RESULT_SET },
  error: {
    name: 'ErrorResponse',
    fields: {
      exceptions: list(1, 'string'),
      errorMessage: field(2, 'string'),
      severity: field(3, enumeration('UNKNOWN', 'FATAL', 'ERROR', 'WARNING')),
      errorCode: field(4, 'uint32'),
      sqlState: field(5, 'string'),
      rpcMetadata: rpcMetadata(6),
      hasExceptions: field(7, 'bool'),
    },
  },
};

/** A text that a client leaves out, as against one that is empty: a flag of its own tells them apart. */
const pattern = (name: string, number: number, flag: number): Message => ({
  [name]: field(number, 'string'),
  [flagOf(name)]: field(flag, 'bool'),
});
export const flagOf = (name: string): string => `has${name.charAt(0).toUpperCase()}${name.slice(1)}`;

const ENTRY: Message = { key: field(1, 'string'), value: field(2, 'string') };

/** Requests by message name: the request's name in JSON, and its fields. */
export const REQUESTS: Readonly<Record<string, { readonly request: string; readonly fields: Message }>> = {
  OpenConnectionRequest: { request: 'openConnection', fields: { ...CONNECTION, info: list(2, () => ENTRY) } },
  CloseConnectionRequest: { request: 'closeConnection', fields: CONNECTION },
  ConnectionSyncRequest: { request: 'connectionSync', fields: { ...CONNECTION, connProps: field(2, () => CONNECTION_PROPERTIES) } },
  DatabasePropertyRequest: { request: 'databaseProperties', fields: CONNECTION },
  CreateStatementRequest: { request: 'createStatement', fields: CONNECTION },
  CloseStatementRequest: { request: 'closeStatement', fields: { ...CONNECTION, statementId: field(2, 'uint32') } },
  PrepareRequest: {
    request: 'prepare',
    fields: { ...CONNECTION, sql: field(2, 'string'), maxRowCount: field(3, 'uint64'), maxRowsTotal: field(4, 'int64') },
  },
  PrepareAndExecuteRequest: {
    request: 'prepareAndExecute',
    fields: {
      ...CONNECTION,
      sql: field(2, 'string'),
      maxRowCount: field(3, 'uint64'),
      statementId: field(4, 'uint32'),
      maxRowsTotal: field(5, 'int64'),
      maxRowsInFirstFrame: field(6, 'int32'),
    },
  },
  ExecuteRequest: {
    request: 'execute',
    fields: {
      statementHandle: field(1, () => STATEMENT_ID),
      parameterValues: list(2, () => TYPED_VALUE),
      maxRowCountUnsigned: field(3, 'uint64'),
      maxRowCount: field(5, 'int32'),
    },
  },
  FetchRequest: {
    request: 'fetch',
    fields: {
      ...CONNECTION,
      statementId: field(2, 'uint32'),
      offset: field(3, 'uint64'),
      maxRowCountUnsigned: field(4, 'uint32'),
      fetchMaxRowCount: field(5, 'int32'),
    },
  },
  CatalogsRequest: { request: 'getCatalogs', fields: CONNECTION },
  TableTypesRequest: { request: 'getTableTypes', fields: CONNECTION },
  TypeInfoRequest: { request: 'getTypeInfo', fields: CONNECTION },
  SchemasRequest: {
    request: 'getSchemas',
    fields: { ...pattern('catalog', 1, 4), ...pattern('schemaPattern', 2, 5), connectionId: field(3, 'string') },
  },
  TablesRequest: {
    request: 'getTables',
    fields: {
      ...pattern('catalog', 1, 8),
      ...pattern('schemaPattern', 2, 9),
      ...pattern('tableNamePattern', 3, 10),
      typeList: list(4, 'string'),
      connectionId: field(7, 'string'),
    },
  },
  ColumnsRequest: {
    request: 'getColumns',
    fields: {
      ...pattern('catalog', 1, 6),
      ...pattern('schemaPattern', 2, 7),
      ...pattern('tableNamePattern', 3, 8),
      ...pattern('columnNamePattern', 4, 9),
      connectionId: field(5, 'string'),
    },
  },
  SyncResultsRequest: { request: 'syncResults', fields: CONNECTION },
  CommitRequest: { request: 'commit', fields: CONNECTION },
  RollbackRequest: { request: 'rollback', fields: CONNECTION },
  PrepareAndExecuteBatchRequest: { request: 'prepareAndExecuteBatch', fields: CONNECTION },
  ExecuteBatchRequest: { request: 'executeBatch', fields: CONNECTION },
};
