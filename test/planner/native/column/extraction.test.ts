import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import type { FrameCell } from '../../../../src/model/frame.js';
import { ask, memory } from '../answers.js';

/** Values of a dimension with their number of rows; pages are Paris, null, '', parrot, 2024-03-05, in this order. */
const groupBy = (dimension: unknown, more: object = {}): object => ({
  queryType: 'groupBy',
  dataSource: 'edits',
  intervals: '2024-01-01/P2D',
  granularity: 'all',
  dimensions: [dimension],
  aggregations: [{ type: 'count', name: 'rows' }],
  ...more,
});
const extracted = (dimension: string, extractionFn: object): object => ({ type: 'extraction', dimension, outputName: 'd', extractionFn });
const values = async (query: object): Promise<Record<string, number>> =>
  Object.fromEntries((await ask(query)).map(([value, rows]) => [String(value), Number(rows)]));

const functions = suite('extraction functions');

const cases: readonly { name: string; fn: object; column?: string; expected: Record<string, number> }[] = [
  { name: 'identity', fn: { type: 'identity' }, expected: { null: 1, '': 1, '2024-03-05': 1, Paris: 1, parrot: 1 } },
  {
    name: 'regex gives the first group, else the value',
    fn: { type: 'regex', expr: '([Pp]a)r' },
    expected: { null: 1, '': 1, '2024-03-05': 1, Pa: 1, pa: 1 },
  },
  {
    name: 'regex with another group and a replacement',
    fn: { type: 'regex', expr: '([Pp])a(.)', index: 2, replaceMissingValue: true, replaceMissingValueWith: 'none' },
    expected: { none: 3, r: 2 },
  },
  { name: 'regex replacing by null', fn: { type: 'regex', expr: '^(P)', replaceMissingValue: true }, expected: { null: 4, P: 1 } },
  { name: 'partial', fn: { type: 'partial', expr: 'a' }, expected: { null: 3, Paris: 1, parrot: 1 } },
  {
    name: 'searchQuery',
    fn: { type: 'searchQuery', query: { type: 'insensitive_contains', value: 'PAR' } },
    expected: { null: 3, Paris: 1, parrot: 1 },
  },
  { name: 'substring', fn: { type: 'substring', index: 1, length: 3 }, expected: { null: 2, '024': 1, ari: 1, arr: 1 } },
  { name: 'substring to the end', fn: { type: 'substring', index: 4 }, expected: { null: 2, '-03-05': 1, s: 1, ot: 1 } },
  { name: 'strlen counts null as 0', fn: { type: 'strlen' }, expected: { 0: 2, 10: 1, 5: 1, 6: 1 } },
  { name: 'upper', fn: { type: 'upper' }, expected: { null: 1, '': 1, '2024-03-05': 1, PARIS: 1, PARROT: 1 } },
  { name: 'lower', fn: { type: 'lower', locale: 'en' }, expected: { null: 1, '': 1, '2024-03-05': 1, paris: 1, parrot: 1 } },
  {
    name: 'lookup drops what it does not have, and null',
    fn: { type: 'lookup', lookup: { type: 'map', map: { Paris: 'FR', '': 'nothing' } } },
    expected: { null: 3, FR: 1, nothing: 1 },
  },
  {
    name: 'lookup that retains',
    fn: { type: 'lookup', lookup: { type: 'map', map: { Paris: 'FR' } }, retainMissingValue: true, injective: true },
    expected: { null: 1, '': 1, FR: 1, parrot: 1, '2024-03-05': 1 },
  },
  {
    name: 'lookup that replaces',
    fn: { type: 'lookup', lookup: { type: 'map', map: { Paris: 'FR' } }, replaceMissingValueWith: '?' },
    expected: { FR: 1, '?': 4 },
  },
  {
    name: 'cascade',
    fn: { type: 'cascade', extractionFns: [{ type: 'partial', expr: 'a' }, { type: 'substring', index: 0, length: 2 }, { type: 'upper' }] },
    expected: { null: 3, PA: 2 },
  },
  {
    name: 'stringFormat',
    fn: { type: 'stringFormat', format: '[%s]' },
    expected: { '[null]': 1, '[]': 1, '[2024-03-05]': 1, '[Paris]': 1, '[parrot]': 1 },
  },
  {
    name: 'stringFormat of null as empty',
    fn: { type: 'stringFormat', format: '<%3s>', nullHandling: 'emptyString' },
    expected: { '<   >': 2, '<2024-03-05>': 1, '<Paris>': 1, '<parrot>': 1 },
  },
  {
    name: 'stringFormat of null as null',
    fn: { type: 'stringFormat', format: '[%s]', nullHandling: 'returnNull' },
    expected: { null: 1, '[]': 1, '[2024-03-05]': 1, '[Paris]': 1, '[parrot]': 1 },
  },
  { name: 'bucket of longs', column: 'added', fn: { type: 'bucket', size: 10, offset: 2 }, expected: { null: 1, '-8': 1, 2: 2, 12: 1 } },
  { name: 'bucket of doubles', column: 'price', fn: { type: 'bucket', size: 0.5 }, expected: { null: 1, 1.5: 1, 2: 1, 0: 1, '-2.5': 1 } },
  { name: 'bucket of texts', fn: { type: 'bucket' }, expected: { null: 5 } },
  {
    name: 'timeFormat of text',
    fn: { type: 'timeFormat', format: 'MMMM yyyy', timeZone: 'Europe/Paris' },
    expected: { null: 4, 'March 2024': 1 },
  },
  { name: 'timeFormat of __time', column: '__time', fn: { type: 'timeFormat', format: 'EEEE' }, expected: { Monday: 3, Tuesday: 2 } },
  {
    name: 'timeFormat by granularity, in ISO 8601',
    column: '__time',
    fn: { type: 'timeFormat', granularity: 'day' },
    expected: { '2024-01-01T00:00:00.000Z': 3, '2024-01-02T00:00:00.000Z': 2 },
  },
  {
    name: 'timeFormat by duration, as milliseconds',
    column: '__time',
    fn: { type: 'timeFormat', granularity: { type: 'duration', duration: 43_200_000 }, asMillis: true },
    expected: { [Date.UTC(2024, 0, 1)]: 1, [Date.UTC(2024, 0, 1, 12)]: 2, [Date.UTC(2024, 0, 2)]: 1, [Date.UTC(2024, 0, 2, 12)]: 1 },
  },
  {
    name: 'timeFormat of milliseconds',
    column: 'added',
    fn: { type: 'timeFormat', format: 'SSS', asMillis: true },
    expected: { null: 1, '010': 1, '020': 1, '005': 1, 993: 1 },
  },
  {
    name: 'time leaves what it cannot read',
    fn: { type: 'time', timeFormat: 'yyyy-MM-dd', resultFormat: 'dd.MM.yy', joda: true },
    expected: { null: 1, '': 1, '05.03.24': 1, Paris: 1, parrot: 1 },
  },
  {
    name: 'text functions see the milliseconds of __time',
    column: '__time',
    fn: { type: 'substring', index: 0, length: 10 },
    expected: { '1704067800': 1, '1704117000': 1, '1704153599': 1, '1704153600': 1, '1704198600': 1 },
  },
  {
    name: 'each value of a multi-value row',
    column: 'tags',
    fn: { type: 'substring', index: 0, length: 1 },
    expected: { null: 1, a: 3, b: 2, c: 2 },
  },
  { name: 'a value for no value', column: 'tags', fn: { type: 'strlen' }, expected: { 0: 1, 1: 6, 2: 1 } },
];

