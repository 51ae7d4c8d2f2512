import type { Json } from './case.js';

/** Without these a query asks for something else, or is not a query at all. */
const KEPT: readonly string[] = ['queryType', 'dataSource', 'intervals', 'granularity', 'type', 'dimension', 'name'];

/**
 * Smaller versions of a JSON value, the boldest first: halves of lists, lists and objects without one entry, an object in
 * the place of which one of its own parts stands, then the same within.
 */
export function* shrinkJson(value: Json): Generator<Json> {
  if (Array.isArray(value)) yield* shrinkList(value);
  else if (typeof value === 'object' && value !== null) yield* shrinkObject(value as { readonly [name: string]: Json });
  else if (typeof value === 'string' && value.length > 8) yield value.slice(0, value.length >> 1);
}

function* shrinkList(list: readonly Json[]): Generator<Json> {
  if (list.length > 3) {
    yield list.slice(0, list.length >> 1);
    yield list.slice(list.length >> 1);
  }
  for (let at = 0; at < list.length; at++) yield list.toSpliced(at, 1);
  for (const [at, item] of list.entries()) for (const smaller of shrinkJson(item)) yield list.with(at, smaller);
}

function* shrinkObject(object: { readonly [name: string]: Json }): Generator<Json> {
  for (const part of Object.values(object)) {
    for (const item of Array.isArray(part) ? (part as readonly Json[]) : [part])
      if (typeof item === 'object' && item !== null && 'type' in item && 'type' in object) yield item;
  }
  for (const name of Object.keys(object)) {
    if (KEPT.includes(name)) continue;
    const { [name]: _, ...rest } = object;
    yield rest;
  }
  for (const [name, part] of Object.entries(object)) {
    if (!KEPT.includes(name)) for (const smaller of shrinkJson(part)) yield { ...object, [name]: smaller };
  }
}
