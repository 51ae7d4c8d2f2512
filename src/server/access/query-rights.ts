// Rights of queries beside those to what they read: to context keys, and to tables of `sys` by their names.

import { type Caller, demand, permits, refuseAccess } from '../../model/access/authorizer.js';
import type { SystemTableName } from '../../planner/sql/catalog/system-schema.js';

/** `svc.auth.*ContextKeys`, `svc.auth.authorizeQueryContextParams`, `svc.sql.planner.authorizeSystemTablesDirectly`. */
export interface QueryRights {
  readonly authorizesContext: boolean;
  /** Keys that everybody may set. */
  readonly unsecuredKeys: readonly string[];
  /** Keys that take a right; null: all others. */
  readonly securedKeys: readonly string[] | null;
  readonly authorizesSystemTables: boolean;
}

export const NO_FURTHER_RIGHTS: QueryRights = {
  authorizesContext: false,
  unsecuredKeys: [],
  securedKeys: null,
  authorizesSystemTables: false,
};

/** Keys that clients and processes set by themselves. */
const FREE_KEYS: readonly string[] = ['sqlStringifyArrays', 'sqlQueryId'];

/** @throws ServiceError `forbidden` unless the caller may set each key */
export function authorizeContext(rights: QueryRights, caller: Caller, context: Readonly<Record<string, unknown>>): void {
  if (!rights.authorizesContext || caller.isUnrestricted) return;
  const { unsecuredKeys, securedKeys } = rights;
  const keys = Object.keys(context).filter((key) => !FREE_KEYS.includes(key) && !unsecuredKeys.includes(key));
  demand(
    caller,
    keys
      .filter((key) => securedKeys === null || securedKeys.includes(key))
      .map((name) => ({ resource: { type: 'QUERY_CONTEXT', name }, action: 'WRITE' })),
  );
}

/** @throws ServiceError `forbidden` unless the caller may read a table of `sys`, by its name with or without the schema */
export function authorizeSystemTable(rights: QueryRights, caller: Caller, table: SystemTableName): void {
  if (!rights.authorizesSystemTables) return;
  const names = [table, `sys.${table}`];
  if (!names.some((name) => permits(caller, { type: 'SYSTEM_TABLE', name }, 'READ'))) refuseAccess();
}
