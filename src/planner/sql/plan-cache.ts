import { stringifyJson } from '../../base/json.js';
import type { EpochMs } from '../../model/interval.js';
import type { PlannedStatement } from '../../model/statement.js';
import { planSql, type SqlRequest } from './plan-sql.js';
import type { SqlSchema, SqlTable } from './schema.js';

interface CachedPlan {
  readonly statement: PlannedStatement;
  readonly table: string;
  /** As it was when the plan was made: the plan holds as long as the schema gives this very object. */
  readonly schema: SqlTable;
}

/** Longer statements are seldom sent twice. */
const TEXT_LENGTH_MAX = 16 * 1024;

/**
 * Remembers the plans of statements that are sent again and again, least recently used out first. Only those whose
 * plan hangs on nothing but text, parameters, zone and one datasource.
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
      if (schema.table(cached.table) === cached.schema) {
        this.plans.set(key, cached);
        return cached.statement;
      }
    }
    const statement = planSql(request, schema, now);
    if (statement.kind === 'select' && statement.source.kind === 'table') this.keep(key, statement, statement.source.name, schema);
    return statement;
  }

  private keep(key: string, statement: PlannedStatement, table: string, schema: SqlSchema): void {
    const tableSchema = schema.table(table);
    if (tableSchema === undefined) return;
    this.plans.set(key, { statement, table, schema: tableSchema });
    const [oldest] = this.plans.keys();
    if (this.plans.size > this.entryCountMax && oldest !== undefined) this.plans.delete(oldest);
  }
}
