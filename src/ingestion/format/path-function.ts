// Functions at the end of the paths of a `flattenSpec`.

/** Value of a function over what a path finds; null where it has none. */
export type PathFunction = (found: unknown) => unknown;

/** Functions by name; each is written `.name()` behind a path. */
const FUNCTIONS: ReadonlyMap<string, PathFunction> = new Map<string, PathFunction>([
  ['length', (found) => (Array.isArray(found) ? found.length : (keysOf(found)?.length ?? null))],
  ['keys', (found) => keysOf(found) ?? null],
  ['min', overNumbers((numbers) => numbers.reduce((least, each) => Math.min(least, each)))],
  ['max', overNumbers((numbers) => numbers.reduce((most, each) => Math.max(most, each)))],
  ['sum', overNumbers(sumOf)],
  ['avg', overNumbers(meanOf)],
  ['stddev', overNumbers(deviationOf)],
]);

/** Cuts the function off a path; null where the path ends in none of these. */
export function splitPathFunction(text: string): { readonly path: string; readonly apply: PathFunction } | null {
  const [, path, name = ''] = /^(.*)\.([a-z]+)\(\)$/s.exec(text) ?? [];
  const apply = FUNCTIONS.get(name);
  return path === undefined || apply === undefined ? null : { path, apply };
}

/** Elements that are not numbers are passed over; nothing comes of a list without any, or of what is not a list. */
function overNumbers(apply: (numbers: readonly number[]) => number): PathFunction {
  return (found) => {
    if (!Array.isArray(found)) return null;
    const numbers = found.flatMap((each) => (typeof each === 'number' || typeof each === 'bigint' ? [Number(each)] : []));
    return numbers.length === 0 ? null : apply(numbers);
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function meanOf(numbers: readonly number[]): number {
  return sumOf(numbers) / numbers.length;
}

/** The whole list counts, not a sample of more. */
function deviationOf(numbers: readonly number[]): number {
  const mean = meanOf(numbers);
  return Math.sqrt(meanOf(numbers.map((each) => (each - mean) ** 2)));
}

function keysOf(found: unknown): readonly string[] | undefined {
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? Object.keys(found) : undefined;
}
