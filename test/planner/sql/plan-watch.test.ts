import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { stringifyJson } from '../../../src/base/json.js';
import { readSqlContext } from '../../../src/planner/sql/context.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';
import { PlanWatch } from '../../../src/planner/sql/plan-watch.js';
import { RULES } from '../../../src/planner/sql/relation/rules/rules.js';
import { NOW, SCHEMA } from './plan-text.js';

const watches = suite('planning that is watched');

/** It has a node for every rule. */
const SQL =
  'SELECT a.page, COUNT(*) FROM (SELECT page, 1 + 1 AS two FROM wiki UNION ALL SELECT city, 2 FROM wiki) AS a JOIN wiki AS b ON a.page = b.page WHERE two = 2 GROUP BY a.page ORDER BY a.page LIMIT 5';
const planned = (context: Readonly<Record<string, unknown>>, watch?: PlanWatch) =>
  planSql({ query: SQL, context, parameters: [], ...(watch === undefined ? {} : { watch }) }, SCHEMA, NOW);
const codeOf = (run: () => unknown): string => {
  try {
    run();
    return 'nothing thrown';
  } catch (error) {
    return error instanceof ServiceError ? `${error.code}: ${error.message}` : String(error);
  }
};

watches('each stage and each rule is timed', () => {
  const watch = new PlanWatch();
  planned({}, watch);
  const names = watch.stages.map(({ stage }) => stage);
  assert.equal(names, ['parse', 'bind', ...RULES.map(({ name }) => `rule ${name}`), 'verify', 'lower']);
  assert.ok(watch.stages.every(({ milliseconds }) => milliseconds >= 0));
});

watches('rules that the context turns off are not applied, in a list or in a text', () => {
  for (const plannerRulesOff of [['fold-constants', 'merge-projects'], 'fold-constants, merge-projects']) {
    const watch = new PlanWatch();
    planned({ plannerRulesOff }, watch);
    const names = new Set(watch.stages.map(({ stage }) => stage));
    const off = RULES.filter(({ name }) => !names.has(`rule ${name}`)).map(({ name }) => name);
    assert.equal(off, ['fold-constants', 'merge-projects']);
  }
});

watches('a rule without anything that it is about is left out', () => {
  const watch = new PlanWatch();
  planSql({ query: 'SELECT page FROM wiki ORDER BY page LIMIT 5', context: {}, parameters: [], watch }, SCHEMA, NOW);
  const names = new Set(watch.stages.map(({ stage }) => stage));
  const applied = RULES.filter(({ name }) => names.has(`rule ${name}`)).map(({ name }) => name);
  assert.equal(applied, ['push-filters', 'fold-constants', 'merge-projects', 'prune-columns']);
});

watches('a plan without rules is another plan', () => {
  const query = "SELECT a.page FROM wiki AS a JOIN wiki AS b ON a.page = b.page WHERE b.city = 'Oslo'";
  const text = (context: Readonly<Record<string, unknown>>) => stringifyJson(planSql({ query, context, parameters: [] }, SCHEMA, NOW));
  assert.is.not(text({ plannerRulesOff: RULES.map(({ name }) => name) }), text({}));
});

const REFUSED: readonly (readonly [unknown, RegExp])[] = [
  [['fold-constant'], /context\.plannerRulesOff: "fold-constant" is no rule; did you mean "fold-constants"\?/],
  ['everything', /"everything" is no rule; expected some of .*fold-constants, /],
  [[7], /7 is no rule/],
  [{ 'fold-constants': true }, /expected|a list of rules or a string/],
];
for (const [plannerRulesOff, says] of REFUSED)
  watches(`plannerRulesOff ${JSON.stringify(plannerRulesOff)} is refused`, () => {
    const error = codeOf(() => readSqlContext({ plannerRulesOff }));
    assert.match(error, /^query_invalid: /);
    assert.match(error, says);
  });

watches('planning ends between two stages when its time is over', () => {
  assert.match(
    codeOf(() => planned({}, new PlanWatch(performance.now() - 1))),
    /^timeout: the deadline has passed while the statement was planned/,
  );
  // Time runs out in the middle: the rule that is running ends, the next one does not begin.
  let calls = 0;
  const clock = performance.now;
  performance.now = () => ++calls * 10;
  try {
    const watch = new PlanWatch(105);
    assert.match(
      codeOf(() => planned({}, watch)),
      /^timeout/,
    );
    assert.equal(
      watch.stages.map(({ stage }) => stage),
      ['parse', 'bind', ...RULES.slice(0, 3).map(({ name }) => `rule ${name}`)],
    );
  } finally {
    performance.now = clock;
  }
});

watches.run();
