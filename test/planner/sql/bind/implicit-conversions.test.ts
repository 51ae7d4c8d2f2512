import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { answer, memory } from '../small-tables.js';

/** Implicit conversions, as documented or as recorded from the original. */
const conversions = suite('values of one type where another is expected');

const TEXTS = "(VALUES ('7'), ('007'), ('x'), ('')) AS t(c)";
const LISTS = "(VALUES (1, ARRAY['a', NULL]), (2, ARRAY['b']), (3, NULL)) AS t(n, l)";

const STATEMENTS: readonly (readonly [sql: string, rows: unknown])[] = [
  // A column of text is equal to the digits of a whole number; anything else is compared as numbers.
  [`SELECT c FROM ${TEXTS} WHERE c = 7`, [['7']]],
  [`SELECT c FROM ${TEXTS} WHERE NOT c = 7`, [['007'], ['x'], ['']]],
  [`SELECT c FROM ${TEXTS} WHERE c <> 7`, [['007'], ['x'], ['']]],
  [`SELECT c FROM ${TEXTS} WHERE c IN (7, 8)`, [['7']]],
  [`SELECT c FROM ${TEXTS} WHERE c > 6`, [['7'], ['007']]],
  [`SELECT c FROM ${TEXTS} WHERE c = 7.0`, [['7'], ['007']]],
  [`SELECT c FROM ${TEXTS} WHERE TRIM(c) = 7`, [['7'], ['007']]],
  // In arithmetic a text is a number of the other operand's type.
  [`SELECT c / 2, c / 2.0, c * '2' FROM ${TEXTS} WHERE c = '7'`, [[3, 3.5, 14]]],
  [`SELECT c + 1 FROM ${TEXTS} WHERE c = 'x'`, [[null]]],
  // A text as a truth value.
  [
    "SELECT CAST(c AS BOOLEAN) FROM (VALUES ('TRUE'), (' false '), ('2'), ('0'), ('yes')) AS t(c)",
    [[true], [false], [true], [false], [null]],
  ],
  ["SELECT CAST('True' AS BOOLEAN), CAST('1' AS BOOLEAN), CAST('yes' AS BOOLEAN)", [[true, true, null]]],
  // Positions in arrays are of elements of the same kind.
  ["SELECT ARRAY_OFFSET_OF(ARRAY['x', '1'], 1), ARRAY_OFFSET_OF(ARRAY['x', '1'], '1')", [[null, 1]]],
  ["SELECT ARRAY_ORDINAL_OF(ARRAY[5, 1], '1'), ARRAY_ORDINAL_OF(ARRAY[5.5, 1.0], 1)", [[null, 2]]],
  ["SELECT ARRAY[1] = ARRAY['1'], ARRAY[1, 2] < ARRAY[1.5], ARRAY_APPEND(ARRAY['x'], 1)", [[true, true, ['x', '1']]]],
  // 56194839 is no float: what is computed meets what a subquery keeps as it would be kept.
  [
    'SELECT c FROM (VALUES (56194838), (1)) AS t(c) WHERE CAST(c AS FLOAT) + 1 IN (SELECT CAST(c AS FLOAT) + 1 FROM (VALUES (56194838)) AS t(c))',
    [[56194838]],
  ],
  // A multi-value text without values is one null, and a null may be any value.
  [
    `SELECT n, MV_CONTAINS(l, 'a'), MV_CONTAINS(l, NULL), MV_CONTAINS(l, l) FROM ${LISTS}`,
    [
      [1, true, true, true],
      [2, false, false, true],
      [3, false, true, true],
    ],
  ],
  [
    `SELECT n, MV_OVERLAP(l, ARRAY['a']), MV_OVERLAP(l, ARRAY['c']), MV_OVERLAP(l, l), MV_OVERLAP(ARRAY['c'], l) FROM ${LISTS}`,
    [
      [1, true, null, true, false],
      [2, false, false, true, false],
      [3, null, null, true, false],
    ],
  ],
  // Several values written twice in one expression are the same values.
  ["SELECT MV_TO_STRING(STRING_TO_MV(c, ',') || STRING_TO_MV(c, ','), ';') FROM (VALUES ('a,b')) AS t(c)", [['aa;bb']]],
  ["SELECT ARRAY_TO_STRING(ARRAY[CAST(NULL AS VARCHAR)], ','), ARRAY_TO_STRING(ARRAY[1, NULL], ',')", [[null, '1,null']]],
];

for (const [sql, rows] of STATEMENTS)
  conversions(sql, async () => {
    assert.equal(await answer(sql), rows);
  });

conversions.after(() => assert.is(memory.allocatedBytes, 0));

conversions.run();
