// Reads the tests of search filters and search queries.

import type { ObjectReader } from '../../../base/json-reader.js';
import { compileRegularExpression } from '../../../expression/regular-expression.js';
import type { SearchTest } from '../../../model/query.js';
import { readByType, refuse } from '../reader.js';

/** The tests of a search filter or search query, which must all hold; none of them: whatever there is. */
export function readSearchTest(reader: ObjectReader): readonly SearchTest[] {
  return readByType(reader, SEARCH_TESTS, [], 'search');
}

const contains = (isCaseSensitive: boolean): SearchTest['function'] => (isCaseSensitive ? 'contains_string' : 'icontains_string');

/** Search specs by type. */
const SEARCH_TESTS: Readonly<Record<string, (reader: ObjectReader) => readonly SearchTest[]>> = {
  insensitive_contains: (inner) => [{ function: 'icontains_string', text: inner.string('value') }],
  contains: (inner) => [
    { function: contains(inner.boolean('case_sensitive', inner.boolean('caseSensitive', false))), text: inner.string('value') },
  ],
  fragment: (inner) => {
    const name = contains(inner.boolean('case_sensitive', inner.boolean('caseSensitive', false)));
    const values = inner.strings('values');
    if (values.length === 0) refuse(inner.at('values'), 'at least one string', values);
    return values.map((text) => ({ function: name, text }));
  },
  all: () => [],
  regex: (inner) => {
    const text = inner.string('pattern');
    compileRegularExpression(text);
    return [{ function: 'regexp_like', text }];
  },
};
