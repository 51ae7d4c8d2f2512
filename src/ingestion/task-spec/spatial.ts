// Reads spatial dimensions of a task.

import type { ObjectReader } from '../../base/json-reader.js';
import { call, type Expression } from '../../model/expression.js';
import { type ColumnPlan, columnPlan } from '../builder/run-buffer.js';

/** A dimension of coordinates: a field of its name, or the fields `parts` with commas between them. Stored as such a text. */
export interface SpatialDimension {
  readonly name: string;
  readonly parts: readonly string[];
}

type Transform = { readonly name: string; readonly expression: Expression };

/** @param dimensions  the dimensionsSpec: `spatialDimensions`, and `dimensions` of type spatial */
export function parseSpatialDimensions(dimensions: ObjectReader): readonly SpatialDimension[] {
  const listed = dimensions.objects('spatialDimensions').map((fields) => {
    fields.accept(['dimName', 'dims']);
    return spatialDimension(fields, 'dimName');
  });
  const typed = dimensions.array('dimensions').flatMap((value, position) => {
    if (typeof value === 'string') return [];
    const fields = dimensions.reader(dimensions.array('dimensions')[position], `${dimensions.at('dimensions')}[${position}]`);
    if (fields.raw('type') !== 'spatial') return [];
    fields.accept(['name', 'dims']);
    return [spatialDimension(fields, 'name')];
  });
  return [...listed, ...typed];
}

function spatialDimension(fields: ObjectReader, key: string): SpatialDimension {
  return { name: fields.string(key), parts: fields.strings('dims') };
}

export function spatialColumn({ name }: SpatialDimension): ColumnPlan {
  return columnPlan(name, 'STRING', 'SINGLE');
}

/** The transforms of a spec and, after them, those that make coordinates of what they or the input give. */
export function withSpatialTransforms(transforms: readonly Transform[], spatial: readonly SpatialDimension[]): readonly Transform[] {
  const given = new Map(transforms.map(({ name, expression }) => [name, expression]));
  const operand = (name: string): Expression => given.get(name) ?? { kind: 'column', name };
  return [
    ...transforms.filter(({ name }) => !spatial.some((dimension) => dimension.name === name)),
    ...spatial.map(
      ({ name, parts }): Transform => ({
        name,
        expression: call(':spatial_coordinates', operand(name), ...parts.map(operand)),
      }),
    ),
  ];
}
