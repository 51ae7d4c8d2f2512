import { stringifyJson } from '../../base/json.js';
import type { EpochMs } from '../../model/interval.js';
import type { PlannedStatement } from '../../model/statement.js';
import { planSql, type SqlRequest } from './plan-sql.js';
import type { SqlSchema, SqlTable } from './schema.js';

interface CachedPlan {
  readonly statement: PlannedStatement;
  /** The datasource as it was when the plan was made: the plan holds as long as the schema gives this very object. */
  readonly table: { readonly name: string; readonly schema: SqlTable } | null;
}

/** Longer statements are seldom sent twice. */
const TEXT_LENGTH_MAX = 16 * 1024;

/**
 * Remembers the plans of statements that are sent again and again, least recently used out first. Only those whose
 * plan hangs on nothing but text, parameters, zone and at most one datasource.
 */
export class PlanCache {
  private readonly plans = new Map<string, CachedPlan>();
  private readonly entryCountMax: number;

  constructor(entryCountMax: number) {
    this.entryCountMax = entryCountMax;
  }

  /** As `planSql`. */
  plan(request: SqlRequest, schema: SqlSchema, now: EpochMs): PlannedStatement {
    if (request.query.length > TEXT_LENGTH_MAX || /CURRENT_(TIMESTAMP|DATE)/i.test(request.query)) return planSql(request, schema, now);
    const key = `${request.schemaName ?? ''}\n${request.context['sqlTimeZone'] ?? ''}\n${stringifyJson(request.parameters)}\n${request.query}`;
    const cached = this.plans.get(key);
    if (cached !== undefined) {
      this.plans.delete(key);
      if (cached.table === null || schema.table(cached.table.name) === cached.table.schema) {
        this.plans.set(key, cached);
        return cached.statement;
      }
    }
    let asked = false;
    const watched: SqlSchema = {
      tables: () => {
        asked = true;
        return schema.tables();
      },
      table: (name) => {
        asked = true;
        return schema.table(name);
      },
    };
    const statement = planSql(request, watched, now);
    if (statement.kind !== 'select') return statement;
    const { source } = statement;
    if (source.kind === 'table') {
      const table = schema.table(source.name);
      if (table !== undefined) this.keep(key, { statement, table: { name: source.name, schema: table } });
    } else if (source.kind === 'inline' && !asked) this.keep(key, { statement, table: null });
    return statement;
  }

  private keep(key: string, plan: CachedPlan): void {
    this.plans.set(key, plan);
    const [oldest] = this.plans.keys();
    if (this.plans.size > this.entryCountMax && oldest !== undefined) this.plans.delete(oldest);
  }
}
