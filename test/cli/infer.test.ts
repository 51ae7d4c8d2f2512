import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { inferFormat } from '../../src/cli/ingest/infer-format.js';
import { inferTime, inferTimeFormat } from '../../src/cli/ingest/infer-time.js';
import { findInputs, nameFor, sourceOf } from '../../src/cli/ingest/inputs.js';
import { localProbe } from '../../src/cli/ingest/probe.js';
import { sampleRows } from '../../src/cli/ingest/sample-rows.js';

const infer = suite<{ folder: string }>('inferring formats and times of files');
infer.before((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-infer-'));
});
infer.after(({ folder }) => rmSync(folder, { recursive: true }));

const formats = [
  { file: 'a.json', content: '', format: 'json' },
  { file: 'a.JSONL.gz', content: gzipSync('{}'), format: 'json' },
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
  infer(`${file} is ${format}`, async ({ folder }) => {
    writeFileSync(join(folder, file), content);
    assert.is((await inferFormat(localProbe(join(folder, file)))).inputFormat.type, format);
  });
}

const BY_HEADER = { findColumnsFromHeader: true, tryParseNumbers: true };
const options = [
  { name: 'lines of JSON', file: 'o.json', content: '{"a":1}\n{"a":2}\n', expected: { type: 'json' } },
  { name: 'an array', file: 'o.json', content: '[{"a":1},\n{"a":2}]', expected: { type: 'json', useJsonNodeReader: true } },
  { name: 'an array on one line', file: 'o.json', content: '[{"a":1}]\n', expected: { type: 'json', useJsonNodeReader: true } },
  { name: 'pretty-printed objects', file: 'o.json', content: '{\n  "a": 1\n}\n', expected: { type: 'json', useJsonNodeReader: true } },
  { name: 'commas', file: 'o.csv', content: 'a,b;c\n1,2\n', expected: { type: 'csv', ...BY_HEADER } },
  { name: 'semicolons', file: 'o.csv', content: 'a;b;c\n1;2,5;3\n', expected: { type: 'csv', ...BY_HEADER, delimiter: ';' } },
  { name: 'bars', file: 'o.csv', content: '"a,x"|b\n1|2\n', expected: { type: 'csv', ...BY_HEADER, delimiter: '|' } },
  { name: 'bars by content', file: 'o', content: 'a|b\n1|2\n', expected: { type: 'csv', ...BY_HEADER, delimiter: '|' } },
  {
    name: 'a first line of data',
    file: 'o.csv',
    content: '2001-01-01,x,\n2001-01-02,y,z\n',
    expected: { type: 'csv', ...BY_HEADER, findColumnsFromHeader: false, columns: ['column_1', 'column_2', 'column_3'] },
  },
  {
    name: 'a header that names a column twice',
    file: 'o.csv',
    content: 'a,b,a,a_2,\n1,2,3,4,5\n',
    expected: {
      type: 'csv',
      ...BY_HEADER,
      findColumnsFromHeader: false,
      skipHeaderRows: 1,
      columns: ['a', 'b', 'a_3', 'a_2', 'column_5'],
    },
  },
];
for (const { name, file, content, expected } of options) {
  infer(`options: ${name}`, async ({ folder }) => {
    writeFileSync(join(folder, file), content);
    assert.equal((await inferFormat(localProbe(join(folder, file)))).inputFormat, expected);
  });
}

infer('an undecidable format is refused, naming the flag that sets it', async ({ folder }) => {
  writeFileSync(join(folder, 'odd'), 'one word');
  try {
    await inferFormat(localProbe(join(folder, 'odd')));
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'input_unreadable' && /--format json\|csv/.test(error.message));
  }
});

const sources = [
  { name: 'files', files: ['/a', '/b'], urls: [], source: { type: 'local', files: ['/a', '/b'] } },
  { name: 'pages', files: [], urls: ['http://h/a', 'HTTPS://h/b'], source: { type: 'http', uris: ['http://h/a', 'HTTPS://h/b'] } },
  { name: 'an object', files: [], urls: ['s3://b/k.json'], source: { type: 's3', uris: ['s3://b/k.json'] } },
  { name: 'all below a prefix', files: [], urls: ['s3://b/k/'], source: { type: 's3', prefixes: ['s3://b/k/'] } },
  { name: 'all of a bucket', files: [], urls: ['s3://b'], source: { type: 's3', prefixes: ['s3://b'] } },
  { name: 'objects', files: [], urls: ['s3://b/k/x*.json'], source: { type: 's3', prefixes: ['s3://b/k/x'], objectGlob: 'k/x*.json' } },
  {
    name: 'several',
    files: ['/a'],
    urls: ['http://h/a', 's3://b/k'],
    source: {
      type: 'combining',
      delegates: [
        { type: 'local', files: ['/a'] },
        { type: 'http', uris: ['http://h/a'] },
        { type: 's3', uris: ['s3://b/k'] },
      ],
    },
  },
];
for (const { name, files, urls, source } of sources)
  infer(`the input source of ${name}`, () => assert.equal(sourceOf(files, urls), source));

