import type { Answer, DifferentialCase, Json } from './case.js';

/** Two doubles are equal when they differ by less than this share of the larger one: sums depend on the order of rows. */
const RELATIVE = 1e-9;

/**
 * Place of the first difference between two answers, or undefined when they agree. Both refusing is agreement; an answer of
 * one alone is not, and an internal error of Dolmen never is. Numbers are equal by value whatever their notation: 1, 1.0 and
 * "NaN" against NaN.
 */
export function findDifference(one: DifferentialCase, dolmen: Answer, original: Answer): string | undefined {
  if (dolmen.state === 'broken') return 'Dolmen fails';
  if (original.state === 'unanswered') return undefined;
  if (original.state === 'broken') return dolmen.state === 'rows' ? 'the original fails' : undefined;
  if (dolmen.state !== 'rows' || original.state !== 'rows') {
    if (dolmen.state === original.state) return undefined;
    return dolmen.state === 'refused' ? 'refused' : 'the original refuses';
  }
  const sides = [dolmen.rows, original.rows].map((rows) => (one.order === 'bag' && Array.isArray(rows) ? sorted(rows) : rows));
  return (
    differAt(dolmen.names, original.names, 'names') ??
    differAt(withoutChars(dolmen.types), withoutChars(original.types), 'types') ??
    differAt(sides[0], sides[1], '')
  );
}

/** The original calls some expressions of string literals CHAR, and NULL has a type of its own (`docs/differences.md`). */
function withoutChars(types: Json | undefined): Json | undefined {
  return Array.isArray(types) ? types.map((type: Json) => (type === 'CHAR' || type === 'NULL' ? 'VARCHAR' : type)) : types;
}

function differAt(left: Json | undefined, right: Json | undefined, path: string): string | undefined {
  if (left === right) return undefined;
  const shown = (): string => `${path}: ${show(left)} | ${show(right)}`;
  if (isNumeric(left) && isNumeric(right)) return sameNumber(left, right) ? undefined : shown();
  if (Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) return `${path}: ${left.length} items | ${right.length} items: ${show(left)} | ${show(right)}`;
    for (const [at, item] of left.entries()) {
      const found = differAt(item, (right as Json[])[at], `${path}[${at}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isFields(left) && isFields(right)) {
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const found = differAt(left[name] ?? null, right[name] ?? null, `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return shown();
}

function show(value: Json | undefined): string {
  const text = JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item)) ?? 'nothing';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

function isFields(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON has no NaN and no infinity: both servers write them as strings. */
function isNumeric(value: Json | undefined): value is number | bigint | 'NaN' | 'Infinity' | '-Infinity' {
  return typeof value === 'number' || typeof value === 'bigint' || value === 'NaN' || value === 'Infinity' || value === '-Infinity';
}

function sameNumber(left: number | bigint | string, right: number | bigint | string): boolean {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left === right;
  const [one, other] = [Number(left), Number(right)];
  if (Object.is(one, other) || one === other) return true;
  return Math.abs(one - other) <= RELATIVE * Math.max(Math.abs(one), Math.abs(other));
}

/** Rows by a key in which numbers are coarse, so that rounding does not change the order, and by all their digits where that is equal. */
function sorted(rows: readonly Json[]): Json[] {
  const textOf = (row: Json, replace: (name: string, value: unknown) => unknown): string => JSON.stringify(row, replace);
  return rows
    .map((row) => ({ row, keys: [textOf(row, coarse), textOf(row, exact)] as const }))
    .sort(({ keys: left }, { keys: right }) => order(left[0], right[0]) || order(left[1], right[1]))
    .map(({ row }) => row);
}

function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function exact(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function coarse(_: string, value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value).toPrecision(7);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? null;
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)));
}
