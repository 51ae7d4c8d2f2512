// Selects the values of one rank or several without sorting all values.

/** Fewer are sorted. */
const SORTED_MAX = 128;
/** Divisions of a range into buckets, one within the other: values that lie in few of them all the same are sorted. */
const DEPTH_MAX = 4;
const BUCKETS_MAX = 2048;
/** Values of a bucket by the mean. */
const BUCKET_VALUES = 16;

/**
 * Finds the values that would stand at `ranks` if all were ascending.
 * @param values   none of them NaN; they come out of their order
 * @param ranks    ascending, each below the number of values
 * @param scratch  at least as many places as there are values
 */
export function selectRanks(values: Float64Array, ranks: Uint32Array, scratch: Float64Array): Float64Array {
  const selection = { ranks, found: new Float64Array(ranks.length) };
  select(selection, { from: values, to: scratch }, { start: 0, end: values.length, first: 0, last: ranks.length, depth: 0 });
  return selection.found;
}

interface Selection {
  readonly ranks: Uint32Array;
  readonly found: Float64Array;
}

/** The values, and room for as many. */
interface Places {
  readonly from: Float64Array;
  readonly to: Float64Array;
}

/** Values [start, end), which have these ranks, and the numbers [first, last) of those that are asked for among them. */
interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly first: number;
  readonly last: number;
  readonly depth: number;
}

function select({ ranks, found }: Selection, { from, to }: Places, { start, end, first, last, depth }: Stretch): void {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = start; at < end; at++) {
    const value = from[at] ?? 0;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const buckets = Math.min(BUCKETS_MAX, Math.ceil((end - start) / BUCKET_VALUES));
  const scale = (buckets - 1) / (max - min);
  // A scale that is no usable number has values that are equal, too far apart or too near.
  if (end - start <= SORTED_MAX || depth === DEPTH_MAX || !(scale > 0 && scale < Number.POSITIVE_INFINITY)) {
    if (min < max) from.subarray(start, end).sort();
    for (let at = first; at < last; at++) found[at] = from[ranks[at] ?? 0] ?? 0;
    return;
  }
  const ends = divide({ from, to }, start, end, { min, scale, buckets });
  let bucketStart = start;
  for (let [bucket, next] = [0, first]; bucket < buckets && next < last; bucket++) {
    const bucketEnd = ends[bucket] ?? end;
    const own = next;
    while (next < last && (ranks[next] ?? 0) < bucketEnd) next++;
    if (next > own)
      select({ ranks, found }, { from: to, to: from }, { start: bucketStart, end: bucketEnd, first: own, last: next, depth: depth + 1 });
    bucketStart = bucketEnd;
  }
}

/** Moves values to the buckets that they fall into, smaller ones first; gives where each bucket ends. */
function divide(
  { from, to }: Places,
  start: number,
  end: number,
  { min, scale, buckets }: { readonly min: number; readonly scale: number; readonly buckets: number },
): Uint32Array {
  const places = new Uint32Array(buckets);
  for (let at = start; at < end; at++) {
    const bucket = (((from[at] ?? 0) - min) * scale) | 0;
    places[bucket] = (places[bucket] ?? 0) + 1;
  }
  let place = start;
  for (let bucket = 0; bucket < buckets; bucket++) {
    const count = places[bucket] ?? 0;
    places[bucket] = place;
    place += count;
  }
  for (let at = start; at < end; at++) {
    const value = from[at] ?? 0;
    const bucket = ((value - min) * scale) | 0;
    const own = places[bucket] ?? 0;
    to[own] = value;
    places[bucket] = own + 1;
  }
  // Each start has become the end.
  return places;
}

/** The value that would stand at `index` if all were ascending. Reorders `values`, none of which is NaN. */
export function selectAscending(values: Float64Array, index: number): number {
  let [from, to] = [0, values.length - 1];
  while (from < to) {
    const pivot = middleOf(values[from] ?? 0, values[(from + to) >>> 1] ?? 0, values[to] ?? 0);
    let [left, right] = [from, to];
    while (left <= right) {
      while ((values[left] ?? 0) < pivot) left++;
      while ((values[right] ?? 0) > pivot) right--;
      if (left > right) break;
      const swapped = values[left] ?? 0;
      values[left++] = values[right] ?? 0;
      values[right--] = swapped;
    }
    // Now [from, right] <= pivot <= [left, to], and what lies between equals it.
    if (index <= right) to = right;
    else if (index >= left) from = left;
    else return pivot;
  }
  return values[from] ?? Number.NaN;
}

function middleOf(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
