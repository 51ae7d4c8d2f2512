// Chains of inner joins that can be reordered.

import { append, highest } from '../../../../base/lists.js';
import { type Bound, column, columnNames, conjuncts } from '../bound.js';
import { distinctOf, type Estimate, estimate, FOUND, filterPart, keySelectivity, selectivity } from '../estimate.js';
import { sideOf, unprefixed } from '../join-condition.js';
import { columnsOf, inputsOf, type JoinRelation, type Relation, type RelationColumn } from '../relation.js';
import type { JoinGraph, JoinInput } from './join-search.js';

/** Inner joins of one another: `inputs` with the names their columns have above all joins, and what holds over them. */
export interface JoinChain {
  readonly inputs: readonly ChainInput[];
  /** Columns that are equal to each other; one of an input each. */
  readonly classes: readonly (readonly ClassMember[])[];
  readonly conditions: readonly Bound[];
}

export interface ChainInput {
  readonly relation: Relation;
  /** Prefix of the names of its columns. */
  readonly prefix: string;
  /** The right side of a semi or anti join, and what it asks for: it passes rows of the other inputs on, or does not. */
  readonly filter: { readonly type: 'semi' | 'anti'; readonly condition: Bound | null } | null;
}

export interface ClassMember {
  readonly input: number;
  readonly bound: Extract<Bound, { kind: 'column' }>;
  readonly equality: Equality;
}

/** Bits are 32. */
const INPUTS_MAX = 24;

/** Undefined where prefixes do not tell the inputs apart, or there are too many. */
export function chainOf(join: JoinRelation): JoinChain | undefined {
  const inputs: ChainInput[] = [];
  const all: Bound[] = [];
  const add = (relation: Relation): void => {
    if (relation.kind !== 'join' || !isOrdered(relation.type)) {
      inputs.push({ relation, prefix: '', filter: null });
      return;
    }
    add(relation.left);
    const { right, prefix, condition, type } = relation;
    inputs.push({ relation: right, prefix, filter: type === 'inner' ? null : { type, condition } });
    if (type === 'inner') append(all, conjuncts(condition));
  };
  add(join);
  if (inputs.length > INPUTS_MAX || !areClear(inputs)) return undefined;
  const types = new Map(columnsOf(join).map((each) => [each.name, each]));
  let classes: readonly EqualNames[] = [];
  const conditions: Bound[] = [];
  for (const part of all) {
    const grown = isEquality(part, types, inputs) ? withEquality(classes, part, inputs) : undefined;
    if (grown === undefined) conditions.push(part);
    else classes = grown;
  }
  return { inputs, classes: classes.map(({ names, equality }) => membersOf(names, equality, inputs)), conditions };
}

interface EqualNames {
  readonly names: ReadonlySet<string>;
  readonly equality: Equality;
}

type Equality = Extract<Bound, { kind: 'compare' }>;

/** Undefined where two columns of one input would be in a class: what it says of that input is a condition. */
function withEquality(
  classes: readonly EqualNames[],
  equality: Equality,
  inputs: readonly ChainInput[],
): readonly EqualNames[] | undefined {
  const pair = [...columnNames(equality)];
  const met = classes.filter(({ names }) => pair.some((name) => names.has(name)));
  const names = new Set([...met.flatMap((each) => [...each.names]), ...pair]);
  if (new Set([...names].map((name) => ownerOf(name, inputs))).size < names.size) return undefined;
  return [...classes.filter((each) => !met.includes(each)), { names, equality }];
}

function membersOf(names: ReadonlySet<string>, equality: Equality, inputs: readonly ChainInput[]): readonly ClassMember[] {
  const { type } = equality.left;
  return [...names].map((name) => ({ input: ownerOf(name, inputs), bound: { kind: 'column', type, name }, equality }));
}

/** Joins whose order among each other does not matter to their rows. */
export function isOrdered(type: JoinRelation['type']): type is 'inner' | 'semi' | 'anti' {
  return type === 'inner' || type === 'semi' || type === 'anti';
}

function areClear(inputs: readonly ChainInput[]): boolean {
  return inputs.every(({ relation, prefix }, index) => columnsOf(relation).every(({ name }) => ownerOf(prefix + name, inputs) === index));
}

/** The input a column comes from: the one whose prefix its name begins with, else the first. */
function ownerOf(name: string, inputs: readonly ChainInput[]): number {
  const owners = inputs.flatMap(({ prefix }, index) => (prefix !== '' && name.startsWith(prefix) ? [index] : []));
  return owners.length === 0 ? 0 : owners.length === 1 ? (owners[0] ?? 0) : -1;
}

/** The inputs whose columns an expression reads, as bits. */
export function ownersOf(bound: Bound, inputs: readonly ChainInput[]): number {
  return [...columnNames(bound)].reduce((set, name) => set | (1 << ownerOf(name, inputs)), 0);
}

