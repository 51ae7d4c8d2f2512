export type Cell = string | number | null;

/** Doubles are equal up to this part of the larger one: engines add them up in different orders. */
const TOLERANCE = 1e-9;

const equal = (a: Cell, b: Cell): boolean =>
  a === b || (typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b)));

/** Rows in an order of their own: by texts and whole numbers, then by the other numbers. */
function sorted(rows: readonly (readonly Cell[])[]): (readonly Cell[])[] {
  const isDouble = (cell: Cell): cell is number => typeof cell === 'number' && !Number.isInteger(cell);
  const doubles = (rows[0] ?? []).map((_, column) => rows.some((row) => isDouble(row[column] ?? null)));
  const key = (row: readonly Cell[]): string => JSON.stringify(row.filter((_, column) => doubles[column] !== true));
  const keyed = rows.map((row) => ({ row, key: key(row), doubles: row.filter((_, column) => doubles[column] === true).map(Number) }));
  return keyed
    .sort((a, b) =>
      a.key !== b.key ? (a.key < b.key ? -1 : 1) : (a.doubles.map((cell, at) => cell - (b.doubles[at] ?? 0)).find((by) => by !== 0) ?? 0),
    )
    .map(({ row }) => row);
}

/** Description of the first difference, or undefined. Compares the columns of ORDER BY row by row, then all rows in any order. */
export function difference(
  found: readonly (readonly Cell[])[],
  expected: readonly (readonly Cell[])[],
  orderedBy: readonly number[],
): string | undefined {
  if (found.length !== expected.length) return `${found.length} rows instead of ${expected.length}`;
  for (const [index, row] of expected.entries())
    for (const column of orderedBy)
      if (!equal(found[index]?.[column] ?? null, row[column] ?? null))
        return `row ${index} is ${JSON.stringify(found[index])} instead of ${JSON.stringify(row)}`;
  const others = sorted(found);
  for (const [index, row] of sorted(expected).entries())
    if (!row.every((cell, column) => equal(others[index]?.[column] ?? null, cell)))
      return `${JSON.stringify(others[index])} instead of ${JSON.stringify(row)}`;
  return undefined;
}
