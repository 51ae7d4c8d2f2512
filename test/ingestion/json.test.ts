import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { parseInputPath } from '../../src/expression/json-path.js';
import { parseFlattenSpec } from '../../src/ingestion/format/flatten.js';
import { type JsonFormat, readJson } from '../../src/ingestion/format/json.js';
import { wholeRows } from '../../src/ingestion/format/text-rows.js';
import { inChunks, rowsOf } from './blocks.js';

const LINES: JsonFormat = { multiLine: false, flatten: null };
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
  { name: 'lines that end like those of a list', text: '{"a":1},\n{"a":"},"} , \r\n{"a":3}\n', rows: [[1], ['},'], [3]] },
  { name: 'anything else behind an object', text: '{"a":1};\n{"a":2},,\n{"a":3}\n', rows: [[3]], rejected: 2 },
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
  { name: 'the elements of an array', format: VALUES, text: '[{"a":1},\n {"a":[2]} ]\n[{"a":3}]', rows: [[1], [[2]], [3]] },
  { name: 'elements that are not objects', format: VALUES, text: '[{"a":1}, 7]', rows: [[1]], rejected: 1 },
  {
    name: 'halves of pairs of surrogates, in values, names, and nested ones',
    text: [
      String.raw`{"a":"\ud83d\uDE00"}`,
      String.raw`{"a":"\uD800"}`,
      String.raw`{"a":"\udc00"}`,
      String.raw`{"a":"\ud800x\udc00"}`,
      String.raw`{"a":"\udc00\ud800"}`,
      String.raw`{"a":"\ud800\ud83d\ude00"}`,
      String.raw`{"a":1,"\ud800":2}`,
      String.raw`{"a":[{"b":"\udfff"}]}`,
      String.raw`{"a":"\\ud800"}`,
      String.raw`{"a":"\ud7ff\ue000"}`,
    ].join('\n'),
    rows: [['\u{1f600}'], [String.raw`\ud800`], ['\ud7ff\ue000']],
    rejected: 7,
  },
  {
    name: 'half of a pair among values',
    format: VALUES,
    text: String.raw`{"a":"\ud800"}{"a":"\ud83d\ude00"}`,
    rows: [['\u{1f600}']],
    rejected: 1,
  },
  { name: 'a value that never ends', format: VALUES, text: '{"a":1}{"a":', rows: [[1]], rejected: 1 },
];

/** A small limit, so that tests reach it. */
function reading(reject: (reason: string) => void) {
  return { name: 'a file', maxRowBytes: 4000, reject };
}

const json = suite('JSON');
for (const { name, format = LINES, text, rows, rejected = 0 } of cases) {
  for (const size of [1, 3, 1 << 20]) {
    json(`${name}, in chunks of ${size}`, async () => {
      let count = 0;
      const read = (await rowsOf(
        readJson(
          format,
          inChunks(text, size),
          reading(() => count++),
        ),
      )) as unknown[][];
      // Blocks of one row know only that row's columns.
      if (size > 1000) assert.equal(read, rows);
      else assert.is(read.length, rows.length);
      assert.is(count, rejected);
    });
  }
}

for (const { name, bytes } of [
  { name: 'a NUL byte', bytes: [0x7b, 0x00, 0x7d] },
  { name: 'a byte that UTF-8 never has', bytes: [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d] },
  { name: 'a Latin-1 letter', bytes: [0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d] },
]) {
  for (const format of [LINES, VALUES]) {
    json(`${name} costs its row alone, ${format.multiLine ? 'value by value' : 'line by line'}`, async () => {
      const rows = [Buffer.from('{"a":"é"}\n'), Buffer.from(bytes), Buffer.from('\n{"a":2}\n')];
      let rejected = 0;
      const read = await rowsOf(
        readJson(
          format,
          inChunks(Buffer.concat(rows), 1 << 20),
          reading(() => rejected++),
        ),
      );
      assert.equal(read, [['é'], [2]]);
      assert.is(rejected, 1);
    });
  }
}

