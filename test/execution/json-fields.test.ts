import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceError } from '../../src/base/errors.js';
import { ETERNITY } from '../../src/base/instant.js';
import { stringifyJson } from '../../src/base/json.js';
import { columnsOfPlan } from '../../src/execution/expression/columns-of-plan.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { VirtualColumn } from '../../src/model/aggregator.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { JSON_TYPE } from '../../src/model/schema.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { prepareColumns } from '../../src/storage/columns/physical.js';
import { writeSegment } from '../../src/storage/segment-writer.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { jsonFields } from '../../src/storage/writer/json-fields.js';
import { DAY, descriptorOf, openWorkbench, type Workbench } from '../storage/workbench.js';

/** Reading the column that a segment keeps of a path gives what reading the JSON gives. */
const fields = suite<{ bench: Workbench }>('fields of JSON columns');

fields.before.each((context) => {
  context.bench = openWorkbench();
});
fields.after.each(({ bench }) => bench.close());

const OPTIONS = { ending: 'final', deadlineMs: Number.MAX_SAFE_INTEGER, kernels: 'reference', batchRows: null } as const;

function frameOf(documents: readonly unknown[]): Frame {
  const texts = documents.map((each) => (each === null ? null : stringifyJson(each)));
  return {
    rowCount: documents.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(documents, (_, row) => BigInt(DAY.start + row)), nulls: null },
      { kind: 'string', name: 'j', type: JSON_TYPE, ids: Uint32Array.from(texts, (_, row) => row), dictionary: texts },
    ],
  };
}

function jsonValue(name: string, path: string, type: string): VirtualColumn {
  return {
    name,
    expression: {
      kind: 'call',
      function: 'json_value',
      arguments: [
        { kind: 'column', name: 'j' },
        { kind: 'literal', type: 'STRING', value: path },
        { kind: 'literal', type: 'STRING', value: type },
      ],
    },
    outputType: type as 'STRING',
  };
}

function scanOf(virtualColumns: readonly VirtualColumn[], filter: ScanPlan['filter'] = null): ScanPlan {
  return {
    operator: 'scan',
    dataSource: 'test',
    intervals: [ETERNITY],
    filter,
    virtualColumns,
    columns: virtualColumns.map(({ name }) => name),
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [],
  };
}

async function cells(frames: AsyncIterable<Frame>): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const frame of frames)
    for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => cellAt(column, row)));
  return rows;
}

/** The plan over a segment file, and over the same rows that were only placed. */
async function bothWays(
  { directory, memory, store }: Workbench,
  documents: readonly unknown[],
  plan: ScanPlan,
): Promise<[unknown[], unknown[]]> {
  const engine = createEngine({ kernels: 'reference', threads: 0, memory });
  const frame = frameOf(documents);
  const file = join(directory, 'json.segment');
  const nothing = { metrics: [], aggregators: null, timestampSpec: null, queryGranularity: null, rollup: false };
  const descriptor = descriptorOf(await writeSegment(file, { frame, dimensions: [], ...nothing }));
  const id = segmentIdText(descriptor.id);
  await store.open(file, descriptor);
  const placed = uploadFrame(frame, memory);
  try {
    const { signal } = new AbortController();
    return [
      await cells(engine.run(plan, store, [id], OPTIONS, signal)),
      await cells(engine.runViews(plan, [placed.view], OPTIONS, signal)),
    ];
  } finally {
    placed.release();
    await store.close(id);
    rmSync(file);
    await engine.close();
  }
}

