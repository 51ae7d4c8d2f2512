// Selects the value of one rank without sorting all values.

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
