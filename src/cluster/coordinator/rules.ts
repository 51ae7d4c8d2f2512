// Retention rules: reading them, and which one decides on a segment.

import { ServiceError } from '../../base/errors.js';
import { type EpochMs, ETERNITY, type Interval } from '../../base/instant.js';
import { contains, formatInterval, intersect, parseInterval } from '../../base/interval.js';
import { describeValue } from '../../base/json.js';
import { addPeriod, type Period, parsePeriod } from '../../base/time.js';

/** A retention rule as the interface spells it, `tieredReplicants` filled in. */
export type Rule =
  | ({ readonly type: 'loadForever' } & Replication)
  | ({ readonly type: 'loadByPeriod'; readonly period: string; readonly includeFuture: boolean } & Replication)
  | ({ readonly type: 'loadByInterval'; readonly interval: string } & Replication)
  | { readonly type: 'dropForever' }
  | { readonly type: 'dropByPeriod'; readonly period: string; readonly includeFuture: boolean }
  | { readonly type: 'dropBeforeByPeriod'; readonly period: string }
  | { readonly type: 'dropByInterval'; readonly interval: string }
  | { readonly type: 'broadcastForever' }
  | { readonly type: 'broadcastByPeriod'; readonly period: string; readonly includeFuture: boolean }
  | { readonly type: 'broadcastByInterval'; readonly interval: string };

interface Replication {
  readonly tieredReplicants: Readonly<Record<string, number>>;
  readonly useDefaultTierForNull: boolean;
}

const DEFAULT_TIER = '_default_tier';
/** The name under which the rules of every datasource without a matching rule of its own are kept. */
export const DEFAULT_RULES_NAME = '_default';
export const DEFAULT_RULES: readonly Rule[] = [
  { type: 'loadForever', tieredReplicants: { [DEFAULT_TIER]: 2 }, useDefaultTierForNull: true },
];

export type Decision =
  /** Replicas by tier; empty: deep storage only. */
  | { readonly kind: 'load'; readonly tieredReplicants: Readonly<Record<string, number>> }
  | { readonly kind: 'drop' }
  | { readonly kind: 'broadcast' };

/** The first rule that applies decides; no rule at all loads. */
export function decide(rules: readonly Rule[], interval: Interval, nowMs: EpochMs): Decision {
  const rule = rules.find((each) => applies(each, interval, nowMs));
  if (rule === undefined) return decide(DEFAULT_RULES, interval, nowMs);
  if (rule.type.startsWith('drop')) return { kind: 'drop' };
  return 'tieredReplicants' in rule ? { kind: 'load', tieredReplicants: rule.tieredReplicants } : { kind: 'broadcast' };
}

function applies(rule: Rule, segment: Interval, nowMs: EpochMs): boolean {
  switch (rule.type) {
    case 'loadForever':
    case 'dropForever':
    case 'broadcastForever':
      return true;
    case 'loadByInterval':
    case 'broadcastByInterval':
      return intersect(intervalOf(rule.interval), segment) !== undefined;
    case 'dropByInterval':
      return contains(intervalOf(rule.interval), segment);
    case 'loadByPeriod':
    case 'broadcastByPeriod':
      return intersect(periodWindow(rule.period, rule.includeFuture, nowMs), segment) !== undefined;
    case 'dropByPeriod':
      // Into the future a drop needs no containment: the segment ends after the period starts.
      return rule.includeFuture
        ? segment.end > periodWindow(rule.period, true, nowMs).start
        : contains(periodWindow(rule.period, false, nowMs), segment);
    case 'dropBeforeByPeriod':
      return segment.end <= periodWindow(rule.period, false, nowMs).start;
  }
}

function periodWindow(period: string, includeFuture: boolean, nowMs: EpochMs): Interval {
  return { start: addPeriod(nowMs, periodOf(period), -1), end: includeFuture ? ETERNITY.end : nowMs };
}

/** Stored rules were parsed once, so their texts are known to be right. */
function periodOf(text: string): Period {
  const period = parsePeriod(text);
  if (period === undefined) throw refuse('period', text, 'an ISO 8601 period such as P1M');
  return period;
}

