import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { stringifyJson } from '../../src/base/json.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { VirtualColumn } from '../../src/model/aggregator.js';
import { arrayText } from '../../src/model/array-text.js';
import { cellAt, type FrameCell } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { DAY, descriptorOf, openWorkbench } from '../storage/workbench.js';

/** A file of format version 1 with arrays, JSON and the fields of JSON. It was written once and is never written again. */
const FILE = fileURLToPath(new URL('../../../test/fixtures/segments/v1/structured.segment', import.meta.url));
const ROWS = 400;

/** Row of the file by its number. */
function structuredRow(row: number): {
  readonly time: bigint;
  readonly longs: readonly (bigint | null)[] | null;
  readonly words: readonly (string | null)[];
  readonly document: {
    readonly a: number;
    readonly deep: { readonly b: string };
    readonly half: number;
    readonly list: readonly number[];
  } | null;
} {
  return {
    time: BigInt(DAY.start + row * 1000),
    longs: row % 7 === 0 ? null : [BigInt(row % 5) - 2n, null],
    words: ['x', row % 3 === 0 ? null : `w${row % 4}`].slice(0, row % 3),
    document: row % 11 === 0 ? null : { a: row, deep: { b: `text ${row % 6}` }, half: row / 2 + 0.25, list: [row % 2, 1] },
  };
}

const virtual = (name: string, path: string, type: 'LONG' | 'STRING' | 'DOUBLE' | 'ARRAY<LONG>'): VirtualColumn => ({
  name,
  expression: {
    kind: 'call',
    function: 'json_value',
    arguments: [
      { kind: 'column', name: 'document' },
      { kind: 'literal', type: 'STRING', value: path },
      { kind: 'literal', type: 'STRING', value: type },
    ],
  },
  outputType: type,
});

const golden = suite('old segment files with arrays and JSON');

golden('read as written', async () => {
  const bench = openWorkbench();
  const engine = createEngine({ kernels: 'reference', threads: 0, memory: bench.memory });
  try {
    const descriptor = descriptorOf({ sizeBytes: statSync(FILE).size, rowCount: ROWS, columns: [] });
    const id = segmentIdText(descriptor.id);
    await bench.store.open(FILE, descriptor);
    assert.equal(
      bench.store.schema(id).map(({ name, type, hasNulls }) => [name, type, hasNulls]),
      [
        ['__time', 'LONG', false],
        ['longs', 'ARRAY<LONG>', true],
        ['words', 'ARRAY<STRING>', false],
        ['document', 'COMPLEX<json>', true],
      ],
    );
    const plan: ScanPlan = {
      operator: 'scan',
      dataSource: 'test',
      intervals: [ETERNITY],
      filter: null,
      virtualColumns: [
        virtual('a', '$.a', 'LONG'),
        virtual('b', '$.deep.b', 'STRING'),
        virtual('half', '$.half', 'DOUBLE'),
        virtual('list', '$.list', 'ARRAY<LONG>'),
      ],
      columns: ['__time', 'longs', 'words', 'document', 'a', 'b', 'half', 'list'],
      timeOrder: null,
      offset: 0,
      limit: null,
      post: [],
    };
    const options = { ending: 'final', deadlineMs: Number.MAX_SAFE_INTEGER, kernels: 'reference', batchRows: null } as const;
    const rows: FrameCell[][] = [];
    for await (const frame of engine.run(plan, bench.store, [id], options, new AbortController().signal))
      for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => cellAt(column, row)));
    const expected = Array.from({ length: ROWS }, (_, row): FrameCell[] => {
      const { time, longs, words, document } = structuredRow(row);
      return [
        time,
        longs === null ? null : arrayText(longs, 'ARRAY<LONG>'),
        arrayText(words, 'ARRAY<STRING>'),
        document === null ? null : stringifyJson(document),
        document === null ? null : BigInt(document.a),
        document?.deep.b ?? null,
        document?.half ?? null,
        document === null ? null : arrayText(document.list.map(BigInt), 'ARRAY<LONG>'),
      ];
    });
    assert.equal(rows, expected);
    await bench.store.close(id);
  } finally {
    await engine.close();
    bench.close();
  }
});

golden.run();
