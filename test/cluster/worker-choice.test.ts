import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { chooseWorker, type SlotUse } from '../../src/cluster/overlord/worker-choice.js';
import { parseWorkerConfig, type SelectStrategy } from '../../src/cluster/overlord/worker-config.js';

/** Free slots and category by host. */
const WORKERS = { 'a:1': [3, 'c'], 'b:1': [1, 'c'], 'c:1': [2, 'd'], 'full:1': [0, 'e'] } as const;
const workers = Object.entries(WORKERS).map(([host, [slots, category]]) => ({ host, session: 's', category, slots }));
const NOTHING_RUNS: SlotUse = { total: 10, byType: new Map() };

const choices = suite('worker choice');

type Task = { readonly type: string; readonly dataSource: string };
const index: Task = { type: 'index_parallel', dataSource: 'ds' };
const compact: Task = { type: 'compact', dataSource: 'ds' };
const other: Task = { type: 'index_parallel', dataSource: 'other' };

const affinity = (hosts: readonly string[], strong: boolean) => ({ affinity: { ds: hosts }, strong });
const categories = (spec: unknown, strong: boolean) => ({ categoryMap: { index_parallel: spec }, strong });

for (const [name, strategy, task, expected, use] of [
  ['the emptiest', { type: 'equalDistribution' }, index, 'a:1'],
  ['the fullest with a slot', { type: 'fillCapacity' }, index, 'b:1'],
  ['one kept for the datasource', { type: 'equalDistribution', affinityConfig: affinity(['b:1', 'c:1'], true) }, index, 'c:1'],
  ['the fullest kept for it', { type: 'fillCapacityWithAffinity', affinityConfig: affinity(['a:1', 'c:1'], true) }, index, 'c:1'],
  ['none: those kept for it are full', { type: 'equalDistribution', affinityConfig: affinity(['full:1'], true) }, index, undefined],
  ['another, as the affinity is weak', { type: 'equalDistribution', affinityConfig: affinity(['full:1'], false) }, index, 'a:1'],
  ['one that is kept for nobody', { type: 'equalDistributionWithAffinity', affinityConfig: affinity(['a:1'], false) }, other, 'c:1'],
  ['none: all are kept', { type: 'fillCapacity', affinityConfig: affinity(Object.keys(WORKERS), true) }, other, undefined],
  [
    'the category of the datasource',
    {
      type: 'equalDistributionWithCategorySpec',
      workerCategorySpec: categories({ defaultCategory: 'c', categoryAffinity: { ds: 'd' } }, true),
    },
    index,
    'c:1',
  ],
  [
    'the category of the type',
    { type: 'fillCapacityWithCategorySpec', workerCategorySpec: categories({ defaultCategory: 'c', categoryAffinity: { ds: 'd' } }, true) },
    other,
    'b:1',
  ],
  [
    'none: the category is full',
    { type: 'equalDistributionWithCategorySpec', workerCategorySpec: categories({ defaultCategory: 'e' }, true) },
    index,
    undefined,
  ],
  [
    'another, as the category is weak',
    { type: 'equalDistributionWithCategorySpec', workerCategorySpec: categories({ defaultCategory: 'e' }, false) },
    index,
    'a:1',
  ],
  [
    'any: the type has no category',
    { type: 'equalDistributionWithCategorySpec', workerCategorySpec: categories({ defaultCategory: 'e' }, true) },
    compact,
    'a:1',
  ],
  [
    'none: as many of the type run as may',
    { type: 'equalDistribution', taskLimits: { maxSlotCountByType: { compact: 2 } } },
    compact,
    undefined,
    { total: 10, byType: new Map([['compact', 2]]) },
  ],
  [
    'one below a share of the slots',
    { type: 'equalDistribution', taskLimits: { maxSlotRatioByType: { compact: 0.3 } } },
    compact,
    'a:1',
    { total: 10, byType: new Map([['compact', 2]]) },
  ],
  [
    'none: the lower of both limits',
    { type: 'equalDistribution', taskLimits: { maxSlotRatioByType: { compact: 0.9 }, maxSlotCountByType: { compact: 2 } } },
    compact,
    undefined,
    { total: 10, byType: new Map([['compact', 2]]) },
  ],
  [
    'one: a share is at least one slot',
    { type: 'equalDistribution', taskLimits: { maxSlotRatioByType: { compact: 0.01 } } },
    compact,
    'a:1',
  ],
  [
    'the emptiest, beside a limit of another type',
    { type: 'equalDistribution', taskLimits: { maxSlotCountByType: { x: 0 } } },
    index,
    'a:1',
  ],
] as const satisfies readonly (readonly [string, unknown, Task, string | undefined, SlotUse?])[])
  choices(`${(strategy as SelectStrategy).type}: ${name}`, () => {
    const { selectStrategy } = parseWorkerConfig({ type: 'default', selectStrategy: strategy });
    assert.is(chooseWorker(task, workers, use ?? NOTHING_RUNS, selectStrategy)?.host, expected);
  });

choices('names from outside are names', () => {
  const { selectStrategy } = parseWorkerConfig({
    selectStrategy: { type: 'equalDistribution', affinityConfig: { affinity: JSON.parse('{"__proto__":["b:1"]}') } },
  });
  assert.is(chooseWorker({ ...index, dataSource: '__proto__' }, workers, NOTHING_RUNS, selectStrategy)?.host, 'b:1');
  assert.is(chooseWorker({ ...index, dataSource: 'constructor' }, workers, NOTHING_RUNS, selectStrategy)?.host, 'a:1');
});

for (const [config, code, message] of [
  [{ selectStrategy: { type: 'javascript', function: 'f' } }, 'unsupported', /selectStrategy.type: "javascript" is not supported/],
  [{ selectStrategy: { type: 'fullest' } }, 'input_invalid', /selectStrategy.type: expected equalDistribution, .*, found "fullest"/],
  [{ autoScaler: { type: 'ec2' } }, 'unsupported', /autoScaler/],
  [{ selectStrategy: { type: 'fillCapacityWithAffinity' } }, 'input_invalid', /selectStrategy.affinityConfig: expected an object/],
  [
    { selectStrategy: { type: 'fillCapacity', workerCategorySpec: {} } },
    'input_invalid',
    /selectStrategy: unknown key "workerCategorySpec"/,
  ],
  [
    { selectStrategy: { type: 'fillCapacity', affinityConfig: { affinity: { ds: 'a:1' } } } },
    'input_invalid',
    /selectStrategy.affinityConfig.affinity.ds: expected an array, found "a:1"/,
  ],
  [
    { selectStrategy: { type: 'fillCapacity', taskLimits: { maxSlotRatioByType: { compact: 1.5 } } } },
    'input_invalid',
    /taskLimits.maxSlotRatioByType.compact: expected a number above 0 and at most 1, found 1.5/,
  ],
  [
    { selectStrategy: { type: 'fillCapacity', taskLimits: { maxSlotCountByType: { compact: null } } } },
    'input_invalid',
    /maxSlotCountByType.compact: expected an integer of at least 0/,
  ],
  [{ selectStrategy: [] }, 'input_invalid', /selectStrategy: expected an object/],
  [{ type: 'other' }, 'input_invalid', /type: expected default, found "other"/],
] as const)
  choices(`refused: ${JSON.stringify(config)}`, () => {
    try {
      parseWorkerConfig(config);
    } catch (error) {
      assert.ok(error instanceof ServiceError);
      assert.is(error.code, code);
      assert.match(error.message, message);
      return;
    }
    assert.unreachable('it was accepted');
  });

choices.run();
