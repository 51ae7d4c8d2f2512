import { nearestName } from '../../base/nearest-name.js';
import type { Bound } from './bound.js';
import type { SourceText } from './source-text.js';

/** A column that names in a query can mean; what it stands for may be an expression of a merged subquery. */
export interface ScopeColumn {
  readonly name: string;
  readonly bound: Bound;
}

/** The columns of the one relation a query reads. */
export class Scope {
  readonly columns: readonly ScopeColumn[];
  /** Every way to qualify a column: `t`, `svc.t`. */
  private readonly qualifiers: readonly (readonly string[])[];
  private readonly byName: ReadonlyMap<string, Bound>;

  constructor(columns: readonly ScopeColumn[], qualifiers: readonly (readonly string[])[]) {
    this.columns = columns;
    this.qualifiers = qualifiers;
    this.byName = new Map(columns.map((column) => [column.name, column.bound]));
  }

  has(path: readonly string[]): boolean {
    return this.qualifies(path.slice(0, -1)) && this.byName.has(path.at(-1) ?? '');
  }

  resolve(source: SourceText, at: number, path: readonly string[]): Bound {
    const name = path.at(-1) ?? '';
    if (!this.qualifies(path.slice(0, -1)))
      throw source.error('sql_plan_invalid', at, `unknown table ${path.slice(0, -1).join('.')}${this.named()}`);
    const bound = this.byName.get(name);
    if (bound === undefined)
      throw source.error('sql_plan_invalid', at, `unknown column ${name}${suggestion(name, [...this.byName.keys()])}`);
    return bound;
  }

  /** What `*` or `t.*` stands for. */
  all(source: SourceText, at: number, path: readonly string[]): readonly ScopeColumn[] {
    if (!this.qualifies(path)) throw source.error('sql_plan_invalid', at, `unknown table ${path.join('.')}${this.named()}`);
    return this.columns;
  }

  private qualifies(path: readonly string[]): boolean {
    return (
      path.length === 0 ||
      this.qualifiers.some((qualifier) => qualifier.length === path.length && qualifier.every((part, index) => part === path[index]))
    );
  }

  private named(): string {
    const [qualifier] = this.qualifiers;
    return qualifier === undefined ? '' : `; this query reads ${qualifier.join('.')}`;
  }
}

/** `; did you mean x?`, or the accepted names when there are few. */
export function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return known.length === 0 ? '' : `; known: ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', ...' : ''}`;
}
