import { and, type Bound, columnNames, conjuncts } from '../bound.js';
import { columnsOf, identity, type JoinRelation, mapInputs, type Relation } from '../relation.js';

/** Inner joins of one another: `first`, then each of `others` under its prefix; `conditions` hold over all of them. */
interface Chain {
  readonly first: Relation;
  readonly others: readonly { readonly right: Relation; readonly prefix: string }[];
  readonly conditions: readonly Bound[];
}

/** The place of the chain's first input, before the others' 0, 1, … */
const FIRST = -1;

/**
 * Inputs of inner joins in an order in which each has a column that equals one of an input before it, where there is such an order: in
 * `FROM a, b, c WHERE a.x = c.x AND b.y = c.y` a would meet every row of b. The first input stays the first, and the others change
 * places only to avoid this.
 */
export function orderJoins(relation: Relation): Relation {
  if (relation.kind !== 'join' || relation.type !== 'inner') return mapInputs(relation, orderJoins);
  const chain = chainOf(relation);
  const order = connectedOrder(chain);
  if (order === undefined || order.every((place, index) => place === index)) return mapInputs(relation, inInputs);
  return { kind: 'project', input: joined(chain, order), columns: identity(columnsOf(relation)) };
}

/** Below a chain that stays as it is, its own joins stay as well. */
function inInputs(relation: Relation): Relation {
  return relation.kind === 'join' && relation.type === 'inner' ? mapInputs(relation, inInputs) : orderJoins(relation);
}

function chainOf(join: JoinRelation): Chain {
  const { left, right, prefix } = join;
  const below: Chain = left.kind === 'join' && left.type === 'inner' ? chainOf(left) : { first: left, others: [], conditions: [] };
  return {
    first: below.first,
    others: [...below.others, { right, prefix }],
    conditions: [...below.conditions, ...conjuncts(join.condition)],
  };
}

/** The input a column comes from. */
function ownerOf(name: string, { others }: Chain): number {
  return others.findIndex(({ prefix }) => name.startsWith(prefix));
}

function ownersOf(bound: Bound, chain: Chain): readonly number[] {
  return [...new Set([...columnNames(bound)].map((name) => ownerOf(name, chain)))];
}

/** Places of `others`; undefined where prefixes do not tell the inputs apart. */
function connectedOrder(chain: Chain): readonly number[] | undefined {
  const { first, others, conditions } = chain;
  const isClear = (right: Relation, prefix: string, place: number): boolean =>
    columnsOf(right).every(({ name }) => {
      const owners = others.flatMap((other, index) => ((prefix + name).startsWith(other.prefix) ? [index] : []));
      return place === FIRST ? owners.length === 0 : owners.length === 1 && owners[0] === place;
    });
  if (!isClear(first, '', FIRST) || !others.every(({ right, prefix }, place) => isClear(right, prefix, place))) return undefined;
  const equalities = conditions.flatMap((part) =>
    part.kind === 'compare' && part.operator === '=' ? [[ownersOf(part.left, chain), ownersOf(part.right, chain)] as const] : [],
  );
  const there = new Set([FIRST]);
  const left = new Set(others.keys());
  const isKey = (place: number, one: readonly number[], other: readonly number[]): boolean =>
    one.length === 1 && one[0] === place && other.length > 0 && other.every((owner) => there.has(owner));
  const order: number[] = [];
  while (left.size > 0) {
    const rest = [...left];
    const next = rest.find((place) => equalities.some(([a, b]) => isKey(place, a, b) || isKey(place, b, a))) ?? rest[0] ?? 0;
    order.push(next);
    there.add(next);
    left.delete(next);
  }
  return order;
}

/** Each condition in the first join that has all its columns. */
function joined(chain: Chain, order: readonly number[]): Relation {
  const there = new Set([FIRST]);
  let waiting = chain.conditions;
  return order.reduce((left: Relation, place) => {
    const input = chain.others[place];
    if (input === undefined) return left;
    there.add(place);
    const isReady = (part: Bound): boolean => ownersOf(part, chain).every((owner) => there.has(owner));
    const ready = waiting.filter(isReady);
    waiting = waiting.filter((part) => !isReady(part));
    const condition = ready.length === 0 ? null : and(ready);
    return { kind: 'join', type: 'inner', left, right: orderJoins(input.right), prefix: input.prefix, condition };
  }, orderJoins(chain.first));
}
