import { type LookupTable, readerOf } from '../../src/model/lookup/lookup-table.js';

/** The entries of a lookup as an object. */
export function entriesOf(table: LookupTable): Record<string, string> {
  const reader = readerOf(table);
  return Object.fromEntries(Array.from(reader.valueIds, (id, entry) => [reader.key(entry), reader.value(id)]));
}
