// The tables of a cluster as the sender of a request sees them.

import { stringifyJson } from '../../base/json.js';
import { type Caller, permits } from '../../model/access/authorizer.js';
import type { Policy } from '../../model/access/policy.js';
import { dataSource } from '../../model/access/resource.js';
import type { ColumnSchema } from '../../model/schema.js';
import { type AccessedTable, FORBIDDEN_TABLE, restrictedBy } from '../../planner/table-access.js';

interface Table extends AccessedTable {
  readonly columns: readonly ColumnSchema[];
}

interface Tables<Each extends Table> {
  tables(): readonly string[];
  table(name: string): Each | undefined;
}

/** Tables of one caller, and the names of those that it may not read. */
type SeenTables<Each extends Table> = Tables<Each> & { forbidden?(): readonly string[] };

/**
 * The tables that callers see. The same table under the same policy is the same object until it changes, whoever asks: plans are kept by
 * that, and one caller's plan is never another's unless they see the same.
 */
export class CallerTables<Each extends Table> {
  readonly #base: Tables<Each>;
  readonly #forbidden = new WeakMap<Each, Each>();
  readonly #restricted = new WeakMap<Each, Map<string, Each>>();
  readonly #texts = new WeakMap<Policy, string>();
  readonly #seen = new WeakMap<Caller, SeenTables<Each>>();

  constructor(base: Tables<Each>) {
    this.#base = base;
  }

  /** The same object for a caller each time: it asks for rights whenever it is asked. */
  of(caller: Caller): SeenTables<Each> {
    if (caller.isUnrestricted) return this.#base;
    let seen = this.#seen.get(caller);
    if (seen === undefined) {
      seen = this.#seenBy(caller);
      this.#seen.set(caller, seen);
    }
    return seen;
  }

  #seenBy(caller: Caller): SeenTables<Each> {
    const mayRead = (name: string) => permits(caller, dataSource(name), 'READ');
    return {
      tables: () => this.#base.tables().filter(mayRead),
      forbidden: () => this.#base.tables().filter((name) => !mayRead(name)),
      table: (name) => {
        const table = this.#base.table(name);
        if (table === undefined) return undefined;
        const { allowed, policy } = caller.access(dataSource(name), 'READ');
        if (!allowed) return this.#forbiddenTable(table);
        return policy === null ? table : this.#restrictedTable(table, policy);
      },
    };
  }

  #forbiddenTable(table: Each): Each {
    let known = this.#forbidden.get(table);
    if (known === undefined) {
      known = { ...table, columns: [], access: FORBIDDEN_TABLE };
      this.#forbidden.set(table, known);
    }
    return known;
  }

  #restrictedTable(table: Each, policy: Policy): Each {
    const byPolicy = this.#restricted.get(table) ?? new Map<string, Each>();
    this.#restricted.set(table, byPolicy);
    let text = this.#texts.get(policy);
    if (text === undefined) {
      text = stringifyJson(policy);
      this.#texts.set(policy, text);
    }
    let known = byPolicy.get(text);
    if (known === undefined) {
      // The number of rows is that of rows that the policy hides, too.
      known = { ...table, rowCount: undefined, ...restrictedBy(policy, table.columns) };
      byPolicy.set(text, known);
    }
    return known;
  }
}
