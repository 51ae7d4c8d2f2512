// Puts the entries of lookups into plans, in the place of their names.

import { ServiceError } from '../../base/errors.js';
import { call, type Expression } from '../../model/expression.js';
import type { LookupTable } from '../../model/lookup/lookup-table.js';
import { rewriteData } from '../../model/rewrite/rewrite-data.js';

/**
 * Plain data of plans and row sources with every `lookup(value, 'name')` in it made a `resolved_lookup` over the
 * lookup's entries. What holds no such call is given back as it is.
 * @throws ServiceError `query_invalid` for a name that is not a constant or not the name of a lookup
 */
export function resolveLookups<Data extends object>(data: Data, tableOf: (name: string) => LookupTable): Data {
  if (WITHOUT_LOOKUPS.has(data)) return data;
  const resolved = rewriteData(data, (object) => (isLookup(object) ? withEntries(object, tableOf) : object));
  if (resolved === data) WITHOUT_LOOKUPS.add(data);
  return resolved;
}

/** Plans are kept, and asked for again. */
const WITHOUT_LOOKUPS = new WeakSet<object>();

type Call = Extract<Expression, { kind: 'call' }>;

function isLookup(value: object): value is Call {
  const { kind, function: name } = value as Partial<Call>;
  return kind === 'call' && name === 'lookup';
}

function withEntries({ arguments: [value, name, ...missing] }: Call, tableOf: (name: string) => LookupTable): Expression {
  if (value === undefined || name?.kind !== 'literal' || typeof name.value !== 'string')
    throw new ServiceError('query_invalid', 'lookup(): the second argument is the name of a lookup, a constant string');
  const entries: Expression = { kind: 'literal', type: 'STRING', value: tableOf(name.value) };
  return call('resolved_lookup', value, entries, ...missing);
}
