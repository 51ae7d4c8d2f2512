import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caseCount } from '../case-count.js';
import { run } from './run-task.js';

/** Rows at fault are told with their file, record and line, whatever stands before them. */

/** Text of a record or of blank lines, and whether it is at fault. */
interface Piece {
  readonly kind: 'good' | 'fault' | 'blank';
  /** Without the line feed behind it. */
  readonly text: string;
}

interface Format {
  readonly name: string;
  readonly inputFormat: Readonly<Record<string, unknown>>;
  readonly head?: string;
  readonly pieces: readonly Piece[];
  readonly schema?: Readonly<Record<string, unknown>>;
}

const good = (text: string): Piece => ({ kind: 'good', text });
const fault = (text: string): Piece => ({ kind: 'fault', text });
const blank = (text: string): Piece => ({ kind: 'blank', text });

const JSON_PIECES = [
  good('{"t":1,"s":"a","n":1}'),
  good('{"t":1,"s":"\\u00e9 {","n":2,"other":[1]}'),
  fault('{"t":1,"s":'),
  fault('{"s":"timeless"}'),
  fault('{"t":1,"s":"a","n":"no number"}'),
  fault('{"t":1,"s":"\\ud800"}'),
  fault('{"t":1,"s":"a NUL \u0000"}'),
  fault('[1]'),
  blank(''),
  blank('  '),
];
const FORMATS: readonly Format[] = [
  {
    name: 'csv',
    inputFormat: { type: 'csv', findColumnsFromHeader: true },
    head: 't,s,n\n',
    pieces: [
      good('1,a,1'),
      good('1,"a\nb\n",1\r'),
      good('1,"a ""quoted"" word","1"'),
      fault('1,"a"b,1'),
      fault('1,"two\nlines"b,1'),
      fault(',timeless,1'),
      fault('1,"mis\nfit",no number'),
      fault('1,a NUL \u0000,1'),
      blank(''),
      blank('\r'),
    ],
  },
  {
    name: 'csv behind rows that are skipped',
    inputFormat: { type: 'csv', columns: ['t', 's', 'n'], skipHeaderRows: 2 },
    head: 'x\n\n',
    pieces: [good('1,a,1'), fault('yesterday,a,1'), blank('')],
  },
  {
    name: 'tsv',
    inputFormat: { type: 'tsv', columns: ['t', 's', 'n'] },
    pieces: [good('1\t"a\t1'), fault('\ta\t1'), fault('1\ta\tn'), blank('')],
  },
  { name: 'json', inputFormat: { type: 'json' }, pieces: JSON_PIECES },
  {
    name: 'json that is flattened',
    inputFormat: { type: 'json', flattenSpec: { fields: [{ type: 'path', name: 'x', expr: '$.other[0]' }] } },
    pieces: JSON_PIECES,
  },
  {
    name: 'json over several lines',
    inputFormat: { type: 'json', useJsonNodeReader: true },
    pieces: [good('{"t":1,\n"s":"a"}'), good('{"t":1}'), fault('{"s":\n\n"timeless"}'), fault('{"t":1 "s"\n}'), blank('')],
  },
  {
    name: 'regex',
    inputFormat: { type: 'regex', pattern: '(\\d*) (\\w+)', columns: ['t', 's'] },
    pieces: [good('1 a'), fault('nothing like it'), fault(' timeless'), fault('1 \u0000'), blank(' ')],
  },
  {
    name: 'rows that are transformed and filtered',
    inputFormat: { type: 'json' },
    schema: {
      transformSpec: {
        transforms: [{ type: 'expression', name: 'm', expression: 'upper("s")' }],
        filter: { type: 'not', field: { type: 'selector', dimension: 's', value: 'out' } },
      },
    },
    pieces: [...JSON_PIECES, good('{"t":1,"s":"out","n":"no number"}')],
  },
];

interface Place {
  readonly record: number;
  readonly line: number;
}

/** The text of pieces, and where those at fault stand. */
function written(head: string, pieces: readonly Piece[], endsOpen: boolean): { readonly text: string; readonly places: readonly Place[] } {
  let text = head;
  let record = 0;
  const places: Place[] = [];
  for (const piece of pieces) {
    if (piece.kind !== 'blank') record++;
    if (piece.kind === 'fault') places.push({ record, line: text.split('\n').length });
    text += `${piece.text}\n`;
  }
  return { text: endsOpen ? text.slice(0, -1) : text, places };
}

