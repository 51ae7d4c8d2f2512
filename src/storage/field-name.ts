// Names of the stored columns for paths of JSON columns (decision 14).

/**
 * Use of the values at a path of a JSON column: as numbers of any kind; as strings, which only
 * values of one kind give exactly (`2` among fractions is not `2.0`); or arrays, of which a single value is one of one.
 */
export type FieldUse = 'number' | 'text' | 'array';

/**
 * The name under which a plan asks for the column that a segment may keep of one path, and which stands for the JSON
 * column itself where it does not. No column of a table is called so.
 */
export function fieldName(column: string, path: string, use: FieldUse): string {
  return `${column}\u0000${use}\u0000${path}`;
}

/** The JSON column behind the name of a field; undefined for any other name. */
export function columnOfField(name: string): string | undefined {
  return /^(.*)\u0000(?:number|text|array)\u0000\$/s.exec(name)?.[1];
}
