// Keys and values of lookups in JSON documents.

/** A scalar of a JSON document as a string; undefined for null, lists and objects. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : undefined;
}
