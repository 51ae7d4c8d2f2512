import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../src/base/errors.js';
import { FUNCTION_NAMES } from '../../src/expression/functions.js';
import { CONTEXT_KEYS } from '../../src/planner/context-keys.js';
import { planNative } from '../../src/planner/native/plan-native.js';
import type { KnownTables } from '../../src/planner/plan.js';

/**
 * Treatment of every documented name of the native query language, found by trying: each name is put into a query where it
 * belongs, and the planner's answer tells whether it is read, refused by name, or unknown.
 */
export type Treatment =
  | { readonly state: 'answered'; readonly note: string }
  | { readonly state: 'refused'; readonly reason: string }
  | { readonly state: 'unknown'; readonly message: string };

export interface CoverageRow {
  readonly name: string;
  readonly treatment: Treatment;
}

type Inventory = Readonly<Record<string, readonly string[]>>;

const FILE = fileURLToPath(new URL('../../../test/fixtures/inventory.json', import.meta.url));
export const DOCUMENT = fileURLToPath(new URL('../../../docs/native-coverage.md', import.meta.url));
const INVENTORY = JSON.parse(readFileSync(FILE, 'utf8')) as Inventory;
const namesOf = (kind: string): readonly string[] => INVENTORY[kind] ?? [];

const TABLES: KnownTables = {
  table: (name) =>
    name !== 't'
      ? undefined
      : {
          interval: { start: 0, end: 86_400_000 },
          columns: [
            { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
            { name: 'd', type: 'STRING', multiValue: false, hasNulls: false },
          ],
        },
};

const base = { dataSource: 't', intervals: '1970-01-01/P1D', granularity: 'all' };
const timeseries = (more: object): object => ({ ...base, queryType: 'timeseries', aggregations: [], ...more });
const groupBy = (more: object): object => ({
  ...base,
  queryType: 'groupBy',
  dimensions: ['d'],
  aggregations: [{ type: 'count', name: 'n' }],
  ...more,
});
const topN = (metric: unknown): object => ({ ...base, queryType: 'topN', dimension: 'd', threshold: 1, aggregations: [], metric });
const segmentMetadata = (more: object): object => ({ queryType: 'segmentMetadata', dataSource: 't', ...more });

/** Minimal query for each kind of name: the name in its place, everything else left out. */
export const PLACES: readonly { readonly title: string; readonly kind: string; readonly query: (name: string) => object }[] = [
  { title: 'Query types', kind: 'queryTypes', query: (queryType) => ({ queryType, dataSource: 't' }) },
  { title: 'Datasources', kind: 'dataSources', query: (type) => timeseries({ dataSource: { type } }) },
  { title: 'Filters', kind: 'filters', query: (type) => timeseries({ filter: { type } }) },
  { title: 'Search specs', kind: 'searchSpecs', query: (type) => ({ ...base, queryType: 'search', query: { type } }) },
  { title: 'Dimension specs', kind: 'dimensionSpecs', query: (type) => groupBy({ dimensions: [{ type }] }) },
  {
    title: 'Extraction functions',
    kind: 'extractionFunctions',
    query: (type) => groupBy({ dimensions: [{ type: 'extraction', dimension: 'd', extractionFn: { type, lookup: 'x' } }] }),
  },
  { title: 'Virtual columns', kind: 'virtualColumns', query: (type) => timeseries({ virtualColumns: [{ type }] }) },
  { title: 'Aggregators', kind: 'aggregators', query: (type) => timeseries({ aggregations: [{ type }] }) },
  { title: 'Post-aggregators', kind: 'postAggregators', query: (type) => timeseries({ postAggregations: [{ type }] }) },
  {
    title: 'Functions of the arithmetic post-aggregator',
    kind: 'arithmeticFunctions',
    query: (fn) => timeseries({ postAggregations: [{ type: 'arithmetic', name: 'x', fn, fields: [] }] }),
  },
  { title: 'Having', kind: 'havingSpecs', query: (type) => groupBy({ having: { type } }) },
  { title: 'TopN metrics', kind: 'topNMetrics', query: (type) => topN({ type }) },
  {
    title: 'Sorting orders',
    kind: 'sortingOrders',
    query: (dimensionOrder) => groupBy({ limitSpec: { type: 'default', columns: [{ dimension: 'd', dimensionOrder }] } }),
  },
  {
    title: 'Granularities',
    kind: 'granularities',
    query: (name) => timeseries({ granularity: name === 'duration' || name === 'period' ? { type: name } : name }),
  },
  {
    title: 'Analyses of segmentMetadata',
    kind: 'segmentMetadataAnalyses',
    query: (name) => segmentMetadata({ analysisTypes: [name] }),
  },
  {
    title: 'Merging aggregators in segmentMetadata',
    kind: 'aggregatorMergeStrategies',
    query: (aggregatorMergeStrategy) => segmentMetadata({ aggregatorMergeStrategy }),
  },
  {
    title: 'Result formats of scan',
    kind: 'scanResultFormats',
    query: (resultFormat) => ({ ...base, granularity: undefined, queryType: 'scan', resultFormat }),
  },
];

export function treatmentInQuery(name: string, query: object): Treatment {
  try {
    planNative(JSON.parse(JSON.stringify(query)), false, TABLES);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'unsupported') return { state: 'refused', reason: reasonOf(name) ?? '' };
    // An error about the rest of the query shows that the name itself was read.
    if (/\bunknown [\w -]+ "|: expected one of /.test(error.message) && error.message.includes(`"${name}"`))
      return { state: 'unknown', message: error.message };
  }
  return { state: 'answered', note: '' };
}

function treatmentOfFunction(name: string): Treatment {
  if (FUNCTION_NAMES.includes(name)) return { state: 'answered', note: '' };
  return { state: 'unknown', message: `unknown expression function "${name}"` };
}

function treatmentOfKey(name: string): Treatment {
  const treatment = CONTEXT_KEYS.get(name)?.native;
  switch (treatment) {
    case undefined:
      return { state: 'unknown', message: `unknown context key "${name}"` };
    case 'honoured':
      return { state: 'answered', note: 'honoured' };
    case 'nothing':
      return { state: 'answered', note: 'accepted: there is one way to the answer, with nothing to tune' };
    case 'elsewhere':
    case 'task':
      return { state: 'answered', note: 'accepted: of SQL statements and tasks, without meaning here' };
    default: {
      const accepted = treatment.filter((value) => value !== null);
      return {
        state: 'refused',
        reason: `asks for another answer or a limit nobody would keep${accepted.length === 0 ? '' : `; accepted as ${accepted.join(', ')}`}`,
      };
    }
  }
}

/** Why names are refused, the first that fits; a refused name without a reason fails the test. */
const REASONS: readonly { readonly names: readonly string[]; readonly reason: string }[] = [
  { names: ['javascript'], reason: 'code that comes with a query is not run' },
  { names: [...namesOf('contrib'), 'movingAverage'], reason: 'of a contributed extension' },
  { names: ['windowOperator', 'union', 'select'], reason: 'internal to Druid, or gone' },
  { names: namesOf('undocumented'), reason: 'registered by Druid, not documented' },
];

function reasonOf(name: string): string | undefined {
  return REASONS.find(({ names }) => names.includes(name))?.reason;
}

export function coverage(): readonly { readonly title: string; readonly rows: readonly CoverageRow[] }[] {
  const rows = (kind: string, treat: (name: string) => Treatment): CoverageRow[] =>
    namesOf(kind).map((name) => ({ name, treatment: treat(name) }));
  return [
    ...PLACES.map(({ title, kind, query }) => ({ title, rows: rows(kind, (name) => treatmentInQuery(name, query(name))) })),
    { title: 'Expression functions', rows: rows('expressionFunctions', treatmentOfFunction) },
    { title: 'Expression operators', rows: rows('expressionOperators', (name) => treatmentOfFunction(name.replace(' (unary)', ''))) },
    { title: 'Context keys', rows: rows('contextKeys', treatmentOfKey) },
  ];
}

const HEAD = `# What of the native query language is answered

Every documented name, and how it is treated: answered, or refused by name with its reason. Nothing is ignored. This page is
written by \`node scripts/native-coverage.mjs\` from what the planner says to each name; a test fails when it is out of date,
or when a name is neither answered nor refused.
`;

/** The page. */
export function coveragePage(): string {
  const parts = coverage().map(({ title, rows }) => {
    const answered = rows.filter(({ treatment }) => treatment.state === 'answered');
    const lines = [`## ${title}`, '', `${answered.length} of ${rows.length} answered.`, ''];
    const plain = answered.flatMap(({ name, treatment }) =>
      treatment.state === 'answered' && treatment.note === '' ? [codeOf(name)] : [],
    );
    if (plain.length > 0) lines.push(`Answered: ${plain.join(', ')}.`, '');
    const noted = new Map<string, string[]>();
    for (const { name, treatment } of rows) {
      const note =
        treatment.state === 'answered' ? treatment.note : treatment.state === 'refused' ? `refused: ${treatment.reason}` : `unknown`;
      if (note !== '') noted.set(note, [...(noted.get(note) ?? []), codeOf(name)]);
    }
    for (const [note, names] of noted) lines.push(`- ${note}: ${names.join(', ')}`);
    return `${lines.join('\n').trimEnd()}\n`;
  });
  return [HEAD, ...parts].join('\n');
}

export function codeOf(name: string): string {
  return name.includes('`') ? name : `\`${name}\``;
}
