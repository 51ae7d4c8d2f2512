// Flattens nested records by `flattenSpec`.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { createByName, own } from '../../base/names.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface FlattenField {
  readonly name: string;
  /** Member names and array positions, from the root on. */
  readonly steps: readonly (string | number)[];
}

export interface FlattenSpec {
  /** The fields at the root come along under their own names; discovery of strings passes over nested ones. */
  readonly useFieldDiscovery: boolean;
  readonly fields: readonly FlattenField[];
}

/** Objects to flat ones, as the spec says. */
export function compileFlatten({ useFieldDiscovery, fields }: FlattenSpec): (row: JsonObject) => JsonObject {
  return (row) => {
    const flat = createByName<unknown>();
    if (useFieldDiscovery) Object.assign(flat, row);
    for (const { name, steps } of fields) flat[name] = walk(row, steps);
    return flat;
  };
}

function walk(row: unknown, steps: readonly (string | number)[]): unknown {
  let value = row;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return null;
    if (Array.isArray(value)) value = typeof step === 'number' ? value.at(step) : undefined;
    else value = own(value as JsonObject, String(step));
  }
  return value ?? null;
}

const STEP = /\.([^.[\]*@()?'"\s]+)|\[(-?\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/**
 * A JSONPath of member names and array positions: `$.a.b[0]['c d']`.
 * @throws ServiceError `unsupported` for wildcards, filters, slices, functions and `..`
 */
export function parseJsonPath(text: string, path: string): readonly (string | number)[] {
  if (!text.startsWith('$')) throw new ServiceError('input_invalid', `${path}: expected a JSONPath that begins with $, found "${text}"`);
  const steps: (string | number)[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < text.length) {
    const at = STEP.lastIndex;
    const step = STEP.exec(text);
    if (step === null)
      throw new ServiceError(
        'unsupported',
        `${path}: "${text.slice(at)}" of "${text}" is not supported; accepted: member names and array positions, as in $.a['b c'][0]`,
      );
    const [, member, position, single, double] = step;
    if (position !== undefined) steps.push(Number(position));
    else steps.push(member ?? (single ?? double ?? '').replace(/\\(.)/g, '$1'));
  }
  return steps;
}

export function parseFlattenSpec(fields: ObjectReader): FlattenSpec | null {
  const spec = fields.optionalObject('flattenSpec');
  if (spec === undefined) return null;
  spec.accept(['useFieldDiscovery', 'fields']);
  const parsed = spec.array('fields').map((_, position) => {
    if (typeof spec.array('fields')[position] === 'string') {
      const name = spec.strings('fields')[position] ?? '';
      return { name, steps: [name] };
    }
    const field = spec.reader(spec.array('fields')[position], `${spec.at('fields')}[${position}]`);
    field.accept(['name', 'expr', 'nodes']);
    const name = field.string('name');
    switch (field.type(['root', 'path', 'tree'], { documented: ['jq'] })) {
      case 'root':
        return { name, steps: [field.optionalString('expr') ?? name] };
      case 'tree':
        return { name, steps: field.strings('nodes') };
      default:
        return { name, steps: parseJsonPath(field.string('expr'), field.at('expr')) };
    }
  });
  return { useFieldDiscovery: spec.boolean('useFieldDiscovery', true), fields: parsed };
}
