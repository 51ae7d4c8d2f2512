// Cache of planned statements.

import { BoundedCache } from '../../base/bounded-cache.js';
import { dataBytes } from '../../base/data-size.js';
import type { EpochMs } from '../../base/instant.js';
import { stringifyJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import type { PlannedStatement } from '../../model/statement.js';
import type { SqlSchema, SqlTable } from './catalog/schema.js';
import { PLANNING_KEYS } from './context.js';
import { ShapeCache } from './parse/shape/shape-cache.js';
import type { SourceText } from './parse/source-text.js';
import type { SqlStatement } from './parse/syntax.js';
import { planSql, type SqlRequest } from './plan-sql.js';

interface CachedPlan {
  readonly statement: PlannedStatement;
  /** Answers of the schema that planning used: the plan holds as long as they stay the same. */
  readonly asked: Asked;
}

interface Asked {
  /** Schemas of the datasources, compared by identity; undefined for a name that is not a datasource. */
  readonly tables: Map<string, SqlTable | undefined>;
  /** Null: nobody asked. */
  tableNames: readonly string[] | null;
  lookups: readonly string[] | null;
  /** Whether rows of system tables were asked for, which change without notice. */
  systemRows: boolean;
}

/** Share of the budget for syntax trees. */
const TREES_PART = 1 / 4;

/** Longer statements are seldom sent twice. */
const TEXT_LENGTH_MAX = 16 * 1024;

/**
 * Cache key of a plan: text, values of parameters, and the context keys that change plans. Null for
 * statements that are planned anew each time. Statements that differ in literals only are two: their plans differ in
 * intervals, in what is folded and in the order of joins.
 */
export function planKey({ query, context, parameters, rulesOff = [], schemaName = '' }: SqlRequest): string | null {
  if (query.length > TEXT_LENGTH_MAX || /CURRENT_(TIMESTAMP|DATE)/i.test(query)) return null;
  const settings = PLANNING_KEYS.map((key) => own(context, key));
  return `${schemaName} ${rulesOff.join(' ')}\n${stringifyJson([settings, parameters])}\n${query}`;
}

/**
 * Remembers the plans of statements that are sent again and again: of those whose plan hangs on nothing but its key,
 * and the datasources and lookups that it asks for. Of all of them it remembers the syntax tree by the statement's shape, for those that
 * hang on the clock and those that come again with other literals: reading them is more than half of the work.
 */
export class PlanCache {
  readonly #plans: BoundedCache<string, CachedPlan>;
  readonly #shapes: ShapeCache;

  constructor(bytesMax: number) {
    this.#plans = new BoundedCache(bytesMax * (1 - TREES_PART));
    this.#shapes = new ShapeCache(bytesMax * TREES_PART);
  }

  get bytes(): number {
    return this.#plans.size + this.#shapes.bytes;
  }

  /** The plan that was made for this key, if the schema still says what it said then. */
  find(key: string, schema: SqlSchema): PlannedStatement | undefined {
    const cached = this.#plans.find(key);
    if (cached === undefined) return undefined;
    if (holds(cached.asked, schema)) return cached.statement;
    this.#plans.delete(key);
    return undefined;
  }

  /** Plans like `planSql`, from the cache if possible. */
  plan(request: SqlRequest, schema: SqlSchema, now: EpochMs): PlannedStatement {
    const { key, known } = this.#look(request, schema);
    if (known !== undefined) return known;
    const parse = (source: SourceText): SqlStatement => this.#shapes.parse(source);
    if (key === null) return planSql(request, schema, now, parse);
    const { watched, asked } = watch(schema);
    return this.#keep(key, asked, planSql(request, watched, now, parse));
  }

  /** Plans like `planSql` through a planner elsewhere; the schema is asked before it returns, if at all. */
  async planElsewhere(
    request: SqlRequest,
    schema: SqlSchema,
    planElsewhere: (watched: SqlSchema) => Promise<PlannedStatement>,
  ): Promise<PlannedStatement> {
    const { key, known } = this.#look(request, schema);
    if (known !== undefined) return known;
    const { watched, asked } = watch(schema);
    return this.#keep(key, asked, await planElsewhere(watched));
  }

  #look(request: SqlRequest, schema: SqlSchema): { readonly key: string | null; readonly known: PlannedStatement | undefined } {
    const key = planKey(request);
    return { key, known: key === null ? undefined : this.find(key, schema) };
  }

  #keep(key: string | null, asked: Asked, statement: PlannedStatement): PlannedStatement {
    if (key !== null && statement.kind === 'select' && !asked.systemRows)
      this.#plans.keep(key, { statement, asked }, key.length * 2 + dataBytes(statement));
    return statement;
  }
}

/** The same schema, and what was asked of it. */
function watch(schema: SqlSchema): { readonly watched: SqlSchema; readonly asked: Asked } {
  const asked: Asked = { tables: new Map(), tableNames: null, lookups: null, systemRows: false };
  const watched: SqlSchema = {
    tables: () => (asked.tableNames = schema.tables()),
    table(name) {
      const table = schema.table(name);
      asked.tables.set(name, table);
      return table;
    },
    lookups: () => (asked.lookups = schema.lookups?.() ?? []),
    systemRows(name) {
      asked.systemRows = true;
      return schema.systemRows?.(name) ?? [];
    },
  };
  return { watched, asked };
}

function holds({ tables, tableNames, lookups }: Asked, schema: SqlSchema): boolean {
  for (const [name, table] of tables) if (schema.table(name) !== table) return false;
  if (tableNames !== null && !sameNames(tableNames, schema.tables())) return false;
  return lookups === null || sameNames(lookups, schema.lookups?.() ?? []);
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}
