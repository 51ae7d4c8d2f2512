// Tells the columns that the rows of a sample have.

import type { ColumnType } from '../../model/schema.js';
import type { RowStore } from '../builder/row-store.js';
import type { SampleSpec } from './sample-spec.js';
import type { SampledRows } from './sampled-rows.js';

export interface SampledColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Declared in the spec, found in the input, or a metric. */
  readonly origin: 'declared' | 'discovered' | 'metric';
  /** Whether its values decided its type. */
  readonly isAuto: boolean;
}

/** Dimensions as they were declared, then those that were found, in the order of the input; then metrics. */
export function columnsOf(
  { dataSchema, keepsNullColumns }: SampleSpec,
  store: RowStore,
  { columns: found }: SampledRows,
): readonly SampledColumn[] {
  const { dimensions, metrics, transforms } = dataSchema;
  const declared = new Map(dimensions.declared.map((plan) => [plan.name, plan]));
  const stored = new Map(store.dimensions().map(({ name, type }) => [name, type as ColumnType]));
  if (keepsNullColumns && dimensions.discovery !== 'none') {
    const others = new Set([...dimensions.exclusions, ...metrics.map(({ name }) => name), ...transforms.map(({ name }) => name)]);
    for (const [name, hasValues] of found) if (!hasValues && !stored.has(name) && !others.has(name)) stored.set(name, 'STRING');
  }
  const places = new Map([...found.keys()].map((name, place) => [name, place]));
  const discovered = [...stored.keys()].filter((name) => !declared.has(name));
  discovered.sort((left, right) => (places.get(left) ?? places.size) - (places.get(right) ?? places.size));
  return [
    ...[...declared].map(([name, plan]): SampledColumn => {
      return { name, type: stored.get(name) ?? 'STRING', origin: 'declared', isAuto: plan.type === 'AUTO' };
    }),
    ...discovered.map((name): SampledColumn => {
      return { name, type: stored.get(name) ?? 'STRING', origin: 'discovered', isAuto: dimensions.discovery === 'AUTO' };
    }),
    ...metrics.map(({ name, type }): SampledColumn => ({ name, type, origin: 'metric', isAuto: false })),
  ];
}
