// The function `lookup`.

import { ServiceError } from '../../base/errors.js';
import { parseJsonWithDoubles } from '../../base/json.js';
import type { ExpressionFunction } from '../function.js';
import { toText } from '../value.js';

/**
 * lookup(value, 'name' [, 'missing']): a registered lookup. Brokers know the lookups; before a plan runs they put the
 * rows in the name's place (`resolved_lookup`), so that every server and thread reads the same version.
 */
const lookup: ExpressionFunction = {
  name: 'lookup',
  minArguments: 2,
  maxArguments: 3,
  type: () => 'STRING',
  bind() {
    return () => {
      throw new ServiceError('unsupported', 'lookup(): registered lookups are known to queries over rows on a Broker only');
    };
  },
};

/** resolved_lookup(value, '[["key", "value"]]' [, 'missing']): null, and what is not among the keys, become `missing`. */
const resolvedLookup: ExpressionFunction = {
  name: 'resolved_lookup',
  minArguments: 2,
  maxArguments: 3,
  type: () => 'STRING',
  bind(constants) {
    const entries = parseEntries(constants[1]?.value);
    return ([value = null, , missing = null]) => {
      const key = toText(value);
      return (key === null ? null : entries.get(key)) ?? missing;
    };
  },
};

/** Expressions can call the function themselves, with anything. */
function parseEntries(text: unknown): ReadonlyMap<string, string> {
  const refusal = (): never => {
    throw new ServiceError('query_invalid', 'resolved_lookup(): the second argument is a constant, an array of pairs of strings as JSON');
  };
  let pairs: unknown;
  try {
    pairs = typeof text === 'string' ? parseJsonWithDoubles(text) : undefined;
  } catch {
    refusal();
  }
  const isPair = (pair: unknown): pair is [string, string] =>
    Array.isArray(pair) && pair.length === 2 && pair.every((each) => typeof each === 'string');
  return Array.isArray(pairs) && pairs.every(isPair) ? new Map(pairs) : refusal();
}

export const LOOKUP_FUNCTIONS: readonly ExpressionFunction[] = [lookup, resolvedLookup];