infer('patterns and folders name files in order, hidden and empty ones left out', async ({ folder }) => {
  const root = join(folder, 'tree');
  for (const file of ['b.json', 'a.json', 'deep/c.json', 'deep/d.csv', '.hidden/e.json', '_SUCCESS', '.f.json', 'empty.json']) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), file === 'empty.json' ? '' : '{}');
  }
  symlinkSync(join(root, 'a.json'), join(root, 'deep', 'e.json'));
  symlinkSync(root, join(root, 'deep', 'again'));
  symlinkSync(join(root, 'gone.json'), join(root, 'deep', 'f.json'));
  const found = async (...words: string[]): Promise<string[]> => (await findInputs(words)).files.map((file) => relative(root, file));
  assert.equal(await found(root), ['a.json', 'b.json', 'deep/c.json', 'deep/d.csv', 'deep/e.json']);
  assert.equal(await found(join(root, '*.json')), ['a.json', 'b.json']);
  assert.equal(await found(join(root, '**.json')), ['a.json', 'b.json', 'deep/c.json', 'deep/e.json']);
  assert.equal(await found(join(root, 'deep', '{c,x}.*'), join(root, 'b.json'), join(root, 'deep', 'c.json')), ['deep/c.json', 'b.json']);
  for (const [word, says] of [
    [join(root, '*.xml'), /no file matches/],
    [join(root, 'none'), /there is no file/],
    [join(root, '.none'), /there is no file/],
  ] as const)
    await findInputs([word]).then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, says),
    );
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
  { values: ['2001-01-31', 'soon', '2001-02-01'], format: 'iso' },
  { values: [1_442_018_818, 1_442_018_819, -1], format: 'posix' },
  { values: ['2001-01-31', ...Array.from({ length: 10 }, () => 'x')], format: undefined },
  { values: ['2001'], format: undefined },
  { values: [], format: undefined },
];
for (const { values, format } of times) {
  infer(`${JSON.stringify(values)} is ${format}`, () => assert.is(inferTimeFormat(values, true), format));
}

infer('bare numbers are a time only where the name says so', () => {
  assert.is(inferTimeFormat([1_442_018_818], false), undefined);
  assert.equal(
    inferTime(
      new Map([
        ['id', [1_442_018_818]],
        ['ts', [1_442_018_818]],
      ]),
    ),
    { column: 'ts', format: 'posix' },
  );
});

infer('names that speak of time win over columns before them', () => {
  const sample = new Map<string, string[]>([
    ['birthday', ['1990-01-01']],
    ['note', ['2001-01-01']],
    ['timestamp', ['2015-09-12T00:00:00Z']],
  ]);
  assert.equal(inferTime(sample), { column: 'timestamp', format: 'iso' });
  sample.set('timestamp', ['never']);
  assert.equal(inferTime(sample), { column: 'birthday', format: 'iso' });
  sample.delete('birthday');
  assert.equal(inferTime(sample), { column: 'note', format: 'iso' });
  assert.is(inferTime(new Map([['a', ['x']]])), undefined);
});

infer('a sample has the first values of each column', async ({ folder }) => {
  const json = join(folder, 'rows.json.gz');
  writeFileSync(json, gzipSync('{"time":"2001-01-01T00:00:00Z","n":1}\n{"time":"2001-01-02T00:00:00Z","x":null}\n'));
  const { columns: sample } = await sampleRows(localProbe(json), { type: 'json' });
  assert.equal(sample.get('time'), ['2001-01-01T00:00:00Z', '2001-01-02T00:00:00Z']);
  assert.equal(sample.get('n'), [1]);
  const csv = join(folder, 'rows.csv');
  writeFileSync(csv, Buffer.from('when,"a,b"\n2001/01/01 10:00,"x,""y"""\nZ\xfcrich,b\n,z\n', 'latin1'));
  const { columns: fields, rejected } = await sampleRows(localProbe(csv), { type: 'csv', findColumnsFromHeader: true });
  assert.equal(fields.get('when'), ['2001/01/01 10:00']);
  assert.equal(fields.get('a,b'), ['x,"y"', 'z']);
  assert.match([...rejected.keys()].join(), /UTF-8.*ISO 8859-1/);
});

infer('a file without rows of the format is refused', async ({ folder }) => {
  writeFileSync(join(folder, 'bad.json'), 'not json\n');
  try {
    await sampleRows(localProbe(join(folder, 'bad.json')), { type: 'json' });
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'input_unreadable', String(error));
  }
});

infer('a table is named after its file', () => {
  assert.is(nameFor('/x/flights-3m.parquet'), 'flights-3m');
  assert.is(nameFor('wiki 2015.json.gz'), 'wiki_2015');
});

infer.run();
