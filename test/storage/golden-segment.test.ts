import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { segmentIdText } from '../../src/model/segment-id.js';
import { READERS } from '../../src/storage/readers.js';
import { GOLDEN_TABLE } from './golden-table.js';
import { readTable } from './table.js';
import { descriptorOf, openWorkbench } from './workbench.js';

const SEGMENTS = fileURLToPath(new URL('../../../test/fixtures/segments', import.meta.url));
const GOLDEN = `${SEGMENTS}/v1/golden.segment`;
const SIZE_BYTES = 117_044;

const test = suite('old segment files');

test('every version with a reader has golden segments, and every golden segment a reader', () => {
  assert.equal(readdirSync(SEGMENTS).sort(), [...READERS.keys()].map((version) => `v${version}`).sort());
});

for (const kernels of ['reference', 'simd']) {
  test(`version 1 opens and reads as written (${kernels})`, async () => {
    const bench = openWorkbench({ kernels });
    try {
      const rowCount = GOLDEN_TABLE['__time']?.cells.length ?? 0;
      const descriptor = descriptorOf({ sizeBytes: SIZE_BYTES, rowCount, columns: [] });
      await bench.store.open(GOLDEN, descriptor);
      const id = segmentIdText(descriptor.id);
      assert.equal(
        bench.store.schema(id).map(({ name, type, multiValue, hasNulls }) => [name, type, multiValue, hasNulls]),
        [
          ['__time', 'LONG', false, false],
          ['plain', 'STRING', false, true],
          ['distinct', 'STRING', false, false],
          ['multi', 'STRING', true, true],
          ['small', 'LONG', false, false],
          ['medium', 'LONG', false, true],
          ['large', 'LONG', false, false],
          ['huge', 'LONG', false, false],
          ['bits', 'LONG', false, false],
          ['code', 'LONG', false, false],
          ['float', 'FLOAT', false, false],
          ['price', 'DOUBLE', false, false],
          ['double', 'DOUBLE', false, true],
        ],
      );
      const pin = await bench.store.pin({ segmentIds: [id], columns: Object.keys(GOLDEN_TABLE), globalDictionaries: [] });
      const [view] = pin.segments;
      assert.ok(view);
      const found = readTable(view, bench.memory);
      for (const [name, { kind, cells }] of Object.entries(GOLDEN_TABLE)) {
        const differing = cells.findIndex((cell, row) => {
          const expected =
            kind === 'float'
              ? Math.fround(Number(cell))
              : Array.isArray(cell)
                ? cell.length > 1
                  ? JSON.stringify(cell)
                  : (cell[0] ?? null)
                : cell;
          const actual = found[name]?.[row];
          return !Object.is(Array.isArray(actual) ? JSON.stringify(actual) : actual, expected);
        });
        assert.is(differing, -1, `${name}, row ${differing}`);
      }
      assert.is((await bench.store.findRows(id, 'plain', [0]))?.length, Math.ceil(rowCount / 13), 'null is id 0');
      const analysis = await bench.store.analyze(id, [], ['timestampSpec', 'queryGranularity', 'rollup', 'aggregators']);
      assert.equal(
        [analysis.timestampSpec, analysis.queryGranularity, analysis.rollup, analysis.aggregators],
        [
          { column: 't', format: 'iso' },
          { type: 'period', period: 'PT1M', timeZone: 'UTC', origin: null },
          true,
          { rows: { type: 'count', name: 'rows' }, big: { type: 'x', name: 'big', of: 12345678901234567890n } },
        ],
      );
      pin.release();
    } finally {
      bench.close();
    }
  });
}

test.run();