for (const { name, fn, column = 'page', expected } of cases)
  functions(name, async () => assert.equal(await values(groupBy(extracted(column, fn))), expected));

functions('as a LONG', async () => {
  assert.equal(await ask(groupBy({ ...extracted('page', { type: 'strlen' }), outputType: 'LONG' })), [
    [0n, 2n],
    [5n, 1n],
    [6n, 1n],
    [10n, 1n],
  ]);
});

const refused: readonly { name: string; fn: object; message: RegExp; code?: string }[] = [
  { name: 'javascript', fn: { type: 'javascript', function: 'x' }, message: /"javascript" is not supported/, code: 'unsupported' },
  { name: 'unknown', fn: { type: 'uper' }, message: /did you mean "upper"/ },
  { name: 'unknown key', fn: { type: 'upper', local: 'en' }, message: /unknown key "local"/ },
  { name: 'another language', fn: { type: 'upper', locale: 'tr' }, message: /locale/, code: 'unsupported' },
  { name: 'a group that is not there', fn: { type: 'regex', expr: 'a' }, message: /index: expected the number of a group/ },
  {
    name: 'retain and replace',
    fn: { type: 'lookup', lookup: { type: 'map', map: {} }, retainMissingValue: true, replaceMissingValueWith: 'x' },
    message: /exclude/,
  },
  { name: 'old date patterns', fn: { type: 'time', timeFormat: 'YYYY', resultFormat: 'yy' }, message: /joda/, code: 'unsupported' },
  { name: 'a bad zone', fn: { type: 'timeFormat', timeZone: 'Mars/Base' }, message: /Mars/ },
  { name: 'a bucket of nothing', fn: { type: 'bucket', size: 0 }, message: /size/ },
  {
    name: 'a cascade that grows beyond measure',
    fn: { type: 'cascade', extractionFns: Array.from({ length: 30 }, () => ({ type: 'regex', expr: '(a)' })) },
    message: /more than 10000 parts/,
    code: 'resource_limit',
  },
];
for (const { name, fn, message, code = 'query_invalid' } of refused)
  functions(`refuses ${name}`, async () => {
    try {
      await ask(groupBy(extracted('page', fn)));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      assert.is(error.code, code);
      return assert.match(error.message, message);
    }
    assert.unreachable('was accepted');
  });

