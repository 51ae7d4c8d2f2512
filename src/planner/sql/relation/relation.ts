// The relational tree of a query.

import { MULTI_VALUE_FORMS } from '../../../expression/functions/multi-value.js';
import type { RowSource } from '../../../model/row-source.js';
import type { ColumnSchema } from '../../../model/schema.js';
import type { SqlType } from '../../../model/statement.js';
import type { FrameBound, WindowCall, WindowFrame } from '../../../model/window.js';
import { changed } from '../../places/recording.js';
import type { JoinType } from '../parse/syntax.js';
import type { BoundAggregate } from './aggregate.js';
import { type Bound, children, settledType } from './bound.js';

/**
 * The bound, typed relational tree of a query. Names in an expression are columns of the node below it; the columns of a
 * node have different names.
 */
export type Relation =
  | SourceRelation
  | FilterRelation
  | ProjectRelation
  | AggregateRelation
  | SortRelation
  | LimitRelation
  | JoinRelation
  | UnionRelation
  | WindowRelation
  | UnnestRelation;

/** A leaf: a table, a lookup, rows known now, or external files. */
export interface SourceRelation {
  readonly kind: 'source';
  readonly source: RowSource;
  readonly columns: readonly RelationColumn[];
  /** Rows of a table, if known. */
  readonly rowCount?: number | undefined;
}

interface FilterRelation {
  readonly kind: 'filter';
  readonly input: Relation;
  readonly condition: Bound;
}

export interface ProjectRelation {
  readonly kind: 'project';
  readonly input: Relation;
  readonly columns: readonly ProjectedColumn[];
}

/** Columns: the keys, then the aggregates. Without keys there is one row even over none. */
export interface AggregateRelation {
  readonly kind: 'aggregate';
  readonly input: Relation;
  readonly keys: readonly NamedBound[];
  readonly aggregates: readonly NamedAggregate[];
}

interface SortRelation {
  readonly kind: 'sort';
  readonly input: Relation;
  readonly by: readonly RelationSortKey[];
}

export interface LimitRelation {
  readonly kind: 'limit';
  readonly input: Relation;
  readonly offset: number;
  readonly limit: number | null;
}

/**
 * Columns: those of the left side, then those of the right side with the prefix, which no column of the left begins with.
 * `semi` and `anti` keep the left rows that have a partner, or none; `mark` keeps all of them and says which have one: neither
 * puts out columns of the right side.
 */
export interface JoinRelation {
  readonly kind: 'join';
  readonly left: Relation;
  readonly right: Relation;
  readonly prefix: string;
  /** Join type: which rows without a partner are kept. */
  readonly type: JoinType | 'semi' | 'anti' | 'mark';
  /** Type `mark` only: the added column, true or false; its name does not begin with the prefix. */
  readonly mark?: string;
  /** null: every row meets every row. */
  readonly condition: Bound | null;
}

/** All rows of all inputs, which have the same columns in the same order. */
export interface UnionRelation {
  readonly kind: 'union';
  readonly inputs: readonly Relation[];
}

/** Each row once for every element of `array`, which is added as a column; rows without an element vanish. */
export interface UnnestRelation {
  readonly kind: 'unnest';
  readonly input: Relation;
  readonly array: Bound;
  readonly name: string;
  readonly type: SqlType;
}

/** Columns: those of the input, then the functions, all over one window. */
export interface WindowRelation {
  readonly kind: 'window';
  readonly input: Relation;
  readonly partition: readonly Bound[];
  readonly order: readonly RelationSortKey[];
  readonly functions: readonly NamedWindowFunction[];
}

export interface NamedWindowFunction {
  readonly name: string;
  readonly type: SqlType;
  readonly call: WindowCall;
  /** Arguments of the call. */
  readonly operands: readonly Bound[];
  readonly filter: Bound | null;
  readonly frame: WindowFrame<Bound>;
}

/** The expressions of a window function. */
export function windowExpressions({
  operands,
  filter,
  frame,
}: Pick<NamedWindowFunction, 'operands' | 'filter' | 'frame'>): readonly Bound[] {
  const reaches = [frame.start, frame.end].flatMap((bound) => (typeof bound === 'object' ? [bound.reach] : []));
  return [...operands, ...(filter === null ? [] : [filter]), ...reaches];
}

/** The same function with other expressions; itself when none has changed. */
export function mapWindowFunction<Each extends NamedWindowFunction>(each: Each, change: (bound: Bound) => Bound): Each {
  const changed = (bound: FrameBound<Bound>): FrameBound<Bound> => (typeof bound === 'object' ? { reach: change(bound.reach) } : bound);
  const { frame } = each;
  const mapped = {
    ...each,
    operands: each.operands.map(change),
    filter: each.filter === null ? null : change(each.filter),
    frame: { ...frame, start: changed(frame.start), end: changed(frame.end) },
  };
  const before = windowExpressions(each);
  return windowExpressions(mapped).every((bound, index) => bound === before[index]) ? each : mapped;
}

/** A multi-value string is VARCHAR like any other; that it may be one is remembered for functions that must know. */
export interface RelationColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly schema?: ColumnSchema;
}

export interface NamedBound {
  readonly name: string;
  readonly bound: Bound;
}

export type NamedAggregate = BoundAggregate & { readonly name: string };

export interface ProjectedColumn extends NamedBound {
  readonly type: SqlType;
}

export interface RelationSortKey {
  readonly bound: Bound;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last';
}

const known = new WeakMap<Relation, readonly RelationColumn[]>();

/** Output columns of a relation, in order. */
export function columnsOf(relation: Relation): readonly RelationColumn[] {
  switch (relation.kind) {
    case 'source':
      return relation.columns;
    case 'filter':
    case 'sort':
    case 'limit':
      return columnsOf(relation.input);
    default:
      return ownColumns(relation);
  }
}

