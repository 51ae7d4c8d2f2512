// Flattens nested records by `flattenSpec`.

import type { ObjectReader } from '../../base/json-reader.js';
import { createByName } from '../../base/names.js';
import { findAtPath, type Path, type PathPart, parseInputPath } from '../../expression/json-path.js';
import { type PathFunction, splitPathFunction } from './path-function.js';

export type JsonObject = Readonly<Record<string, unknown>>;

interface FlattenField {
  readonly name: string;
  /** From the root on. */
  readonly path: Path;
  /** A field at the root by its name, not by a path. */
  readonly isRoot?: true;
  /** Applied to what the path finds; left out: it is the value. */
  readonly apply?: PathFunction;
}

export interface FlattenSpec {
  /** The fields at the root come along under their own names; discovery of strings passes over nested ones. */
  readonly useFieldDiscovery: boolean;
  readonly fields: readonly FlattenField[];
}

/** Objects to flat ones, as the spec says. */
export function compileFlatten(spec: FlattenSpec): (row: JsonObject) => JsonObject {
  const flatten = compileFlattenSeen(spec);
  return (row) => flatten(row, row);
}

/** The same, where paths see another form of the row. */
export function compileFlattenSeen({ useFieldDiscovery, fields }: FlattenSpec): (row: JsonObject, seenByPaths: JsonObject) => JsonObject {
  return (row, seenByPaths) => {
    const flat = createByName<unknown>();
    if (useFieldDiscovery) Object.assign(flat, row);
    for (const { name, path, isRoot, apply } of fields) {
      const found = findAtPath(isRoot === true ? row : seenByPaths, path) ?? null;
      flat[name] = apply === undefined ? found : apply(found);
    }
    return flat;
  };
}

export function parseFlattenSpec(fields: ObjectReader): FlattenSpec | null {
  const spec = fields.optionalObject('flattenSpec');
  if (spec === undefined) return null;
  spec.accept(['useFieldDiscovery', 'fields']);
  const parsed = spec.array('fields').map((written, position) => {
    if (typeof written === 'string') return { name: written, path: [member(written)], isRoot: true as const };
    const field = spec.reader(written, `${spec.at('fields')}[${position}]`);
    field.accept(['name', 'expr', 'nodes']);
    const name = field.string('name');
    switch (field.type(['root', 'path', 'tree'], { documented: ['jq'] })) {
      case 'root':
        return { name, path: [member(field.optionalString('expr') ?? name)], isRoot: true as const };
      case 'tree':
        return { name, path: field.strings('nodes').map(member) };
      default: {
        const expression = field.string('expr');
        const called = splitPathFunction(expression);
        if (called === null) return { name, path: parseInputPath(expression, field.at('expr')) };
        return { name, path: parseInputPath(called.path, field.at('expr')), apply: called.apply };
      }
    }
  });
  return { useFieldDiscovery: spec.boolean('useFieldDiscovery', true), fields: parsed };
}

function member(name: string): PathPart {
  return { kind: 'field', name };
}
