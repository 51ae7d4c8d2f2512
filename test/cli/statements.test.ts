import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandOf } from '../../src/cli/shell.js';
import { isBlank, isIngestion, onOneLine, splitStatements } from '../../src/cli/statements.js';

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

for (const { text, line } of [
  { text: 'SELECT 1\n  FROM t', line: 'SELECT 1 FROM t' },
  { text: 'SELECT 1 -- one\n, 2', line: 'SELECT 1 /* one */ , 2' },
  { text: 'SELECT 1 -- a */ b\n', line: 'SELECT 1 /* a * / b */' },
  { text: "SELECT '--\n'", line: "SELECT '--\n'" },
  { text: 'SELECT "a -- b"', line: 'SELECT "a -- b"' },
])
  statements(`${JSON.stringify(text)} on one line`, () => assert.is(onOneLine(text), line));

statements('INSERT and REPLACE are told from queries, settings and comments aside', () => {
  for (const text of ['INSERT INTO t SELECT 1', '-- x\nreplace into t', 'SET a = 1; INSERT INTO t SELECT 1'])
    assert.ok(isIngestion(text), text);
  for (const text of ['SELECT 1', 'SELECT REPLACE(a, b, c)', "'INSERT INTO'", 'EXPLAIN PLAN FOR INSERT INTO t'])
    assert.not(isIngestion(text), text);
});

for (const { line, command } of [
  { line: '\\d wikipedia;', command: '\\d wikipedia' },
  { line: ' \\q ', command: '\\q' },
  { line: 'quit', command: '\\q' },
  { line: 'EXIT;', command: '\\q' },
  { line: 'help ;', command: '\\?' },
  { line: 'SELECT quit;', command: undefined },
])
  statements(`${line} is ${command ?? 'SQL'}`, () => assert.is(commandOf(line), command));

statements.run();
