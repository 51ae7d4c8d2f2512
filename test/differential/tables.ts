import { stringifyJson } from '../../src/base/json.js';
import type { Fields, Json } from './case.js';
import { Random } from './random.js';

/** A table that both servers load from the same files of JSON lines: one file is one segment. */
export interface DifferentialTable {
  readonly name: string;
  readonly dimensions: readonly Json[];
  readonly segments: readonly (readonly Fields[])[];
  /** Time chunks of Dolmen's segments; left out: all rows are in one. A file may become several segments then. */
  readonly segmentGranularity?: string;
}

/** Keys to values on both servers (the original's test framework brings this lookup along). */
export const LOOKUP = { name: 'lookyloo', map: { a: 'xa', abc: 'xabc', nosuchkey: 'mysteryvalue', '6': 'x6' } } as const;

const MAX = 9_223_372_036_854_775_807n;
const TWO_53 = 9_007_199_254_740_992n;

/** Strings of every odd kind; `null` is a missing value. */
export const STRINGS: readonly (string | null)[] = [
  null,
  '',
  ' ',
  '  padded ',
  'a',
  'A',
  'b',
  'B',
  'ab',
  'aB',
  'abc',
  'ABC',
  'abcabc',
  'á',
  'à',
  'ß',
  'SS',
  'İ',
  'ı',
  'ǅ',
  'é',
  'é',
  '日本語',
  '😀',
  'a😀b',
  '\u{10ffff}',
  '\uffff',
  'ﬀ',
  '٣',
  '１２',
  '0',
  '00',
  '1',
  '01',
  '1.0',
  '1.5',
  '10',
  '2',
  '9',
  '-1',
  '+1',
  '1e3',
  '1E3',
  '.5',
  '5.',
  '0x10',
  '1_000',
  '1,000',
  ' 7 ',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '9007199254740993',
  '1e400',
  'NaN',
  'Infinity',
  '-Infinity',
  'true',
  'false',
  'TRUE',
  'True',
  't',
  'null',
  'NULL',
  'a1',
  'a10',
  'a2',
  'a02',
  'v1.2',
  'v1.10',
  '1.2.3',
  '1.10.0',
  '1.2-alpha',
  'a_b',
  'a%b',
  'a\\b',
  '%',
  '_',
  '\\',
  "'",
  '"',
  '`',
  '[1,2]',
  '{"a":1}',
  '{"a":',
  '$.a',
  'a b c',
  'a,b',
  'a|b',
  'line\nbreak',
  'tab\there',
  '\u0000',
  'a\u0000b',
  '.*',
  '(',
  '^a',
  '[a-c]',
  '$1',
  '2000-01-01',
  '2000-01-01T00:00:00Z',
  '2000-02-30',
  '1.2.3.4',
  '10.0.0.0/8',
  '::1',
  'z'.repeat(300),
]; // prettier-ignore
const FEW = ['a', 'b', 'c', 'A', '', null, '1', '10', '2', 'abc'] as const;
export const LONGS: readonly (bigint | number | null)[] = [
  null,
  0,
  1,
  -1,
  2,
  3,
  7,
  10,
  60,
  100,
  -100,
  255,
  256,
  1000,
  86_400_000,
  2_147_483_647,
  -2_147_483_648,
  2_147_483_648,
  4_294_967_296,
  TWO_53 - 1n,
  TWO_53,
  TWO_53 + 1n,
  -TWO_53 - 1n,
  MAX,
  MAX - 1n,
  -MAX,
  -MAX - 1n,
]; // prettier-ignore
export const DOUBLES: readonly (number | string | null)[] = [
  null,
  0,
  '-0.0',
  1,
  -1,
  0.1,
  0.5,
  -0.5,
  1.5,
  2.5,
  -2.5,
  1 / 3,
  100,
  1e-7,
  123_456_789.125,
  1e15,
  1e16,
  1e21,
  1e300,
  -1e300,
  5e-324,
  2.2250738585072014e-308,
  1.7976931348623157e308,
  9_007_199_254_740_994,
  9.223372036854775e18,
]; // prettier-ignore
const FLOATS: readonly (number | string | null)[] = [
  null,
  0,
  '-0.0',
  1,
  -1,
  0.1,
  0.2,
  0.5,
  1.5,
  -2.5,
  1 / 3,
  16_777_216,
  16_777_217,
  1e10,
  3.4028235e38,
  1.4e-45,
  100,
]; // prettier-ignore
/** Times: years 1 to 9999, leap days, both ends of daylight saving in New York and Berlin. */
export const TIMES: readonly string[] = [
  '0001-01-01T00:00:00.000Z',
  '0099-12-31T23:59:59.999Z',
  '1582-10-15T00:00:00.000Z',
  '1883-11-18T17:00:00.000Z',
  '1899-12-31T12:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00.000Z',
  '1999-12-31T23:59:59.999Z',
  '2000-01-01T00:00:00.000Z',
  '2000-02-29T12:34:56.789Z',
  '2001-09-09T01:46:40.000Z',
  '2015-03-08T06:59:59.999Z',
  '2015-03-08T07:00:00.000Z',
  '2015-03-29T00:59:59.999Z',
  '2015-03-29T01:00:00.000Z',
  '2015-09-12T00:46:58.771Z',
  '2015-09-12T13:30:00.000Z',
  '2015-09-13T02:00:00.000Z',
  '2015-10-25T00:30:00.000Z',
  '2015-10-25T01:30:00.000Z',
  '2015-11-01T05:30:00.000Z',
  '2015-11-01T06:30:00.000Z',
  '2015-12-31T23:00:00.000Z',
  '2016-02-29T00:00:00.000Z',
  '2019-12-30T00:00:00.000Z',
  '2020-12-31T22:15:00.000Z',
  '2021-01-03T23:59:59.000Z',
  '2100-03-01T00:00:00.000Z',
  '2401-07-01T12:00:00.000Z',
  '9999-12-31T23:59:59.000Z',
]; // prettier-ignore
const DOCUMENTS: readonly Json[] = [
  null,
  {},
  { a: 1 },
  { a: '1' },
  { a: 1.5 },
  { a: true },
  { a: null },
  { a: [] },
  { a: [1] },
  { a: [1, 2, 3] },
  { a: ['x', null, 'y'] },
  { a: [true, false] },
  { a: { b: 'deep' } },
  { a: { b: 7 } },
  { a: [{ b: 1 }, { b: 2 }] },
  { b: 'only b' },
  { b: '', c: false },
  { 'x.y': 1, 'q"r': 2 },
  { a: 1e300, b: 0.1 },
  { a: 'long', list: [[1, 2], [3]] },
  { a: -5 },
  { a: MAX },
  'plain',
  17,
  1.25,
  true,
  [1, 2, 3],
  ['p', 'q'],
  { a: { b: { c: { d: 1 } } } },
]; // prettier-ignore

