import { wikiIngestion } from '../data/wiki.js';

/** The task that loads `wiki.csv` of a folder into one segment. */
export function oneSegment(folder: string): unknown {
  const { spec, ...task } = wikiIngestion(folder) as { readonly spec: { readonly dataSchema: Readonly<Record<string, unknown>> } };
  const granularitySpec = { type: 'uniform', segmentGranularity: 'month', queryGranularity: 'none', rollup: false };
  return { ...task, spec: { ...spec, dataSchema: { ...spec.dataSchema, granularitySpec } } };
}
