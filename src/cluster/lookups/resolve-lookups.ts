// Puts the rows of lookups into plans, in the place of their names.

import { ServiceError } from '../../base/errors.js';
import { call, type Expression, text } from '../../model/expression.js';
import { rewriteData } from '../../model/rewrite/rewrite-data.js';

/**
 * Plain data of plans and row sources with every `lookup(value, 'name')` in it made a `resolved_lookup` over the
 * lookup's rows. What holds no such call is given back as it is.
 * @throws ServiceError `query_invalid` for a name that is not a constant or not the name of a lookup
 */
export function resolveLookups<Data extends object>(data: Data, values: (name: string) => ReadonlyMap<string, string>): Data {
  if (WITHOUT_LOOKUPS.has(data)) return data;
  const resolved = rewriteData(data, (object) => (isLookup(object) ? withRows(object, values) : object));
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

function withRows({ arguments: [value, name, ...missing] }: Call, values: (name: string) => ReadonlyMap<string, string>): Expression {
  if (value === undefined || name?.kind !== 'literal' || typeof name.value !== 'string')
    throw new ServiceError('query_invalid', 'lookup(): the second argument is the name of a lookup, a constant string');
  const rows: Expression = text(JSON.stringify([...values(name.value)]));
  return call('resolved_lookup', value, rows, ...missing);
}
