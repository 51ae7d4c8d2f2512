// Refuses native queries that read columns which a policy hides.

import { refuseAccess } from '../../../model/access/authorizer.js';
import type { KnownTables } from '../../plan.js';
import type { RestrictedTable } from '../../table-access.js';

/** The same tables, and which of their columns are hidden from the reader as far as a query has asked for the tables. */
export function watchedTables(tables: KnownTables): {
  readonly watched: KnownTables;
  readonly restricted: ReadonlyMap<string, RestrictedTable>;
} {
  const restricted = new Map<string, RestrictedTable>();
  return {
    restricted,
    watched: {
      table(name) {
        const table = tables.table(name);
        if (table?.access?.kind === 'restricted') restricted.set(name, table.access);
        return table;
      },
    },
  };
}

/**
 * Refuses plans that name a hidden column. SQL does not find these, but a native query may name any column, and segments have it. Names
 * stand in many places of a plan, so all strings of it count: one that is only a value is refused as well.
 * @throws ServiceError `forbidden`
 */
export function refuseHiddenColumns(planned: object, restricted: ReadonlyMap<string, RestrictedTable>): void {
  const hidden = new Set([...restricted.values()].flatMap((access) => access.hidden));
  if (hidden.size === 0) return;
  const strings = new Set<string>();
  const prefixes = new Set<string>();
  const own = new Set<unknown>([...restricted.values()].map(({ rowFilter }) => rowFilter));
  collect(planned, { strings, prefixes, skipped: own });
  for (const text of strings) if (namesHidden(text, hidden, prefixes)) refuseAccess();
}

interface Found {
  readonly strings: Set<string>;
  /** Prefixes of the columns of right sides of joins. */
  readonly prefixes: Set<string>;
  /** Filters of policies, which may read hidden columns. */
  readonly skipped: Set<unknown>;
}

function collect(root: object, { strings, prefixes, skipped }: Found): void {
  const open: unknown[] = [root];
  const met = new Set<unknown>(skipped);
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') strings.add(value);
    if (typeof value !== 'object' || value === null || met.has(value) || ArrayBuffer.isView(value)) continue;
    met.add(value);
    if ('prefix' in value && typeof value.prefix === 'string') prefixes.add(value.prefix);
    for (const [name, member] of Object.entries(value)) {
      if (!Array.isArray(value)) strings.add(name);
      open.push(member);
    }
    if (value instanceof Map || value instanceof Set) for (const member of value) open.push(member);
  }
}

function namesHidden(text: string, hidden: ReadonlySet<string>, prefixes: ReadonlySet<string>): boolean {
  if (hidden.has(text)) return true;
  for (const prefix of prefixes)
    if (prefix !== '' && text.startsWith(prefix) && namesHidden(text.slice(prefix.length), hidden, prefixes)) return true;
  return false;
}
