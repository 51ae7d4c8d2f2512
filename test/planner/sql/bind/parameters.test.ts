import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { answer } from '../small-tables.js';

const parameters = suite('parameters');

const VALUES: readonly (readonly [type: string, value: unknown, sql: string, found: unknown])[] = [
  ['CHAR', 'x', '?', 'x'],
  ['varchar', "it's; DROP TABLE edits --", '?', "it's; DROP TABLE edits --"],
  ['VARCHAR', null, '? IS NULL', true],
  ['TINYINT', -128, '?', -128],
  ['SMALLINT', 32767, '?', 32767],
  ['INTEGER', '12', '? + 1', 13],
  ['BIGINT', 9007199254740993n, 'CAST(? AS VARCHAR)', '9007199254740993'],
  ['DECIMAL', '1.5', '?', 1.5],
  ['FLOAT', 0.5, '?', 0.5],
  ['REAL', 2, '? / 4', 0.5],
  ['DOUBLE', 1e300, '?', 1e300],
  ['BOOLEAN', true, 'NOT ?', false],
  ['BOOLEAN', 'false', 'NOT ?', true],
  ['TIMESTAMP', '2024-02-03 04:05:06', '?', Date.UTC(2024, 1, 3, 4, 5, 6)],
  ['TIMESTAMP', Date.UTC(2024, 1, 3), '?', Date.UTC(2024, 1, 3)],
  ['DATE', '2024-02-03', '?', Date.UTC(2024, 1, 3)],
  ['NULL', null, '? IS NULL', true],
  ['OTHER', 'x', "? || 'y'", 'xy'],
  ['OTHER', 2.5, '?', 2.5],
  ['OTHER', null, '? IS NULL', true],
  ['OTHER', ['a', null], '?', ['a', null]],
  ['ARRAY', [-25.7, null, 36.85], '?', [-25.7, null, 36.85]],
  ['ARRAY', [1, 2, 2.5], 'ARRAY_CONTAINS(?, 2)', true],
  ['ARRAY', ['a', 'b'], "SCALAR_IN_ARRAY('b', ?)", true],
  ['ARRAY', [1, 2], 'SCALAR_IN_ARRAY(3, ?)', false],
  ['ARRAY', [], 'ARRAY_LENGTH(?)', 0],
  ['ARRAY', [null], 'ARRAY_LENGTH(?)', 1],
  ['ARRAY', [[1], [2, 3], null], '?', [[1], [2, 3], null]],
  ['ARRAY', [true, false], 'ARRAY_LENGTH(?)', 2],
  ['ARRAY', null, '? IS NULL', true],
  ['ARRAY<BIGINT>', [1, '2'], '?', [1, 2]],
  ['VARCHAR ARRAY', ['1'], '?', ['1']],
];
for (const [type, value, sql, found] of VALUES)
  parameters(`${sql} of ${type} ${typeof value === 'bigint' ? value : JSON.stringify(value)}`, async () =>
    assert.equal(await answer(`SELECT ${sql}`, [], [{ type, value }]), [[found]]),
  );

parameters('an array takes the place of a list', async () => {
  const [[listed]] = (await answer("SELECT COUNT(*) FROM edits WHERE city IN ('Oslo', 'Rio')")) as [[number]];
  assert.ok(listed > 0);
  assert.equal(await answer('SELECT COUNT(*) FROM edits WHERE SCALAR_IN_ARRAY(city, ?)', [], [{ type: 'ARRAY', value: ['Oslo', 'Rio'] }]), [
    [listed],
  ]);
  assert.equal(await answer('SELECT x + 1 FROM UNNEST(?) AS t (x)', [], [{ type: 'ARRAY', value: [1, 2] }]), [[2], [3]]);
});

