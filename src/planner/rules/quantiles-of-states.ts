// Plan rule: reads quantiles from aggregate states themselves rather than from states that are put out.

import { extended } from '../../base/names.js';
import type { Aggregator } from '../../model/aggregator.js';
import { type Expression, replacedCalls } from '../../model/expression.js';
import type { GroupPlan, PostStep } from '../../model/plan.js';
import type { RowsPlan } from '../../model/row-source.js';
import { changed } from '../places/recording.js';
import { type SourceQuery, withQueries } from '../source-plans.js';

/** More quantiles of one state are read from the state that is put out once. */
const FRACTIONS_MAX = 4;

/**
 * A query in which quantiles sketches that are only asked for quantiles, by their own plan or by the plan over its rows, give way to an aggregator for
 * each of these: the values are found where the states are, which need not be written as texts and read again.
 */
export function withQuantilesOfStates({ plan, source }: SourceQuery): SourceQuery {
  return quantilesWithin({ plan, source: withQueries(source, quantilesWithin) });
}

function quantilesWithin({ plan, source }: SourceQuery): SourceQuery {
  const query = { plan: withinPlan(plan), source };
  if (source.kind !== 'query' || source.plan.operator !== 'group' || hasEmptyBuckets(source.plan)) return query;
  let [outer, inner] = [query.plan, source.plan];
  for (const aggregator of source.plan.aggregators) [outer, inner] = belowPlan(outer, inner, aggregator);
  return inner === source.plan ? query : { plan: outer, source: changed(source, { plan: inner }) };
}

/** Quantiles that a plan computes of its own states. */
function withinPlan(plan: RowsPlan): RowsPlan {
  // Without a projection the states are columns of the result.
  if (plan.operator !== 'group' || !plan.post.some(({ step }) => step === 'project') || hasEmptyBuckets(plan)) return plan;
  let made: GroupPlan = plan;
  for (const aggregator of plan.aggregators) {
    const read = new QuantilesOf(aggregator);
    const post = made.post.map((step) => read.withinStep(step));
    if (read.areAll(post)) made = changed(read.inPlaceOf(made), { post });
  }
  return made;
}

/** Quantiles that a plan computes of states of the plan below it. */
function belowPlan(outer: RowsPlan, inner: GroupPlan, aggregator: Aggregator): [RowsPlan, GroupPlan] {
  const read = new QuantilesOf(aggregator);
  const virtualColumns = outer.virtualColumns.map((column) => {
    const expression = read.within(column.expression);
    return expression === column.expression ? column : changed(column, { expression });
  });
  const { filter, stages } = outer;
  const columns =
    outer.operator === 'group'
      ? [outer.keys.map((key) => (key.kind === 'column' ? key.column : null)), outer.aggregators.map((each) => ({ ...each, name: null }))]
      : outer.operator === 'scan' && [outer.columns, outer.post];
  const post = inner.post.map((step) => read.withinStep(step));
  const projected = post.map((step) => read.projected(step));
  if (!read.areAll([projected, virtualColumns, filter, stages, columns])) return [outer, inner];
  return [changed(outer, { virtualColumns }), changed(read.inPlaceOf(inner), { post: projected })];
}

/** The quantiles that are read of one aggregator's states. */
class QuantilesOf {
  readonly #aggregator: Aggregator;
  readonly #fractions: number[] = [];

  constructor(aggregator: Aggregator) {
    this.#aggregator = aggregator;
  }

  /** The expression with columns of quantiles in place of calls that read them. */
  within(expression: Expression): Expression {
    const { name } = this.#aggregator;
    return replacedCalls(expression, (called) => {
      const fraction = fractionOf(called, name);
      return fraction === undefined ? undefined : { kind: 'column', name: this.#nameOf(fraction) };
    });
  }

  withinStep(step: PostStep): PostStep {
    if (step.step === 'compute') {
      const expression = this.within(step.expression);
      return expression === step.expression ? step : changed(step, { expression });
    }
    if (step.step !== 'filter' || step.filter.kind !== 'expression') return step;
    const expression = this.within(step.filter.expression);
    return expression === step.filter.expression ? step : changed(step, { filter: changed(step.filter, { expression }) });
  }

  /** A step that hands quantiles on where it does so with the states, under their name. */
  projected(step: PostStep): PostStep {
    const { name } = this.#aggregator;
    if (step.step !== 'project' || !step.columns.some((each) => each.from === name)) return step;
    const quantiles = this.#fractions.map((fraction) => ({ name: this.#nameOf(fraction), from: this.#nameOf(fraction) }));
    return changed(step, { columns: step.columns.flatMap((each) => (each.from === name && each.name === name ? quantiles : [each])) });
  }

  /** Whether there are some, few, and nothing in `others` asks anything else of the states. */
  areAll(others: unknown): boolean {
    const aggregator = this.#aggregator;
    const isSketch = aggregator.kind === 'state' && aggregator.output === 'state' && aggregator.aggregateState.type === 'quantiles';
    return isSketch && this.#fractions.length > 0 && this.#fractions.length <= FRACTIONS_MAX && !isNamed(others, aggregator.name);
  }

  inPlaceOf(plan: GroupPlan): GroupPlan {
    const aggregator = this.#aggregator;
    if (aggregator.kind !== 'state' || aggregator.aggregateState.type !== 'quantiles') return plan;
    const { aggregateState } = aggregator;
    const quantiles = this.#fractions.map(
      (fraction): Aggregator =>
        changed(aggregator, {
          name: this.#nameOf(fraction),
          aggregateState: extended(aggregateState, { fraction }),
          output: 'value',
          type: 'DOUBLE',
        }),
    );
    return changed(plan, { aggregators: plan.aggregators.flatMap((each) => (each.name === aggregator.name ? quantiles : [each])) });
  }

  #nameOf(fraction: number): string {
    const known = this.#fractions.indexOf(fraction);
    return `${this.#aggregator.name}:${known < 0 ? this.#fractions.push(fraction) - 1 : known}`;
  }
}

/** Buckets without rows have no state that could be asked. */
const hasEmptyBuckets = ({ post }: GroupPlan): boolean => post.some(({ step }) => step === 'fillBuckets');

/** The fraction of `:quantile(state, 'classic', fraction)`; undefined for any other call. */
function fractionOf({ function: called, arguments: operands }: Extract<Expression, { kind: 'call' }>, state: string): number | undefined {
  const [column, family, fraction] = operands;
  if (called !== ':quantile' || column?.kind !== 'column' || column.name !== state) return undefined;
  if (family?.kind !== 'literal' || family.value !== 'classic' || fraction?.kind !== 'literal') return undefined;
  return typeof fraction.value === 'number' ? fraction.value : undefined;
}

/** Whether the name stands anywhere in plain data. */
function isNamed(data: unknown, name: string): boolean {
  if (typeof data !== 'object' || data === null) return data === name;
  return Object.values(data).some((each) => isNamed(each, name));
}
