import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stateOperations } from '../../../../src/execution/aggregate-state/operations.js';
import type { Frame } from '../../../../src/model/frame.js';
import { decodeHll } from '../../../../src/sketch/base64-codec.js';
import { answersOver } from '../frame-queries.js';

/** States that Apache Druid 37 writes for the single value `#en.wikipedia`, by the encoding that it hashes. */
const WRITTEN = { utf16le: 'AgEHDAMIAQDijNoF', utf8: 'AgEHDAMIAQDQaHoJ' } as const;

/** More strings than are hashed ahead of rows. */
const MANY = 70_000;

const frame: Frame = {
  rowCount: 2,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.of(0n, 1n), nulls: null },
    { kind: 'string', name: 'stored', ids: Uint32Array.of(1, 0), dictionary: [null, '#en.wikipedia'] },
    { kind: 'multi', name: 'several', offsets: Uint32Array.of(0, 2, 3), ids: Uint32Array.of(0, 0, 0), dictionary: ['#en.wikipedia'] },
  ],
};

const virtualColumns = [
  { type: 'expression', name: 'computed', expression: "concat(stored, '')", outputType: 'STRING' },
  { type: 'expression', name: 'listed', expression: 'array(stored)', outputType: 'ARRAY<STRING>' },
];

const build = (fieldName: string, stringEncoding?: string) => ({ type: 'HLLSketchBuild', name: 'hll', fieldName, stringEncoding });

const sketchOf = async (frames: readonly Frame[], aggregator: object, more: object = {}) =>
  (await answersOver(frames, { aggregations: [aggregator], virtualColumns, context: { finalize: false }, ...more }))[0]?.['hll'];

for (const column of ['stored', 'several', 'computed', 'listed'])
  for (const [encoding, due] of [
    [undefined, WRITTEN.utf16le],
    ['utf16le', WRITTEN.utf16le],
    ['UTF16LE', WRITTEN.utf16le],
    ['utf8', WRITTEN.utf8],
  ] as const)
    test(`HLLSketchBuild of ${column} strings, stringEncoding ${encoding ?? 'left out'}`, async () => {
      assert.is(await sketchOf([frame], build(column, encoding)), due);
    });

test('values of rows are hashed as those of columns', () => {
  for (const stringEncoding of ['utf8', 'utf16le'] as const) {
    const kind = stateOperations({ type: 'hll', lgK: 12, target: 4, round: false, stringEncoding });
    const state = kind.create();
    kind.addRow?.(state, ['#en.wikipedia']);
    assert.is(kind.encode(state), WRITTEN[stringEncoding]);
  }
});

test('strings of a large dictionary are hashed as computed ones', async () => {
  const large: Frame = {
    rowCount: MANY,
    columns: [
      { kind: 'long', name: '__time', values: new BigInt64Array(MANY), nulls: null },
      {
        kind: 'string',
        name: 'stored',
        ids: Uint32Array.from({ length: MANY }, (_, at) => at),
        dictionary: Array.from({ length: MANY }, (_, at) => `à${String(at).padStart(5, '0')}`),
      },
    ],
  };
  const [stored, computed] = [await sketchOf([large], build('stored')), await sketchOf([large], build('computed'))];
  assert.is(stored, computed);
  const estimate = decodeHll(String(stored)).estimate();
  assert.ok(Math.abs(estimate / MANY - 1) < 0.06, String(estimate));
});

test('another encoding is refused', async () => {
  try {
    await sketchOf([frame], build('stored', 'latin1'));
  } catch (error) {
    assert.match(String(error), /stringEncoding.*utf16le, utf8/);
    return;
  }
  assert.unreachable();
});

test.run();
