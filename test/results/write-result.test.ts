import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Frame } from '../../src/model/frame.js';
import type { OutputColumn } from '../../src/model/statement.js';
import type { ResultFormatName } from '../../src/results/result-format.js';
import { type ResultOptions, writeResult } from '../../src/results/write-result.js';

const COLUMNS: readonly OutputColumn[] = [
  { name: '__time', sqlType: 'TIMESTAMP', nativeType: 'LONG' },
  { name: 'city', sqlType: 'VARCHAR', nativeType: 'STRING' },
  { name: 'tags', sqlType: 'VARCHAR', nativeType: 'STRING' },
  { name: 'n', sqlType: 'BIGINT', nativeType: 'LONG' },
  { name: 'ok', sqlType: 'BOOLEAN', nativeType: 'LONG' },
  { name: 'x', sqlType: 'DOUBLE', nativeType: 'DOUBLE' },
  { name: 'f', sqlType: 'FLOAT', nativeType: 'FLOAT' },
];

const DAY = Date.UTC(2015, 8, 12);

/** Three rows: plain values, all null, values that need quoting. */
const FRAME: Frame = {
  rowCount: 3,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.of(BigInt(DAY), 0n, BigInt(DAY) + 3_600_001n), nulls: Uint32Array.of(2) },
    { kind: 'string', name: 'city', ids: Uint32Array.of(0, 1, 2), dictionary: ['Oslo', null, 'a"b,\nc'] },
    { kind: 'multi', name: 'tags', offsets: Uint32Array.of(0, 1, 1, 3), ids: Uint32Array.of(0, 0, 1), dictionary: ['u', 'v"'] },
    { kind: 'long', name: 'n', values: BigInt64Array.of(9223372036854775807n, 0n, -9007199254740993n), nulls: Uint32Array.of(2) },
    { kind: 'long', name: 'ok', values: BigInt64Array.of(1n, 0n, 0n), nulls: Uint32Array.of(2) },
    { kind: 'double', name: 'x', type: 'DOUBLE', values: Float64Array.of(0.1, 0, Number.NaN), nulls: Uint32Array.of(2) },
    { kind: 'double', name: 'f', type: 'FLOAT', values: Float64Array.of(Math.fround(0.1), 0, -Infinity), nulls: Uint32Array.of(2) },
  ],
};

async function* framesOf(...frames: readonly Frame[]): AsyncGenerator<Frame, void, undefined> {
  yield* frames;
}

async function written(frames: AsyncIterable<Frame>, columns: readonly OutputColumn[], options: Partial<ResultOptions>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of writeResult(frames, columns, {
    format: 'object',
    header: false,
    typesHeader: false,
    sqlTypesHeader: false,
    timeZone: 'UTC',
    ...options,
  }))
    text += decoder.decode(chunk, { stream: true });
  return text;
}

const bytes = suite('SQL result formats, byte for byte');

const ARRAYS = [
  '["2015-09-12T00:00:00.000Z","Oslo","u",9223372036854775807,true,0.1,0.1]',
  '[null,null,null,null,null,null,null]',
  '["2015-09-12T01:00:00.001Z","a\\"b,\\nc","[\\"u\\",\\"v\\\\\\"\\"]",-9007199254740993,false,"NaN","-Infinity"]',
];
const OBJECTS = ARRAYS.map((row) => {
  const cells = row.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
  return `{${cells.map((cell, index) => `"${COLUMNS[index]?.name}":${cell}`).join(',')}}`;
});

const EXPECTED: Readonly<Record<ResultFormatName, { readonly body: string; readonly empty: string }>> = {
  array: { body: `[${ARRAYS.join(',')}]\n`, empty: '[]\n' },
  object: { body: `[${OBJECTS.join(',')}]\n`, empty: '[]\n' },
  arrayLines: { body: `${ARRAYS.join('\n')}\n\n`, empty: '\n' },
  objectLines: { body: `${OBJECTS.join('\n')}\n\n`, empty: '\n' },
  csv: {
    body: '2015-09-12T00:00:00.000Z,Oslo,u,9223372036854775807,true,0.1,0.1\n,,,,,,\n2015-09-12T01:00:00.001Z,"a""b,\nc","[""u"",""v\\""""]",-9007199254740993,false,NaN,-Infinity\n\n',
    empty: '\n',
  },
};

for (const format of Object.keys(EXPECTED) as ResultFormatName[]) {
  bytes(`${format}: rows`, async () => assert.is(await written(framesOf(FRAME), COLUMNS, { format }), EXPECTED[format].body));
  bytes(`${format}: no rows`, async () => assert.is(await written(framesOf(), COLUMNS, { format }), EXPECTED[format].empty));
}

const TWO = COLUMNS.slice(0, 2);
const HEADERS: readonly {
  readonly format: ResultFormatName;
  readonly types: boolean;
  readonly sqlTypes: boolean;
  readonly body: string;
}[] = [
  { format: 'array', types: false, sqlTypes: false, body: '[["__time","city"]]\n' },
  { format: 'array', types: true, sqlTypes: true, body: '[["__time","city"],["LONG","STRING"],["TIMESTAMP","VARCHAR"]]\n' },
  { format: 'arrayLines', types: false, sqlTypes: true, body: '["__time","city"]\n["TIMESTAMP","VARCHAR"]\n\n' },
  { format: 'csv', types: true, sqlTypes: false, body: '__time,city\nLONG,STRING\n\n' },
  { format: 'object', types: false, sqlTypes: false, body: '[{"__time":null,"city":null}]\n' },
  { format: 'object', types: true, sqlTypes: false, body: '[{"__time":{"type":"LONG"},"city":{"type":"STRING"}}]\n' },
  {
    format: 'objectLines',
    types: true,
    sqlTypes: true,
    body: '{"__time":{"type":"LONG","sqlType":"TIMESTAMP"},"city":{"type":"STRING","sqlType":"VARCHAR"}}\n\n',
  },
];

