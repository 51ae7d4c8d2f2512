import type { Json } from '../case.js';
import type { Random } from '../random.js';
import { LOOKUP } from '../tables.js';
import { number, text } from './expressions.js';

/** Parts that several types of native queries share: data source columns, intervals, granularities, virtual columns. */

export const STRING_COLUMNS = ['s', 'k', 'mv', 'mv2', 'b'] as const;
export const LONG_COLUMNS = ['n', 'l', 'ts', 'id'] as const;
export const DOUBLE_COLUMNS = ['d', 'x', 'f'] as const;
export const NUMBER_COLUMNS = [...LONG_COLUMNS, ...DOUBLE_COLUMNS] as const;
export const ARRAY_COLUMNS = ['al', 'ad', 'as'] as const;

export const EVERYTHING = '0001-01-01/+10000-01-01';
const ZONES = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', '-08:00'];

export function anyColumn(random: Random): string {
  const at = random.below(12);
  if (at < 6) return random.pick(STRING_COLUMNS);
  if (at < 10) return random.pick(NUMBER_COLUMNS);
  return at === 10 ? '__time' : random.pick(['missing', 'v0', 'w0', 'as', 'al']);
}

/** Traits of a query that decide which datasources it is compared over: docs/differences.md. */
export interface DataSourceLimits {
  /** Whether the query reads the rows that unnesting makes: a search of the original does not. */
  readonly isUnnested: boolean;
  /** Whether the query asks for no buckets, no order and one interval: only then rows that are in no order of time are all answered by the original. */
  readonly isTimeless: boolean;
}

/** The table, or what is made of it. */
export function dataSource(random: Random, { isUnnested, isTimeless }: DataSourceLimits): Json {
  if (random.chance(isTimeless ? 0.6 : 0.85)) return 'nasty';
  const table = { type: 'table', name: 'nasty' };
  return random.pick<Json>([
    table,
    ...(isTimeless ? [rowsOfQuery(random), rowsOfQuery(random), inlineRows(random), { type: 'lookup', lookup: LOOKUP.name }] : []),
    { type: 'union', dataSources: ['nasty', 'small'] },
    {
      type: 'join',
      left: table,
      right: { type: 'lookup', lookup: LOOKUP.name },
      rightPrefix: 'r.',
      condition: 'k == "r.k"',
      joinType: random.pick(['LEFT', 'INNER']),
    },
    ...(isUnnested
      ? [
          {
            type: 'unnest',
            base: table,
            virtualColumn: { type: 'expression', name: 'u', expression: '"as"', outputType: 'ARRAY<STRING>' },
          },
        ]
      : []),
  ]);
}

/** The rows of a query: those of a scan, or groups. Not lists of strings, nor first and last of rows alike in time: docs/differences.md. */
function rowsOfQuery(random: Random): Json {
  const [dataSource, intervals] = ['nasty', [EVERYTHING]];
  if (random.chance(0.5)) {
    const columns = ['__time', 'id', 's', 'k', 'n', 'l', 'd', 'f', 'x', 'b', 'ts', 'al', 'ad', 'as', 'j'];
    const rows = { queryType: 'scan', dataSource, intervals, columns, resultFormat: 'compactedList' };
    return { type: 'query', query: random.chance(0.3) ? { ...rows, order: 'ascending', limit: 50 } : rows };
  }
  const dimensions = random.some<Json>(
    [
      's',
      'k',
      'mv',
      'b',
      { type: 'default', dimension: 'n', outputName: 'n', outputType: 'LONG' },
      { type: 'default', dimension: 'x', outputName: 'x', outputType: 'DOUBLE' },
    ],
    3,
  );
  const aggregations = [
    { type: 'count', name: 'id' },
    { type: 'longSum', name: 'l', fieldName: 'n' },
    { type: 'doubleMax', name: 'd', fieldName: 'x' },
    { type: 'floatMin', name: 'f', fieldName: 'x' },
  ];
  return { type: 'query', query: { queryType: 'groupBy', dataSource, intervals, granularity: 'all', dimensions, aggregations } };
}

