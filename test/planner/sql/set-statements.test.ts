import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readSettings } from '../../../src/planner/sql/set-statements.js';
import { assertRefused } from '../../refusal.js';

const settings = suite('SET before a query');

const READ: readonly {
  readonly text: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly context: Readonly<Record<string, unknown>>;
  readonly query: string;
}[] = [
  { text: 'SELECT 1', context: {}, query: 'SELECT 1' },
  { text: 'SET timeout = 90000; SELECT 1', context: { timeout: 90000 }, query: '                     SELECT 1' },
  { text: "set a = 'it''s';SELECT 1", context: { a: "it's" }, query: '                SELECT 1' },
  { text: "SET a = U&'\\00e9'; SELECT 1", context: { a: 'é' }, query: '                   SELECT 1' },
  {
    text: 'SET "a ""b" = TRUE;\nSET c = false;\nSELECT 1',
    context: { 'a "b': true, c: false },
    query: `${' '.repeat(19)}\n${' '.repeat(14)}\nSELECT 1`,
  },
  { text: 'SET a = -5; SET b = +2.5; SET c = 1e3; SELECT 1', context: { a: -5, b: 2.5, c: 1000 }, query: `${' '.repeat(39)}SELECT 1` },
  { text: 'SET a = 9007199254740993; SELECT 1', context: { a: 9007199254740993n }, query: `${' '.repeat(26)}SELECT 1` },
  { text: 'SET a = NULL; SELECT 1', context: { a: null }, query: `${' '.repeat(14)}SELECT 1` },
  { text: 'SET a = 1; SET a = 2; SELECT 1', context: { a: 2 }, query: `${' '.repeat(22)}SELECT 1` },
  { text: 'SET a = 1; SELECT 1', before: { a: 0, b: 7 }, context: { a: 1, b: 7 }, query: '           SELECT 1' },
  { text: '-- why\nSET a = 1 /* ; */ ;; SELECT 1;', context: { a: 1 }, query: `${' '.repeat(6)}\n${' '.repeat(21)}SELECT 1;` },
  {
    text: 'SET a = 1; -- SET b = 2;\nSELECT 1',
    context: { a: 1 },
    query: '           -- SET b = 2;\nSELECT 1',
  },
  { text: 'SET __proto__ = 1; SELECT 1', context: JSON.parse('{"__proto__": 1}'), query: `${' '.repeat(19)}SELECT 1` },
];
for (const { text, before = {}, context, query } of READ)
  settings(text, () => assert.equal(readSettings(text, before), { query, context }));

const REFUSED: readonly { readonly text: string; readonly code?: string; readonly says: RegExp }[] = [
  { text: 'SET', says: /^line 1, column 4: expected a key of the context after SET, found the end/ },
  { text: 'SET = 1; SELECT 1', says: /^line 1, column 5: expected a key/ },
  { text: 'SET TIME ZONE LOCAL; SELECT 1', says: /column 10: expected = after SET TIME, found ZONE/ },
  { text: 'SET a.b = 1; SELECT 1', says: /column 6: expected = after SET a, found \./ },
  { text: 'SET a = ; SELECT 1', says: /column 9: expected a number, a string, TRUE, FALSE or NULL for a; .*found ;/ },
  { text: 'SET a = b; SELECT 1', says: /column 9: expected a number.*found b/ },
  { text: 'SET a = ARRAY[1]; SELECT 1', says: /column 9: .*arrays and objects go into the context/ },
  { text: 'SET a = 1 + 1; SELECT 1', says: /column 11: expected ; after SET a = 1, found \+/ },
  { text: 'SET a = 1 SELECT 1', says: /column 11: expected ; after SET a = 1, found SELECT/ },
  { text: "SET a = 'x", says: /column 9: this string has no closing/ },
  { text: 'SET a = 1', says: /column 10: expected a query after SET/ },
  { text: 'SET a = 1;\n', says: /line 2, column 1: expected a query after SET/ },
  { text: "SET a = 1;\nSET timeout = 'soon'; SELECT 1", code: 'query_invalid', says: /^line 2, column 15: context\.timeout: / },
  { text: "SET sqlTimeZone = 'Mars'; SELECT 1", code: 'query_invalid', says: /^line 1, column 19: context\.sqlTimeZone/ },
  { text: 'SET bySegment = TRUE; SELECT 1', code: 'unsupported', says: /^line 1, column 17: context\.bySegment/ },
];
for (const { text, code = 'sql_invalid', says } of REFUSED)
  settings(`${text} is refused`, () => assertRefused(() => readSettings(text, {}), { code, says }));

settings('a request has its context checked as a whole, so a setting does not hide a bad key of the request', () =>
  assert.equal(readSettings('SET timeout = 5; SELECT 1', { bySegment: true }).context, { bySegment: true, timeout: 5 }),
);
settings.run();
