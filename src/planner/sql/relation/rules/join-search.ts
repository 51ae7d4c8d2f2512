// Searches for the cheapest order of joins.

/** Inner joins for the search of the cheapest order. Sets of inputs are bits: input i is 1 << i. */
export interface JoinGraph {
  readonly inputs: readonly JoinInput[];
  /** Columns that are all equal to each other. */
  readonly classes: readonly JoinClass[];
  readonly conditions: readonly JoinCondition[];
  /** Pairs of inputs with several classes in common: by how much more pairs of rows meet than the classes by themselves say. */
  readonly corrections: readonly { readonly inputs: number; readonly factor: number }[];
}

export interface JoinInput {
  readonly rows: number;
  /** Rows that are read to make them. */
  readonly read: number;
  /** Set for the right side of a semi or anti join: the share of rows that pass, and the inputs needed before it. */
  readonly filter: { readonly part: number; readonly needs: number } | null;
}

interface JoinClass {
  /** Different values of its column in each input that has one. */
  readonly distinct: ReadonlyMap<number, number>;
  readonly inputs: number;
}

interface JoinCondition {
  readonly inputs: number;
  /** The inputs of the two sides of an equality, which can be the key of a join; null: any other condition. */
  readonly sides: readonly [number, number] | null;
  readonly part: number;
}

/** An input, or a join of a stream of rows with rows that are placed. */
export type JoinTree = number | { readonly left: JoinTree; readonly right: JoinTree };

/** Cost of a row that is uploaded, looked up, put out; and of one read for an uploaded side, which one thread does. */
const PLACED = 10;
const LOOKED_UP = 1;
const PUT_OUT = 0.5;
const READ_ALONE = 0.3;

/** Largest number of inputs whose orders are all tried; the time grows as three to their power. */
const SEARCHED_MAX = 9;

interface Best {
  readonly cost: number;
  readonly tree: JoinTree;
}

/** The cheapest tree of joins; of many inputs, of those that place one input after the other. */
export function cheapestTree(graph: JoinGraph): JoinTree {
  return graph.inputs.length > SEARCHED_MAX ? greedyTree(graph) : searchedTree(graph);
}

/** Cost of a join tree, for comparing trees. */
export function treeCost(graph: JoinGraph, tree: JoinTree): number {
  if (typeof tree === 'number') return 0;
  const [left, right] = [inputsOfTree(tree.left), inputsOfTree(tree.right)];
  return treeCost(graph, tree.left) + treeCost(graph, tree.right) + joinCost(graph, left, right);
}

export function inputsOfTree(tree: JoinTree): number {
  return typeof tree === 'number' ? 1 << tree : inputsOfTree(tree.left) | inputsOfTree(tree.right);
}

function joinCost(graph: JoinGraph, left: number, right: number): number {
  let read = 0;
  graph.inputs.forEach((input, index) => {
    if ((right & (1 << index)) !== 0) read += input.read;
  });
  return read * READ_ALONE + rowsOf(graph, right) * PLACED + rowsOf(graph, left) * LOOKED_UP + rowsOf(graph, left | right) * PUT_OUT;
}

/** About how many rows the join of these inputs has, in whatever order; of a filter alone, those of its right side. */
function rowsOf({ inputs, classes, conditions, corrections }: JoinGraph, set: number): number {
  const isOne = (set & (set - 1)) === 0;
  let rows = 1;
  inputs.forEach((input, index) => {
    if ((set & (1 << index)) !== 0) rows *= input.filter === null || isOne ? input.rows : input.filter.part;
  });
  if (isOne) return rows;
  for (const { distinct, inputs: members } of classes) {
    if ((members & set) === 0) continue;
    let [product, least] = [1, Infinity];
    for (const [input, count] of distinct) {
      if ((set & (1 << input)) === 0) continue;
      product *= count;
      least = Math.min(least, count);
    }
    if (least !== Infinity) rows *= least / product;
  }
  for (const each of conditions) if ((each.inputs & set) === each.inputs) rows *= each.part;
  for (const each of corrections) if ((each.inputs & set) === each.inputs) rows *= each.factor;
  return Math.max(1, rows);
}

