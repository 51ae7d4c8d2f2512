// Finds the parts of a statement's sources that stand in it several times, and keeps what was made of them.

import type { UploadedRows } from '../../execution/run/engine.js';
import type { Uploaded } from '../../model/frame.js';
import type { GroupPlan } from '../../model/plan.js';
import type { JoinSource, RowSource } from '../../model/row-source.js';
import { isPacked } from '../../model/value-list.js';
import type { Bound } from './key-bounds.js';

type QuerySource = Extract<RowSource, { kind: 'query' }>;

/** Statements of more tables are not looked through. */
const TABLES_MAX = 100;

/** Groups before their columns get other names, which may differ between the places that read them. */
export interface SharedGroups {
  readonly key: string;
  readonly source: QuerySource & { readonly plan: GroupPlan };
  /** Column of the groups by the name that it has where they are read; undefined: they are the same. */
  readonly names: ReadonlyMap<string, string> | undefined;
}

/**
 * Sources that stand in one statement several times: a query of WITH that is named twice, a dimension that a subquery joins too. Groups of subqueries and right
 * sides of joins are made once for all of these places, and lie in memory until the statement has ended.
 */
export class SharedSources {
  /** Number of times that each source stands there; empty where none can be there twice. */
  readonly #times = new Map<string, number>();
  readonly #groups = new Map<string, Promise<Uploaded | undefined>>();
  /** Right sides in memory by the names that `sideOf` gives. */
  readonly sides = new Map<string, UploadedRows>();
  readonly #held: (() => void)[] = [];
  readonly #keys = new WeakMap<object, string>();
  /** Typed arrays and the like are themselves alone. */
  readonly #objects = new Map<object, number>();

  constructor(source: RowSource) {
    const tables: string[] = [];
    tablesBelow(source, tables);
    if (new Set(tables).size < tables.length && tables.length <= TABLES_MAX) this.#count(source);
  }

  /** Groups that stand there several times, by what is the same in all places; undefined for others. */
  groupsOf(source: QuerySource): SharedGroups | undefined {
    if (this.#times.size === 0) return undefined;
    const shared = this.#groupsOf(source);
    return shared !== undefined && (this.#times.get(shared.key) ?? 0) > 1 ? shared : undefined;
  }

  /** The groups in memory, where `make` leaves them the first time; undefined: they cannot lie there. */
  groups({ key }: SharedGroups, make: () => Promise<Uploaded | undefined>): Promise<Uploaded | undefined> {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#groups.set(key, made);
    return made;
  }

  /** Name of the right side of a join with these bounds, where it may be that of another join too; undefined elsewhere. */
  sideOf(
    { type, right, keys, needed }: JoinSource & { readonly needed: readonly string[] },
    keysOnly: boolean,
    bounds: readonly Bound[],
  ): string | undefined {
    if (this.#times.size === 0 || type === 'right' || type === 'full') return undefined;
    const source = this.#keyOf(right);
    if ((this.#times.get(source) ?? 0) < 2) return undefined;
    return this.#keyOf({ source, keys: keys.map((key) => ({ of: key.right, type: key.type })), needed, keysOnly, bounds });
  }

  /** Has something let go when the statement has ended. */
  hold(letGo: () => void): void {
    this.#held.push(letGo);
  }

  release(): void {
    for (const letGo of this.#held.splice(0)) letGo();
  }

  /** Counts sources; what stands below one that was met before is made no second time. */
  #count(source: RowSource): void {
    switch (source.kind) {
      case 'query': {
        const shared = this.#groupsOf(source);
        if (shared === undefined || this.#isFirst(shared.key)) this.#count(source.source);
        return;
      }
      case 'filtered':
      case 'unnest':
        this.#count(source.source);
        return;
      case 'union':
        for (const each of source.sources) this.#count(each);
        return;
      case 'join':
        this.#count(source.left);
        if (source.right.kind === 'query' || this.#isFirst(this.#keyOf(source.right))) this.#count(source.right);
        return;
      case 'table':
      case 'inline':
      case 'lookup':
        return;
    }
  }

  #isFirst(key: string): boolean {
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    return times === 1;
  }

  #groupsOf({ plan, source }: QuerySource): SharedGroups | undefined {
    if (plan.operator !== 'group') return undefined;
    const end = plan.post.findLastIndex(({ step }) => step !== 'project') + 1;
    const groups: GroupPlan = { ...plan, post: plan.post.slice(0, end) };
    const names = plan.post.slice(end).reduce<ReadonlyMap<string, string> | undefined>(
      (before, step) =>
        step.step !== 'project'
          ? before
          : new Map(
              step.columns.flatMap(({ name, from }) => {
                const own = before === undefined ? from : before.get(from);
                return own === undefined ? [] : [[name, own] as const];
              }),
            ),
      undefined,
    );
    return { key: this.#keyOf({ groups, source }), source: { kind: 'query', plan: groups, source }, names };
  }

  /** Equal for what is the same. */
  #keyOf(data: object): string {
    const known = this.#keys.get(data);
    if (known !== undefined) return known;
    const key = JSON.stringify(data, (_, value: unknown) => this.#plain(value));
    this.#keys.set(data, key);
    return key;
  }

  #plain(value: unknown): unknown {
    if (typeof value === 'bigint') return { bigint: String(value) };
    if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
      return { number: Object.is(value, -0) ? '-0' : String(value) };
    if (typeof value !== 'object' || value === null) return value;
    if (isPacked(value)) return { digest: value.digest };
    return isPlain(value) && !('kind' in value && value.kind === 'inline') ? value : { object: this.#numberOf(value) };
  }

  #numberOf(value: object): number {
    const number = this.#objects.get(value) ?? this.#objects.size;
    this.#objects.set(value, number);
    return number;
  }
}

/** Whether all that an object holds is in its fields. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

/** Tables of all sources below, each as often as it stands there. */
function tablesBelow(source: RowSource, found: string[]): void {
  switch (source.kind) {
    case 'table':
      found.push(source.name);
      return;
    case 'query':
    case 'filtered':
    case 'unnest':
      tablesBelow(source.source, found);
      return;
    case 'union':
      for (const each of source.sources) tablesBelow(each, found);
      return;
    case 'join':
      tablesBelow(source.left, found);
      tablesBelow(source.right, found);
      return;
    case 'inline':
    case 'lookup':
      return;
  }
}