/** Rows in three segments; `id` tells rows apart, and no two have the same time. */
export function nasty(rowCount = 300): DifferentialTable {
  const random = new Random(20_260);
  const rows = Array.from({ length: rowCount }, (_, id): Fields => {
    const letters = (): string | null => random.pick(FEW);
    const listed = <Value extends Json>(values: readonly Value[], nullChance: number): Json =>
      random.chance(nullChance) ? null : random.list(0, 4, () => random.pick(values));
    // `[]` of a multi-value column is not asked for: docs/differences.md, "a multi-value row without values".
    const values = (list: Json): Json => (Array.isArray(list) && list.length === 0 ? null : list);
    const row: Record<string, Json> = {
      t: new Date(Date.parse(random.pick(TIMES)) - 7 * id + 2100).toISOString().replace(/^\+0(\d{5})/, '$1'),
      id,
      s: STRINGS[id % STRINGS.length] ?? null,
      k: letters(),
      mv: random.chance(0.25) ? letters() : values(listed(FEW, 0.1)),
      mv2: values(listed(['a', 'b', '3', '', 'a😀b', null], 0.2)),
      n: random.chance(0.1) ? null : random.below(12) - 2,
      l: random.pick(LONGS),
      d: random.pick(DOUBLES),
      f: random.pick(FLOATS),
      x: random.chance(0.1) ? null : random.below(2001) / 8 - 125,
      b: random.pick(['true', 'false', '1', '0', 'TRUE', '', null]),
      ts: Date.parse(random.pick(TIMES)) + random.below(1000),
      al: listed([1, 2, 3, TWO_53 + 1n, -7, null], 0.15),
      ad: listed([0.1, 1.5, -2, 3.25, null], 0.15),
      as: listed(['a', 'b', '', '1', null], 0.15),
      j: random.pick(DOCUMENTS),
      j2: { p: random.below(5), q: random.pick(['u', 'v', null]), r: random.list(0, 3, () => random.below(3)) },
    };
    return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null || random.chance(0.5)));
  });
  return {
    name: 'nasty',
    dimensions: [
      { type: 'long', name: 'id' },
      { type: 'string', name: 's' },
      { type: 'string', name: 'k' },
      { type: 'string', name: 'mv' },
      { type: 'string', name: 'mv2', multiValueHandling: 'ARRAY' },
      { type: 'long', name: 'n' },
      { type: 'long', name: 'l' },
      { type: 'double', name: 'd' },
      { type: 'float', name: 'f' },
      { type: 'double', name: 'x' },
      { type: 'string', name: 'b' },
      { type: 'long', name: 'ts' },
      { type: 'auto', name: 'al', castToType: 'ARRAY<LONG>' },
      { type: 'auto', name: 'ad', castToType: 'ARRAY<DOUBLE>' },
      { type: 'auto', name: 'as', castToType: 'ARRAY<STRING>' },
      { type: 'json', name: 'j' },
      { type: 'json', name: 'j2' },
    ],
    segments: [rows.slice(0, 110), rows.slice(110, 220), rows.slice(220)],
  };
}

/** A small table to join with: keys that occur in `nasty.k` and `nasty.n`, one twice, one never, one null. */
export function small(): DifferentialTable {
  const keys = ['a', 'b', 'b', 'c', '', null, 'zz', '10'];
  return {
    name: 'small',
    dimensions: [
      { type: 'string', name: 'key' },
      { type: 'long', name: 'num' },
      { type: 'double', name: 'w' },
    ],
    segments: [keys.map((key, at) => ({ t: `2015-09-12T0${at}:00:00.000Z`, key, num: at % 3 === 2 ? null : at - 1, w: at / 2 }))],
  };
}

export const TABLES: readonly DifferentialTable[] = [nasty(), small()];

/** The lines of one segment's file. */
export function linesOf(rows: readonly Fields[]): string {
  return rows.map((row) => stringifyJson(row)).join('\n');
}

export function dataSchemaOf(table: DifferentialTable): { readonly [name: string]: Json } {
  return {
    dataSource: table.name,
    timestampSpec: { column: 't', format: 'iso' },
    dimensionsSpec: { dimensions: table.dimensions },
    granularitySpec: { type: 'uniform', segmentGranularity: table.segmentGranularity ?? 'ALL', queryGranularity: 'NONE', rollup: false },
  };
}