/** Rows that the query brings along. */
function inlineRows(random: Random): Json {
  const columns: readonly (readonly [name: string, type: string, values: readonly Json[]])[] = [
    ['__time', 'LONG', [0, 1_442_018_818_000, 1_442_018_818_771]],
    ['id', 'LONG', [1, 2, 3, 9_007_199_254_740_993n]],
    ['s', 'STRING', ['a', 'b', '', null, '1', 'ß']],
    ['k', 'STRING', ['a', 'b', 'c', null, '']],
    ['n', 'LONG', [null, 0, 1, -2, 9]],
    ['l', 'LONG', [null, 0, 1, 9_223_372_036_854_775_807n]],
    ['d', 'DOUBLE', [null, 0, 0.1, -2.5, 1e300]],
    ['f', 'FLOAT', [null, 0, 0.1, 1.5]],
    ['x', 'DOUBLE', [null, 1, 2, 0.125]],
    ['al', 'ARRAY<LONG>', [null, [], [1, null], [1, 2, 3]]],
    ['as', 'ARRAY<STRING>', [null, [], ['a', null], ['a', 'b']]],
  ];
  return {
    type: 'inline',
    columnNames: columns.map(([name]) => name),
    columnTypes: columns.map(([, type]) => type),
    rows: random.list(0, 12, () => columns.map(([, , values]) => random.pick(values))),
  };
}

export function intervals(random: Random): Json {
  if (random.chance(0.6)) return [EVERYTHING];
  return random.list(1, 2, () =>
    random.pick([
      '2000-01-01/2020-01-01',
      '2015-01-01/2016-01-01',
      '2015-09-12/2015-09-13',
      '2015-03-08T06:00:00/2015-03-08T09:00:00',
      '1900-01-01/1900-01-02',
      '0001-01-01/1970-01-01',
      '2015-09-12T00:46:58.000/P1D',
    ]),
  );
}

/** Granularities with the intervals that they cut into a bearable number of buckets. */
const BUCKETS: readonly {
  readonly names: readonly string[];
  readonly periods: readonly string[];
  readonly intervals: readonly string[];
}[] = [
  { names: ['all', 'ALL'], periods: ['P100Y', 'P50Y'], intervals: [EVERYTHING] },
  {
    names: ['year', 'quarter', 'month'],
    periods: ['P1Y', 'P3M', 'P1M', 'P8W', 'P5Y'],
    intervals: ['2000-01-01/2020-01-01', '1999-06-01/2002-01-01'],
  },
  {
    names: ['minute', 'five_minute', 'ten_minute', 'fifteen_minute', 'thirty_minute', 'second', 'eight_hour'],
    periods: ['PT1M', 'PT15M', 'PT30M', 'PT1S'],
    intervals: [
      '2015-09-12T00:46:30/2015-09-12T00:47:10',
      '2015-03-08T06:59:00/2015-03-08T07:01:00',
      '2001-09-09T01:46:30/2001-09-09T01:47:00',
    ],
  },
  {
    names: ['day', 'hour', 'six_hour', 'week'],
    periods: ['P1D', 'PT1H', 'PT6H', 'P1W', 'P1DT1H'],
    intervals: [
      '2015-03-07/2015-03-10',
      '2015-03-28/2015-03-31',
      '2015-10-24/2015-10-27',
      '2015-10-31/2015-11-03',
      '2015-09-12/2015-09-14',
    ],
  },
];

export function buckets(random: Random): { readonly granularity: Json; readonly intervals: Json } {
  if (random.chance(0.4)) return { granularity: random.pick<Json>(['all', 'ALL', { type: 'all' }]), intervals: intervals(random) };
  const { names, periods, intervals: within } = random.pick(BUCKETS);
  const origin = random.chance(0.2) ? { origin: random.pick(['2015-03-08T07:30:00Z', '2000-01-01T00:00:00-05:00']) } : undefined;
  if (random.chance(0.3)) return { granularity: random.pick(names), intervals: [random.pick(within)] };
  if (random.chance(0.1))
    return {
      granularity: { type: 'duration', duration: random.pick([86_400_000, 5_400_000]), ...(origin ?? {}) },
      intervals: ['2015-09-12/2015-09-14'],
    };
  const period = random.pick(periods);
  const timeZone = random.chance(0.7) ? { timeZone: random.pick(zonesFor(period, origin !== undefined)) } : {};
  return { granularity: { type: 'period', period, ...timeZone, ...(origin ?? {}) }, intervals: [random.pick(within)] };
}

