// Cache of planned statements.

import { BoundedCache } from '../../base/bounded-cache.js';
import { dataBytes } from '../../base/data-size.js';
import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { stringifyJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import type { PlannedStatement } from '../../model/statement.js';
import { type Asked, holds, watch } from './asked.js';
import { bindParameters } from './bind/parameters.js';
import type { SqlSchema } from './catalog/schema.js';
import { PLANNING_KEYS, sqlTimeZone } from './context.js';
import { SeenLately } from './parse/shape/seen-lately.js';
import { SHAPED_LENGTH_MAX, ShapeCache } from './parse/shape/shape-cache.js';
import { SourceText } from './parse/source-text.js';
import { planSqlAt, type SqlRequest } from './plan-sql.js';
import { PlanWatch } from './plan-watch.js';
import { type Shaped, ShapePlans, type ShapeValues } from './shape-plans.js';

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
  return `${settingsKey(request, request.parameters.length === 0 ? '' : stringifyJson(request.parameters))}\n${query}`;
}

/**
 * All that a plan hangs on beside text and schema: the number of lines, and a line for each thing that is set.
 * @param parameters  a line about them
 */
function settingsKey({ context, rulesOff = [], schemaName = '' }: SqlRequest, parameters: string): string {
  let lines = `${schemaName} ${rulesOff.join(' ')}`;
  let count = 1;
  for (const name of PLANNING_KEYS) {
    const value = own(context, name);
    if (value === undefined) continue;
    lines += `\n${name} ${stringifyJson(value)}`;
    count++;
  }
  return parameters === '' ? `${count} ${lines}` : `${count + 1} ${lines}\n${parameters}`;
}

/** Values of a request for plans by shape; undefined where planning has to say what is wrong with its parameters. */
function shapeValues(request: SqlRequest, now: EpochMs): ShapeValues | undefined {
  if (request.parameters.length === 0) return { settings: settingsKey(request, ''), parameters: [], now };
  try {
    const parameters = bindParameters(request.parameters, sqlTimeZone(request.context));
    // NULL is a type of its own: it has any type, and folds what it stands in.
    const types = parameters.map(({ type, value }) => (value === null ? `${type} NULL` : type));
    return { settings: settingsKey(request, types.join()), parameters, now };
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

/**
 * Remembers the plans of statements that are sent again and again: of those whose plan hangs on nothing but its key,
 * and the datasources and lookups that it asks for. Of others it remembers what their shape decides: the plan, with places for literals, the values of
 * parameters and the instant of CURRENT_TIMESTAMP, and the syntax tree.
 */
export class PlanCache {
  readonly #plans: BoundedCache<string, CachedPlan>;
  readonly #shapes: ShapeCache;
  readonly #shapePlans: ShapePlans;
  /** Statements that were made of another's plan: kept when they come again. */
  readonly #filled = new SeenLately();
  /** The statement for which `fill` found nothing just now. */
  #missed: Shaped | undefined;

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
    const timed = { ...request, watch: request.watch ?? new PlanWatch() };
    const filled = this.#missed?.source.text === request.query ? undefined : this.fill(timed, key, schema, now);
    if (filled !== undefined) return filled;
    const shaped = this.#missed ?? { source: new SourceText(request.query), statement: undefined };
    this.#missed = undefined;
    const values = shapeValues(request, now);
    const recorded = values && this.#shapePlans.record(values, shaped, schema, (...over) => planSqlAt(timed, ...over));
    if (recorded !== undefined) return this.#keep(key, recorded.asked, recorded.statement);
    const { watched, asked } = watch(schema);
    const planned = planSqlAt(timed, watched, { clock: { now } }, () => this.#shapes.parseShaped(shaped.source, shaped.statement));
    return this.#keep(key, asked, planned);
  }

  /**
   * Makes a plan of that of another statement of its shape.
   * @param key  of the request, by which the plan is kept when it comes a second time
   * @returns    undefined where planning has to decide
   */
  fill(
    request: SqlRequest & { readonly watch: PlanWatch },
    key: string | null,
    schema: SqlSchema,
    now: EpochMs,
  ): PlannedStatement | undefined {
    this.#missed = undefined;
    if (request.query.length > SHAPED_LENGTH_MAX) return undefined;
    const source = new SourceText(request.query);
    const shaped: Shaped = { source, statement: request.watch.stage('parse', () => this.#shapes.look(source)) };
    const { template } = shaped.statement ?? {};
    const values = template && shapeValues(request, now);
    const filled = values && request.watch.stage('fill', () => this.#shapePlans.find(values, shaped, schema));
    if (filled === undefined) this.#missed = shaped;
    if (filled === undefined) return undefined;
    return key !== null && this.#filled.add(key) ? this.#keep(key, filled.asked, filled.statement) : filled.statement;
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
