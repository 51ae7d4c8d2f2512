import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { decide, parseRules } from '../../src/cluster/coordinator/rules.js';
import { DAY } from './fakes.js';

const rules = suite('retention rules');

const NOW = 1000 * DAY;
const dayAgo = (days: number) => ({ start: NOW - days * DAY, end: NOW - (days - 1) * DAY });
const decisions: readonly {
  name: string;
  rules: unknown;
  interval: { start: number; end: number };
  kind: 'load' | 'drop' | 'broadcast';
}[] = [
  { name: 'no rule loads', rules: [], interval: dayAgo(500), kind: 'load' },
  {
    name: 'the first rule that applies decides',
    rules: [{ type: 'loadByPeriod', period: 'P10D' }, { type: 'dropForever' }],
    interval: dayAgo(5),
    kind: 'load',
  },
  {
    name: 'and else a later one',
    rules: [{ type: 'loadByPeriod', period: 'P10D' }, { type: 'dropForever' }],
    interval: dayAgo(50),
    kind: 'drop',
  },
  {
    name: 'a period that reaches into the future',
    rules: [{ type: 'loadByPeriod', period: 'P1D' }, { type: 'dropForever' }],
    interval: dayAgo(-5),
    kind: 'load',
  },
  {
    name: 'and one that does not',
    rules: [{ type: 'loadByPeriod', period: 'P1D', includeFuture: false }, { type: 'dropForever' }],
    interval: dayAgo(-5),
    kind: 'drop',
  },
  {
    name: 'overlap is enough to load by interval',
    rules: [{ type: 'loadByInterval', interval: '1970-01-01/1970-01-02T12:00' }, { type: 'dropForever' }],
    interval: { start: DAY, end: 2 * DAY },
    kind: 'load',
  },
  {
    name: 'to drop by interval it is not',
    rules: [{ type: 'dropByInterval', interval: '1970-01-01/1970-01-02T12:00' }],
    interval: { start: DAY, end: 2 * DAY },
    kind: 'load',
  },
  {
    name: 'containment is',
    rules: [{ type: 'dropByInterval', interval: '1970-01-01/1970-01-03' }],
    interval: { start: DAY, end: 2 * DAY },
    kind: 'drop',
  },
  { name: 'drop before a period', rules: [{ type: 'dropBeforeByPeriod', period: 'P30D' }], interval: dayAgo(31), kind: 'drop' },
  {
    name: 'not what reaches into it',
    rules: [{ type: 'dropBeforeByPeriod', period: 'P30D' }],
    interval: { start: NOW - 31 * DAY, end: NOW - 29 * DAY },
    kind: 'load',
  },
  { name: 'broadcast', rules: [{ type: 'broadcastForever' }], interval: dayAgo(1), kind: 'broadcast' },
];
for (const { name, rules: body, interval, kind } of decisions)
  rules(name, () => assert.is(decide(parseRules(body), interval, NOW).kind, kind));

const refused: readonly { name: string; body: unknown; says: RegExp }[] = [
  { name: 'no list', body: { type: 'loadForever' }, says: /expected an array/ },
  { name: 'an unknown type', body: [{ type: 'keepForever' }], says: /rules\[0\]\.type: found "keepForever", expected one of loadForever/ },
  { name: 'an unknown field', body: [{ type: 'dropForever', period: 'P1D' }], says: /rules\[0\]\.period/ },
  {
    name: 'a bad period',
    body: [{ type: 'loadForever' }, { type: 'dropBeforeByPeriod', period: '1 day' }],
    says: /rules\[1\]\.period: found "1 day"/,
  },
  {
    name: 'a count beyond all servers',
    body: [{ type: 'loadForever', tieredReplicants: { hot: 1e99 } }],
    says: /tieredReplicants\.hot: found 1e\+99/,
  },
  { name: 'a negative count', body: [{ type: 'loadForever', tieredReplicants: { hot: -1 } }], says: /tieredReplicants\.hot: found -1/ },
];
for (const { name, body, says } of refused)
  rules(`refuses ${name}`, () => {
    assert.throws(
      () => parseRules(body),
      (error: unknown) => error instanceof ServiceError && error.code === 'input_invalid' && says.test(error.message),
    );
  });

rules('absent replicas take the default, or none at all', () => {
  assert.equal(parseRules([{ type: 'loadForever' }]), [
    { type: 'loadForever', tieredReplicants: { _default_tier: 2 }, useDefaultTierForNull: true },
  ]);
  assert.equal(parseRules([{ type: 'loadForever', useDefaultTierForNull: false }]), [
    { type: 'loadForever', tieredReplicants: {}, useDefaultTierForNull: false },
  ]);
});

rules.run();
