// Finds the parts of a statement's sources that stand in it several times, and keeps what was made of them.

import { columnsNamed } from '../../execution/expression/columns-of-plan.js';
import type { UploadedRows } from '../../execution/run/engine.js';
import type { Uploaded } from '../../model/frame.js';
import type { GroupPlan } from '../../model/plan.js';
import type { JoinSource, RowSource, RowsPlan } from '../../model/row-source.js';
import type { JoinStage } from '../../model/stage.js';
import { isPacked } from '../../model/value-list.js';
import type { Bound } from './key-bounds.js';
import { tablesOf } from './source-plans.js';
import { asksForTime, isBesideTables, stepsOf } from './source-steps.js';

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

/** Joined rows that several plans of a statement read. */
export interface SharedRows {
  readonly key: string;
  readonly source: RowSource;
  /** All that the plans read of them. */
  readonly columns: ReadonlySet<string>;
}

/**
 * Sources that stand in one statement several times: a query of WITH that is named twice, a dimension that a subquery joins too, the joins that a total is
 * taken of as well as its parts. Groups of subqueries, right sides of joins and rows that come out of joins are made once for all of these places, and lie in
 * memory until the statement has ended.
 */
export class SharedSources {
  /** Number of times that each source stands there; empty where none can be there twice. */
  readonly #times = new Map<string, number>();
  /** Groups and joined rows in memory. */
  readonly #made = new Map<string, Promise<Uploaded | undefined>>();
  readonly #joined = new Map<string, { readonly columns: Set<string>; plans: number }>();
  /** Right sides in memory by the names that `sideOf` gives. */
  readonly sides = new Map<string, UploadedRows>();
  readonly #held: (() => void)[] = [];

  constructor(plan: RowsPlan, source: RowSource) {
    const tables: string[] = [];
    tablesBelow(source, tables);
    if (new Set(tables).size < tables.length && tables.length <= TABLES_MAX) this.#countPlan(plan, source);
  }

