// Finds what plans look up of single columns, which storage keeps as columns between queries.

import { own } from '../../base/names.js';
import { PARTNER_FUNCTIONS, PARTNER_VALUE } from '../../expression/functions/lookup.js';
import { findApplyFunction } from '../../expression/functions.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import { columnsOfFilter, columnsReadBy } from '../../model/columns-read.js';
import { call, type Expression, text } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import type { LookedUpColumn, LookedUpFound } from '../../model/lookup/looked-up-column.js';
import type { RowPlan } from '../../model/plan.js';
import { renameExpression } from '../../model/rewrite/plan-names.js';
import { rewriteData } from '../../model/rewrite/rewrite-data.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { Stage } from '../../model/stage.js';
import { nameThrough } from '../../model/stage-columns.js';
import { conditionAsFilter } from '../filter/looked-up-conditions.js';
import { resultsKey } from './remembered-results.js';
import { type VirtualColumns, virtualColumnsByName } from './scope.js';

/** A plan that reads what is looked up as columns. */
export interface LookingUp {
  readonly plan: RowPlan;
  readonly lookedUp: readonly LookedUpColumn[];
}

/**
 * The plan with every lookup of a column, or of an expression of one column, as a column of its own, together with what takes the
 * place of missing values; those of `found` alone where it is given. What a scan gives of a few rows is looked up for these.
 */
export function withLookedUp(plan: RowPlan, found?: ReadonlyMap<string, LookedUpFound>): LookingUp {
  const lookedUp = new Map<string, LookedUpColumn>();
  const stages = plan.stages ?? [];
  const takes = (looked: LookedUpColumn, isWhole: boolean): boolean => {
    const there = found?.get(looked.name);
    // Columns of several values that stand in one expression meet each other's values.
    if (found !== undefined && (there === undefined || (there.isMultiValue && !isWhole))) return false;
    lookedUp.set(looked.name, looked);
    return true;
  };
  const virtualColumns = virtualColumnsByName(plan.virtualColumns);
  const tested = givesFew(plan) ? namesBehind(plan.filter, virtualColumns) : undefined;
  const isReadOfMany = (name: string): boolean => tested === undefined || tested.has(name);
  const atEnd = new Rewriter(virtualColumns, stages, takes);
  const changed = {
    ...plan,
    virtualColumns: changedItems(plan.virtualColumns, (column) => (isReadOfMany(column.name) ? atEnd.virtualColumn(column) : column)),
    filter: plan.filter === null ? null : atEnd.filter(plan.filter),
  };
  const withStages =
    stages.length === 0
      ? changed
      : { ...changed, stages: changedItems(stages, (stage, at) => changedStage(stage, stages.slice(0, at), takes)) };
  const rewritten: RowPlan =
    withStages.operator === 'group'
      ? {
          ...withStages,
          aggregators: changedItems(withStages.aggregators, (each) =>
            each.filter === null ? each : { ...each, filter: atEnd.filter(each.filter) },
          ),
        }
      : withStages;
  return lookedUp.size === 0 ? { plan, lookedUp: NONE } : { plan: rewritten, lookedUp: [...lookedUp.values()] };
}

const NONE: readonly LookedUpColumn[] = [];

/** A column of a segment takes as long as the values of so many rows, or longer. */
const ROWS_FEW = 10_000;

function givesFew(plan: RowPlan): boolean {
  return plan.operator === 'scan' && plan.limit !== null && plan.offset + plan.limit <= ROWS_FEW && plan.post.length === 0;
}

/** Names that a filter reads, with those that the virtual columns among them read. */
function namesBehind(filter: Filter | null, virtualColumns: VirtualColumns): ReadonlySet<string> {
  const names = filter === null ? new Set<string>() : columnsOfFilter(filter);
  // A set goes on to what is added to it.
  for (const name of names) {
    const virtual = Object.hasOwn(virtualColumns, name) ? own(virtualColumns, name) : undefined;
    for (const read of virtual === undefined ? [] : columnsReadBy(virtual.expression)) names.add(read);
  }
  return names;
}

type Takes = (looked: LookedUpColumn, isWhole: boolean) => boolean;

function changedItems<Item>(items: readonly Item[], change: (item: Item, at: number) => Item): readonly Item[] {
  const changed = items.map(change);
  return changed.every((item, at) => item === items[at]) ? items : changed;
}

function changedStage(stage: Stage, before: readonly Stage[], takes: Takes): Stage {
  const rewriter = new Rewriter({}, before, takes);
  switch (stage.kind) {
    case 'filter':
      return { ...stage, filter: rewriter.filter(stage.filter) };
    case 'unnest':
      return stage;
    case 'join':
      return { ...stage, keys: stage.keys.map((key) => ({ ...key, probe: rewriter.part(key.probe) })) };
  }
}

interface LookedUpHere {
  /** Name of the column at this place. */
  readonly name: string;
  readonly column: LookedUpColumn;
  /** Several values in a row are refused, as keys of joins are: an expression of all values of the row does that. */
  readonly isOfOne: boolean;
}

/** Functions that choose among values: what stands in them beside a lookup is looked up with it. */
const CHOICES: ReadonlySet<string> = new Set(['nvl', 'coalesce']);

/** Changes the expressions at one place of a plan. */
class Rewriter {
  readonly #virtualColumns: VirtualColumns;
  readonly #stages: readonly Stage[];
  readonly #takes: Takes;
  /** Names here of columns that took the place of parts of expressions. */
  readonly #names = new Set<string>();

