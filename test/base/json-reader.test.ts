import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';

const reading = suite('object reader');

const FOUND = {
  text: 'a',
  number: 7,
  digits: '12',
  yes: 'TRUE',
  flag: 'true',
  nothing: null,
  list: [1, 'x'],
  inner: { type: 'csv', key: [{}] },
};

function readerOf(value: unknown, lenient = false): ObjectReader {
  return new ObjectReader(value, '', readContextOf('input_invalid', 'the task', lenient));
}

const refusals: readonly { readonly read: (reader: ObjectReader) => unknown; readonly says: string }[] = [
  { read: (reader) => reader.string('number'), says: 'number: expected a string, found 7' },
  { read: (reader) => reader.string('nothing'), says: 'nothing: expected a string, found null' },
  { read: (reader) => reader.string('absent'), says: 'absent: expected a string, found nothing' },
  { read: (reader) => reader.boolean('yes', false), says: 'yes: expected true or false, found "TRUE"' },
  {
    read: (reader) => reader.optionalInteger('digits', 0, 11),
    says: 'digits: expected an integer of at least 0 and at most 11, found "12"',
  },
  { read: (reader) => reader.optionalInteger('number', 8), says: 'number: expected an integer of at least 8, found 7' },
  { read: (reader) => reader.strings('list'), says: 'list[0]: expected a string, found 1' },
  { read: (reader) => reader.objects('list'), says: 'list[0]: expected an object, found 1' },
  { read: (reader) => reader.choice('text', ['b', 'c']), says: 'text: expected one of b, c, found "a"' },
  { read: (reader) => reader.object('inner').string('key'), says: 'inner.key: expected a string, found [{}]' },
  { read: (reader) => reader.object('inner').type(['tsv']), says: 'inner.type: expected tsv, found "csv"; did you mean "tsv"?' },
  {
    read: (reader) => reader.object('inner').objects('key')[0]?.string('name'),
    says: 'inner.key[0].name: expected a string, found nothing',
  },
  { read: (reader) => reader.object('inner').accept(['keys']), says: 'inner: unknown key "key"; did you mean "keys"?' },
  { read: (reader) => reader.object('absent'), says: 'absent: expected an object, found nothing' },
];
for (const { read, says } of refusals) {
  reading(`refuses: ${says}`, () => {
    assert.throws(
      () => read(readerOf(FOUND)),
      (error: unknown) => error instanceof ServiceError && error.code === 'input_invalid' && error.message === says,
    );
  });
}

reading('reads values, strings of numbers and truth values among them; null counts as absent', () => {
  const reader = readerOf(FOUND);
  assert.is(reader.string('text'), 'a');
  assert.is(reader.optionalInteger('digits', 0), 12);
  assert.is(reader.boolean('flag', false), true);
  assert.is(reader.optionalString('nothing'), undefined);
  assert.is(reader.rawOrNull('nothing'), null);
  assert.is(reader.object('inner').type(['csv', 'tsv']), 'csv');
  assert.is(reader.choice('text', ['A', 'B']), 'A');
});

reading('end refuses what was not read, by name', () => {
  const reader = readerOf({ threshold: 5, treshold: 6 });
  reader.raw('threshold');
  assert.throws(() => reader.end(), /^the task: unknown key "treshold"; did you mean "threshold"\?$/);
});

reading('a lenient document lists unknown keys of all its objects', () => {
  const reader = readerOf({ a: { b: 1 }, c: 2 }, true);
  reader.object('a').end();
  reader.end();
  assert.equal(reader.context.ignoredKeys, ['a.b', 'c']);
});

reading('names of Object.prototype are ordinary keys', () => {
  const reader = readerOf(JSON.parse('{"__proto__": "x", "constructor": "y"}'));
  assert.is(reader.string('__proto__'), 'x');
  assert.is(reader.optionalString('constructor'), 'y');
  assert.is(reader.optionalString('toString'), undefined);
});

reading.run();
