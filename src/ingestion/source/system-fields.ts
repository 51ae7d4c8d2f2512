// Columns that name the file of a row.

import type { ObjectReader } from '../../base/json-reader.js';

const NAMES = ['__file_uri', '__file_path'] as const;
type SystemField = (typeof NAMES)[number] | '__file_bucket';

/** The system fields that a source is asked for, among those that it has. */
export function parseSystemFields(fields: ObjectReader, names: readonly SystemField[] = NAMES): readonly SystemField[] {
  return fields.strings('systemFields').map((name) => {
    const found = names.find((each) => each === name);
    if (found === undefined) throw fields.invalid('systemFields', `expected ${names.join(', ')}, found "${name}"`);
    return found;
  });
}

/** Their values for a file. */
export function systemValues(
  names: readonly SystemField[],
  file: Readonly<Partial<Record<SystemField, string>>>,
): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name, file[name] ?? '']));
}
