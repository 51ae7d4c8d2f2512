// Turns joins with lookups by their keys into expressions that look the keys up.

import { columnsRead } from '../../execution/expression/columns-of-plan.js';
import { expressionType } from '../../expression/expression-type.js';
import { columnsOfExpression } from '../../model/columns-read.js';
import { call, type Expression, long, NULL } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import type { LookupTable } from '../../model/lookup/lookup-table.js';
import type { RowSource, RowsPlan } from '../../model/row-source.js';
import type { ColumnSchema } from '../../model/schema.js';
import { type Columns, expressionOf, inserted, substituted } from './inserted-columns.js';
import { makes, type SourceStep, stepsOf } from './source-steps.js';

interface Known {
  /** Entries of a lookup; undefined: they are not known here. */
  readonly tableOf: (name: string) => LookupTable | undefined;
  readonly columnsOf: (source: RowSource) => readonly ColumnSchema[];
}

/** A plan over the rows of steps. */
interface Stepped {
  readonly plan: RowsPlan;
  readonly steps: readonly SourceStep[];
}

type Join = Extract<SourceStep, { kind: 'join' }>;

/**
 * A plan over steps with fewer joins: a row meets at most one entry of a lookup, that of its key. So `v` is what the key is looked up as,
 * and `k` the key where it has an entry. What is looked up of a column is a column that is kept between queries.
 */
export function withLookedUpPartners(plan: RowsPlan, steps: readonly SourceStep[], known: Known): Stepped {
  let found: Stepped = { plan, steps };
  for (let at = 0; at < found.steps.length; ) {
    const step = found.steps[at];
    const without = step?.kind === 'join' ? withoutJoin(found, step, at, known) : undefined;
    if (without === undefined) at++;
    else found = without;
  }
  return found;
}

/** Columns of a lookup, and what looks each up by the key. */
const PARTNER = [
  ['k', ':partner_key'],
  ['v', ':partner_value'],
] as const;

function withoutJoin({ plan, steps }: Stepped, join: Join, at: number, { tableOf, columnsOf }: Known): Stepped | undefined {
  const side = lookupOf(join);
  const later = steps.slice(at + 1);
  const left = join.keys[0]?.left;
  if (side === undefined || left === undefined) return undefined;
  const before = columnsOf(join.left);
  if (before.some(({ name }) => makes(join, name)) || !isComparedAsText(left, before)) return undefined;
  const table = tableOf(side.name);
  if (table === undefined) return undefined;
  const entries: Expression = { kind: 'literal', type: 'STRING', value: table };
  const ofSide: Columns = new Map(PARTNER.map(([name, find]) => [name, call(find, left, entries)]));
  const partner: Columns = new Map([...ofSide].map(([name, expression]) => [join.prefix + name, expression]));
  const conditions = [call('notnull', ofSide.get('v') ?? NULL)];
  for (const filter of side.filters) {
    const condition = expressionOf(filter, ofSide);
    if (condition === undefined) return undefined;
    conditions.push(condition);
  }
  if (join.condition !== null) conditions.push(inserted(join.condition, partner));
  const { filter, columns } = partnerOf(join, partner, conditions);
  const isHidden = (name: string): boolean =>
    later.some((step) => makes(step, name)) || plan.virtualColumns.some((column) => column.name === name);
  // Rows that only the right side of a later join has are null there: an expression of a column is, others need not be.
  const isJoinedAgain = later.some((step) => step.kind === 'join' && (step.type === 'right' || step.type === 'full'));
  if (isJoinedAgain && (left.kind !== 'column' || join.type === 'mark')) return undefined;
  // Expressions are computed later than the columns that they stand for.
  if ([...columns.values()].some((expression) => [...columnsOfExpression(expression)].some(isHidden))) return undefined;
  const after = afterwards(later, plan, columns);
  if (after === undefined) return undefined;
  return {
    plan: after.plan,
    steps: [...steps.slice(0, at), ...(filter === null ? [] : [{ kind: 'filter', filter } as const]), ...after.steps],
  };
}

