import { stringifyJson } from '../../base/json.js';
import type { EpochMs } from '../../model/interval.js';
import type { PlannedStatement } from '../../model/statement.js';
import { planSql, type SqlRequest } from './plan-sql.js';
import type { SqlSchema, SqlTable } from './schema.js';

interface CachedPlan {
  readonly statement: PlannedStatement;
  /** The datasources as they were when the plan was made: it holds as long as the schema gives these very objects. */
  readonly tables: ReadonlyMap<string, SqlTable>;
}

/** Longer statements are seldom sent twice. */
const TEXT_LENGTH_MAX = 16 * 1024;

/**
 * Remembers the plans of statements that are sent again and again, least recently used out first. Only those whose
 * plan hangs on nothing but text, parameters, zone and the datasources it names.
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
      if ([...cached.tables].every(([name, table]) => schema.table(name) === table)) {
        this.plans.set(key, cached);
        return cached.statement;
      }
    }
    // Whatever else planning asks for can change without a trace: such a plan is made anew each time.
    let isFree = true;
    const tables = new Map<string, SqlTable>();
    const watched: SqlSchema = {
      tables: () => {
        isFree = false;
        return schema.tables();
      },
      table: (name) => {
        const table = schema.table(name);
        if (table === undefined) isFree = false;
        else tables.set(name, table);
        return table;
      },
      lookups: () => {
        isFree = false;
        return schema.lookups?.() ?? [];
      },
      systemRows: (name) => {
        isFree = false;
        return schema.systemRows?.(name) ?? [];
      },
    };
    const statement = planSql(request, watched, now);
    if (statement.kind === 'select' && isFree) this.keep(key, { statement, tables });
    return statement;
  }

  private keep(key: string, plan: CachedPlan): void {
    this.plans.set(key, plan);
    const [oldest] = this.plans.keys();
    if (this.plans.size > this.entryCountMax && oldest !== undefined) this.plans.delete(oldest);
  }
}
