// Resolves column names of a query.

import { nearestName } from '../../../base/nearest-name.js';
import type { SourceText } from '../parse/source-text.js';
import { type Bound, outer } from '../relation/bound.js';

/** A column that names in a query can mean; what it stands for may be an expression. */
export interface ScopeColumn {
  readonly name: string;
  readonly bound: Bound;
}

/** One of the tables of a FROM. */
export interface ScopeTable {
  readonly columns: readonly ScopeColumn[];
  /** Every way to qualify a column: `t`, `svc.t`. None: only by its bare name. */
  readonly qualifiers: readonly (readonly string[])[];
}

/** Names of a query: the columns of its tables, then those of the outer query. */
export class Scope {
  readonly tables: readonly ScopeTable[];
  /** Columns that USING or NATURAL made one: their bare names are not ambiguous, and `*` gives them once. */
  readonly merged: readonly ScopeColumn[];
  readonly parent: Scope | null;

  constructor(tables: readonly ScopeTable[], parent: Scope | null = null, merged: readonly ScopeColumn[] = []) {
    this.tables = tables;
    this.parent = parent;
    this.merged = merged;
  }

  has(path: readonly string[]): boolean {
    return this.#candidates(path).length > 0;
  }

  /** Resolves a column of this query, or of an outer query, which is marked as such. */
  resolve(source: SourceText, at: number, path: readonly string[]): Bound {
    const found = this.#candidates(path);
    const [first, second] = found;
    if (second !== undefined)
      throw source.error(
        'sql_plan_invalid',
        at,
        `column ${path.join('.')} is ambiguous: ${this.#tablesWith(path)} have it; name the table`,
      );
    if (first !== undefined) return first;
    for (let scope = this.parent, depth = 1; scope !== null; scope = scope.parent, depth++)
      if (scope.has(path)) return outer(scope.resolve(source, at, path), depth);
    const [name = '', qualifier] = [path.at(-1), path.slice(0, -1)];
    if (!this.#qualifies(qualifier)) throw source.error('sql_plan_invalid', at, `unknown table ${qualifier.join('.')}${this.#named()}`);
    const known = this.tables.filter((table) => qualifies(table, qualifier)).flatMap((table) => table.columns.map((column) => column.name));
    throw source.error('sql_plan_invalid', at, `unknown column ${name}${suggestion(name, known)}`);
  }

  /** Columns that `*` or `t.*` stands for. */
  all(source: SourceText, at: number, path: readonly string[]): readonly ScopeColumn[] {
    if (!this.#qualifies(path)) throw source.error('sql_plan_invalid', at, `unknown table ${path.join('.')}${this.#named()}`);
    const tables = this.tables.filter((table) => qualifies(table, path));
    const columns = tables.flatMap((table) => table.columns);
    if (path.length > 0) return columns;
    const merged = new Set(this.merged.map(({ name }) => name));
    return [...this.merged, ...columns.filter(({ name }) => !merged.has(name))];
  }

  #candidates(path: readonly string[]): readonly Bound[] {
    const name = path.at(-1) ?? '';
    const qualifier = path.length === 1 ? NO_QUALIFIER : path.slice(0, -1);
    if (qualifier.length === 0) {
      const merged = this.merged.find((column) => column.name === name);
      if (merged !== undefined) return [merged.bound];
    }
    const found: Bound[] = [];
    for (const table of this.tables) {
      const meaning = qualifies(table, qualifier) ? meaningsOf(table).get(name) : undefined;
      if (meaning !== undefined) found.push(meaning);
    }
    return found;
  }

  #qualifies(path: readonly string[]): boolean {
    return path.length === 0 || this.tables.some((table) => qualifies(table, path));
  }

  #tablesWith(path: readonly string[]): string {
    return this.tables
      .filter((table) => meaningsOf(table).has(path.at(-1) ?? ''))
      .map((table) => table.qualifiers[0]?.join('.') ?? 'a subquery')
      .join(', ');
  }

  #named(): string {
    const names = this.tables.flatMap((table) => (table.qualifiers[0] === undefined ? [] : [table.qualifiers[0].join('.')]));
    return names.length === 0 ? '' : `; this query reads ${names.join(', ')}`;
  }
}

const NO_QUALIFIER: readonly string[] = [];

/** Columns by name, for each table: a wide table is asked for thousands of names. */
const MEANINGS = new WeakMap<readonly ScopeColumn[], ReadonlyMap<string, Bound>>();

/** Columns by name; the first of those that share one. */
function meaningsOf({ columns }: ScopeTable): ReadonlyMap<string, Bound> {
  const known = MEANINGS.get(columns);
  if (known !== undefined) return known;
  const meanings = new Map(columns.toReversed().map(({ name, bound }) => [name, bound]));
  MEANINGS.set(columns, meanings);
  return meanings;
}

function qualifies(table: ScopeTable, path: readonly string[]): boolean {
  return (
    path.length === 0 ||
    table.qualifiers.some((qualifier) => qualifier.length === path.length && qualifier.every((part, index) => part === path[index]))
  );
}

/** `; did you mean x?`, or the accepted names when there are few. */
export function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return known.length === 0 ? '' : `; known: ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', ...' : ''}`;
}
