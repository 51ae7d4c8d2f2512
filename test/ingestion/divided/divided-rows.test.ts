import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compressInto, frameBytesMax } from '../../../src/storage/codecs/zstd.js';
import { caseCount } from '../../case-count.js';
import { type DividedInput, divisions, type LoadOutcome, loadDivided, MINUTE } from './divided-run.js';

// The rows of drawn files, good and bad, are read by one, two and three threads: the segments, the counts and the exceptions must be
// those of one thread, and what arithmetic says.

type Row =
  | { readonly kind: 'good' | 'misfit' | 'late'; readonly minute: number; readonly s: string; readonly d: number }
  | { readonly kind: 'broken' | 'timeless' | 'nul' | 'latin' | 'blank' };

type Style = 'csv' | 'tsv' | 'json';

const HOURS = 3;
const text = fc.oneof(
  fc.constantFrom('a', 'b', 'wört', '', '1,2', 'x"y', '\n', '\n1,2,3\n', '"\n', 'ab|c'),
  fc.string({ unit: fc.constantFrom('a', '"', '\n', ',', '\r\n', 'é', '{', '}'), maxLength: 8 }),
);
const row: fc.Arbitrary<Row> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('good' as const, 'good' as const, 'good' as const, 'misfit' as const, 'late' as const),
      minute: fc.integer({ min: 0, max: HOURS * 60 - 1 }),
      s: text,
      d: fc.integer({ min: -8, max: 8 }).map((eighths) => eighths / 8),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('broken' as const, 'timeless', 'nul', 'latin', 'blank') }) },
);

const file = fc.record({
  rows: fc.array(row, { maxLength: 60 }),
  ending: fc.constantFrom('\n', '\r\n'),
  isEnded: fc.boolean(),
  hasMark: fc.boolean(),
  codec: fc.constantFrom('plain' as const, 'plain', 'plain', 'gz', 'zst'),
});

const cases = fc.record({
  style: fc.constantFrom<Style>('csv', 'tsv', 'json'),
  hasHeader: fc.boolean(),
  skipped: fc.integer({ min: 0, max: 3 }),
  files: fc.array(file, { minLength: 1, maxLength: 3 }),
  partBytes: fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 30, max: 400 })),
  maxRowsInMemory: fc.integer({ min: 1, max: 60 }),
  maxParseExceptions: fc.option(fc.integer({ min: 0, max: 12 })),
  maxSavedParseExceptions: fc.integer({ min: 0, max: 20 }),
  partitionsSpec: fc.constantFrom<Readonly<Record<string, unknown>>>(
    { type: 'dynamic' },
    { type: 'dynamic', maxRowsPerSegment: 7 },
    { type: 'hashed', numShards: 3, partitionDimensions: ['n'] },
    { type: 'range', targetRowsPerSegment: 5, partitionDimensions: ['n'] },
  ),
});

type Case = typeof cases extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** A string as a field of the style, which has no way to write some characters. */
function fieldOf(style: Style, s: string): string {
  if (style === 'csv') return `"${s.replaceAll('"', '""')}"`;
  return s.replace(/[\t\r\n]/g, ' ');
}

function lineOf(style: Style, each: Row): string {
  const separator = style === 'tsv' ? '\t' : ',';
  switch (each.kind) {
    case 'good':
    case 'misfit':
    case 'late': {
      const t = (each.minute + (each.kind === 'late' ? HOURS * 60 : 0)) * MINUTE;
      const n = each.kind === 'misfit' ? 'x' : each.minute % 5;
      if (style === 'json') return JSON.stringify({ t, s: each.s === 'ab|c' ? ['c', 'ab'] : each.s, n, d: each.d });
      return [t, fieldOf(style, each.s), n, each.d].join(separator);
    }
    case 'broken':
      // Fields of TSV cannot be broken; a row without a time is as bad.
      return { csv: '"a"b', tsv: 'no time', json: '{"t":' }[style];
    case 'timeless':
      return style === 'json' ? '{"s":"a"}' : ['', 'a', '1', '1'].join(separator);
    case 'nul':
      return style === 'json' ? '{"t":0,"s":"\0"}' : ['0', '\0', '1', '1'].join(separator);
    case 'latin':
      return style === 'json' ? '{"t":0,"s":"\uf8ff"}' : ['0', '\uf8ff', '1', '1'].join(separator);
    case 'blank':
      return '';
  }
}

