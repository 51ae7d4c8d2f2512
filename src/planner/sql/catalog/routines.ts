// Functions as INFORMATION_SCHEMA.ROUTINES lists them.

import { SQL_AGGREGATES } from '../bind/aggregates.js';
import type { ParameterKind, SqlFunction } from '../bind/function-call.js';
import { SQL_FUNCTIONS } from '../bind/functions.js';
import { WINDOW_FUNCTIONS } from '../bind/window-functions.js';

/** A function as INFORMATION_SCHEMA.ROUTINES tells of it. */
export interface Routine {
  readonly name: string;
  readonly isAggregator: boolean;
  /** One a line; null where the function itself looks at what it is given. */
  readonly signatures: string | null;
}

const FAMILIES: Readonly<Record<ParameterKind, string>> = {
  text: 'CHARACTER',
  string: 'CHARACTER',
  values: 'CHARACTER',
  number: 'NUMERIC',
  integer: 'INTEGER',
  instant: 'TIMESTAMP',
  array: 'ARRAY',
  any: 'ANY',
};

/** Every function that a statement may call, by name. */
export function routines(): readonly Routine[] {
  const all = [
    ...[...SQL_FUNCTIONS.values()].map((each) => ({ name: each.name, isAggregator: false, signatures: signaturesOf(each) })),
    ...Object.keys(SQL_AGGREGATES).map((name) => ({ name, isAggregator: true, signatures: null })),
    ...WINDOW_FUNCTIONS.map((name) => ({ name, isAggregator: false, signatures: null })),
  ];
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** One for each number of arguments; the last of any number is followed by dots. */
function signaturesOf({ name, minArguments, maxArguments, parameters = [] }: SqlFunction): string {
  const isOpen = maxArguments === Number.POSITIVE_INFINITY;
  const last = isOpen ? Math.max(minArguments, 1) : maxArguments;
  const lines: string[] = [];
  for (let count = minArguments; count <= last; count++) {
    const families = Array.from({ length: count }, (_, index) => `<${FAMILIES[parameters[index] ?? 'any']}>`);
    lines.push(`${name}(${families.join(', ')}${isOpen && count === last ? ', ...' : ''})`);
  }
  return lines.join('\n');
}
