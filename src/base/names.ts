// Objects keyed by names from outside, which inherit nothing, and copies of those that are keyed by ours.

/**
 * Names that came over the wire (of tiers, lookups, columns, headers, properties) as keys of objects. An ordinary object
 * answers `constructor` with a function, and writing to its `__proto__` changes other objects, so nothing else in `src`
 * looks up or writes a computed name: `test/names-are-data.test.ts` reads the source for it.
 */

declare const withoutPrototype: unique symbol;

/** An object that inherits nothing: `__proto__` and `constructor` are keys like any other. Made by `createByName` alone. */
export type ByName<Value> = Record<string, Value> & { readonly [withoutPrototype]?: never };

export function createByName<Value>(): ByName<Value> {
  return Object.create(null);
}

/** The member that the object itself has under a name, whatever the object inherits. */
export function own<Value>(members: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Calls `visit` with each member that the object itself has, in their order. */
export function eachMember(object: object, visit: (member: unknown, name: string) => void): void {
  const members = object as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(members)) visit(members[name], name);
}

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