function task({ inputFormat, schema = {} }: Format, inputSource: object, tuning: object = {}): unknown {
  return {
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'ds',
        timestampSpec: { column: 't', format: 'millis' },
        dimensionsSpec: { dimensions: ['s'] },
        metricsSpec: [{ type: 'longSum', name: 'n', fieldName: 'n' }],
        granularitySpec: { rollup: false, segmentGranularity: 'hour' },
        ...schema,
      },
      ioConfig: { type: 'index_parallel', inputSource, inputFormat },
      tuningConfig: { type: 'index_parallel', maxSavedParseExceptions: 10_000, ...tuning },
    },
  };
}

interface Event extends Place {
  readonly source: string;
}

const SIZES = [1, 30, 5000];
const places = suite('places of rows at fault');

for (const format of FORMATS)
  places(`${format.name}: each is told where it begins`, async () => {
    const input = fc.record({
      pieces: fc.array(fc.constantFrom(...format.pieces), { minLength: 1, maxLength: 60 }),
      repeat: fc.constantFrom(...SIZES),
      endsOpen: fc.boolean(),
    });
    const check = async ({ pieces, repeat, endsOpen }: { pieces: Piece[]; repeat: number; endsOpen: boolean }): Promise<void> => {
      // Many blocks of rows stand before the drawn ones.
      const before = Array.from({ length: repeat }, (_, at) => format.pieces[0] ?? good(String(at)));
      const { text, places: expected } = written(format.head ?? '', [...before, ...pieces], endsOpen);
      const { outcome, log } = await run(task(format, { type: 'inline', data: text }));
      assert.is(outcome.errorMessage, null, log.join('\n'));
      // biome-ignore lint/suspicious/noExplicitAny: the report is compared with what it should be
      const events = (outcome.report as any).ingestionStatsAndErrors.payload.unparseableEvents.buildSegments as readonly Event[];
      // Transforms see their rows behind those that could not be read.
      const found = events.map(({ record, line }) => ({ record, line })).sort((a, b) => a.record - b.record);
      assert.equal(found, expected, JSON.stringify(text.slice(-400)));
      assert.ok(events.every(({ source }) => source === 'inline data'));
    };
    await fc.assert(fc.asyncProperty(input, check), { numRuns: caseCount(12) });
  });

const JSON_FORMAT = FORMATS.find(({ name }) => name === 'json') as Format;

places('every file has records of its own; the log and the error name them', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-places-'));
  try {
    const files = [1, 2].map((number) => {
      const file = path.join(folder, `${number}.json`);
      writeFileSync(file, `{"t":1}\n\n{"broken ${number}\n{"t":2}\n`);
      return file;
    });
    const source = { type: 'local', files };
    const options = { allowedDirectories: [folder] };
    const { log } = await run(task(JSON_FORMAT, source, { logParseExceptions: true }), options);
    const lines = log.filter((line) => line.includes('not valid JSON'));
    assert.is(lines.length, 2);
    for (const [at, line] of lines.entries()) assert.ok(line.startsWith(`${files[at]}, record 2, line 3: not valid JSON`), line);
    const { outcome } = await run(task(JSON_FORMAT, source, { maxParseExceptions: 1 }), options);
    assert.ok(outcome.errorMessage?.includes(`the last: ${files[1]}, record 2, line 3: not valid JSON`), outcome.errorMessage ?? '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

places('bytes that are not UTF-8 are told by line', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-places-'));
  try {
    const file = path.join(folder, 'a.csv');
    writeFileSync(file, Buffer.concat([Buffer.from('t,s,n\n1,"a\nb",1\n1,'), Buffer.from([0xff]), Buffer.from(',1\n1,a,1\n')]));
    const { outcome } = await run(task(FORMATS[0] as Format, { type: 'local', files: [file] }), { allowedDirectories: [folder] });
    // biome-ignore lint/suspicious/noExplicitAny: the report is compared with what it should be
    const [event] = (outcome.report as any).ingestionStatsAndErrors.payload.unparseableEvents.buildSegments as readonly Event[];
    assert.equal([event?.source, event?.record, event?.line], [file, 2, 4]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

places('each of several sources is counted from its own beginning', async () => {
  const { outcome } = await run(
    task(JSON_FORMAT, {
      type: 'combining',
      delegates: [
        { type: 'inline', data: '{"t":1}' },
        { type: 'inline', data: '\n{"t":1}\n{"s":1}' },
      ],
    }),
  );
  // biome-ignore lint/suspicious/noExplicitAny: the report is compared with what it should be
  const [event] = (outcome.report as any).ingestionStatsAndErrors.payload.unparseableEvents.buildSegments as readonly Event[];
  assert.equal([event?.record, event?.line], [2, 3]);
});

places.run();