functions('in legacy filters', async () => {
  const count = async (filter: object): Promise<FrameCell | undefined> =>
    (await ask({ ...groupBy('page'), queryType: 'timeseries', dimensions: undefined, filter }))[0]?.[0];
  const first = { type: 'substring', index: 0, length: 1 };
  assert.is(await count({ type: 'selector', dimension: 'page', value: 'PARIS', extractionFn: { type: 'upper' } }), 1n);
  assert.is(await count({ type: 'extraction', dimension: 'page', value: null, extractionFn: { type: 'partial', expr: 'a' } }), 3n);
  assert.is(await count({ type: 'in', dimension: 'page', values: ['5', '6'], extractionFn: { type: 'strlen' } }), 2n);
  assert.is(await count({ type: 'bound', dimension: 'page', lower: '6', ordering: 'numeric', extractionFn: { type: 'strlen' } }), 2n);
  assert.is(await count({ type: 'like', dimension: 'page', pattern: 'PA%', extractionFn: { type: 'upper' } }), 2n);
  assert.is(await count({ type: 'regex', dimension: 'page', pattern: '^P.R', extractionFn: { type: 'upper' } }), 2n);
  assert.is(
    await count({
      type: 'search',
      dimension: 'page',
      query: { type: 'contains', value: 'PA', caseSensitive: true },
      extractionFn: { type: 'upper' },
    }),
    2n,
  );
  assert.is(
    await count({ type: 'interval', dimension: 'added', intervals: ['1970-01-01/1970-01-02'], extractionFn: { type: 'identity' } }),
    3n,
  );
  // Any value of a multi-value row will do, and `not` means none.
  assert.is(await count({ type: 'selector', dimension: 'tags', value: 'a', extractionFn: first }), 2n);
  assert.is(await count({ type: 'not', field: { type: 'selector', dimension: 'tags', value: 'a', extractionFn: first } }), 2n);
});

functions.run();

const filtered = suite('filtered dimensions');
const listed = { type: 'listFiltered', delegate: 'tags', values: ['a', 'ab'] };
const filteredCases: readonly { name: string; dimension: object; expected: Record<string, number> }[] = [
  { name: 'listed', dimension: listed, expected: { null: 3, a: 2, ab: 1 } },
  { name: 'not listed', dimension: { ...listed, isWhitelist: false }, expected: { null: 1, b: 2, c: 2 } },
  {
    name: 'by regex, as a whole',
    dimension: { type: 'regexFiltered', delegate: 'tags', pattern: 'a|c' },
    expected: { null: 2, a: 2, c: 2 },
  },
  { name: 'by prefix', dimension: { type: 'prefixFiltered', delegate: 'tags', prefix: 'a' }, expected: { null: 3, a: 2, ab: 1 } },
  {
    name: 'after extraction',
    dimension: { type: 'listFiltered', delegate: extracted('tags', { type: 'upper' }), values: ['A'] },
    expected: { null: 3, A: 2 },
  },
  { name: 'of single values', dimension: { type: 'prefixFiltered', delegate: 'page', prefix: 'p' }, expected: { null: 4, parrot: 1 } },
  {
    name: 'lookup',
    dimension: {
      type: 'lookup',
      dimension: 'tags',
      outputName: 'd',
      lookup: { type: 'map', map: { a: 'x', b: 'x' } },
      replaceMissingValueWith: 'y',
    },
    expected: { x: 4, y: 4 },
  },
];
for (const { name, dimension, expected } of filteredCases)
  filtered(name, async () => assert.equal(await values(groupBy(dimension)), expected));

