// Columns that name the file of a row.

import type { ObjectReader } from '../../base/json-reader.js';

const NAMES = ['__file_uri', '__file_path'] as const;
type SystemField = (typeof NAMES)[number];

/** The system fields that a source is asked for. */
export function parseSystemFields(fields: ObjectReader): readonly SystemField[] {
  return fields.strings('systemFields').map((name) => {
    const found = NAMES.find((each) => each === name);
    if (found === undefined) throw fields.invalid('systemFields', `expected ${NAMES.join(', ')}, found "${name}"`);
    return found;
  });
}

/** Their values for a file. */
export function systemValues(names: readonly SystemField[], file: Readonly<Record<SystemField, string>>): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name, file[name]]));
}