/** A private character stands for a byte that is no UTF-8. */
function bytesOf(content: string): Uint8Array {
  return Buffer.concat(content.split('\uf8ff').flatMap((part, at) => [Buffer.from(at === 0 ? [] : [0xff]), Buffer.from(part, 'utf8')]));
}

function inputOf({ style, hasHeader, skipped, files, ...tuning }: Case): DividedInput {
  const names = ['t', 's', 'n', 'd'];
  const head =
    style === 'json'
      ? []
      : [...Array.from({ length: skipped }, (_, at) => `skipped ${at}`), ...(hasHeader ? [names.join(style === 'tsv' ? '\t' : ',')] : [])];
  const contents = files.map(({ rows, ending, isEnded, hasMark, codec }, at) => {
    const lines = [...head, ...rows.map((each) => lineOf(style, each))];
    const bytes = bytesOf(`${hasMark ? '\ufeff' : ''}${lines.join(ending)}${isEnded ? ending : ''}`);
    const name = `${at}.${style}`;
    if (codec === 'gz') return { name: `${name}.gz`, bytes: gzipSync(bytes) };
    if (codec === 'plain') return { name, bytes };
    const frame = Buffer.alloc(frameBytesMax(bytes.length));
    return { name: `${name}.zst`, bytes: frame.subarray(0, compressInto(frame, bytes)) };
  });
  const delimited = { type: style, listDelimiter: '|', skipHeaderRows: skipped, findColumnsFromHeader: hasHeader };
  const { maxRowsInMemory, maxParseExceptions, maxSavedParseExceptions, partitionsSpec } = tuning;
  return {
    files: contents,
    inputFormat: style === 'json' ? { type: 'json' } : hasHeader ? delimited : { ...delimited, columns: names },
    tuning: {
      ...{ maxRowsInMemory, maxSavedParseExceptions, partitionsSpec },
      ...(maxParseExceptions === null ? {} : { maxParseExceptions }),
      ...(partitionsSpec['type'] === 'dynamic' ? {} : { forceGuaranteedRollup: true }),
    },
    schema: {
      granularitySpec: {
        segmentGranularity: 'hour',
        queryGranularity: 'none',
        rollup: false,
        intervals: [`1970-01-01T00:00Z/1970-01-01T0${HOURS}:00Z`],
      },
    },
  };
}

/** Verdicts on the rows, as arithmetic has them: what one thread counts up to the end, or to the row that is one too many. */
function expectedOf({ files, maxParseExceptions, maxSavedParseExceptions }: Case) {
  const counts = { processed: 0, processedWithError: 0, thrownAway: 0, unparseable: 0 };
  const types: string[] = [];
  for (const { kind } of files.flatMap(({ rows }) => rows)) {
    if (kind === 'blank') continue;
    if (kind === 'good') counts.processed++;
    else if (kind === 'late') counts.thrownAway++;
    else {
      const type = kind === 'misfit' ? 'processedWithError' : 'unparseable';
      counts[type]++;
      if (types.length < maxSavedParseExceptions) types.push(type);
      if (counts.unparseable + counts.processedWithError > (maxParseExceptions ?? Number.POSITIVE_INFINITY))
        return { counts, types, fails: true };
    }
  }
  return { counts, types, fails: false };
}

/** A file of nothing but a header, or of less, may be refused whole: what the rows are is not the question then. */
function isWhole({ files }: Case): boolean {
  return files.every(({ rows }) => rows.some(({ kind }) => kind !== 'blank'));
}

const divided = suite('rows on several threads');

for (const [on, numRuns] of [
  ['here', caseCount(60)],
  ['threads', caseCount(4)],
] as const)
  divided(`segments, counts and exceptions are those of one reader, and of arithmetic, ${on}`, async () => {
    const check = async (drawn: Case): Promise<void> => {
      const outcomes = await loadDivided(inputOf(drawn), divisions(drawn.partBytes, on));
      const [first] = outcomes as [LoadOutcome];
      for (const other of outcomes) assert.equal(other, first);
      const { counts, types, fails } = expectedOf(drawn);
      assert.equal(
        first.saved.map(([type]) => type),
        types,
      );
      assert.equal(first.counts, counts);
      assert.is(first.failure !== null, fails, first.failure?.[1] ?? '');
      if (!fails)
        assert.is(
          first.segments.reduce((sum, [, rows]) => sum + rows, 0),
          counts.processed + counts.processedWithError,
        );
    };
    await fc.assert(fc.asyncProperty(cases.filter(isWhole), check), { numRuns });
  });

divided.run();