const leaf = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -3, max: 3 }) },
  { weight: 2, arbitrary: fc.integer({ min: -8, max: 8 }).map((n) => n / 4) },
  { weight: 2, arbitrary: fc.constantFrom('1', '2.5', 'x', '', '9007199254740993') },
  fc.constantFrom(2n ** 60n + 1n, 2n ** 70n, 1e300, 9007199254740991),
  fc.boolean(),
  fc.constant(null),
);
/** A path mostly has values of one kind, as real documents do. */
const kinds: fc.Arbitrary<fc.Arbitrary<unknown>> = fc.constantFrom<fc.Arbitrary<unknown>[]>(
  fc.integer({ min: -3, max: 300 }),
  fc.constantFrom(0.5, 1.25, -3.75),
  fc.constantFrom('a', 'b', '7'),
  leaf,
);
const documents = fc.record({ a: kinds, b: kinds, c: kinds }).chain(({ a, b, c }) =>
  fc.array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record(
          { a, o: fc.record({ b, 'c d': c }, { requiredKeys: [] }), l: fc.array(a, { maxLength: 3 }) },
          { requiredKeys: [] },
        ),
      },
      leaf,
    ),
    { minLength: 1, maxLength: 30 },
  ),
);
const PATHS = ['$', '$.a', '$.o.b', "$.o['c d']", '$.l[0]', '$.l[1]', '$.l[-1]', '$.l', '$.o', '$.missing'];
const TYPES = ['STRING', 'LONG', 'DOUBLE', 'FLOAT', 'ARRAY<STRING>', 'ARRAY<LONG>', 'ARRAY<DOUBLE>'];

fields('paths that few documents have, by the documents themselves', async ({ bench }) => {
  const names = ['rare', 'a b', 'quo"te', 'back\\slash', 'größe', 'inner'];
  const rows = Array.from({ length: 3000 }, (_, row) => {
    const name = names[row % 97] ?? 'other';
    // Names in texts are no members.
    return { id: row, [name]: { inner: row }, text: `"rare": {"inner": ${row}} ${name}:` };
  });
  const paths = [
    '$.rare',
    "$['a b'].inner",
    `$['quo"te'].inner`,
    String.raw`$['back\\slash'].inner`,
    '$.größe.inner',
    '$.rare.inner',
    '$.absent.inner',
  ];
  const keys = ['rare', 'a b', 'quo"te', 'back\\slash', 'größe', 'rare', 'absent'];
  const columns = paths.map((path, at) => jsonValue(`v${at}`, path, at === 0 ? 'STRING' : 'LONG'));
  const [stored, placed] = await bothWays(bench, rows, scanOf(columns));
  const expected = rows.map((row) =>
    keys.map((key, at) => {
      const member = (row as Record<string, unknown>)[key] as { inner: number } | undefined;
      return at === 0 || member === undefined ? null : BigInt(member.inner);
    }),
  );
  assert.equal(placed, expected);
  assert.equal(stored, expected);
});

fields('every path in every type, in a scan', async ({ bench }) => {
  const virtualColumns = PATHS.flatMap((path, at) => TYPES.map((type) => jsonValue(`${at} ${type}`, path, type)));
  await fc.assert(
    fc.asyncProperty(documents, async (rows) => {
      const [stored, placed] = await bothWays(bench, rows, scanOf(virtualColumns));
      assert.equal(stored, placed);
    }),
    { numRuns: 60 },
  );
});

const WANTED: readonly (readonly [string, string | bigint | number])[] = [
  ['STRING', '1'],
  ['STRING', 'a'],
  ['LONG', 1n],
  ['LONG', 7n],
  ['DOUBLE', 0.5],
  ['DOUBLE', 2],
];

fields('every path in every type, in filters', async ({ bench }) => {
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.constantFrom(...PATHS),
      fc.constantFrom(...WANTED),
      fc.boolean(),
      async (rows, path, [type, value], not) => {
        const equals = { kind: 'equals', column: 'v', type: type as 'LONG', value } as const;
        const time: VirtualColumn = { name: 't', expression: { kind: 'column', name: '__time' }, outputType: null };
        const plan = scanOf([time, jsonValue('v', path, type)], not ? { kind: 'not', filter: equals } : equals);
        const [stored, placed] = await bothWays(bench, rows, plan);
        assert.equal(stored, placed);
      },
    ),
    { numRuns: 100 },
  );
});

