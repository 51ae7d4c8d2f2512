// The function `lookup`.

import { ServiceError } from '../../base/errors.js';
import { readerOf } from '../../model/lookup/lookup-table.js';
import type { ExpressionFunction } from '../function.js';
import { toText } from '../value.js';

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

export const LOOKUP_FUNCTIONS: readonly ExpressionFunction[] = [lookup, resolvedLookup];