for (const format of [LINES, VALUES]) {
  json(`a row beyond maxRowBytes is refused by name, ${format.multiLine ? 'value by value' : 'line by line'}`, async () => {
    const text = `{"a":1}\n{"a":"${'x'.repeat(1_000_000)}`;
    try {
      await rowsOf(readJson(format, inChunks(text, 1000), reading(assert.unreachable)));
      assert.unreachable('it must be refused');
    } catch (error) {
      assert.instance(error, ServiceError);
      assert.match(String(error), /a file: a row is longer than svc\.ingestion\.maxRowBytes \(4000 bytes\)/);
    }
  });
}

json('a row that is not whole is looked at again only when it has doubled', async () => {
  let looks = 0;
  const chunks = (async function* () {
    for (let count = 0; count < 2000; count++) yield Buffer.alloc(1000, 'x');
  })();
  const endOfRows = (): number => {
    looks++;
    return 0;
  };
  for await (const _ of wholeRows(chunks, endOfRows, { name: 'a file', maxRowBytes: 1 << 22 }));
  // 263 looks below 256 KiB, one each at 512 KiB and 1 MiB.
  assert.ok(looks <= 266, String(looks));
});

json('flattenSpec: root, path, tree, and fields of the root', async () => {
  const flatten = {
    useFieldDiscovery: true,
    fields: [
      { name: 'deep', path: parseInputPath("$.n['x y'][1].z", 'expr') },
      { name: 'last', path: parseInputPath('$.list[-1]', 'expr') },
      {
        name: 'none',
        path: [{ kind: 'field', name: 'n' } as const, { kind: 'field', name: 'q' } as const],
      },
    ],
  };
  const text = '{"a":1,"list":[1,2,3],"n":{"x y":[0,{"z":"found"}]}}';
  const blocks = readJson({ ...LINES, flatten }, inChunks(text, 1000), reading(assert.unreachable));
  for await (const block of blocks) {
    assert.equal([...block.columns].sort(), ['a', 'deep', 'last', 'list', 'n', 'none']);
    assert.equal(
      ['a', 'deep', 'last', 'list', 'none'].map((name) => block.values(name)[0]),
      [1, 'found', 3, [1, 2, 3], null],
    );
  }
});

const FUNCTIONS: readonly (readonly [expr: string, value: unknown])[] = [
  ['$.list.length()', 4],
  ['$.list.min()', 1],
  ['$.list.max()', 5],
  ['$.list.sum()', 9],
  ['$.list.avg()', 3],
  // The mean of 4, 0 and 4, the squares of how far 1, 3 and 5 are from 3.
  ['$.list.stddev()', Math.sqrt(8 / 3)],
  ['$.n.keys()', ['x', 'y']],
  ['$.n.length()', 2],
  ['$.length()', 4],
  ['$.n.sum()', null],
  ['$.none.max()', null],
  ['$.empty.max()', null],
  ['$.text.length()', null],
  ["$.n['x']", 1],
];

json('flattenSpec: functions at the end of a path', async () => {
  const spec = { flattenSpec: { fields: FUNCTIONS.map(([expr], at) => ({ type: 'path', name: `f${at}`, expr })) } };
  const flatten = parseFlattenSpec(new ObjectReader(spec, '', readContextOf('input_invalid', 'the test')));
  const text = '{"list":[5,1,"x",3],"n":{"x":1,"y":2},"empty":[],"text":"abc"}';
  for await (const block of readJson({ ...LINES, flatten }, inChunks(text, 1000), reading(assert.unreachable)))
    assert.equal(
      FUNCTIONS.map((_, at) => block.values(`f${at}`)[0]),
      FUNCTIONS.map(([, value]) => value),
    );
});

for (const path of ['$..a', '$.a[*]', '$.a[?(@.b)]', '$.a[0:2]', '$.concat("x")', '$.a.first()']) {
  json(`${path} is refused by name`, () =>
    assert.throws(
      () => parseInputPath(path, 'flattenSpec.fields[0].expr'),
      /^flattenSpec\.fields\[0\]\.expr: JSONPath .*expected a member or an element/,
    ),
  );
}
json.run();
