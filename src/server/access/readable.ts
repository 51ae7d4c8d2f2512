// Leaves out of lists what their reader may not see.

import { type Caller, demand, permitsWhole, refuseAccess } from '../../model/access/authorizer.js';
import { type Action, dataSource } from '../../model/access/resource.js';

/**
 * Entries of a list about datasources that the caller may read as a whole. Each datasource is asked about once.
 * @param nameOf  the datasource that an entry tells of
 */
export function readable<Item>(caller: Caller, items: readonly Item[], nameOf: (item: Item) => string): readonly Item[] {
  if (caller.isUnrestricted) return items;
  const decided = new Map<string, boolean>();
  return items.filter((item) => {
    const name = nameOf(item);
    const known = decided.get(name) ?? permitsWhole(caller, dataSource(name), 'READ');
    decided.set(name, known);
    return known;
  });
}

/** Whether a policy hides a part of one of these datasources from the caller. */
export function isUnderPolicy(caller: Caller, names: readonly string[]): boolean {
  return !caller.isUnrestricted && names.some((name) => caller.access(dataSource(name), 'READ').policy !== null);
}

/** Whether the caller may write all of a datasource. */
export function mayWrite(caller: Caller, name: string): boolean {
  return caller.isUnrestricted || permitsWhole(caller, dataSource(name), 'WRITE');
}

export function itself(name: string): string {
  return name;
}

/** @throws ServiceError `forbidden` unless the caller may act on all of a datasource */
export function demandDataSource(caller: Caller, name: string, action: Action): void {
  demand(caller, [{ resource: dataSource(name), action }]);
}

/**
 * Whether something of one user, such as a statement or its profile, is for this caller: its user, or one with the right to the state of
 * the cluster.
 */
export function mayHandle(caller: Caller, owner: string | null, action: Action): boolean {
  return caller.isUnrestricted || caller.identity.user === owner || permitsWhole(caller, { type: 'STATE', name: 'STATE' }, action);
}

/** @throws ServiceError `forbidden` */
export function demandOwner(caller: Caller, owner: string | null, action: Action): void {
  if (!mayHandle(caller, owner, action)) refuseAccess();
}
