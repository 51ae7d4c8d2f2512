// Copies of objects with further fields, which cost readers no more than the objects do.

/**
 * A copy of an object with other fields, new ones among them. `{ ...object, field }` makes a hidden class for each copy in V8 11 where the
 * object has no such field: ten times the time, and nobody who reads the copies can be optimised (decision 46). For objects whose names
 * are ours: a field `__proto__` would not be copied.
 */
export function extended<One extends object, Other extends object>(object: One, fields: Other): Extended<One, Other> {
  return Object.assign({}, object, fields) as unknown as Extended<One, Other>;
}

/** The kinds of a union stay apart. */
type Extended<One, Other> = One extends unknown ? Omit<One, keyof Other> & Other : never;