/** Whether rows of two sets are looked up by a key, or the right one is a filter whose inputs are there. */
function areJoined({ inputs, classes, conditions }: JoinGraph, left: number, right: number): boolean {
  const filter = (right & (right - 1)) === 0 ? inputs[31 - Math.clz32(right)]?.filter : null;
  if (filter !== null && filter !== undefined) return (filter.needs & left) === filter.needs;
  if (classes.some(({ inputs: members }) => (members & left) !== 0 && (members & right) !== 0)) return true;
  const within = (set: number, whole: number): boolean => set !== 0 && (set & whole) === set;
  return conditions.some(
    ({ sides }) =>
      sides !== null && ((within(sides[0], left) && within(sides[1], right)) || (within(sides[1], left) && within(sides[0], right))),
  );
}

/** A filter stands alone, on the right of the inputs it needs. */
function isAllowed({ inputs }: JoinGraph, left: number, right: number): boolean {
  return inputs.every(({ filter }, index) => {
    if (filter === null) return true;
    const own = 1 << index;
    if ((left & own) !== 0) return left !== own;
    return (right & own) === 0 || right !== own || (filter.needs & left) === filter.needs;
  });
}

function searchedTree(graph: JoinGraph): JoinTree {
  const all = (1 << graph.inputs.length) - 1;
  const best: (Best | undefined)[] = [];
  graph.inputs.forEach((_, index) => {
    best[1 << index] = { cost: 0, tree: index };
  });
  for (let set = 1; set <= all; set++) {
    if ((set & (set - 1)) === 0) continue;
    // Every row meets every row only where nothing else is left.
    best[set] = cheapestSplit(graph, best, set, true) ?? (set === all ? cheapestSplit(graph, best, set, false) : undefined);
  }
  return best[all]?.tree ?? greedyTree(graph);
}

function cheapestSplit(graph: JoinGraph, best: readonly (Best | undefined)[], set: number, isJoined: boolean): Best | undefined {
  let found: Best | undefined;
  for (let left = (set - 1) & set; left > 0; left = (left - 1) & set) {
    const right = set ^ left;
    const [one, other] = [best[left], best[right]];
    if (one === undefined || other === undefined || !isAllowed(graph, left, right)) continue;
    if (isJoined && !areJoined(graph, left, right)) continue;
    const cost = one.cost + other.cost + joinCost(graph, left, right);
    if (found === undefined || cost < found.cost) found = { cost, tree: { left: one.tree, right: other.tree } };
  }
  return found;
}

/** The largest input first, then each time the one that leaves the fewest rows, of those that a key joins if there is one. */
function greedyTree(graph: JoinGraph): JoinTree {
  const plain = graph.inputs.flatMap(({ filter, rows }, index) => (filter === null ? [{ index, rows }] : []));
  const first = plain.reduce((most, each) => (each.rows > most.rows ? each : most), plain[0] ?? { index: 0, rows: 0 }).index;
  let tree: JoinTree = first;
  let set = 1 << first;
  const left = new Set(graph.inputs.keys());
  left.delete(first);
  while (left.size > 0) {
    const rest = [...left].filter((index) => isAllowed(graph, set, 1 << index));
    const keyed = rest.filter((index) => areJoined(graph, set, 1 << index));
    const candidates = keyed.length > 0 ? keyed : rest;
    const rowsWith = (index: number): number => rowsOf(graph, set | (1 << index));
    const next = candidates.reduce((least, index) => (rowsWith(index) < rowsWith(least) ? index : least), candidates[0] ?? 0);
    tree = { left: tree, right: next };
    set |= 1 << next;
    left.delete(next);
  }
  return tree;
}
