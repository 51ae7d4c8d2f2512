import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isBlank, splitStatements } from '../../src/cli/statements.js';

const statements = suite('statements');

const cases = [
  { name: 'nothing', text: '', statements: [], rest: '' },
  { name: 'two on one line', text: 'SELECT 1; SELECT 2;', statements: ['SELECT 1', 'SELECT 2'], rest: '' },
  { name: 'an unfinished one', text: 'SELECT 1;\nSELECT', statements: ['SELECT 1'], rest: '\nSELECT' },
  { name: 'a semicolon in a string', text: "SELECT ';', 'it''s;';", statements: ["SELECT ';', 'it''s;'"], rest: '' },
  { name: 'a semicolon in a name', text: 'SELECT ";";', statements: ['SELECT ";"'], rest: '' },
  {
    name: 'a semicolon in comments',
    text: 'SELECT 1 -- one; two\n + /* ; */ 2;',
    statements: ['SELECT 1 -- one; two\n + /* ; */ 2'],
    rest: '',
  },
  { name: 'a quote in a comment', text: "SELECT 1 -- it's\n; SELECT 2;", statements: ["SELECT 1 -- it's", 'SELECT 2'], rest: '' },
  { name: 'an open string', text: "SELECT ';", statements: [], rest: "SELECT ';" },
  { name: 'an open comment', text: 'SELECT 1 /* ;', statements: [], rest: 'SELECT 1 /* ;' },
  {
    name: 'settings and the statement they are for as one',
    text: 'SELECT 1; -- SET b\nSET a = 1;\nset b = 2; SELECT 2; SETTING;',
    statements: ['SELECT 1', '-- SET b\nSET a = 1;\nset b = 2; SELECT 2', 'SETTING'],
    rest: '',
  },
  { name: 'a setting without its statement', text: 'SET a = 1;', statements: [], rest: 'SET a = 1;' },
  { name: 'empty statements', text: ';; ;', statements: [], rest: '' },
];
for (const { name, text, ...expected } of cases) statements(`cuts ${name}`, () => assert.equal(splitStatements(text), expected));

statements('white space and comments are blank', () => {
  for (const text of ['', ' \n', '-- note', '/* a */ -- b\n']) assert.ok(isBlank(text), text);
  for (const text of ['x', '-- note\nx', "'"]) assert.not(isBlank(text), text);
});

statements.run();