function intervalOf(text: string): Interval {
  const interval = parseInterval(text);
  if (interval === undefined) throw refuse('interval', text, 'an interval such as 2015-01-01/2016-01-01');
  return interval;
}

/** Fields of each type besides `type`. */
const FIELDS: Readonly<Record<Rule['type'], readonly string[]>> = {
  loadForever: ['tieredReplicants', 'useDefaultTierForNull'],
  loadByPeriod: ['period', 'includeFuture', 'tieredReplicants', 'useDefaultTierForNull'],
  loadByInterval: ['interval', 'tieredReplicants', 'useDefaultTierForNull'],
  dropForever: [],
  dropByPeriod: ['period', 'includeFuture'],
  dropBeforeByPeriod: ['period'],
  dropByInterval: ['interval'],
  broadcastForever: [],
  broadcastByPeriod: ['period', 'includeFuture'],
  broadcastByInterval: ['interval'],
};

/** @throws ServiceError `input_invalid` naming the rule by its position and the field */
export function parseRules(body: unknown): readonly Rule[] {
  if (!Array.isArray(body)) throw new ServiceError('input_invalid', `rules: found ${describeValue(body)}, expected an array of rules`);
  return body.map((each: unknown, position) => parseRule(each, `rules[${position}]`));
}

function parseRule(value: unknown, path: string): Rule {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse(path, value, 'a rule object');
  const fields = new Map<string, unknown>(Object.entries(value));
  const type = Object.keys(FIELDS).find((name): name is Rule['type'] => name === fields.get('type'));
  if (type === undefined) throw refuse(`${path}.type`, fields.get('type'), `one of ${Object.keys(FIELDS).join(', ')}`);
  const stranger = [...fields.keys()].find((name) => name !== 'type' && !FIELDS[type].includes(name));
  if (stranger !== undefined)
    throw refuse(`${path}.${stranger}`, fields.get(stranger), `only ${['type', ...FIELDS[type]].join(', ')} in a ${type} rule`);

  const rule: Record<string, unknown> = { type };
  if (FIELDS[type].includes('period')) {
    const period = fields.get('period');
    if (typeof period !== 'string' || parsePeriod(period) === undefined)
      throw refuse(`${path}.period`, period, 'an ISO 8601 period such as P1M');
    rule['period'] = period;
  }
  if (FIELDS[type].includes('interval')) {
    const interval = fields.get('interval');
    const parsed = typeof interval === 'string' ? parseInterval(interval) : undefined;
    if (parsed === undefined) throw refuse(`${path}.interval`, interval, 'an interval such as 2015-01-01/2016-01-01');
    rule['interval'] = formatInterval(parsed);
  }
  if (FIELDS[type].includes('includeFuture')) rule['includeFuture'] = parseFlag(fields.get('includeFuture'), `${path}.includeFuture`);
  if (FIELDS[type].includes('tieredReplicants')) {
    const useDefault = parseFlag(fields.get('useDefaultTierForNull'), `${path}.useDefaultTierForNull`);
    rule['tieredReplicants'] = parseReplicants(fields.get('tieredReplicants'), useDefault, `${path}.tieredReplicants`);
    rule['useDefaultTierForNull'] = useDefault;
  }
  // Every field that the type names in FIELDS was just parsed.
  return rule as Rule;
}

function parseFlag(value: unknown, path: string): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'boolean') return value;
  throw refuse(path, value, 'true or false');
}

/** The largest INTEGER: more is a slip of the pen. */
const REPLICAS_MAX = 2 ** 31 - 1;

function parseReplicants(value: unknown, useDefault: boolean, path: string): Readonly<Record<string, number>> {
  if (value === undefined || value === null) return useDefault ? { [DEFAULT_TIER]: 2 } : {};
  if (typeof value !== 'object' || Array.isArray(value)) throw refuse(path, value, 'an object from tier to number of replicas');
  for (const [tier, count] of Object.entries(value)) {
    if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > REPLICAS_MAX)
      throw refuse(`${path}.${tier}`, count, `an integer from 0 to ${REPLICAS_MAX}`);
  }
  return value as Readonly<Record<string, number>>;
}

function refuse(path: string, found: unknown, accepted: string): ServiceError {
  return new ServiceError('input_invalid', `${path}: found ${describeValue(found)}, expected ${accepted}`);
}
