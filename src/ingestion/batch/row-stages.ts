// The stages that rows of the input pass on their way into a store.

import { columnsOfExpression, columnsOfFilter } from '../../model/columns-read.js';
import { RowCollector, type TimeRange } from '../builder/row-collector.js';
import type { RowStore } from '../builder/row-store.js';
import { RowTransformer } from '../builder/row-transformer.js';
import type { RowStatistics } from '../report/row-statistics.js';
import type { LazyEngine } from '../task-engine.js';
import type { DataSchema } from '../task-spec/data-schema.js';

export interface StagesOptions {
  readonly dataSchema: Pick<DataSchema, 'timestamp' | 'dimensions' | 'metrics' | 'transforms' | 'filter'>;
  readonly range: TimeRange;
  readonly maxColumns: number;
  readonly statistics: RowStatistics;
  readonly engine: Pick<LazyEngine, 'get'>;
  readonly store: RowStore;
}

export interface Stages {
  readonly collector: RowCollector;
  /** null: any. */
  readonly columnsRead: ReadonlySet<string> | null;
  relieve(): Promise<void>;
  finish(): Promise<void>;
}

/** Collector → store; with transforms or a filter, collector → transformer → store. */
export function openStages({ dataSchema, range, maxColumns, statistics, engine, store }: StagesOptions): Stages {
  const { timestamp, dimensions, metrics, transforms, filter } = dataSchema;
  const { discovery } = dimensions;
  const leavesOutNested = discovery === 'STRING';
  const sources = new Map(metrics.flatMap(({ inputs }) => inputs.map(({ field, column }) => [column.name, field] as const)));
  const fields = [timestamp.column, ...dimensions.declared.map(({ name }) => name), ...sources.values()];
  if (transforms.length === 0 && filter === null) {
    const collector = new RowCollector(
      { timestamp, range, sources, discovery, leavesOutNested, exclusions: dimensions.exclusions, countsRows: true, maxColumns },
      store.input,
      statistics,
    );
    return {
      collector,
      columnsRead: discovery === 'none' ? new Set(fields) : null,
      relieve: () => store.relieve(),
      finish: async () => undefined,
    };
  }
  const exclusions = new Set(dimensions.exclusions);
  const transformer = new RowTransformer({
    spec: { transforms, filter },
    sources,
    store,
    range,
    engine: engine.get(),
    statistics,
    discovery: { type: discovery, exclusions },
  });
  const collector = new RowCollector(
    {
      timestamp,
      range: null,
      sources: transformer.filterSources,
      discovery: discovery === 'none' ? 'none' : 'AUTO',
      leavesOutNested,
      exclusions: dimensions.exclusions,
      countsRows: false,
      maxColumns,
      noted: (block, firstRow) => transformer.note(block, firstRow),
    },
    transformer.input,
    statistics,
  );
  const read = new Set([
    ...fields,
    ...transforms.flatMap(({ expression }) => [...columnsOfExpression(expression)]),
    ...(filter === null ? [] : columnsOfFilter(filter)),
  ]);
  return {
    collector,
    columnsRead: discovery === 'none' ? read : null,
    relieve: () => transformer.relieve(),
    async finish() {
      await transformer.finish();
      transformer.input.close();
    },
  };
}
