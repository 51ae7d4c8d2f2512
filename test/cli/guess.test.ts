import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { guessFormat, guessTime, guessTimeFormat, nameFor, sampleFile } from '../../src/cli/guess.js';

const guess = suite<{ folder: string }>('guess');
guess.before((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-guess-'));
});
guess.after(({ folder }) => rmSync(folder, { recursive: true }));

const formats = [
  { file: 'a.json', content: '', format: 'json' },
  { file: 'a.JSONL.gz', content: '', format: 'json' },
  { file: 'a.csv', content: '{}', format: 'csv' },
  { file: 'a.tsv.zst', content: '', format: 'tsv' },
  { file: 'a.parquet', content: '', format: 'parquet' },
  { file: 'unnamed1', content: '  {"a":1}\n', format: 'json' },
  { file: 'unnamed2', content: 'a\tb,c\n1\t2\n', format: 'tsv' },
  { file: 'unnamed3.dat', content: 'a,b\n1,2\n', format: 'csv' },
  { file: 'unnamed4', content: 'PAR1....', format: 'parquet' },
  { file: 'unnamed5.gz', content: gzipSync('{"a":1}\n'.repeat(100_000)), format: 'json' },
];
for (const { file, content, format } of formats) {
  guess(`${file} is ${format}`, async ({ folder }) => {
    writeFileSync(join(folder, file), content);
    assert.is(await guessFormat(join(folder, file)), format);
  });
}

guess('what nothing tells is refused, naming the flag', async ({ folder }) => {
  writeFileSync(join(folder, 'odd'), 'one word');
  try {
    await guessFormat(join(folder, 'odd'));
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'input_unreadable' && /--format json\|csv/.test(error.message));
  }
});

const times = [
  { values: ['2015-09-12T00:46:58.771Z', '2015-09-12'], format: 'iso' },
  { values: ['2001/01/10 18:20', '2001/12/31 00:00'], format: 'yyyy/MM/dd HH:mm' },
  { values: ['01/31/2001'], format: 'MM/dd/yyyy' },
  { values: ['31.01.2001'], format: 'dd.MM.yyyy' },
  { values: [1_442_018_818, '1442018818'], format: 'posix' },
  { values: [1_442_018_818_771], format: 'millis' },
  { values: ['1442018818771000'], format: 'micro' },
  { values: ['1442018818771000123'], format: 'nano' },
  { values: ['20010131', '20011231'], format: 'yyyyMMdd' },
  { values: [12, 13], format: undefined },
  { values: ['2001-01-31', 'soon'], format: undefined },
  { values: ['2001'], format: undefined },
  { values: [], format: undefined },
];
for (const { values, format } of times) {
  guess(`${JSON.stringify(values)} is ${format}`, () => assert.is(guessTimeFormat(values, true), format));
}

guess('bare numbers are a time only where the name says so', () => {
  assert.is(guessTimeFormat([1_442_018_818], false), undefined);
  assert.equal(
    guessTime(
      new Map([
        ['id', [1_442_018_818]],
        ['ts', [1_442_018_818]],
      ]),
    ),
    { column: 'ts', format: 'posix' },
  );
});

guess('names that speak of time win over columns before them', () => {
  const sample = new Map([
    ['birthday', ['1990-01-01']],
    ['note', ['2001-01-01']],
    ['timestamp', ['2015-09-12T00:00:00Z']],
  ]);
  assert.equal(guessTime(sample), { column: 'timestamp', format: 'iso' });
  sample.set('timestamp', ['never']);
  assert.equal(guessTime(sample), { column: 'birthday', format: 'iso' });
  sample.delete('birthday');
  assert.equal(guessTime(sample), { column: 'note', format: 'iso' });
  assert.is(guessTime(new Map([['a', ['x']]])), undefined);
});

guess('a sample has the first values of each column', async ({ folder }) => {
  const json = join(folder, 'rows.json.gz');
  writeFileSync(json, gzipSync('{"time":"2001-01-01T00:00:00Z","n":1}\n{"time":"2001-01-02T00:00:00Z","x":null}\n'));
  const sample = await sampleFile(json, { type: 'json', multiLine: false, flatten: null });
  assert.equal(sample.get('time'), ['2001-01-01T00:00:00Z', '2001-01-02T00:00:00Z']);
  assert.equal(sample.get('n'), [1]);
  const csv = join(folder, 'rows.csv');
  writeFileSync(csv, 'when,"a,b"\n2001/01/01 10:00,"x,""y"""\n,z\n');
  const format = {
    type: 'csv',
    delimiter: ',',
    listDelimiter: null,
    columns: null,
    findColumnsFromHeader: true,
    skipHeaderRows: 0,
    tryParseNumbers: true,
  } as const;
  const fields = await sampleFile(csv, format);
  assert.equal(fields.get('when'), ['2001/01/01 10:00']);
  assert.equal(fields.get('a,b'), ['x,"y"', 'z']);
});

guess('a file without rows of the format is refused', async ({ folder }) => {
  writeFileSync(join(folder, 'bad.json'), 'not json\n');
  try {
    await sampleFile(join(folder, 'bad.json'), { type: 'json', multiLine: false, flatten: null });
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'input_unreadable', String(error));
  }
});

guess('a table is named after its file', () => {
  assert.is(nameFor('/x/flights-3m.parquet'), 'flights-3m');
  assert.is(nameFor('wiki 2015.json.gz'), 'wiki_2015');
});

guess.run();
