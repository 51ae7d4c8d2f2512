// Plans by the shape of statements, with places for literals.

import { BoundedCache } from '../../base/bounded-cache.js';
import type { EpochMs } from '../../base/instant.js';
import type { PlannedStatement } from '../../model/statement.js';
import { RecordedPlan } from '../places/recorded-plan.js';
import { Recording } from '../places/recording.js';
import { type Asked, holds, watch } from './asked.js';
import type { SqlSchema } from './catalog/schema.js';
import { SeenLately } from './parse/shape/seen-lately.js';
import type { ShapedStatement } from './parse/shape/shape-cache.js';
import type { Template } from './parse/shape/template.js';
import type { SourceText } from './parse/source-text.js';
import type { SqlStatement } from './parse/syntax.js';
import type { PlanValues } from './plan-sql.js';
import type { BoundLiteral } from './relation/bound.js';

interface Variant {
  readonly recorded: RecordedPlan<PlannedStatement>;
  readonly asked: Asked;
}

/** The text of a statement, and its shape if it has one. */
export interface Shaped {
  readonly source: SourceText;
  readonly statement: ShapedStatement | undefined;
}

/** A plan, and the answers of the schema that it hangs on. */
interface FoundPlan {
  readonly statement: PlannedStatement;
  readonly asked: Asked;
}

/** Plans of one shape, the one used last first. */
interface ShapePlan {
  readonly variants: Variant[];
  /** Recordings that it may still make: one of which nothing comes of costs one, one that is used earns one. */
  credit: number;
}

/** Plans of one shape that differ in more than values, such as an empty interval or another granularity. */
const VARIANTS_MAX = 8;

const CREDIT_MAX = 16;
/** A shape whose literals always decide anew is tried again once in so many statements. */
const CREDIT_EACH = 1 / 64;

/** Plans a statement over a schema. */
export type PlanOver = (schema: SqlSchema, values: PlanValues, parse: () => SqlStatement) => PlannedStatement;

/** All that a plan hangs on beside the text and the schema. */
export interface ShapeValues {
  /** Key of all that other statements of the shape must have in common, the types of the parameters among it. */
  readonly settings: string;
  /** Values of the `?`, which nobody else has. */
  readonly parameters: readonly BoundLiteral[];
  /** The instant of CURRENT_TIMESTAMP. */
  readonly now: EpochMs;
}

/**
 * Plans of statements whose shape came before, made of the plan of another statement of that shape: its planning was recorded, and all
 * that it asked about the literals has the same answers for these.
 */
export class ShapePlans {
  readonly #plans: BoundedCache<string, ShapePlan>;
  readonly #seen = new SeenLately();

  constructor(bytesMax: number) {
    this.#plans = new BoundedCache(bytesMax);
  }

  get bytes(): number {
    return this.#plans.size;
  }

  /** The plan of a statement; undefined where none of its shape is known that fits. */
  find(values: ShapeValues, { source, statement: shaped }: Shaped, schema: SqlSchema): FoundPlan | undefined {
    const { key = null, template } = shaped ?? {};
    const plan = key === null ? undefined : this.#plans.find(keyOf(values, key));
    if (shaped === undefined || plan === undefined || template === undefined) return undefined;
    const literals = [...template.literals(shaped.shape, source), ...valuesBeside(values)];
    const { variants } = plan;
    for (let index = 0; index < variants.length; index++) {
      const variant = variants[index] as Variant;
      const { recorded, asked } = variant;
      const statement = holds(asked, schema) ? recorded.fill(literals) : undefined;
      if (statement === undefined) continue;
      if (index > 0) {
        variants.splice(index, 1);
        variants.unshift(variant);
      }
      plan.credit = Math.min(CREDIT_MAX, plan.credit + 1);
      return { statement, asked };
    }
    plan.credit = Math.min(CREDIT_MAX, plan.credit + CREDIT_EACH);
    return undefined;
  }

  /**
   * The plan of a statement, which is recorded for others of its shape; undefined where it is not worth it, or fails: planning says how.
   * @param values  of no use afterwards
   */
  record(values: ShapeValues, { source, statement: shaped }: Shaped, schema: SqlSchema, plan: PlanOver): FoundPlan | undefined {
    const { key = null, template } = shaped ?? {};
    if (shaped === undefined || key === null || template === undefined) return undefined;
    const name = keyOf(values, key);
    const known = this.#plans.find(name) ?? (this.#seen.add(name) ? { variants: [], credit: CREDIT_MAX / 2 } : undefined);
    if (known === undefined || known.credit < 1) return undefined;
    known.credit--;
    const found = recordedOf({ source, shaped, template, schema, values, plan });
    const kept = known.variants.filter((each) => holds(each.asked, schema));
    const variants = (found === undefined ? kept : [found.variant, ...kept]).slice(0, VARIANTS_MAX);
    // Kept without a plan, too: of such shapes few are recorded.
    const bytes = variants.reduce((sum, { recorded }) => sum + recorded.bytes, name.length * 2);
    this.#plans.keep(name, { variants, credit: known.credit }, bytes);
    return found && { statement: found.statement, asked: found.variant.asked };
  }
}

interface Recorded {
  readonly source: SourceText;
  readonly shaped: ShapedStatement;
  readonly template: Template;
  readonly schema: SqlSchema;
  readonly values: ShapeValues;
  readonly plan: PlanOver;
}

/** Values of a plan's places beside the literals of the text. */
function valuesBeside({ now, parameters }: ShapeValues): readonly unknown[] {
  return parameters.length === 0 ? [now] : [now, ...parameters.map(({ value }) => value)];
}

/** Plans a statement, and records how; undefined where its plan is kept for nobody, or planning fails. */
function recordedOf({ source, shaped: { shape }, template, schema, values, plan }: Recorded) {
  const ofText = template.literals(shape, source);
  const literals = [...ofText, ...valuesBeside(values)];
  const recording = new Recording(literals);
  const { now, parameters } = values;
  const clock = { now };
  recording.put(clock, 'now', ofText.length);
  for (const [index, parameter] of parameters.entries())
    if (parameter.value !== null) recording.put(parameter, 'value', ofText.length + 1 + index);
  const { watched, asked } = watch(schema);
  try {
    const made = recording.during(() => plan(watched, { clock, parameters }, () => template.fill(shape, source, recording)));
    const recorded = made.kind === 'select' && !asked.systemRows ? RecordedPlan.of(made, recording, literals.length) : undefined;
    const statement = recorded?.fill(literals);
    return recorded && statement && { statement, variant: { recorded, asked } };
  } catch {
    return undefined;
  }
}

function keyOf({ settings }: ShapeValues, key: string): string {
  return `${settings}\n${key}`;
}
