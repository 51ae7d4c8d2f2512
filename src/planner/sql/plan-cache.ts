// Cache of planned statements.

import { BoundedCache } from '../../base/bounded-cache.js';
import { dataBytes } from '../../base/data-size.js';
import type { EpochMs } from '../../base/instant.js';
import { stringifyJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import type { PlannedStatement } from '../../model/statement.js';
import { type Asked, holds, watch } from './asked.js';
import type { SqlSchema } from './catalog/schema.js';
import { PLANNING_KEYS } from './context.js';
import { SeenLately } from './parse/shape/seen-lately.js';
import { ShapeCache } from './parse/shape/shape-cache.js';
import { SourceText } from './parse/source-text.js';
import { planSqlAt, type SqlRequest } from './plan-sql.js';
import { PlanWatch } from './plan-watch.js';
import { type Shaped, ShapePlans } from './shape-plans.js';

interface CachedPlan {
  readonly statement: PlannedStatement;
  /** Answers of the schema that planning used: the plan holds as long as they stay the same. */
  readonly asked: Asked;
}

/** Shares of the budget for syntax trees, and for plans by shape. */
const TREES_PART = 1 / 4;
const SHAPES_PART = 1 / 4;

/** Longer statements are seldom sent twice. */
const TEXT_LENGTH_MAX = 16 * 1024;

/**
 * Cache key of a plan: text, values of parameters, and the context keys that change plans. Null for
 * statements that are planned anew each time. Statements that differ in literals only are two, which share what `ShapePlans` keeps.
 */
export function planKey(request: SqlRequest): string | null {
  const { query } = request;
  if (query.length > TEXT_LENGTH_MAX || /CURRENT_(TIMESTAMP|DATE)/i.test(query)) return null;
  return `${settingsKey(request)}\n${query}`;
}

/** All that a plan hangs on beside text and schema. */
function settingsKey({ context, parameters, rulesOff = [], schemaName = '' }: SqlRequest): string {
  const settings = PLANNING_KEYS.map((key) => own(context, key));
  return `${schemaName} ${rulesOff.join(' ')}\n${stringifyJson([settings, parameters])}`;
}

/**
 * Remembers the plans of statements that are sent again and again: of those whose plan hangs on nothing but its key,
 * and the datasources and lookups that it asks for. Of others it remembers what their shape decides: the plan, with places for literals and for the
 * instant of CURRENT_TIMESTAMP, and the syntax tree.
 */
export class PlanCache {
  readonly #plans: BoundedCache<string, CachedPlan>;
  readonly #shapes: ShapeCache;
  readonly #shapePlans: ShapePlans;
  /** Statements that were made of another's plan: kept when they come again. */
  readonly #filled = new SeenLately();

  constructor(bytesMax: number) {
    this.#plans = new BoundedCache(bytesMax * (1 - TREES_PART - SHAPES_PART));
    this.#shapes = new ShapeCache(bytesMax * TREES_PART);
    this.#shapePlans = new ShapePlans(bytesMax * SHAPES_PART);
  }

  get bytes(): number {
    return this.#plans.size + this.#shapes.bytes + this.#shapePlans.bytes;
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
    const { watch: timed = new PlanWatch() } = request;
    const asked = { ...request, watch: timed };
    const source = new SourceText(request.query);
    const shaped = timed.stage('parse', () => this.#shapes.look(source));
    const found = shaped?.template && this.#byShape(asked, { ...shaped, source }, schema, now);
    if (found !== undefined) return key === null || !found.isWorthKeeping ? found.statement : this.#keep(key, found.asked, found.statement);
    const { watched, asked: answers } = watch(schema);
    const planned = planSqlAt(asked, watched, { now }, () => this.#shapes.parseShaped(source, shaped));
    return this.#keep(key, answers, planned);
  }

  /** Made of the plan of another statement; or recorded, for others to be made of it. */
  #byShape(request: SqlRequest & { readonly watch: PlanWatch }, shaped: Shaped, schema: SqlSchema, now: EpochMs) {
    const settings = settingsKey(request);
    const filled = request.watch.stage('fill', () => this.#shapePlans.find(settings, shaped, schema, now));
    if (filled !== undefined) return { ...filled, isWorthKeeping: this.#filled.add(request.query) };
    const recorded = this.#shapePlans.record(settings, shaped, schema, now, (...over) => planSqlAt(request, ...over));
    return recorded && { ...recorded, isWorthKeeping: true };
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
