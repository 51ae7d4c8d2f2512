// Requests and responses of Avatica as plain data.

import { ObjectReader, readContextOf } from '../../base/json-reader.js';

/**
 * The words of Avatica, the protocol of Apache Calcite's JDBC driver, as plain data. Requests are objects with the names
 * that the JSON form of the protocol gives them; responses are the types below. A codec carries both over the wire.
 */
export type AvaticaResponse =
  | { readonly response: 'openConnection' | 'closeConnection' | 'closeStatement' | 'commit' | 'rollback' }
  | { readonly response: 'connectionSync'; readonly connProps: ConnectionProperties }
  | { readonly response: 'databaseProperties'; readonly map: Readonly<Record<string, never>> }
  | { readonly response: 'createStatement'; readonly connectionId: string; readonly statementId: number }
  | { readonly response: 'prepare'; readonly statement: StatementHandle }
  | { readonly response: 'executeResults'; readonly resultSets: readonly ResultSet[]; readonly missingStatement: boolean }
  | FetchResult
  | ResultSet
  | AvaticaError;

interface FetchResult {
  readonly response: 'fetch';
  readonly frame: WireFrame | null;
  readonly missingStatement: boolean;
  /** The statement was not executed, or its result was given up. */
  readonly missingResults: boolean;
}

export interface ResultSet {
  readonly response: 'resultSet';
  readonly connectionId: string;
  readonly statementId: number;
  /** The client closes the statement together with the result. */
  readonly ownStatement: boolean;
  readonly signature: Signature;
  readonly firstFrame: WireFrame;
  /** -1: it has rows. */
  readonly updateCount: -1;
}

export interface AvaticaError {
  readonly response: 'error';
  readonly exceptions: readonly string[];
  readonly errorMessage: string;
  readonly errorCode: number;
  readonly sqlState: string;
  readonly severity: 'ERROR';
}

/** Connection properties that a client may set; null when not set. */
interface ConnectionProperties {
  readonly connProps: 'connPropsImpl';
  readonly autoCommit: boolean;
  readonly readOnly: boolean;
  readonly transactionIsolation: number;
  readonly catalog: string | null;
  readonly schema: string | null;
  readonly dirty: boolean;
}

interface StatementHandle {
  readonly connectionId: string;
  readonly id: number;
  readonly signature: Signature;
}

export interface Signature {
  readonly columns: readonly ColumnMetaData[];
  readonly sql: string;
  readonly parameters: readonly ParameterMetaData[];
  readonly cursorFactory: { readonly style: 'LIST'; readonly clazz: null; readonly fieldNames: null };
  readonly statementType: 'SELECT';
}

interface ParameterMetaData {
  readonly signed: boolean;
  readonly precision: number;
  readonly scale: number;
  /** A number of java.sql.Types. */
  readonly parameterType: number;
  readonly typeName: string;
  readonly className: string;
  readonly name: string;
}

export interface ColumnMetaData {
  readonly ordinal: number;
  readonly autoIncrement: boolean;
  readonly caseSensitive: boolean;
  readonly searchable: boolean;
  readonly currency: boolean;
  readonly nullable: number;
  readonly signed: boolean;
  readonly displaySize: number;
  readonly label: string;
  readonly columnName: string;
  readonly schemaName: string;
  readonly precision: number;
  readonly scale: number;
  readonly tableName: string;
  readonly catalogName: string;
  readonly type: WireType;
  readonly readOnly: boolean;
  readonly writable: boolean;
  readonly definitelyWritable: boolean;
  readonly columnClassName: string;
}

/** The word of the protocol for how the values of a column are written. */
export type Representation = 'STRING' | 'BOOLEAN' | 'INTEGER' | 'LONG' | 'FLOAT' | 'DOUBLE' | 'OBJECT' | 'ARRAY';

interface NamedType {
  /** A number of java.sql.Types. */
  readonly id: number;
  readonly name: string;
  readonly rep: Representation;
}

export type WireType = ({ readonly type: 'scalar' } & NamedType) | ({ readonly type: 'array'; readonly component: WireType } & NamedType);

/** A value of a result: longs keep all of their digits; instants are milliseconds, dates are days, of the wall clock. */
export type WireValue = string | number | bigint | boolean | null | readonly WireValue[];

/** A stretch of rows as the protocol hands it over. */
export interface WireFrame {
  readonly offset: number;
  /** Whether these were the last rows. */
  readonly done: boolean;
  readonly rows: readonly (readonly WireValue[])[];
  /** Wire types of the columns; a double and an instant look alike without them. */
  readonly types: readonly WireType[];
}

/** One of the forms in which the protocol goes over the wire. */
export interface AvaticaCodec {
  readonly contentType: string;
  /**
   * The fields of a request, plain data.
   * @throws ServiceError `input_invalid` or `query_invalid` for what is no request
   */
  read(body: Buffer): object;
  /** @param serverAddress  `host:port` of this broker, which each answer and each result set in it carries */
  encode(response: AvaticaResponse, serverAddress: string): string | Uint8Array;
  /** The connection id of a request that is forwarded; undefined when the body does not show it. */
  connectionOf(body: Buffer): string | undefined;
}

/** Newer drivers send fields that older servers do not know. */
export function requestOf(fields: object): ObjectReader {
  return new ObjectReader(fields, '', readContextOf('query_invalid', 'query', true));
}
