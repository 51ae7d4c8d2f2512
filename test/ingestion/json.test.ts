import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseJsonPath } from '../../src/ingestion/format/flatten.js';
import { type JsonFormat, readJson } from '../../src/ingestion/format/json.js';
import { inChunks, rowsOf } from './blocks.js';

const LINES: JsonFormat = { type: 'json', multiLine: false, flatten: null };
const VALUES: JsonFormat = { ...LINES, multiLine: true };

const cases: readonly {
  readonly name: string;
  readonly format?: JsonFormat;
  readonly text: string;
  readonly rows: unknown[][];
  readonly rejected?: number;
}[] = [
  { name: 'one object a line', text: '{"a":1}\n{"a":"x"}\n', rows: [[1], ['x']] },
  { name: 'no line feed at the end, blank lines', text: '\n{"a":1}\n \n{"a":2}', rows: [[1], [2]] },
  {
    name: 'columns are those of all rows',
    text: '{"a":1}\n{"b":[1,"x"]}\n{"c":{"d":null}}\n',
    rows: [
      [1, undefined, undefined],
      [undefined, [1, 'x'], undefined],
      [undefined, undefined, { d: null }],
    ],
  },
  {
    name: 'longs beyond 2^53 stay exact',
    text: '{"a":9007199254740993,"b":0.12345678901234567}',
    rows: [[9007199254740993n, Number('0.12345678901234567')]],
  },
  { name: 'a broken line costs one row', text: '{"a":1}\n{"a":\n{"a":3}\n', rows: [[1], [3]], rejected: 1 },
  { name: 'a line that is no object', text: '[1]\n7\nnull\n{"a":3}\n', rows: [[3]], rejected: 3 },
  { name: 'two objects on a line are no line', text: '{"a":1},{"a":2}\n{"a":3}\n', rows: [[3]], rejected: 1 },
  {
    name: 'names that every object inherits',
    text: '{"a":1}\n{"constructor":"x","__proto__":"y","a":2}\n',
    rows: [
      [1, undefined, undefined],
      [2, 'x', 'y'],
    ],
  },
  { name: 'values over several lines', format: VALUES, text: '{\n "a": 1\n}\n{"a":\n"}{"}', rows: [[1], ['}{']] },
  { name: 'values on one line', format: VALUES, text: '{"a":1}{"a":2} {"a":"\\"}"}', rows: [[1], [2], ['"}']] },
  { name: 'a value that never ends', format: VALUES, text: '{"a":1}{"a":', rows: [[1]], rejected: 1 },
];

const json = suite('JSON');
for (const { name, format = LINES, text, rows, rejected = 0 } of cases) {
  for (const size of [1, 3, 1 << 20]) {
    json(`${name}, in chunks of ${size}`, async () => {
      let count = 0;
      const read = (await rowsOf(readJson(format, inChunks(text, size), 'a file', () => count++))) as unknown[][];
      // Blocks of one row know only that row's columns.
      if (size > 1000) assert.equal(read, rows);
      else assert.is(read.length, rows.length);
      assert.is(count, rejected);
    });
  }
}

json('binary is refused', async () => {
  for (const bytes of [Uint8Array.of(0x7b, 0, 1), Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0x41, 0x41)]) {
    try {
      await rowsOf(readJson(LINES, inChunks(bytes, 100), 'a file', () => undefined));
      assert.unreachable('it must be refused');
    } catch (error) {
      assert.match((error as Error).message, /a file: is binary/);
    }
  }
});

json('flattenSpec: root, path, tree, and fields of the root', async () => {
  const flatten = {
    useFieldDiscovery: true,
    fields: [
      { name: 'deep', steps: parseJsonPath("$.n['x y'][1].z", 'expr') },
      { name: 'last', steps: parseJsonPath('$.list[-1]', 'expr') },
      { name: 'none', steps: ['n', 'q'] },
    ],
  };
  const text = '{"a":1,"list":[1,2,3],"n":{"x y":[0,{"z":"found"}]}}';
  const blocks = readJson({ ...LINES, flatten }, inChunks(text, 1000), 'a file', () => undefined);
  for await (const block of blocks) {
    assert.equal([...block.columns].sort(), ['a', 'deep', 'last', 'list', 'n', 'none']);
    assert.equal(
      ['a', 'deep', 'last', 'list', 'none'].map((name) => block.values(name)[0]),
      [1, 'found', 3, [1, 2, 3], null],
    );
  }
});

for (const path of ['$..a', '$.a[*]', '$.a[?(@.b)]', '$.a[0:2]', '$.length()']) {
  json(`${path} is refused by name`, () =>
    assert.throws(() => parseJsonPath(path, 'flattenSpec.fields[0].expr'), /flattenSpec\.fields\[0\]\.expr.*not supported/),
  );
}
json.run();
