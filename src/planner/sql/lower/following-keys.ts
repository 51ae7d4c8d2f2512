// Keys of groups that follow from other keys.

import { nativeType } from '../parse/sql-type.js';
import { type Bound, column, columnNames, settledType, substitute } from '../relation/bound.js';
import { type AggregateRelation, columnsOf, mayGiveSeveral, type NamedBound, type RelationSortKey } from '../relation/relation.js';

/** Readers of groups before their first rows are cut off. */
interface Uses {
  /** Conditions, and what windows read. */
  readonly conditions: readonly Bound[];
  readonly sort: readonly RelationSortKey[];
}

/** Keys that rows are grouped by, and what the others are of these, by their names. */
interface KeysInUse {
  readonly keys: readonly NamedBound[];
  readonly following: ReadonlyMap<string, Bound>;
  /** The order without those keys. */
  readonly sort: readonly RelationSortKey[];
}

/**
 * Leaves out keys that are functions of keys before them, as `LENGTH(url)` is beside `url`: groups are the same without them, and they
 * are computed of the rows that are put out. A key is kept where groups are ordered by it before the keys that it follows from.
 */
export function keysInUse({ keys, input }: AggregateRelation, { conditions, sort }: Uses): KeysInUse {
  const stored = new Map(columnsOf(input).map((each) => [each.name, each]));
  // Strings of which nothing is known may be several: those of unions and of files.
  const isSeveral = (name: string): boolean => {
    const found = stored.get(name);
    return found === undefined || (nativeType(settledType(found.type)) === 'STRING' && found.schema?.multiValue !== false);
  };
  const read = new Set<string>();
  for (const bound of conditions) columnNames(bound, read);
  /** Keys that are columns, by the names of these. */
  const plain = new Map<string, Bound>();
  const following = new Map<string, Bound>();
  let order = sort;
  const kept = keys.filter(({ name, bound }) => {
    const type = settledType(bound.type);
    // Two doubles that are one key may still differ: 0 and -0.
    const isExact = nativeType(type) === 'LONG' || nativeType(type) === 'STRING';
    if (bound.kind === 'column') {
      if (isExact && !isSeveral(bound.name) && !plain.has(bound.name)) plain.set(bound.name, column(type, name));
      return true;
    }
    const names = [...columnNames(bound)];
    if (names.length === 0 || read.has(name) || !names.every((each) => plain.has(each)) || mayGiveSeveral(bound, isSeveral)) return true;
    const left = withoutKey(
      order,
      name,
      names.flatMap((each) => plain.get(each) ?? []),
    );
    if (left === undefined) return true;
    order = left;
    following.set(
      name,
      substitute(bound, (each) => plain.get(each)),
    );
    return false;
  });
  return { keys: kept, following, sort: order };
}

/** The order without a key that comes after those it follows from; undefined where it decides something. */
function withoutKey(order: readonly RelationSortKey[], name: string, of: readonly Bound[]): readonly RelationSortKey[] | undefined {
  const before = new Set<string>();
  const left: RelationSortKey[] = [];
  for (const item of order) {
    const { bound } = item;
    if (bound.kind === 'column') before.add(bound.name);
    const names = columnNames(bound);
    if (!names.has(name)) left.push(item);
    else if (names.size > 1 || !of.every((each) => each.kind === 'column' && before.has(each.name))) return undefined;
  }
  return left;
}
