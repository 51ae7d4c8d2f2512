import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { readDelimited } from '../../src/ingestion/format/delimited.js';
import type { DelimitedFormat } from '../../src/ingestion/format/delimited-format.js';
import { inChunks, rowsOf } from './blocks.js';

const CSV: DelimitedFormat = {
  type: 'csv',
  delimiter: ',',
  listDelimiter: null,
  columns: ['a', 'b', 'c'],
  findColumnsFromHeader: false,
  skipHeaderRows: 0,
  tryParseNumbers: false,
};
const TSV: DelimitedFormat = { ...CSV, type: 'tsv', delimiter: '\t' };

interface Case {
  readonly name: string;
  readonly format?: DelimitedFormat;
  readonly text: string;
  readonly rows: unknown[][];
  readonly rejected?: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'rows and fields',
    text: '1,2,3\n4,5,6\n',
    rows: [
      ['1', '2', '3'],
      ['4', '5', '6'],
    ],
  },
  { name: 'no line feed at the end', text: '1,2,3', rows: [['1', '2', '3']] },
  { name: 'nothing at all', text: '', rows: [] },
  { name: 'an empty field is null, a quoted one is empty', text: 'x,,""\n', rows: [['x', null, '']] },
  {
    name: 'missing fields are null, surplus ones are dropped',
    text: 'x\nx,y,z,w\n',
    rows: [
      ['x', null, null],
      ['x', 'y', 'z'],
    ],
  },
  {
    name: 'blank lines are passed over',
    text: '\n1,2,3\n\r\n\n4,5,6\n\n',
    rows: [
      ['1', '2', '3'],
      ['4', '5', '6'],
    ],
  },
  {
    name: 'CR LF',
    text: '1,2,3\r\n4,5,"6"\r\n',
    rows: [
      ['1', '2', '3'],
      ['4', '5', '6'],
    ],
  },
  { name: 'quotes hold delimiters, line breaks and quotes', text: '"a,b","c\nd","e""f"\n', rows: [['a,b', 'c\nd', 'e"f']] },
  { name: 'a quote inside an unquoted field is a character', text: 'a"b,c,d\n', rows: [['a"b', 'c', 'd']] },
  { name: 'UTF-8', text: 'Zürich,東京,🦊\n', rows: [['Zürich', '東京', '🦊']] },
  { name: 'text behind a closing quote', text: '"a"b,c,d\n1,2,3\n', rows: [['1', '2', '3']], rejected: ['"a"b,c,d'] },
  { name: 'a quote that is never closed', text: '1,2,3\n"a,b\nc', rows: [['1', '2', '3']], rejected: ['"a,b\nc\n'] },
  { name: 'a header', format: { ...CSV, columns: null, findColumnsFromHeader: true }, text: 'x,"y ""z"""\n1,2\n', rows: [['1', '2']] },
  {
    name: 'header rows to skip',
    format: { ...CSV, columns: null, findColumnsFromHeader: true, skipHeaderRows: 2 },
    text: 'junk\n"junk\nx,y\n1,2\n',
    rows: [['1', '2']],
  },
  { name: 'another delimiter', format: { ...TSV, delimiter: '|' }, text: '1|2,3|4\n', rows: [['1', '2,3', '4']] },
  { name: 'quotes mean nothing in TSV', format: TSV, text: '"a\tb"\t""\n', rows: [['"a', 'b"', '""']] },
  { name: 'a byte order mark', text: '\ufeff1,2,3\n', rows: [['1', '2', '3']] },
];

/** Small limits, so that tests reach them. */
function reading(reject: (reason: string, sample: string) => void) {
  return { name: 'a file', limits: { maxColumns: 100, maxRowBytes: 4000 }, reject };
}

const delimited = suite('delimited text');
for (const { name, format = CSV, text, rows, rejected = [] } of cases) {
  for (const size of [1, 2, 3, 7, 1 << 20]) {
    // A source gives its first eight bytes in one.
    if (text.startsWith('\ufeff') && size < 7) continue;
    delimited(`${name}, in chunks of ${size}`, async () => {
      const samples: string[] = [];
      assert.equal(
        await rowsOf(
          readDelimited(
            format,
            inChunks(text, size),
            reading((_, sample) => samples.push(sample)),
          ),
        ),
        rows,
      );
      assert.equal(samples, rejected);
    });
  }
}