filtered('arrays of expressions are grouped by their elements, unless arrays are asked for', async () => {
  const virtualColumns = [{ type: 'expression', name: 'v', expression: "array_append(tags, 'new')" }];
  assert.equal(await values(groupBy('v', { virtualColumns })), { a: 2, b: 2, ab: 1, c: 2, new: 4, null: 1 });
  const dimension = { type: 'default', dimension: 'v', outputType: 'ARRAY<LONG>' };
  const length = [{ type: 'expression', name: 'v', expression: 'array(array_length(tags))' }];
  assert.is((await ask(groupBy(dimension, { virtualColumns: length }))).length, 4);
});

filtered('a topN leaves out rows without values', async () => {
  const topN = { ...groupBy('x'), queryType: 'topN', dimensions: undefined, metric: 'rows', threshold: 9 };
  assert.equal(await ask({ ...topN, dimension: listed }), [
    ['a', 2n],
    ['ab', 1n],
  ]);
  assert.equal(await ask({ ...topN, dimension: { ...listed, isWhitelist: false } }), [
    ['b', 2n],
    ['c', 2n],
    [null, 1n],
  ]);
});

filtered('virtual columns of some values are multi-value columns', async () => {
  const scan = {
    queryType: 'scan',
    dataSource: 'edits',
    intervals: '2024-01-01/P2D',
    columns: ['some', 'tags'],
    virtualColumns: [{ type: 'mv-filtered', name: 'some', delegate: 'tags', values: ['a', 'c'] }],
    filter: { type: 'in', dimension: 'some', values: ['a', 'c'] },
  };
  assert.equal(await ask(scan), [
    ['a', ['a', 'b']],
    [
      ['c', 'a'],
      ['ab', 'c', 'a'],
    ],
    ['c', 'c'],
  ]);
});

filtered('leaves no memory behind', () => assert.is(memory.allocatedBytes, 0));

filtered.run();

const conditions = suite('conditions on multi-value columns');
const conditionCases: readonly { name: string; filter: object; rows: bigint }[] = [
  { name: 'regex', filter: { type: 'regex', dimension: 'tags', pattern: '^a.' }, rows: 1n },
  { name: 'search', filter: { type: 'search', dimension: 'tags', query: { type: 'contains', value: 'B' } }, rows: 3n },
  { name: 'expression', filter: { type: 'expression', expression: "tags == 'c'" }, rows: 2n },
  { name: 'a negation is of single values', filter: { type: 'expression', expression: "!(tags == 'a')" }, rows: 4n },
  { name: 'both of one value', filter: { type: 'expression', expression: "tags == 'a' && tags == 'b'" }, rows: 0n },
  { name: 'beside other columns', filter: { type: 'expression', expression: "tags == 'b' && added > 10" }, rows: 1n },
  {
    name: 'values compared with another column',
    filter: { type: 'expression', expression: "concat(tags, 'x') == concat(lower(page), 'x')" },
    rows: 0n,
  },
  { name: 'all values of a row', filter: { type: 'expression', expression: "array_contains(tags, ['a', 'b'])" }, rows: 1n },
  { name: 'null for no value', filter: { type: 'expression', expression: 'isnull(tags)' }, rows: 1n },
  { name: 'unknown for no value', filter: { type: 'not', field: { type: 'expression', expression: "tags == 'c'" } }, rows: 2n },
  { name: 'columns compared', filter: { type: 'columnComparison', dimensions: ['added', 'price'] }, rows: 0n },
  {
    name: 'columns compared after extraction',
    filter: { type: 'columnComparison', dimensions: ['page', extracted('page', { type: 'lower' })] },
    rows: 4n,
  },
  {
    name: 'an element',
    filter: { type: 'arrayContainsElement', column: 'tags', elementMatchValueType: 'STRING', elementMatchValue: 'a' },
    rows: 2n,
  },
];
for (const { name, filter, rows } of conditionCases)
  conditions(name, async () => {
    const query = { ...groupBy('page'), queryType: 'timeseries', dimensions: undefined, filter };
    assert.equal(await ask(query), [[rows]]);
  });

conditions.run();