/** Zones whose clocks do not change within the length of the period, and where an origin is not the last of a month: docs/differences.md. */
function zonesFor(period: string, hasOrigin: boolean): readonly string[] {
  if (hasOrigin && period !== 'P1DT1H')
    return ZONES.filter((zone) => zone !== '-08:00' && !(period === 'PT6H' && zone === 'Australia/Lord_Howe'));
  if (period === 'P1DT1H') return ['UTC', '-08:00'];
  return period === 'PT6H' ? ZONES.filter((zone) => zone !== 'Australia/Lord_Howe') : ZONES;
}

export function virtualColumns(random: Random): Json {
  if (random.chance(0.15)) {
    return [
      random.pick<Json>([
        // Nulls among other values are left out: docs/differences.md.
        { type: 'mv-filtered', name: 'v0', delegate: 'mv', values: ['a', 'b'], isAllowList: true },
        { type: 'mv-filtered', name: 'v0', delegate: 'mv', values: ['a', 'b', null], isAllowList: false },
        { type: 'mv-regex-filtered', name: 'v0', delegate: 'mv', pattern: '^[ab]' },
        { type: 'mv-prefix-filtered', name: 'v0', delegate: 'mv', prefix: 'a' },
        {
          type: 'nested-field',
          columnName: 'j',
          outputName: 'v0',
          path: random.pick(['$.b', '$.a.b', '$.a[0]', '$.missing']),
          expectedType: 'STRING',
        },
        { type: 'nested-field', columnName: 'j2', outputName: 'w0', path: random.pick(['$.p', '$.r[1]']), expectedType: 'LONG' },
        { type: 'nested-field', columnName: 'j2', outputName: 'v0', path: '$.q', expectedType: 'STRING' },
      ]),
    ];
  }
  const columns = [
    { type: 'expression', name: 'v0', expression: text(random), ...(random.chance(0.5) ? { outputType: 'STRING' } : {}) },
    { type: 'expression', name: 'w0', ...number(random, random.chance(0.5)) },
  ];
  return random.chance(0.3) ? columns : [random.pick(columns)];
}

export function extractionFn(random: Random, depth = 1): Json {
  const at = random.below(depth > 0 ? 14 : 12);
  switch (at) {
    case 0:
      return {
        type: 'regex',
        expr: random.pick(['^(.)', '(b)', '([0-9]+)', '(x)?']),
        ...(random.chance(0.4) ? { index: 0 } : {}),
        ...(random.chance(0.4) ? { replaceMissingValue: true, replaceMissingValueWith: random.pick(['none', '', null]) } : {}),
      };
    case 1:
      return { type: 'partial', expr: random.pick(['a', '^1', 'b$']) };
    case 2:
      return { type: 'searchQuery', query: { type: 'contains', value: 'a', caseSensitive: random.chance(0.5) } };
    case 3:
    case 4:
      return { type: 'substring', index: random.below(3), ...(random.chance(0.6) ? { length: 1 + random.below(2) } : {}) };
    case 5:
      // The length of null is not asked for: docs/differences.md.
      return { type: 'cascade', extractionFns: [{ type: 'stringFormat', format: '%s', nullHandling: 'emptyString' }, { type: 'strlen' }] };
    case 6:
      return { type: 'upper' };
    case 7:
      return { type: 'lower' };
    case 8:
    case 9:
      return {
        type: 'lookup',
        lookup: {
          type: 'map',
          map: random.pick([
            { a: 'x', b: 'x', '': 'empty' },
            { a: 'b', b: 'c', c: 'a' },
            { a: '', '1': 'one' },
          ]),
        },
        ...(random.chance(0.5)
          ? { retainMissingValue: true }
          : random.chance(0.5)
            ? { replaceMissingValueWith: random.pick(['gone', '']) }
            : {}),
      };
    case 10:
      return { type: 'registeredLookup', lookup: 'lookyloo', retainMissingValue: random.chance(0.5) };
    case 11:
      return {
        type: 'stringFormat',
        format: random.pick(['<%s>', 'x', '%s%%']),
        nullHandling: random.pick(['nullString', 'emptyString', 'returnNull']),
      };
    case 12:
      return { type: 'cascade', extractionFns: [extractionFn(random, 0), extractionFn(random, 0)] };
    default:
      return { type: 'bucket', size: random.pick([1, 5, 2.5]), offset: random.pick([0, 1, 0.5]) };
  }
}