/** The lookup that is the right side of a join by its key, with conditions on it. */
function lookupOf({
  right,
  keys,
  type,
  prefix,
  probePrefix,
}: Join): { readonly name: string; readonly filters: readonly Filter[] } | undefined {
  const [key, second] = keys;
  const { base, steps } = stepsOf(right);
  if (base.kind !== 'lookup' || key === undefined || second !== undefined) return undefined;
  if (type === 'right' || type === 'full' || prefix === '' || probePrefix !== undefined) return undefined;
  if (key.type !== 'STRING' || key.nullsMeet === true || key.right.kind !== 'column' || key.right.name !== 'k') return undefined;
  const filters = steps.flatMap((step) => (step.kind === 'filter' ? [step.filter] : []));
  return filters.length < steps.length ? undefined : { name: base.name, filters };
}

/** Whether the text of a value is that by which joins compare it: that of a decimal number may be another. */
function isComparedAsText(expression: Expression, columns: readonly ColumnSchema[]): boolean {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const type = expressionType(expression, (name) => types.get(name));
  return type === 'STRING' || type === 'LONG';
}

/** Replacement of a join: a condition on rows, and columns, of which those of entries that do not meet all conditions are null. */
function partnerOf(
  { type, mark = '' }: Join,
  partner: Columns,
  conditions: readonly Expression[],
): { readonly filter: Filter | null; readonly columns: Columns } {
  const filters = conditions.map((expression): Filter => ({ kind: 'expression', expression }));
  const condition: Filter = { kind: 'and', filters };
  const isMet = conditions.reduce((all, each) => call('&&', all, each));
  switch (type) {
    case 'inner':
      return { filter: condition, columns: partner };
    case 'semi':
      return { filter: condition, columns: NONE };
    case 'anti':
      return { filter: { kind: 'not', filter: { kind: 'isTrue', filter: condition } }, columns: NONE };
    case 'mark':
      return { filter: null, columns: new Map([[mark, call('if', isMet, long(1), long(0))]]) };
    default:
      return {
        filter: null,
        columns: conditions.length === 1 ? partner : new Map([...partner].map(([name, each]) => [name, call('if', isMet, each, NULL)])),
      };
  }
}

const NONE: Columns = new Map();

/** Steps and a plan with expressions in place of columns; undefined where some part of them can have none. */
function afterwards(steps: readonly SourceStep[], plan: RowsPlan, made: Columns): Stepped | undefined {
  let columns = made;
  const changed: SourceStep[] = [];
  for (const step of steps) {
    const rest: Columns = new Map([...columns].filter(([name]) => !makes(step, name)));
    switch (step.kind) {
      case 'filter': {
        const filter = substituted(step.filter, columns);
        if (filter === undefined) return undefined;
        changed.push({ ...step, filter });
        break;
      }
      case 'unnest': {
        const { keeps, expression } = step.column;
        const column = { ...step.column, expression: inserted(expression, columns) };
        changed.push({ ...step, column: keeps === undefined ? column : { ...column, keeps: inserted(keeps, columns) } });
        break;
      }
      case 'join': {
        const keys = step.keys.map((key) => ({ ...key, left: inserted(key.left, columns) }));
        changed.push({ ...step, keys, condition: step.condition === null ? null : inserted(step.condition, rest) });
      }
    }
    columns = rest;
  }
  if (plan.virtualColumns.some(({ name }) => columns.has(name))) return undefined;
  const read = new Set(columnsRead(plan));
  const computed = [...columns].flatMap(([name, expression]) => (read.has(name) ? [{ name, expression, outputType: null }] : []));
  return { plan: computed.length === 0 ? plan : { ...plan, virtualColumns: [...computed, ...plan.virtualColumns] }, steps: changed };
}
