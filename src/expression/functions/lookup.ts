// The function `lookup`.

import { ServiceError } from '../../base/errors.js';
import { readerOf } from '../../model/lookup/lookup-table.js';
import type { ExpressionFunction } from '../function.js';
import { isArrayValue, toText } from '../value.js';

/**
 * lookup(value, 'name' [, 'missing']): a registered lookup. Brokers know the lookups; before a plan runs they put
 * the entries in the name's place (`resolved_lookup`), so that every server and thread reads the same version.
 */
const lookup: ExpressionFunction = {
  name: 'lookup',
  minArguments: 2,
  maxArguments: 3,
  type: () => 'STRING',
  bind() {
    return () => {
      throw new ServiceError('unsupported', 'lookup(): tasks hold no lookups; a statement can join the table lookup.NAME instead');
    };
  },
};

/** resolved_lookup(value, entries [, 'missing']): null, and what is not among the keys, become `missing`. */
const resolvedLookup: ExpressionFunction = {
  name: 'resolved_lookup',
  minArguments: 2,
  maxArguments: 3,
  type: () => 'STRING',
  bind(constants) {
    const table = constants[1]?.table;
    // Expressions can call the function themselves, with anything.
    if (table === undefined)
      throw new ServiceError('query_invalid', 'resolved_lookup(): the entries of a lookup are put in by Brokers; use lookup(value, name)');
    const entries = readerOf(table);
    return ([value = null, , missing = null]) => {
      const key = toText(value);
      return (key === null ? null : entries.find(key)) ?? missing;
    };
  },
};

/**
 * Functions of the key by which a row is joined with a lookup, and of its entries: the key where it has an entry, and the value of that;
 * else null. Names with a colon are for joins: no expression has them.
 */
export const PARTNER_VALUE = ':partner_value';
export const PARTNER_FUNCTIONS = [':partner_key', PARTNER_VALUE] as const;

const partner = (name: (typeof PARTNER_FUNCTIONS)[number]): ExpressionFunction => ({
  name,
  minArguments: 2,
  maxArguments: 2,
  arrays: [0],
  type: () => 'STRING',
  bind(constants) {
    const table = constants[1]?.table;
    if (table === undefined) throw new ServiceError('internal', `${name}: without the entries of a lookup`);
    const entries = readerOf(table);
    return ([value = null]) => {
      if (isArrayValue(value))
        throw new ServiceError('unsupported', 'an expression with several values in a row cannot be the key of a join; unnest it first');
      const key = toText(value);
      const found = key === null ? null : entries.find(key);
      return found === null || name === PARTNER_VALUE ? found : key;
    };
  },
});

export const LOOKUP_FUNCTIONS: readonly ExpressionFunction[] = [lookup, resolvedLookup, ...PARTNER_FUNCTIONS.map(partner)];
