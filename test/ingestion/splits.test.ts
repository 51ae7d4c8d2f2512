import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { parseInputSource } from '../../src/ingestion/source/input-source.js';
import type { SourceUnit, UnitLimits } from '../../src/ingestion/source/source-kind.js';
import { splitsOf } from '../../src/ingestion/source/splits.js';
import { parseSplitHint } from '../../src/ingestion/task-spec/split-hint.js';

/** Input sources divided into splits. */
const splits = suite('splits');

const reader = (value: unknown): ObjectReader => new ObjectReader(value, 'spec', readContextOf('input_invalid', 'the task'));
const DAY = 86_400_000;
const LIMITS = {
  visibleSegments: async () =>
    [
      { day: 0, sizeBytes: 60 },
      { day: 0, sizeBytes: 60 },
      { day: 1, sizeBytes: 30 },
      { day: 3, sizeBytes: 30 },
    ].map(({ day, sizeBytes }) => ({ segment: { sizeBytes }, visible: [{ start: day * DAY, end: (day + 1) * DAY }] })),
} as unknown as UnitLimits;

const SIZES: readonly {
  readonly name: string;
  readonly sizes: readonly (number | null)[];
  readonly hint: object;
  readonly groups: readonly number[];
}[] = [
  { name: 'up to a size', sizes: [4, 6, 1, 10, 11, 3], hint: { type: 'maxSize', maxSplitSize: 10 }, groups: [2, 1, 1, 1, 1] },
  { name: 'up to a number', sizes: [1, 1, 1, 1, 1], hint: { type: 'maxSize', maxNumFiles: 2 }, groups: [2, 2, 1] },
  { name: 'of unknown size', sizes: [null, null, 1, 1], hint: { type: 'maxSize' }, groups: [1, 1, 2] },
  { name: 'by the names of segments', sizes: [4, 6, 1], hint: { type: 'segments', maxInputSegmentBytesPerTask: '10B' }, groups: [2, 1] },
  { name: 'by default', sizes: [2 ** 29, 2 ** 29, 1], hint: {}, groups: [2, 1] },
];
for (const { name, sizes, hint, groups } of SIZES)
  splits(`units are grouped in order ${name}`, async () => {
    const origin = { specsOf: (items: readonly unknown[]) => [{ items }] };
    const units = sizes.map((sizeBytes, item): SourceUnit => ({ sizeBytes, origin, item }));
    const source = { type: 'test', needsFormat: true, parts: async () => [], units: async () => units };
    const found = await splitsOf(source, parseSplitHint(reader(hint)), LIMITS);
    const items = found.map(({ source: { items: list } }) => list as readonly number[]);
    assert.equal(
      items.map(({ length }) => length),
      groups,
    );
    assert.equal(
      items.flat(),
      sizes.map((_, at) => at),
    );
  });

const FOUND: readonly { readonly name: string; readonly source: object; readonly hint: object; readonly found: readonly object[] }[] = [
  {
    name: 'http by address, options kept',
    source: { type: 'http', uris: ['http://h/a', 'http://h/b'], httpAuthenticationUsername: 'u' },
    hint: {},
    found: [
      { type: 'http', uris: ['http://h/a'], httpAuthenticationUsername: 'u' },
      { type: 'http', uris: ['http://h/b'], httpAuthenticationUsername: 'u' },
    ],
  },
  {
    name: 'druid by time chunk, cut to the interval',
    source: { type: 'druid', dataSource: 'd', interval: '1970-01-01T12/1970-01-08' },
    hint: { type: 'segments', maxInputSegmentBytesPerTask: 125 },
    found: [
      { type: 'druid', dataSource: 'd', interval: '1970-01-01T12:00:00.000Z/1970-01-02T00:00:00.000Z' },
      {
        type: 'combining',
        delegates: [
          { type: 'druid', dataSource: 'd', interval: '1970-01-02T00:00:00.000Z/1970-01-03T00:00:00.000Z' },
          { type: 'druid', dataSource: 'd', interval: '1970-01-04T00:00:00.000Z/1970-01-05T00:00:00.000Z' },
        ],
      },
    ],
  },
  {
    name: 'combining by the units of its delegates; one that cannot be divided is a unit',
    source: {
      type: 'combining',
      delegates: [
        { type: 'inline', data: 'x' },
        { type: 'http', uris: ['http://h/a'] },
      ],
    },
    hint: {},
    found: [
      { type: 'inline', data: 'x' },
      { type: 'http', uris: ['http://h/a'] },
    ],
  },
  { name: 'inline not', source: { type: 'inline', data: 'x' }, hint: {}, found: [] },
];
for (const { name, source, hint, found } of FOUND)
  splits(`sources are divided: ${name}`, async () => {
    const parsed = parseInputSource(reader(source));
    assert.equal(
      (await splitsOf(parsed, parseSplitHint(reader(hint)), LIMITS)).map((split) => split.source),
      found,
    );
  });

splits('a hint that is wrong is refused by the name of its field', () => {
  for (const [hint, field] of [
    [{ type: 'maxSize', maxSplitSize: 0 }, 'maxSplitSize'],
    [{ type: 'maxSize', maxNumFiles: 0 }, 'maxNumFiles'],
    [{ type: 'maxSize', maxNumSegments: 1 }, 'maxNumSegments'],
    [{ type: 'magic' }, 'type'],
  ] as const)
    assert.throws(() => parseSplitHint(reader(hint)), new RegExp(field));
});

splits.run();