/** The length and the end of a double are not asked for, which depend on its digits: docs/differences.md. */
function extractionFnOf(random: Random, column: string): Json {
  for (;;) {
    const found = extractionFn(random);
    if (column !== 'd' || !/strlen|substring/.test(JSON.stringify(found))) return found;
  }
}

export function timeExtractionFn(random: Random): Json {
  if (random.chance(0.3))
    return { type: 'time', timeFormat: "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", resultFormat: random.pick(['yyyy', 'MM/yy']), joda: true };
  return {
    type: 'timeFormat',
    ...(random.chance(0.8)
      ? { format: random.pick(['yyyy', 'yyyy-MM-dd HH', 'EEEE', 'MMM', 'w', 'e', "hh 'h' a", 'D', 'xxxx', 'SSS', 'Z', 'ZZ', 'G']) }
      : {}),
    ...(random.chance(0.6) ? { timeZone: random.pick(ZONES) } : {}),
    ...(random.chance(0.3) ? { locale: 'en' } : {}),
    ...(random.chance(0.4)
      ? { granularity: random.pick<Json>(['day', 'month', 'year', { type: 'period', period: 'P1M', timeZone: 'Europe/Berlin' }]) }
      : {}),
    ...(random.chance(0.1) ? { asMillis: true } : {}),
  };
}

export function dimension(random: Random, outputName: string): Json {
  const column = anyColumn(random);
  // Lists as strings are not asked for: docs/differences.md.
  if ((ARRAY_COLUMNS as readonly string[]).includes(column)) return dimension(random, outputName);
  const at = random.below(10);
  if (at < 3) return column;
  // Extraction functions of virtual columns that are numbers are not asked for: docs/differences.md.
  if (at < 6 || column === 'v0' || column === 'w0') {
    // Keys of -0.0 are not asked for: docs/differences.md.
    const outputType = random.pick([undefined, 'STRING', 'LONG', ...(['d', 'f'].includes(column) ? [] : ['DOUBLE', 'FLOAT']), 'STRING']);
    return { type: 'default', dimension: column, outputName, ...(outputType === undefined ? {} : { outputType }) };
  }
  if (at < 8)
    return {
      type: 'extraction',
      dimension: column,
      outputName,
      extractionFn: column === '__time' ? timeExtractionFn(random) : extractionFnOf(random, column),
    };
  if (at === 8) {
    const delegate = { type: 'default', dimension: random.pick(['mv', 'mv2', 'k']), outputName };
    return random.pick<Json>([
      { type: 'listFiltered', delegate, values: random.some(['a', 'b', '', '1', null], 3), isWhitelist: random.chance(0.7) },
      { type: 'regexFiltered', delegate, pattern: random.pick(['^a', '[0-9]', '^$']) },
      { type: 'prefixFiltered', delegate, prefix: random.pick(['a', '1', '']) },
    ]);
  }
  return {
    type: 'lookup',
    dimension: random.pick(['k', 'mv', 's']),
    outputName,
    ...(random.chance(0.5) ? { name: 'lookyloo' } : { lookup: { type: 'map', map: { a: 'x', b: '' }, isOneToOne: false } }),
    ...(random.chance(0.5) ? { retainMissingValue: true } : {}),
  };
}

export const ORDERINGS = ['lexicographic', 'alphanumeric', 'strlen', 'numeric', 'version'] as const;
/** Without those in which `a` and `A` tie. */
export const SORT_ORDERINGS = ORDERINGS.filter((ordering) => ordering !== 'version' && ordering !== 'alphanumeric');
