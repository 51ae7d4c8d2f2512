import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../../src/base/instant.js';
import { call, double, type Expression, text } from '../../../src/model/expression.js';
import type { GroupPlan, PostStep } from '../../../src/model/plan.js';
import { withQuantilesOfStates } from '../../../src/planner/rules/quantiles-of-states.js';

const rule = suite('quantiles of states');
const column = (name: string): Expression => ({ kind: 'column', name });
const quantile = (fraction: number): Expression => call(':quantile', column('a0'), text('classic'), double(fraction));
const compute = (name: string, expression: Expression): PostStep => ({ step: 'compute', name, type: 'DOUBLE', expression });
const project = (...names: string[]): PostStep => ({ step: 'project', columns: names.map((name) => ({ name, from: name })) });
const TABLE = { kind: 'table', name: 't' } as const;

function plan(...post: PostStep[]): GroupPlan {
  return {
    operator: 'group',
    dataSource: 't',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [],
    keys: [{ kind: 'column', name: 'd0', column: 'k', type: 'STRING' }],
    aggregators: [
      {
        kind: 'state',
        name: 'a0',
        filter: null,
        aggregateState: { type: 'quantiles', k: 128 },
        columns: ['x'],
        input: 'values',
        output: 'state',
        type: 'COMPLEX<quantilesDoublesSketch>',
      },
    ],
    emptyGroup: false,
    post,
  };
}
const fractionsOf = ({ aggregators }: GroupPlan): unknown[] =>
  aggregators.map((each) =>
    each.kind === 'state' && each.aggregateState.type === 'quantiles' ? [each.output, each.aggregateState.fraction] : each.kind,
  );

rule('stand in place of a sketch that is asked for nothing else, one for each fraction', () => {
  const found = withQuantilesOfStates({
    plan: plan(compute('p0', call('+', quantile(0.5), quantile(0.9))), compute('p1', quantile(0.5)), project('d0', 'p0', 'p1')),
    source: TABLE,
  });
  assert.equal(fractionsOf(found.plan as GroupPlan), [
    ['value', 0.5],
    ['value', 0.9],
  ]);
  assert.equal(found.plan.post.slice(0, 2), [compute('p0', call('+', column('a0:0'), column('a0:1'))), compute('p1', column('a0:0'))]);
});

rule('do not where the sketch is put out, ranked, asked for more, or empty buckets are filled', () => {
  const half = compute('p0', quantile(0.5));
  for (const post of [
    [half],
    [half, project('d0', 'a0', 'p0')],
    [half, compute('p1', call(':rank', column('a0'), text('classic'), double(3))), project('p0', 'p1')],
    [half, { step: 'rank', name: 'r', state: 'a0', aggregateState: { type: 'quantiles', k: 128 } } as const, project('p0', 'r')],
    [half, ...[0.1, 0.2, 0.3, 0.4].map((fraction) => compute(`f${fraction}`, quantile(fraction))), project('p0')],
    [{ step: 'fillBuckets', bucket: 'd0', granularity: { kind: 'all' } } as const, half, project('p0')],
  ]) {
    const given = plan(...(post as PostStep[]));
    assert.is(withQuantilesOfStates({ plan: given, source: TABLE }).plan, given);
  }
});

rule('are found below the plan that reads them, unless it reads the sketch in another way', () => {
  const inner = { kind: 'query', plan: plan(), source: TABLE } as const;
  const outer = (expression: Expression, key: string): GroupPlan => ({
    ...plan(),
    virtualColumns: [{ name: 'v0', expression, outputType: null }],
    keys: [{ kind: 'column', name: 'd0', column: key, type: null }],
    aggregators: [{ kind: 'max', name: 'a0', filter: null, column: 'v0', type: 'DOUBLE' }],
  });
  const found = withQuantilesOfStates({ plan: outer(quantile(0.25), 'd0'), source: inner });
  assert.equal(fractionsOf((found.source as typeof inner).plan), [['value', 0.25]]);
  assert.equal((found.plan as GroupPlan).virtualColumns[0]?.expression, column('a0:0'));
  const above: PostStep = { step: 'filter', filter: { kind: 'expression', expression: call('>', quantile(0.75), double(1)) } };
  const filtered = { kind: 'query', plan: plan(above, project('a0')), source: TABLE } as const;
  const both = (withQuantilesOfStates({ plan: outer(quantile(0.25), 'd0'), source: filtered }).source as typeof filtered).plan;
  assert.equal(fractionsOf(both), [
    ['value', 0.25],
    ['value', 0.75],
  ]);
  assert.equal(both.post, [
    { step: 'filter', filter: { kind: 'expression', expression: call('>', column('a0:1'), double(1)) } },
    project('a0:0', 'a0:1'),
  ] as unknown);
  const kept = withQuantilesOfStates({ plan: outer(quantile(0.25), 'a0'), source: inner });
  assert.equal(kept.source, inner);
});

rule.run();