fields('conditions in expressions', async ({ bench }) => {
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.constantFrom(...PATHS),
      fc.constantFrom(...WANTED),
      fc.boolean(),
      async (rows, path, [type, value], not) => {
        const { expression } = jsonValue('v', path, type);
        const literal = { kind: 'literal', type: type as 'LONG', value } as const;
        const filter = { kind: 'expression', expression: { kind: 'call', function: '==', arguments: [expression, literal] } } as const;
        const time: VirtualColumn = { name: 't', expression: { kind: 'column', name: '__time' }, outputType: null };
        const plan = scanOf([time], not ? { kind: 'not', filter } : filter);
        const [stored, placed] = await bothWays(bench, rows, plan);
        assert.equal(stored, placed);
        assert.not.ok(columnsOfPlan(plan).columns.includes('j'));
      },
    ),
    { numRuns: 60 },
  );
});

fields('a plan that reads a path does not load the JSON', async ({ bench }) => {
  const plan = scanOf([jsonValue('v', "$['a']", 'LONG')]);
  const { columns } = columnsOfPlan(plan);
  const file = join(bench.directory, 'json.segment');
  const rows = Array.from({ length: 100 }, (_, row) => ({ a: row, mixed: row % 2 === 0 ? row : 'text' }));
  const nothing = { metrics: [], aggregators: null, timestampSpec: null, queryGranularity: null, rollup: false };
  const written = await writeSegment(file, { frame: frameOf(rows), dimensions: [], ...nothing });
  assert.equal(
    written.columns.map(({ name }) => name),
    ['__time', 'j'],
  );
  const descriptor = descriptorOf(written);
  const id = segmentIdText(descriptor.id);
  await bench.store.open(file, descriptor);
  const names = async (wanted: readonly string[]): Promise<string[]> => {
    const pin = await bench.store.pin({ segmentIds: [id], columns: wanted, globalDictionaries: [] });
    pin.release();
    return Object.keys(pin.segments[0]?.columns ?? {}).map((name) => name.replaceAll('\u0000', ' '));
  };
  assert.equal(await names(columns), ['__time', 'j number $.a']);
  assert.equal(await names(columnsOfPlan(scanOf([jsonValue('v', '$.mixed', 'STRING')])).columns), ['__time', 'j']);
  assert.equal(
    bench.store.schema(id).map(({ name }) => name),
    ['__time', 'j'],
  );
  await bench.store.close(id);
});

fields('fields are the same however many are read at once', () => {
  const rows = Array.from({ length: 50 }, (_, row) => ({
    a: row,
    b: `text ${row % 7}`,
    l: [row + 0.5, row + 0.25],
    m: row / 2,
    t: row % 2 === 0,
  }));
  const [column] = prepareColumns({ rowCount: rows.length, columns: frameOf(rows).columns.slice(1) });
  assert.ok(column?.kind === 'string');
  const all = [...jsonFields(column)];
  assert.equal([...jsonFields(column, 1)], all);
  assert.equal(all.map(({ path, uses }) => `${path} ${uses.join()}`).sort(), [
    '$.a number,text',
    '$.b number,text',
    '$.l array',
    '$.l[0] number,text',
    '$.l[1] number,text',
    '$.m number',
    '$.t number,text',
  ]);
});

fields('a file with a changed byte is refused, wherever it lies', async ({ bench }) => {
  const file = join(bench.directory, 'json.segment');
  const rows = Array.from({ length: 500 }, (_, row) => ({ a: row, b: `text ${row % 7}`, l: [row / 4] }));
  const nothing = { metrics: [], aggregators: null, timestampSpec: null, queryGranularity: null, rollup: false };
  const descriptor = descriptorOf(await writeSegment(file, { frame: frameOf(rows), dimensions: [], ...nothing }));
  const bytes = readFileSync(file);
  for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 150)) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0x10;
    writeFileSync(file, changed);
    let code = '';
    await bench.store.open(file, descriptor).catch((error: ServiceError) => {
      code = error.code;
    });
    assert.is(code, 'segment_corrupt', `byte ${at}`);
  }
});

fields.run();
