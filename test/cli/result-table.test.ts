import { stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { failureText, resultTable } from '../../src/cli/result-table.js';
import { countText, durationText, withThousands } from '../../src/cli/style.js';

const tables = suite('result table');

tables('numbers stand right, texts left, under their names', () => {
  const columns = [
    { name: 'city', sqlType: 'VARCHAR' },
    { name: 'n', sqlType: 'BIGINT' },
  ];
  const rows = [
    ['Ulm', 5],
    ['Rome', 12_345_678_901_234_567n],
  ];
  const lines = stripVTControlCharacters(resultTable({ columns, rows })).split('\n');
  assert.equal(lines, [
    ' city │                 n ',
    '──────┼───────────────────',
    ' Ulm  │                 5 ',
    ' Rome │ 12345678901234567 ',
    '',
  ]);
});

tables('no rows leave the header, no columns nothing', () => {
  const columns = [{ name: 'a', sqlType: 'BIGINT' }];
  assert.match(stripVTControlCharacters(resultTable({ columns, rows: [] })), /^ a/);
  assert.is(resultTable({ columns: [], rows: [] }), '');
});

tables('null, objects and control characters are made visible', () => {
  const columns = [{ name: 'a', sqlType: 'VARCHAR' }];
  const text = stripVTControlCharacters(
    resultTable({ columns, rows: [[null], [['x', null]], ['two\nlines'], ['\u001b[31mred\u001b[0m\u0001']] }),
  );
  assert.match(text, /null/);
  assert.match(text, /\["x",null\]/);
  assert.match(text, /two⏎lines/);
  assert.match(text, /red·/);
});

tables('a failure with a place has a caret under it', () => {
  const statement = 'SELECT a\nFROM\twhere x';
  const text = stripVTControlCharacters(
    failureText(statement, { error: 'SQL parse failed', message: 'unexpected "where" at line 2, column 6' }),
  );
  assert.equal(text.split('\n'), [
    'SQL parse failed: unexpected "where" at line 2, column 6',
    '  FROM\twhere x',
    '      \t^'.replace(/^ {6}/, '      '),
  ]);
  assert.is(stripVTControlCharacters(failureText('x', { error: 'e', message: 'm' })), 'e: m');
  assert.is(stripVTControlCharacters(failureText('x', { error: 'e', message: 'at line 9, column 1' })), 'e: at line 9, column 1');
});

tables('figures are written for people', () => {
  assert.is(withThousands(1_234_567), '1,234,567');
  assert.is(withThousands(-1234n), '-1,234');
  assert.is(withThousands(999), '999');
  assert.is(durationText(3.24), '3.2 ms');
  assert.is(durationText(314.159), '314 ms');
  assert.is(durationText(31_415.9), '31.42 s');
  assert.is(countText(1, 'row'), '1 row');
  assert.is(countText(2000, 'row'), '2,000 rows');
});

tables.run();
