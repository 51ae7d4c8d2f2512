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

/** Plans a statement over a schema, with the instant of CURRENT_TIMESTAMP in a field. */
export type PlanOver = (schema: SqlSchema, clock: { readonly now: EpochMs }, parse: () => SqlStatement) => PlannedStatement;

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
  find(settings: string, { source, statement: shaped }: Shaped, schema: SqlSchema, now: EpochMs): FoundPlan | undefined {
    const { key = null, template } = shaped ?? {};
    const plan = key === null ? undefined : this.#plans.find(keyOf(settings, key));
    if (shaped === undefined || plan === undefined || template === undefined) return undefined;
    const literals = [...template.literals(shaped.shape, source), now];
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
   */
  record(settings: string, { source, statement: shaped }: Shaped, schema: SqlSchema, now: EpochMs, plan: PlanOver): FoundPlan | undefined {
    const { key = null, template } = shaped ?? {};
    if (shaped === undefined || key === null || template === undefined) return undefined;
    const name = keyOf(settings, key);
    const known = this.#plans.find(name) ?? (this.#seen.add(name) ? { variants: [], credit: CREDIT_MAX / 2 } : undefined);
    if (known === undefined || known.credit < 1) return undefined;
    known.credit--;
    const found = recordedOf({ source, shaped, template, schema, now, plan });
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
  readonly now: EpochMs;
  readonly plan: PlanOver;
}

/** Plans a statement, and records how; undefined where its plan is kept for nobody, or planning fails. */
function recordedOf({ source, shaped: { shape }, template, schema, now, plan }: Recorded) {
  const literals = [...template.literals(shape, source), now];
  const recording = new Recording(literals);
  const clock = { now };
  recording.put(clock, 'now', literals.length - 1);
  const { watched, asked } = watch(schema);
  try {
    const made = recording.during(() => plan(watched, clock, () => template.fill(shape, source, recording)));
    const recorded = made.kind === 'select' && !asked.systemRows ? RecordedPlan.of(made, recording, literals.length) : undefined;
    const statement = recorded?.fill(literals);
    return recorded && statement && { statement, variant: { recorded, asked } };
  } catch {
    return undefined;
  }
}

function keyOf(settings: string, key: string): string {
  return `${settings}\n${key}`;
}
