import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../../src/base/json-reader.js';
import type { InputBlock } from '../../../src/ingestion/format/input-block.js';
import { RowStatistics } from '../../../src/ingestion/report/row-statistics.js';
import { messageBlocks, parseMessageFormat } from '../../../src/ingestion/stream/kafka-format.js';
import type { StreamRecord } from '../../../src/ingestion/stream/stream-reader.js';

const reading = suite('messages that are read together');

interface Read {
  readonly rows: readonly unknown[];
  readonly rejected: readonly string[];
  readonly bytesRead: number;
  readonly thrownAway: number;
  readonly blocks: number;
}

const NONE: Read = { rows: [], rejected: [], bytesRead: 0, thrownAway: 0, blocks: 0 };

function cellsOf(block: InputBlock): readonly unknown[] {
  const all = block.kind === 'text' ? Buffer.from(block.bytes.buffer, block.bytes.byteOffset, block.bytes.byteLength) : null;
  const valuesOf = (name: string, at: number): readonly unknown[] => {
    if (block.kind === 'values') return block.values(name);
    const [starts, ends] = [block.starts[at], block.ends[at]];
    return Array.from({ length: block.rowCount }, (_, row) => {
      const end = ends?.[row] ?? -1;
      return end < 0 ? null : all?.toString('utf8', starts?.[row], end);
    });
  };
  const columns = block.columns.map((name, at) => [name, valuesOf(name, at)] as const);
  return Array.from({ length: block.rowCount }, (_, row) =>
    Object.fromEntries(columns.map(([name, values]) => [name, values[row]]).filter(([, value]) => value !== undefined)),
  );
}

async function read(format: Readonly<Record<string, unknown>>, records: readonly StreamRecord[]): Promise<Read> {
  const limits = { logParseExceptions: false, maxParseExceptions: 100_000, maxSavedParseExceptions: 100_000 };
  const statistics = new RowStatistics(
    limits as never,
    () => undefined,
    () => 0,
  );
  const rejected: string[] = [];
  const rows: unknown[] = [];
  let blocks = 0;
  const parsed = parseMessageFormat(new ObjectReader(format, 'inputFormat', readContextOf('input_invalid', 'f')));
  const options = {
    columns: null,
    workDirectory: '/nowhere',
    inputLimits: { maxColumns: 100, maxRowBytes: 1 << 20, decompression: { maxBytes: 1 << 20, maxRatio: 100 } } as never,
    reject: (reason: string) => void rejected.push(reason),
  };
  for await (const block of messageBlocks({ records, blocks: [] }, parsed, options, statistics)) {
    blocks++;
    rows.push(...cellsOf(block));
  }
  rejected.push(...statistics.saved.map(({ details }) => JSON.stringify(details)));
  return { rows, rejected: rejected.sort(), bytesRead: statistics.bytesRead, thrownAway: statistics.thrownAway, blocks };
}

const messageOf = (value: string | null, at: number): StreamRecord => ({
  partition: '0',
  offset: String(at),
  topic: 'edits',
  timestampMs: 1000 + at,
  key: at % 3 === 0 ? null : Buffer.from(`key ${at % 7}`),
  values: [value === null ? null : Buffer.from(value)],
  headers: at % 2 === 0 ? [] : [['kind', Buffer.from(`k${at % 5}`)]],
});

const JSON_TEXTS = [
  '{"a":1}',
  '{"a":"x","b":[1,2]}',
  '{"a":1}\n',
  '{"a":1}\n{"a":2}',
  '{\n"a":3\n}',
  '{',
  '',
  null,
  '[]',
  ' {"b":"é"} ',
  '{"a":1}\r\n',
];
const CSV_TEXTS = [
  '1,x',
  '"a,b",2',
  '"a ""b""",3',
  '"open,1',
  'a"b,"c',
  '"two\nlines",4',
  '1,x\n2,y',
  '',
  null,
  '"a"b,1',
  ',',
  '5,z\r\n',
  'no',
  '""',
];
const beside = { keyFormat: { type: 'csv', columns: ['k'] }, headerFormat: { type: 'string' } };
const csv = { type: 'csv', columns: ['a', 'b'] };

/** Formats with texts that are plainly a line each, and all kinds. */
const CASES: readonly (readonly [string, Readonly<Record<string, unknown>>, string, readonly (string | null)[]])[] = [
  ['json', { type: 'json' }, '{"a":7,"b":"y"}', JSON_TEXTS],
  ['flattened json', { type: 'json', flattenSpec: { fields: [{ type: 'path', name: 'c', expr: '$.b[0]' }] } }, '{"b":[3]}', JSON_TEXTS],
  ['csv', csv, '"a, b",7', CSV_TEXTS],
  ['tsv', { type: 'tsv', columns: ['a', 'b'] }, 'a"\t7', ['1\tx', '"\t2', '1\t2\n3\t4', '', null]],
  ['regex', { type: 'regex', pattern: '(\\w+)=(\\w+)', columns: ['a', 'b'] }, 'k=v', ['k=1', 'none', 'a=1\nb=2', '', null]],
  ['lines', { type: 'lines' }, 'a line', ['one', 'two\nthree', '', null]],
  ['kafka of json', { type: 'kafka', valueFormat: { type: 'json' }, ...beside }, '{"a":7}', JSON_TEXTS],
  ['kafka of csv', { type: 'kafka', valueFormat: csv, ...beside }, '7,x', CSV_TEXTS],
];

for (const [name, format, plain, texts] of CASES) {
  reading(`are the rows that each of them has by itself: ${name}`, async () => {
    // Every text between plain ones, then all of them in a row, over and over.
    const mixed = [
      ...texts.flatMap((text) => [plain, plain, text]),
      ...Array.from({ length: 300 }, (_, at) => texts[(at * 7) % texts.length] ?? null),
    ];
    const records = mixed.map(messageOf);
    let alone = NONE;
    for (const record of records) {
      const one = await read(format, [record]);
      alone = {
        rows: [...alone.rows, ...one.rows],
        rejected: [...alone.rejected, ...one.rejected],
        bytesRead: alone.bytesRead + one.bytesRead,
        thrownAway: alone.thrownAway + one.thrownAway,
        blocks: 0,
      };
    }
    const together = await read(format, records);
    const placeless = (reasons: readonly string[]): readonly string[] =>
      reasons.map((reason) => reason.replace(/ \(line \d+.*$/s, '')).sort();
    assert.equal(together.rows, alone.rows);
    assert.equal(placeless(together.rejected), placeless(alone.rejected));
    assert.is(together.bytesRead, alone.bytesRead);
    assert.is(together.thrownAway, alone.thrownAway);
  });

  reading(`are few blocks: ${name}`, async () => {
    const { rows, blocks } = await read(
      format,
      Array.from({ length: 4000 }, (_, at) => messageOf(plain, at)),
    );
    assert.is(rows.length, 4000);
    assert.ok(blocks <= 2, `${blocks} blocks`);
  });
}

reading.run();