delimited('CSV is read back wherever the chunks are cut', async () => {
  const field = fc.oneof(fc.constant(null), fc.string({ unit: fc.constantFrom('a', 'é', ',', '"', '\n', '\r', ' ', '🦊') }));
  const table = fc.array(fc.tuple(field, field, field), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), async (rows, size) => {
      const text = rows.map((row) => row.map((value) => (value === null ? '' : `"${value.replaceAll('"', '""')}"`)).join(',')).join('\n');
      const read = await rowsOf(readDelimited(CSV, inChunks(text, size), reading(assert.unreachable)));
      assert.equal(read, rows);
    }),
    { numRuns: 200 },
  );
});

for (const [fault, bytes] of [
  ['a NUL byte', [0x61, 0x00]],
  ['a byte that UTF-8 never has', [0xff]],
  ['a Latin-1 letter', [0x5a, 0xfc, 0x72]],
  ['half of a character', [0xe6, 0x9d]],
] as const) {
  for (const size of [3, 1 << 20]) {
    delimited(`${fault} costs its row alone, in chunks of ${size}`, async () => {
      for (let faulty = 0; faulty < 4; faulty++) {
        const rows = Array.from({ length: 4 }, (_, row) => [`r${row}`, 'é"', '']);
        const lines = rows.map(([first], row) =>
          Buffer.concat([Buffer.from(`${first},"é""",`), row === faulty ? Buffer.from(bytes) : Buffer.from('""'), Buffer.from('\n')]),
        );
        const reasons: string[] = [];
        const read = await rowsOf(
          readDelimited(
            CSV,
            inChunks(Buffer.concat(lines), size),
            reading((reason) => reasons.push(reason)),
          ),
        );
        assert.equal(
          read,
          rows.filter((_, row) => row !== faulty),
        );
        assert.is(reasons.length, 1);
        assert.match(reasons[0] ?? '', /NUL|UTF-8/);
      }
    });
  }
}

delimited('more rows than a block has, the last field quoted', async () => {
  const lines = Array.from({ length: 5000 }, (_, row) => `${row},,"${row}"`);
  const rows = await rowsOf(readDelimited(CSV, inChunks(lines.join('\n'), 777), reading(assert.unreachable)));
  assert.is(rows.length, 5000);
  assert.equal(rows[4999], ['4999', null, '4999']);
});

const refusals = [
  {
    name: 'a header that is not text',
    format: { ...CSV, columns: null, findColumnsFromHeader: true },
    text: 'x,\u0000\n',
    message: /header.*NUL/,
  },
  {
    name: 'more columns than allowed, in the header',
    format: { ...CSV, columns: null, findColumnsFromHeader: true },
    text: `${Array.from({ length: 101 }, (_, column) => `c${column}`).join(',')}\n`,
    message: /101 columns.*svc\.ingestion\.maxColumns \(100\)/,
  },
  {
    name: 'more columns than allowed, in the spec',
    format: { ...CSV, columns: Array.from({ length: 101 }, (_, column) => `c${column}`) },
    text: '1\n',
    message: /101 columns/,
  },
  { name: 'a row that is too long', format: CSV, text: `1,2,${'x'.repeat(5000)}\n`, message: /svc\.ingestion\.maxRowBytes \(4000 bytes\)/ },
  { name: 'a quote left open', format: CSV, text: `"1,2\n${'x\n'.repeat(5000)}`, message: /svc\.ingestion\.maxRowBytes/ },
  { name: 'a column named twice', format: { ...CSV, columns: null, findColumnsFromHeader: true }, text: 'x,y,x\n', message: /"x" twice/ },
  { name: 'no header', format: { ...CSV, columns: null, findColumnsFromHeader: true }, text: '\n', message: /header row is blank/ },
  { name: 'another header than named', format: { ...CSV, findColumnsFromHeader: true }, text: 'a,b,d\n', message: /a, b, d.*a, b, c/ },
];
for (const { name, format, text, message } of refusals) {
  delimited(`refused: ${name}`, async () => {
    try {
      await rowsOf(
        readDelimited(
          format,
          inChunks(text, 5),
          reading(() => undefined),
        ),
      );
      assert.unreachable('it must be refused');
    } catch (error) {
      assert.instance(error, ServiceError);
      assert.is(
        (error as ServiceError).code,
        message.source.includes('svc') || message.source.includes('101') ? 'resource_limit' : 'input_unreadable',
      );
      assert.match((error as ServiceError).message, message);
    }
  });
}
delimited.run();