  /** Groups that stand there several times, by what is the same in all places; undefined for others. */
  groupsOf(source: QuerySource): SharedGroups | undefined {
    if (this.#times.size === 0) return undefined;
    const shared = groupsOf(source);
    return shared !== undefined && (this.#times.get(shared.key) ?? 0) > 1 ? shared : undefined;
  }

  /** Joined rows that this plan reads, and others too; undefined where it alone does, or reads more of them than is kept. */
  rowsOf(plan: RowsPlan, source: RowSource): SharedRows | undefined {
    if (this.#joined.size === 0 || !readsJoined(plan, source)) return undefined;
    const key = keyOf(source);
    const joined = this.#joined.get(key);
    if (joined === undefined || joined.plans < 2) return undefined;
    // A join that is a side of another one, or a part of a union, reads what these need: that is known only when they run.
    for (const name of columnsNamed(plan)) if (!joined.columns.has(name)) return undefined;
    return { key: `rows ${key}`, source, columns: joined.columns };
  }

  /** Groups or joined rows in memory, where `make` leaves them the first time; undefined: they cannot lie there. */
  once({ key }: Pick<SharedGroups, 'key'>, make: () => Promise<Uploaded | undefined>): Promise<Uploaded | undefined> {
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#made.set(key, made);
    return made;
  }

  /** Name of the right side of a join with these bounds, where it may be that of another join too; undefined elsewhere. */
  sideOf(
    { type, right, keys, needed }: JoinSource & { readonly needed: readonly string[] },
    { ranges = [] }: Pick<JoinStage, 'ranges'>,
    keysOnly: boolean,
    bounds: readonly Bound[],
  ): string | undefined {
    if (this.#times.size === 0 || type === 'right' || type === 'full') return undefined;
    const source = keyOf(right);
    if ((this.#times.get(source) ?? 0) < 2) return undefined;
    const orders = ranges.map(({ part: _, ...range }) => range);
    return keyOf({ source, keys: keys.map(({ left: _, ...key }) => key), orders, needed, keysOnly, bounds });
  }

  /** Has something let go when the statement has ended. */
  hold(letGo: () => void): void {
    this.#held.push(letGo);
  }

  release(): void {
    for (const letGo of this.#held.splice(0)) letGo();
  }

  #countPlan(plan: RowsPlan, source: RowSource): void {
    if (readsJoined(plan, source)) {
      const key = keyOf(source);
      const joined = this.#joined.get(key) ?? { columns: new Set<string>(), plans: 0 };
      for (const name of columnsNamed(plan)) joined.columns.add(name);
      joined.plans++;
      this.#joined.set(key, joined);
    }
    this.#count(source);
  }

  /** Counts sources; what stands below one that was met before is made no second time. */
  #count(source: RowSource): void {
    switch (source.kind) {
      case 'query': {
        const shared = groupsOf(source);
        if (shared === undefined || this.#isFirst(shared.key)) this.#countPlan(source.plan, source.source);
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
        if (source.right.kind === 'query' || this.#isFirst(keyOf(source.right))) this.#count(source.right);
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
}

/** Whether a plan reads all rows that come out of joins of tables, in any order. Joins with lookups are made columns of their own. */
function readsJoined(plan: RowsPlan, source: RowSource): boolean {
  if (source.kind === 'table' || plan.filter !== null) return false;
  if (plan.operator === 'timeBoundary' || (plan.operator === 'scan' && (plan.limit !== null || plan.offset > 0))) return false;
  const { base, steps } = stepsOf(source);
  const joins = steps.filter((step) => step.kind === 'join');
  if (joins.length === 0 || joins.some(({ right }) => stepsOf(right).base.kind === 'lookup')) return false;
  return tablesOf(base) !== undefined && isBesideTables(steps) && !asksForTime(plan, steps);
}

/** Groups by the query that they are of; null: it does not group. */
const GROUPS = new WeakMap<QuerySource, SharedGroups | null>();

function groupsOf(query: QuerySource): SharedGroups | undefined {
  const known = GROUPS.get(query);
  const groups = known === undefined ? (groupsBefore(query) ?? null) : known;
  GROUPS.set(query, groups);
  return groups ?? undefined;
}

/** The groups before their columns get other names. */
function groupsBefore({ plan, source }: QuerySource): SharedGroups | undefined {
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
  return { key: keyOf({ groups, source }), source: { kind: 'query', plan: groups, source }, names };
}

/** Texts of parts of plans that were asked for, and numbers of objects that are themselves alone; plans are kept and run again. */
const KEYS = new WeakMap<object, string>();
const NUMBERS = new WeakMap<object, number>();
let numbered = 0;

/** Equal for what is the same. */
function keyOf(data: object): string {
  const known = KEYS.get(data);
  if (known !== undefined) return known;
  const key = isAlone(data) ? `object ${numberOf(data)}` : fieldsText(data);
  KEYS.set(data, key);
  return key;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return named(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  if (Array.isArray(value)) {
    let text = '[';
    for (const item of value) text += `${textOf(item)},`;
    return `${text}]`;
  }
  if (isPacked(value)) return `digest ${value.digest}`;
  return isAlone(value) || ('kind' in value && SOURCES.has(value.kind)) ? keyOf(value) : fieldsText(value);
}

/** Sources are asked for by themselves too. */
const SOURCES: ReadonlySet<unknown> = new Set<RowSource['kind']>(['query', 'filtered', 'unnest', 'union', 'join', 'table', 'lookup']);

function fieldsText(data: object): string {
  let text = '{';
  for (const [name, value] of Object.entries(data)) if (value !== undefined) text += `${named(name)}${textOf(value)},`;
  return `${text}}`;
}

/** A string with its length, so that it ends where it ends whatever it holds. */
function named(text: string): string {
  return `${text.length}"${text}`;
}

function numberOf(value: object): number {
  const number = NUMBERS.get(value) ?? numbered++;
  NUMBERS.set(value, number);
  return number;
}

/** Whether an object is equal to itself alone: it holds more than its fields, or rows. */
function isAlone(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype !== Object.prototype && prototype !== null) || ('kind' in value && value.kind === 'inline');
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