for (const { format, types, sqlTypes, body } of HEADERS) {
  bytes(`${format}: header, types ${types}, SQL types ${sqlTypes}`, async () =>
    assert.is(await written(framesOf(), TWO, { format, header: true, typesHeader: types, sqlTypesHeader: sqlTypes }), body),
  );
}

bytes('instants are written on the wall clock of the zone', async () => {
  assert.is(
    await written(framesOf(FRAME), COLUMNS.slice(0, 1), { format: 'arrayLines', timeZone: 'America/Los_Angeles' }),
    '["2015-09-11T17:00:00.000-07:00"]\n[null]\n["2015-09-11T18:00:00.001-07:00"]\n\n',
  );
});
bytes.run();

const streaming = suite('SQL results as a stream');

function longFrame(values: readonly bigint[]): Frame {
  return { rowCount: values.length, columns: [{ kind: 'long', name: 'n', values: BigInt64Array.from(values), nulls: null }] };
}
const N: readonly OutputColumn[] = [{ name: 'n', sqlType: 'BIGINT', nativeType: 'LONG' }];

streaming('the body does not depend on how rows are split into frames', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 5 }), { maxLength: 5 }),
      fc.constantFrom<ResultFormatName>('object', 'array', 'objectLines', 'arrayLines', 'csv'),
      async (parts, format) => {
        const whole = await written(framesOf(longFrame(parts.flat())), N, { format, header: true });
        assert.is(await written(framesOf(...parts.map(longFrame)), N, { format, header: true }), whole);
      },
    ),
    { numRuns: 50 },
  );
});

streaming('large results leave in chunks of bounded size', async () => {
  const frame = longFrame(Array.from({ length: 100_000 }, (_, index) => BigInt(index)));
  const sizes: number[] = [];
  for await (const chunk of writeResult(framesOf(frame), N, {
    format: 'objectLines',
    header: false,
    typesHeader: false,
    sqlTypesHeader: false,
    timeZone: 'UTC',
  }))
    sizes.push(chunk.length);
  assert.ok(sizes.length > 10);
  assert.ok(Math.max(...sizes) <= 64 * 1024, String(Math.max(...sizes)));
});

streaming('a failure before the first frame comes before the first chunk', async () => {
  const failing: AsyncIterable<Frame> = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no segments')) }) };
  const body = writeResult(failing, N, { format: 'array', header: true, typesHeader: false, sqlTypesHeader: false, timeZone: 'UTC' });
  try {
    await body.next();
  } catch (error) {
    assert.is(error instanceof Error && error.message, 'no segments');
    return;
  }
  assert.unreachable();
});

streaming('a failure later ends the body without its closing', async () => {
  async function* failing(): AsyncGenerator<Frame, void, undefined> {
    yield longFrame([1n]);
    await new Promise((done) => setTimeout(done, 5));
    throw new Error('lost');
  }
  let text = '';
  let failed = false;
  try {
    for await (const chunk of writeResult(failing(), N, {
      format: 'arrayLines',
      header: false,
      typesHeader: false,
      sqlTypesHeader: false,
      timeZone: 'UTC',
    }))
      text += new TextDecoder().decode(chunk);
  } catch {
    failed = true;
  }
  assert.ok(failed);
  assert.is(text, '[1]\n');
});

streaming('a reader that leaves stops what makes the frames', async () => {
  let stopped = false;
  async function* endless(): AsyncGenerator<Frame, void, undefined> {
    try {
      for (;;) yield longFrame(Array.from({ length: 20_000 }, () => 7n));
    } finally {
      stopped = true;
    }
  }
  for await (const chunk of writeResult(endless(), N, {
    format: 'array',
    header: false,
    typesHeader: false,
    sqlTypesHeader: false,
    timeZone: 'UTC',
  }))
    if (chunk.length > 0) break;
  assert.ok(stopped);
});
streaming.run();

const memory = suite('memory of texts');

const CITY = COLUMNS.slice(1, 2);

/** Rows `a`, `b`, `c`, `a`, … of so many. */
function citiesOf(rows: number): { readonly frame: Frame; readonly text: string } {
  const dictionary = ['a', 'b', 'c'];
  const ids = Uint32Array.from({ length: rows }, (_, row) => row % 3);
  return {
    frame: { rowCount: rows, columns: [{ kind: 'string', name: 'city', ids, dictionary }] },
    text: `[${Array.from({ length: rows }, (_, row) => `["${dictionary[row % 3]}"]`).join(',')}]\n`,
  };
}

memory('answers that are written at a time, and after one that was left early, keep their own text', async () => {
  const options = { format: 'array', header: false, typesHeader: false, sqlTypesHeader: false, timeZone: 'UTC' } as const;
  const left = writeResult(framesOf(citiesOf(20_000).frame, citiesOf(20_000).frame), CITY, options);
  await left.next();
  const sizes = [1, 63, 64, 500, 20_000];
  const texts = await Promise.all(sizes.map((rows) => written(framesOf(citiesOf(rows).frame), CITY, { format: 'array' })));
  await left.return();
  const again = await Promise.all(sizes.map((rows) => written(framesOf(citiesOf(rows).frame), CITY, { format: 'array' })));
  for (const [at, rows] of sizes.entries()) {
    assert.is(texts[at], citiesOf(rows).text);
    assert.is(again[at], citiesOf(rows).text);
  }
});

memory.run();
