// Recognises virtual columns that are a stored column looked up.

import { own } from '../../base/names.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import type { Expression } from '../../model/expression.js';
import type { LookedUpColumn } from '../../model/lookup/looked-up-column.js';
import { storedName, type VirtualColumns } from './scope.js';

/** The column that a name stands for, where that is a stored one looked up and nothing else; `missing` is a constant then. */
export function lookedUpColumn(virtualColumns: VirtualColumns, name: string): LookedUpColumn | undefined {
  const virtual = own(virtualColumns, storedName(virtualColumns, name));
  if (virtual === undefined || virtual.keeps !== undefined || (virtual.outputType !== null && virtual.outputType !== 'STRING'))
    return undefined;
  const looked = lookupOf(virtual.expression);
  const column = looked === undefined ? undefined : storedBehind(virtualColumns, virtual, looked.name);
  if (looked === undefined || column === undefined) return undefined;
  const { table, missing } = looked;
  return { name: JSON.stringify(['lookup', table.digest, missing, column]), column, table, missing };
}

function lookupOf(expression: Expression): (Pick<LookedUpColumn, 'table' | 'missing'> & { readonly name: string }) | undefined {
  if (expression.kind !== 'call') return undefined;
  const [first, second, third] = expression.arguments;
  if (expression.function === 'nvl' && first !== undefined) {
    const [inner, otherwise] = [lookupOf(first), textOf(second)];
    return inner === undefined || otherwise === undefined ? undefined : { ...inner, missing: inner.missing ?? otherwise };
  }
  const missing = third === undefined ? null : textOf(third);
  if (expression.function !== 'resolved_lookup' || first?.kind !== 'column' || missing === undefined) return undefined;
  const table = second?.kind === 'literal' ? second.value : null;
  return typeof table === 'object' && table !== null ? { name: first.name, table, missing } : undefined;
}

/** A constant text that UTF-8 has, or null. */
function textOf(expression: Expression | undefined): string | null | undefined {
  if (expression?.kind !== 'literal' || (expression.type !== null && expression.type !== 'STRING')) return undefined;
  const { value } = expression;
  return value === null || (typeof value === 'string' && Buffer.from(value).toString() === value) ? value : undefined;
}

/** A virtual column that names itself means the stored column of that name. */
function storedBehind(virtualColumns: VirtualColumns, virtual: VirtualColumn, name: string): string | undefined {
  if (name === virtual.name) return name;
  const stored = storedName(virtualColumns, name);
  return Object.hasOwn(virtualColumns, stored) ? undefined : stored;
}