/** Whether the part equates plain columns of two inputs. Such equalities are transitive. */
function isEquality(part: Bound, types: ReadonlyMap<string, RelationColumn>, inputs: readonly ChainInput[]): part is Equality {
  if (part.kind !== 'compare' || part.operator !== '=' || part.left.kind !== 'column' || part.right.kind !== 'column') return false;
  const sides = [part.left, part.right].map(({ name }) => ({ column: types.get(name), owner: ownerOf(name, inputs) }));
  return (
    sides[0]?.owner !== sides[1]?.owner &&
    sides.every(
      ({ column: each }) => each?.type === part.domain && each.schema?.multiValue !== true && !/DOUBLE|FLOAT|REAL|DECIMAL/.test(each.type),
    )
  );
}

/** The same in numbers; undefined where nothing is known of an input. */
export function graphOf(chain: JoinChain): JoinGraph | undefined {
  const estimates = chain.inputs.map(({ relation }) => estimate(relation));
  if (!estimates.every((each) => each !== undefined)) return undefined;
  const inputs = chain.inputs.map(({ relation, prefix, filter }, index): JoinInput => {
    const rows = estimates[index]?.rows ?? 1;
    const read = rowsRead(relation);
    if (filter === null) return { rows, read, filter: null };
    return { rows, read, filter: { part: partOf(chain, estimates, index), needs: needsOf(filter.condition, prefix, chain.inputs) } };
  });
  const countOf = (bound: Bound): number | undefined => {
    const [name = ''] = columnNames(bound);
    const owner = ownerOf(name, chain.inputs);
    const { prefix = '' } = chain.inputs[owner] ?? {};
    const own = estimates[owner];
    return own && distinctOf(column(bound.type, name.slice(prefix.length)), own);
  };
  const classes = chain.classes.map((members) => {
    const distinct = new Map(members.map(({ input, bound }) => [input, countOf(bound) ?? inputs[input]?.rows ?? 1] as const));
    return { distinct, inputs: members.reduce((set, { input }) => set | (1 << input), 0) };
  });
  const conditions = chain.conditions.map((part) => {
    const isKey = part.kind === 'compare' && part.operator === '=';
    const sides = isKey ? ([ownersOf(part.left, chain.inputs), ownersOf(part.right, chain.inputs)] as const) : null;
    const counts = isKey ? [countOf(part.left), countOf(part.right)].map((count) => count ?? 1) : [];
    const isSplit = sides !== null && (sides[0] & sides[1]) === 0 && sides[0] !== 0 && sides[1] !== 0;
    return {
      inputs: ownersOf(part, chain.inputs),
      sides: isSplit ? sides : null,
      part: isSplit ? 1 / highest([1, ...counts]) : selectivity(part, { rows: 1, distinct: () => undefined }),
    };
  });
  return { inputs, classes, conditions, corrections: correctionsOf(inputs, classes) };
}

/** The inputs whose rows a filter looks at. */
function needsOf(condition: Bound | null, prefix: string, inputs: readonly ChainInput[]): number {
  if (condition === null) return 0;
  return [...columnNames(condition)].reduce((set, name) => (name.startsWith(prefix) ? set : set | (1 << ownerOf(name, inputs))), 0);
}

/** The part of rows that a filter passes on. */
function partOf({ inputs }: JoinChain, estimates: readonly (Estimate | undefined)[], index: number): number {
  const { filter, prefix = '' } = inputs[index] ?? {};
  const keys = conjuncts(filter?.condition ?? null).flatMap((part): readonly number[] => {
    if (part.kind !== 'compare' || part.operator !== '=') return [];
    const [own, other] =
      columnNames(part.left).size > 0 && sideOf(part.left, prefix) === 'right' ? [part.left, part.right] : [part.right, part.left];
    const [name = ''] = columnNames(other);
    const owner = ownerOf(name, inputs);
    const around = estimates[owner];
    const right = estimates[index];
    const outside = around && distinctOf(unprefixed(other, inputs[owner]?.prefix ?? ''), around);
    return [filterPart(outside, right && distinctOf(unprefixed(own, prefix), right))];
  });
  const part = keys.reduce((product, each) => product * each, 1);
  return filter?.type === 'anti' ? 1 - part * FOUND : part;
}

function rowsRead(relation: Relation | undefined): number {
  if (relation === undefined) return 0;
  const inputs = inputsOf(relation);
  return inputs.length === 0 ? (estimate(relation)?.rows ?? 0) : inputs.reduce((rows, input) => rows + rowsRead(input), 0);
}

function correctionsOf(inputs: readonly JoinInput[], classes: JoinGraph['classes']): JoinGraph['corrections'] {
  return inputs.flatMap((one, a) =>
    inputs.slice(a + 1).flatMap((other, offset) => {
      const b = a + 1 + offset;
      const pair = (1 << a) | (1 << b);
      const shared = classes.filter((each) => (each.inputs & pair) === pair);
      if (shared.length < 2) return [];
      const counts = shared.map(({ distinct }) => [distinct.get(a), distinct.get(b)] as const);
      const alone = counts.reduce((part, [x = 1, y = 1]) => part / Math.max(x, y), 1);
      return [{ inputs: pair, factor: keySelectivity(counts, one.rows, other.rows) / alone }];
    }),
  );
}
