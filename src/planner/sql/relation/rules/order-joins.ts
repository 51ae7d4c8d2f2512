// Rule: reorders inner joins by estimated cost.

import { and, type Bound, column, transform } from '../bound.js';
import { columnsOf, freePrefix, type JoinRelation, mapInputs, type ProjectedColumn, type Relation } from '../relation.js';
import { type ChainInput, type ClassMember, chainOf, graphOf, isOrdered, type JoinChain, ownersOf } from './join-chain.js';
import { cheapestTree, inputsOfTree, type JoinTree, treeCost } from './join-search.js';

/** A tree must cost this part of the one that is there: estimates are not exact, and plans that stay are easier to follow. */
const BETTER = 0.9;

/**
 * Inner joins of one another, and what filters their rows, in the order that is expected to cost least: the many rows go through, those that are fewest are placed and looked up, and
 * what lets least through comes first. Where nothing is known of an input, inputs change places only to follow one they share a column with.
 */
export function orderJoins(relation: Relation): Relation {
  if (relation.kind !== 'join' || !isOrdered(relation.type)) return mapInputs(relation, orderJoins);
  const chain = chainOf(relation);
  if (chain === undefined) return mapInputs(relation, inInputs);
  const given = chain.inputs.slice(1).reduce<JoinTree>((left, _, index) => ({ left, right: index + 1 }), 0);
  const graph = graphOf(chain);
  const tree = graph === undefined ? connectedTree(chain) : cheapestTree(graph);
  const stays = graph === undefined ? isSame(tree, given) : treeCost(graph, tree) > treeCost(graph, given) * BETTER;
  if (stays) return mapInputs(relation, inInputs);
  const { relation: input, names } = joined(chain, tree);
  const columns = columnsOf(relation).map(
    ({ name, type }): ProjectedColumn => ({ name, type, bound: column(type, names.get(name) ?? name) }),
  );
  return { kind: 'project', input, columns };
}

/** Applies the rule to the inputs of a chain that stays as it is. */
function inInputs(relation: Relation): Relation {
  return relation.kind === 'join' && isOrdered(relation.type) ? mapInputs(relation, inInputs) : orderJoins(relation);
}

function isSame(one: JoinTree, other: JoinTree): boolean {
  if (typeof one === 'number' || typeof other === 'number') return one === other;
  return isSame(one.left, other.left) && isSame(one.right, other.right);
}

/** The first input, then each time the next one that a key joins to those before it, if there is such a one. */
function connectedTree(chain: JoinChain): JoinTree {
  const { inputs } = chain;
  const pairs = [
    ...chain.classes.flatMap((members) => members.flatMap((one) => members.map((other) => [1 << one.input, 1 << other.input] as const))),
    ...chain.conditions.flatMap((part) =>
      part.kind === 'compare' && part.operator === '=' ? [[ownersOf(part.left, inputs), ownersOf(part.right, inputs)] as const] : [],
    ),
  ];
  const left = new Set(inputs.keys());
  left.delete(0);
  let tree: JoinTree = 0;
  for (let set = 1; left.size > 0; ) {
    const isKey = (own: number, [a, b]: readonly [number, number]): boolean =>
      (a === own && b !== 0 && (b & set) === b) || (b === own && a !== 0 && (a & set) === a);
    const rest = [...left];
    const next = rest.find((index) => pairs.some((pair) => isKey(1 << index, pair))) ?? rest[0] ?? 0;
    tree = { left: tree, right: next };
    set |= 1 << next;
    left.delete(next);
  }
  return tree;
}

type ChainFilter = NonNullable<ChainInput['filter']>;

interface Joined {
  readonly relation: Relation;
  /** Local names of the chain's columns. */
  readonly names: ReadonlyMap<string, string>;
}

function joined(chain: JoinChain, tree: JoinTree): Joined {
  if (typeof tree === 'number') {
    const input = chain.inputs[tree];
    if (input === undefined) throw new RangeError(`a chain of ${chain.inputs.length} joins has no input ${tree}`);
    const names = new Map(columnsOf(input.relation).map(({ name }) => [input.prefix + name, name]));
    return { relation: orderJoins(input.relation), names };
  }
  const left = joined(chain, tree.left);
  const filter = typeof tree.right === 'number' ? chain.inputs[tree.right] : undefined;
  if (filter?.filter != null) return filtered(left, filter, filter.filter);
  const right = joined(chain, tree.right);
  const prefix = freePrefix(left.relation);
  const names = new Map([...left.names, ...[...right.names].map(([name, own]) => [name, prefix + own] as const)]);
  const conditions = conditionsOf(chain, inputsOfTree(tree.left), inputsOfTree(tree.right)).map((part) => renamed(part, names));
  const condition = conditions.length === 0 ? null : and(conditions);
  const join: JoinRelation = { kind: 'join', type: 'inner', left: left.relation, right: right.relation, prefix, condition };
  return { relation: join, names };
}

/** The columns of a filter's right side are none of the join's: they are only compared with. */
function filtered({ relation: left, names }: Joined, { relation, prefix }: ChainInput, { type, condition }: ChainFilter): Joined {
  const own = freePrefix(left);
  const rename = (bound: Bound): Bound =>
    transform(bound, (part) => {
      if (part.kind !== 'column') return undefined;
      const isOwn = part.name.startsWith(prefix);
      return column(part.type, isOwn ? own + part.name.slice(prefix.length) : (names.get(part.name) ?? part.name));
    });
  const right = orderJoins(relation);
  return { relation: { kind: 'join', type, left, right, prefix: own, condition: condition === null ? null : rename(condition) }, names };
}

/** Conditions on pairs of rows of two sets of inputs; conditions within each set already hold. */
function conditionsOf({ inputs, classes, conditions }: JoinChain, left: number, right: number): readonly Bound[] {
  const memberIn = (members: readonly ClassMember[], set: number): ClassMember | undefined =>
    members.find(({ input }) => (set & (1 << input)) !== 0);
  const equalities = classes.flatMap((members): readonly Bound[] => {
    const [one, other] = [memberIn(members, left), memberIn(members, right)];
    return one === undefined || other === undefined ? [] : [{ ...one.equality, left: one.bound, right: other.bound }];
  });
  const whole = left | right;
  const isJoin = (set: number): boolean => (set & (set - 1)) !== 0;
  const ready = conditions.filter((part) => {
    const owners = ownersOf(part, inputs);
    const isWithin = (set: number): boolean => isJoin(set) && (owners & set) === owners;
    return (owners & whole) === owners && !isWithin(left) && !isWithin(right);
  });
  return [...equalities, ...ready];
}

function renamed(bound: Bound, names: ReadonlyMap<string, string>): Bound {
  return transform(bound, (part) => (part.kind === 'column' ? column(part.type, names.get(part.name) ?? part.name) : undefined));
}
