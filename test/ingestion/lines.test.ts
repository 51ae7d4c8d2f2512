import { Readable } from 'node:stream';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { parseInputFormat } from '../../src/ingestion/format/input-format.js';
import { DECOMPRESSION, rowsOf } from './blocks.js';

const cases: readonly { readonly name: string; readonly bytes: Buffer; readonly rows: readonly string[]; readonly rejected?: number }[] = [
  { name: 'lines are rows', bytes: Buffer.from('a,"b\n c d \n'), rows: ['a,"b', ' c d '] },
  { name: 'a last line without a line feed', bytes: Buffer.from('a\nb'), rows: ['a', 'b'] },
  { name: 'CR LF ends a line, blank lines are passed over', bytes: Buffer.from('a\r\n\r\n \nb\r\n'), rows: ['a', 'b'] },
  { name: 'a line that is not UTF-8 is rejected', bytes: Buffer.from('a\n\xfc\nb\n', 'latin1'), rows: ['a', 'b'], rejected: 1 },
  { name: 'nothing', bytes: Buffer.from(''), rows: [] },
];

const open = (inputFormat: unknown) =>
  parseInputFormat(new ObjectReader(inputFormat, 'inputFormat', readContextOf('input_invalid', 'the task')));

const lines = suite('lines');
for (const { name, bytes, rows, rejected = 0 } of cases) {
  lines(name, async () => {
    const format = open({ type: 'lines' });
    let count = 0;
    const read = format.read(
      { name: 'a file', sizeBytes: bytes.length, localFile: null, open: async () => Readable.from([bytes]) },
      {
        columns: null,
        workDirectory: '',
        inputLimits: { maxColumns: 10, maxRowBytes: 100, decompression: DECOMPRESSION },
        read: () => undefined,
        reject: () => count++,
      },
    );
    assert.equal(
      await rowsOf(read),
      rows.map((row) => [row]),
    );
    assert.is(count, rejected);
  });
}

lines('an option is refused by name', () => {
  assert.throws(() => open({ type: 'lines', column: 'x' }), /inputFormat: unknown key "column"/);
});

lines.run();
