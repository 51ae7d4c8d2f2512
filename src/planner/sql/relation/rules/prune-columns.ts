// Rule: drops columns that nobody reads.

import { changed } from '../../../places/recording.js';
import { type Bound, columnNames } from '../bound.js';
import { columnsOf, identity, inputsOf, type Relation } from '../relation.js';
import { expressionsOf } from './verify-relation.js';

/** Drops columns that nobody reads, and their computation. */
export function pruneColumns(relation: Relation): Relation {
  return keep(relation, new Set(columnsOf(relation).map(({ name }) => name)));
}

type Kind = Relation['kind'];
type Kinds = ReadonlySet<Kind>;

const CUT: Kinds = new Set<Kind>(['sort', 'limit']);
const CUT_OR_WINDOW: Kinds = new Set<Kind>([...CUT, 'window']);
const ANY_CLAUSE: Kinds = new Set<Kind>([...CUT_OR_WINDOW, 'filter']);
/** Inputs that may become a plan of their own below a node: such a plan gives all columns of its input, unless a projection says which. */
const OWN_PLANS: ReadonlyMap<Kind, Kinds> = new Map([
  ['aggregate', ANY_CLAUSE],
  ['join', ANY_CLAUSE],
  ['unnest', ANY_CLAUSE],
  ['filter', CUT_OR_WINDOW],
  ['window', CUT],
  ['sort', CUT],
]);

/** Relations that a plan reads as rows, without a plan of their own. */
const ROWS: Kinds = new Set<Kind>(['source', 'join', 'unnest', 'union']);

/** The input of a node with these columns, and no others where it may become a plan of its own. */
function keepBelow(node: Relation, input: Relation, needed: ReadonlySet<string>): Relation {
  const kept = keep(input, needed);
  if (OWN_PLANS.get(node.kind)?.has(kept.kind) !== true) return kept;
  // A filter of rows is a part of what groups or joins them; that of a union is a plan of its own below a join.
  if (kept.kind === 'filter' && ROWS.has(kept.input.kind) && (node.kind === 'aggregate' || kept.input.kind !== 'union')) return kept;
  const columns = columnsOf(kept);
  const wanted = columns.filter(({ name }) => needed.has(name));
  if (wanted.length === columns.length) return kept;
  // Rows are counted by a column.
  return { kind: 'project', input: kept, columns: identity(wanted.length === 0 ? columns.slice(0, 1) : wanted) };
}

/** The relation with at least these of its columns. */
function keep(relation: Relation, needed: ReadonlySet<string>): Relation {
  const read = (bounds: readonly Bound[], into = new Set<string>()): Set<string> => {
    for (const bound of bounds) columnNames(bound, into);
    return into;
  };
  switch (relation.kind) {
    case 'source':
      return relation;
    case 'project': {
      const kept = relation.columns.filter(({ name }) => needed.has(name));
      // Rows are counted by a column.
      const columns = kept.length === 0 ? relation.columns.slice(0, 1) : kept;
      const input = keep(relation.input, read(columns.map(({ bound }) => bound)));
      return { ...relation, input, columns: columns.length === relation.columns.length ? relation.columns : columns };
    }
    case 'aggregate': {
      const kept = relation.aggregates.filter(({ name }) => needed.has(name));
      const aggregates = kept.length === 0 && relation.keys.length === 0 ? relation.aggregates.slice(0, 1) : kept;
      const pruned = { ...relation, aggregates };
      return { ...pruned, input: keepBelow(relation, relation.input, read(expressionsOf(pruned))) };
    }
    case 'join': {
      // A mark that nobody reads is not computed.
      if (relation.mark !== undefined && !needed.has(relation.mark)) return keep(relation.left, needed);
      const all = read(expressionsOf(relation), new Set(needed));
      const { prefix } = relation;
      const names = [...all];
      const ofRight = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
      const left = keepBelow(relation, relation.left, new Set(names.filter((name) => !name.startsWith(prefix))));
      const right = keepBelow(relation, relation.right, new Set(ofRight));
      return { ...relation, left, right };
    }
    case 'union': {
      const columns = columnsOf(relation).filter(({ name }) => needed.has(name));
      const wanted = columns.length === 0 ? columnsOf(relation).slice(0, 1) : columns;
      const names = new Set(wanted.map(({ name }) => name));
      const inputs = relation.inputs.map((input): Relation => {
        const kept = keep(input, names);
        const has = columnsOf(kept);
        const same = has.length === wanted.length && has.every(({ name }, index) => name === wanted[index]?.name);
        return same ? kept : { kind: 'project', input: kept, columns: identity(wanted) };
      });
      return { ...relation, inputs };
    }
    default: {
      const [input] = inputsOf(relation);
      if (input === undefined) return relation;
      const all = read(expressionsOf(relation), new Set(needed));
      return changed(relation, { input: keepBelow(relation, input, all) });
    }
  }
}
