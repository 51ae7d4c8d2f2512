import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { cutByTime, type SourceStep } from '../../src/cluster/sources/source-steps.js';
import type { Filter } from '../../src/model/filter.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';

const steps = suite('steps between tables and a plan');

const scan: ScanPlan = {
  operator: 'scan',
  dataSource: '',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  columns: ['x'],
  timeOrder: null,
  offset: 0,
  limit: null,
  post: [],
};
const since = (column: string): Filter => ({
  kind: 'range',
  column,
  type: 'LONG',
  ordering: 'numeric',
  lower: 1000n,
  upper: null,
  lowerStrict: false,
  upperStrict: false,
});
const rio: Filter = { kind: 'equals', column: 'city', type: 'STRING', value: 'Rio' };
const filtered = (filter: Filter): SourceStep => ({ kind: 'filter', filter });
const unnested: SourceStep = { kind: 'unnest', column: { name: 'u', expression: { kind: 'column', name: 'tags' }, outputType: 'STRING' } };
const LATER = [{ start: 1000, end: ETERNITY.end }];

steps('conditions on time before the first other step become intervals', () => {
  const cut = cutByTime(scan, [filtered({ kind: 'and', filters: [rio, since('__time')] }), unnested, filtered(since('u'))]);
  assert.equal(cut.plan.intervals, LATER);
  assert.equal(cut.steps, [filtered(rio), unnested, filtered(since('u'))]);
});

steps('a step that asks for time alone goes', () => {
  const cut = cutByTime(scan, [filtered(since('__time')), unnested]);
  assert.equal([cut.plan.intervals, cut.steps], [LATER, [unnested]]);
});

steps('later steps stay, and so do those of a plan over steps', () => {
  const plan = { ...scan, filter: since('__time') };
  const given = [unnested, filtered(since('__time'))];
  assert.equal(cutByTime(plan, given), { plan, steps: given });
});

steps('without steps those of the plan itself do', () => {
  const plan = { ...scan, filter: { kind: 'and', filters: [since('__time'), rio] } as const };
  assert.equal(cutByTime(plan, []).plan, { ...scan, intervals: LATER, filter: rio });
});

steps('not where buckets of time are made, nor where the plan computes another __time', () => {
  const { columns: _, timeOrder, offset, limit, ...leaf } = scan;
  const keys = [{ kind: 'time', name: 't', granularity: { kind: 'all' } }] as const;
  const group: GroupPlan = { ...leaf, operator: 'group', keys, aggregators: [], emptyGroup: false };
  assert.equal(cutByTime(group, [filtered(since('__time'))]).plan, group);
  const computed = {
    ...scan,
    filter: since('__time'),
    virtualColumns: [{ name: '__time', expression: { kind: 'column', name: 'other' }, outputType: 'LONG' }],
  } as const;
  assert.equal(cutByTime(computed, []).plan, computed);
});

steps.run();