  /** @param stages  those that rows have gone through here */
  constructor(virtualColumns: VirtualColumns, stages: readonly Stage[], takes: Takes) {
    this.#virtualColumns = virtualColumns;
    this.#stages = stages;
    this.#takes = takes;
  }

  virtualColumn(column: VirtualColumn): VirtualColumn {
    const { name, expression, keeps, outputType } = column;
    if (keeps !== undefined || expression.kind !== 'call' || !holdsLookup(expression)) return column;
    const looked = outputType === null || outputType === 'STRING' ? this.#lookedUp(expression, name) : undefined;
    const isTaken = looked !== undefined && this.#takes(looked.column, !looked.isOfOne);
    const changed = isTaken ? columnOf(looked.name) : this.#changeArguments(expression, name);
    return changed === expression ? column : { ...column, expression: changed };
  }

  filter(filter: Filter): Filter {
    switch (filter.kind) {
      case 'and':
      case 'or': {
        const filters = changedItems(filter.filters, (part) => this.filter(part));
        return filters === filter.filters ? filter : { ...filter, filters };
      }
      case 'not':
      case 'isTrue': {
        const inner = this.filter(filter.filter);
        return inner === filter.filter ? filter : { ...filter, filter: inner };
      }
      case 'expression': {
        const expression = this.part(filter.expression);
        return expression === filter.expression ? filter : conditionAsFilter(expression, (name) => this.#names.has(name));
      }
      default:
        return filter;
    }
  }

  /** @param within  virtual column whose expression this is a part of: its name means the stored column there */
  part(expression: Expression, within?: string): Expression {
    if (expression.kind !== 'call' || !holdsLookup(expression)) return expression;
    const looked = this.#lookedUp(expression, within);
    if (looked === undefined || !this.#takes(looked.column, false)) return this.#changeArguments(expression, within);
    this.#names.add(looked.name);
    return columnOf(looked.name);
  }

  #changeArguments(expression: Extract<Expression, { kind: 'call' }>, within: string | undefined): Expression {
    if (findApplyFunction(expression.function) !== undefined) return expression;
    const parts = changedItems(expression.arguments, (part) => this.part(part, within));
    return parts === expression.arguments ? expression : { ...expression, arguments: parts };
  }

  /** A lookup, or a choice with one in it, of one stored column. */
  #lookedUp(expression: Expression, within: string | undefined): LookedUpHere | undefined {
    if (expression.kind !== 'call' || !(LOOKUPS.has(expression.function) || CHOICES.has(expression.function))) return undefined;
    const inlined = this.#inlined(expression, new Set(within === undefined ? [] : [within]));
    const [name, ...others] = inlined === undefined ? [] : columnsReadBy(inlined);
    if (inlined === undefined || name === undefined || others.length > 0) return undefined;
    const stored = nameThrough(this.#stages, name);
    if (stored === undefined || stored === TIME_COLUMN) return undefined;
    // The name is of the same column wherever it is read.
    const ofStored = asLookup(stored === name ? inlined : renameExpression(inlined, () => stored));
    const column = `looked up ${resultsKey('STRING', ofStored)}`;
    return {
      name: name.slice(0, name.length - stored.length) + column,
      column: { name: column, column: stored, expression: ofStored },
      isOfOne: holdsPartner(inlined),
    };
  }

  /** The expression over stored columns; undefined where virtual columns leave values out, or lambdas read columns. */
  #inlined(expression: Expression, open: ReadonlySet<string>): Expression | undefined {
    switch (expression.kind) {
      case 'literal':
        return expression;
      case 'lambda':
        return undefined;
      case 'column': {
        const { name } = expression;
        const virtual = Object.hasOwn(this.#virtualColumns, name) && !open.has(name) ? own(this.#virtualColumns, name) : undefined;
        if (virtual === undefined) return expression;
        if (virtual.keeps !== undefined) return undefined;
        const inner = this.#inlined(virtual.expression, new Set([...open, name]));
        return inner === undefined || virtual.outputType === null ? inner : call('cast', inner, text(virtual.outputType));
      }
      case 'call': {
        if (findApplyFunction(expression.function) !== undefined) return undefined;
        const parts: Expression[] = [];
        for (const part of expression.arguments) {
          const inner = this.#inlined(part, open);
          if (inner === undefined) return undefined;
          parts.push(inner);
        }
        return { ...expression, arguments: parts };
      }
    }
  }
}

const LOOKUP = 'resolved_lookup';
const LOOKUPS: ReadonlySet<string> = new Set([LOOKUP, ...PARTNER_FUNCTIONS]);

const PARTNERS: ReadonlySet<string> = new Set(PARTNER_FUNCTIONS);

/** The expression as lookups: the value of a partner is the same column as what a lookup makes of the key. */
function asLookup(expression: Expression): Expression {
  return rewriteData(expression, (object) =>
    'function' in object && object.function === PARTNER_VALUE ? { ...object, function: LOOKUP } : object,
  );
}

function holdsPartner(expression: Expression): boolean {
  return expression.kind === 'call' && (PARTNERS.has(expression.function) || expression.arguments.some(holdsPartner));
}

const HOLDS = new WeakMap<Expression, boolean>();

function holdsLookup(expression: Expression): boolean {
  if (expression.kind !== 'call') return false;
  const known = HOLDS.get(expression);
  if (known !== undefined) return known;
  const holds = LOOKUPS.has(expression.function) || expression.arguments.some(holdsLookup);
  HOLDS.set(expression, holds);
  return holds;
}

function columnOf(name: string): Expression {
  return { kind: 'column', name };
}