const REFUSED: readonly { readonly parameter: unknown; readonly says: RegExp }[] = [
  { parameter: 'x', says: /^parameters\[0\]: expected an object \{"type", "value"\}/ },
  { parameter: { value: 1 }, says: /parameters\[0\]\.type: expected the name of a SQL type: CHAR, VARCHAR/ },
  { parameter: { type: 'TEXT', value: 'x' }, says: /\.type: unknown SQL type TEXT; accepted: CHAR/ },
  { parameter: { type: 'COMPLEX<hyperUnique>', value: 'x' }, says: /unknown SQL type COMPLEX<hyperUnique>/ },
  { parameter: { type: 'VARCHAR', value: 'x', name: 'a' }, says: /unknown key name; accepted: type, value/ },
  { parameter: { type: 'VARCHAR', value: 5 }, says: /\.value: expected a VARCHAR, found 5/ },
  { parameter: { type: 'VARCHAR', value: { a: 1 } }, says: /expected a VARCHAR, found \{"a":1\}/ },
  { parameter: { type: 'BIGINT', value: 1.5 }, says: /expected a BIGINT, found 1\.5/ },
  { parameter: { type: 'BIGINT', value: '1 OR 1=1' }, says: /expected a BIGINT, found "1 OR 1=1"/ },
  { parameter: { type: 'BIGINT', value: 2n ** 63n }, says: /expected a BIGINT, found 9223372036854775808/ },
  { parameter: { type: 'TINYINT', value: 128 }, says: /expected a TINYINT, found 128/ },
  { parameter: { type: 'SMALLINT', value: -32769 }, says: /expected a SMALLINT, found -32769/ },
  { parameter: { type: 'INTEGER', value: 2147483648 }, says: /expected an INTEGER, found 2147483648/ },
  { parameter: { type: 'DOUBLE', value: 'many' }, says: /expected a DOUBLE, found "many"/ },
  { parameter: { type: 'DOUBLE', value: true }, says: /expected a DOUBLE, found true/ },
  { parameter: { type: 'BOOLEAN', value: 1 }, says: /expected a BOOLEAN, found 1/ },
  { parameter: { type: 'TIMESTAMP', value: 'noon' }, says: /expected a TIMESTAMP, found "noon"/ },
  { parameter: { type: 'DATE', value: '2024-13-01' }, says: /expected a DATE, found "2024-13-01"/ },
  { parameter: { type: 'NULL', value: 1 }, says: /unknown SQL type NULL|expected/ },
  { parameter: { type: 'OTHER', value: { a: 1 } }, says: /expected a string, a number, true, false or an array, found \{"a":1\}/ },
  { parameter: { type: 'ARRAY', value: 'x' }, says: /\.value: expected an array, found "x"/ },
  { parameter: { type: 'ARRAY', value: [1, 'x'] }, says: /\.value\[1\]: expected a BIGINT like the elements before it, found "x"/ },
  { parameter: { type: 'ARRAY', value: ['x', [1]] }, says: /\.value\[1\]: expected a VARCHAR like the elements before it, found \[1\]/ },
  {
    parameter: { type: 'ARRAY', value: [{ a: 1 }] },
    says: /\.value\[0\]: expected a string, a number, true, false, null or an array, found \{"a":1\}/,
  },
  { parameter: { type: 'ARRAY', value: [[1], ['x']] }, says: /\.value: expected an ARRAY<ARRAY<VARCHAR>>, found/ },
  { parameter: { type: 'ARRAY<BIGINT>', value: [1, 'x'] }, says: /\.value: expected an ARRAY<BIGINT>, found \[1,"x"\]/ },
];
for (const { parameter, says } of REFUSED)
  parameters(`${JSON.stringify(parameter, (_, value) => (typeof value === 'bigint' ? String(value) : value))} is refused`, async () => {
    try {
      await answer('SELECT ?', [], [parameter]);
    } catch (error) {
      assert.instance(error, ServiceError);
      if (!(error instanceof ServiceError)) return;
      assert.match(error.message, says);
      assert.is(error.code, 'sql_plan_invalid');
      return;
    }
    assert.unreachable('it was bound');
  });
parameters('there are as many as the statement has ?', async () => {
  const one = { type: 'BIGINT', value: 1 };
  const refused = async (sql: string, given: readonly unknown[]) => String(await answer(sql, [], given).catch((thrown: unknown) => thrown));
  assert.match(await refused("SELECT ?, '?'", [one, one]), /parameters: found 2, but the statement has 1 \?/);
  assert.match(await refused('SELECT ?, ?', [one]), /no value was given for parameter 2; 1 were given/);
});
parameters.run();