type WithOwnColumns = Exclude<Relation, { readonly kind: 'source' | 'filter' | 'sort' | 'limit' }>;

/** Columns of a node that has others than the one below it; found once. */
function ownColumns(relation: WithOwnColumns): readonly RelationColumn[] {
  let columns = known.get(relation);
  if (columns === undefined) {
    columns = findColumns(relation);
    known.set(relation, columns);
  }
  return columns;
}

function findColumns(relation: WithOwnColumns): readonly RelationColumn[] {
  switch (relation.kind) {
    case 'project': {
      const inputs = new Map(columnsOf(relation.input).map((column) => [column.name, column]));
      return relation.columns.map(({ name, type, bound }) => {
        const stored = bound.kind === 'column' ? inputs.get(bound.name)?.schema : undefined;
        const several = { type: 'STRING', multiValue: true, hasNulls: true } as const;
        const schema = stored ?? (mayGiveSeveral(bound, (column) => inputs.get(column)?.schema?.multiValue === true) ? several : undefined);
        return schema === undefined ? { name, type } : { name, type, schema: { ...schema, name } };
      });
    }
    case 'aggregate':
      return [
        ...relation.keys.map(({ name, bound }) => groupColumn(name, settledType(bound.type))),
        ...relation.aggregates.map(({ name, type }) => ({ name, type })),
      ];
    case 'join':
      if (relation.mark !== undefined) return [...columnsOf(relation.left), { name: relation.mark, type: 'BOOLEAN' }];
      if (relation.type === 'semi' || relation.type === 'anti') return columnsOf(relation.left);
      return [
        ...columnsOf(relation.left),
        ...columnsOf(relation.right).map(({ name, type, schema }) => {
          const prefixed = relation.prefix + name;
          return schema === undefined ? { name: prefixed, type } : { name: prefixed, type, schema: { ...schema, name: prefixed } };
        }),
      ];
    case 'union': {
      const [first] = relation.inputs;
      return first === undefined ? [] : columnsOf(first).map(({ name, type }) => ({ name, type }));
    }
    case 'window':
      return [...columnsOf(relation.input), ...relation.functions.map(({ name, type }) => ({ name, type }))];
    case 'unnest':
      return [...columnsOf(relation.input), { name: relation.name, type: relation.type }];
  }
}

/** A row of several values is in a group of each of them. */
function groupColumn(name: string, type: SqlType): RelationColumn {
  return type === 'VARCHAR' ? { name, type, schema: { name, type: 'STRING', multiValue: false, hasNulls: true } } : { name, type };
}

/** Whether all rows of the right side's columns are above the join. */
export function putsOutRight({ type }: JoinRelation): boolean {
  return type !== 'semi' && type !== 'anti' && type !== 'mark';
}

/** Whether all rows of a join are those of its left side, with their partners or without: each row of that side is joined by itself. */
export function keepsLeft({ type }: JoinRelation): boolean {
  return type !== 'right' && type !== 'full';
}

/** Whether a row may have several values of an expression: it reads a multi-value column, or makes values of an array. */
export function mayGiveSeveral(bound: Bound, isMultiValue: (column: string) => boolean): boolean {
  if (bound.kind === 'column') return isMultiValue(bound.name);
  if (bound.kind === 'call' && MULTI_VALUE_FORMS.has(bound.function)) return true;
  return children(bound).some((part) => mayGiveSeveral(part, isMultiValue));
}

export function inputsOf(relation: Relation): readonly Relation[] {
  switch (relation.kind) {
    case 'source':
      return [];
    case 'join':
      return [relation.left, relation.right];
    case 'union':
      return relation.inputs;
    default:
      return [relation.input];
  }
}

/** The same node over other inputs; the node itself when none has changed. */
export function mapInputs(relation: Relation, change: (input: Relation) => Relation): Relation {
  switch (relation.kind) {
    case 'source':
      return relation;
    case 'join': {
      const [left, right] = [change(relation.left), change(relation.right)];
      return left === relation.left && right === relation.right ? relation : { ...relation, left, right };
    }
    case 'union': {
      const inputs = relation.inputs.map(change);
      return inputs.every((input, index) => input === relation.inputs[index]) ? relation : { ...relation, inputs };
    }
    default: {
      const input = change(relation.input);
      return input === relation.input ? relation : changed(relation, { input });
    }
  }
}

/** Every column of the input under its own name. */
export function identity(columns: readonly RelationColumn[]): readonly ProjectedColumn[] {
  return columns.map(({ name, type }) => ({ name, type, bound: { kind: 'column', type, name } }));
}

/** The order of values: nulls are lowest unless said otherwise, and constants are dropped. */
export function valueOrder(
  items: readonly { readonly bound: Bound; readonly descending: boolean; readonly nulls: 'first' | 'last' | null }[],
): readonly RelationSortKey[] {
  return items
    .filter(({ bound }) => bound.kind !== 'literal')
    .map(({ bound, descending, nulls }) => ({ bound, descending, nulls: nulls ?? (descending ? 'last' : 'first') }));
}

/** A prefix that no column of the left side begins with. */
export function freePrefix(left: Relation): string {
  let prefix = 'j0.';
  while (columnsOf(left).some(({ name }) => name.startsWith(prefix))) prefix = `_${prefix}`;
  return prefix;
}

/** `wanted`, or with underscores in front where that is taken. */
export function freeName(wanted: string, taken: readonly { readonly name: string }[]): string {
  let name = wanted;
  while (taken.some((each) => each.name === name)) name = `_${name}`;
  return name;
}
