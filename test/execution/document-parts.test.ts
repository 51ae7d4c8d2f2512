import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { stringifyJson } from '../../src/base/json.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { compileExpression } from '../../src/expression/evaluate.js';
import { expressionType } from '../../src/expression/expression-type.js';
import { parseExpression } from '../../src/expression/parse.js';
import { textOfValue, valueOfText } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import { type ColumnType, JSON_TYPE } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';

/* Documents are cut by kernels, without being parsed: the same as what is parsed row by row. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const names = fc.constantFrom('a', 'b', 'a b', '', 'é', '"', '\\', '0');
const scalars = fc.oneof(
  fc.constantFrom(null, true, 'x', '', '{"a":1}', '[0', '\\', 12_345_678_901_234_567_890n, 0.1, -0, 1e21),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const { document } = fc.letrec<{ document: unknown }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 4 },
    scalars,
    fc.array(tie('document'), { maxLength: 3 }),
    fc.array(fc.tuple(names, tie('document')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  ),
}));

const PATHS = ['$', '$.a', '$.a.b', '$.a[0]', '$[1]', '$[-1]', "$['a b']", "$['']", '$.é', '$["\\\\"]', "$['\"'].a", "$['0']", '$[0].b[2]'];
const EXPRESSIONS = [
  'to_json_string(j)',
  'strlen(to_json_string(j))',
  ...PATHS.flatMap((path) => {
    const quoted = `'${path.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
    return [`to_json_string(json_query(j, ${quoted}))`, `json_query(j, ${quoted})`, `array_length(json_query_array(j, ${quoted}))`];
  }),
  "to_json_string(json_query(json_query(j, '$.a'), '$.b'))",
  "array_length(json_query_array(json_query(j, '$[0]'), '$'))",
];
const typeOf = (name: string): ColumnType | undefined => (name === 'j' ? JSON_TYPE : undefined);

function frameOf(texts: readonly (string | null)[]): Frame {
  const dictionary = [...new Set(texts)];
  return {
    rowCount: texts.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(texts, (_, row) => BigInt(row)), nulls: null },
      { kind: 'string', name: 'j', type: JSON_TYPE, ids: Uint32Array.from(texts, (text) => dictionary.indexOf(text)), dictionary },
    ],
  };
}

const SCAN: ScanPlan = {
  ...{ operator: 'scan', dataSource: '', intervals: [ETERNITY], filter: null, timeOrder: null, offset: 0, limit: null, post: [] },
  virtualColumns: [],
  columns: ['v'],
};

const parts = suite('parts of documents');

parts('are what is found row by row', async () => {
  const some = fc.array(fc.option(document, { nil: undefined, freq: 7 }), { minLength: 64, maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(some, fc.constantFrom(...EXPRESSIONS), fc.constantFrom('simd', 'reference'), async (documents, source, kernels) => {
      const texts = documents.map((each) => (each === undefined ? null : stringifyJson(each)));
      const expression = parseExpression(source);
      const type = expressionType(expression, typeOf) as ColumnType;
      const plan: ScanPlan = {
        ...SCAN,
        virtualColumns: [{ name: 'v', expression, outputType: type }],
      };
      const engine = createEngine({ memory, kernels, threads: 0 });
      const placed = uploadFrame(frameOf(texts), memory);
      const options = { ending: 'final', deadlineMs: Infinity, kernels: null, batchRows: null, profile: newProfile() } as const;
      const found: unknown[] = [];
      try {
        for await (const frame of engine.runViews(plan, [placed.view], options, new AbortController().signal))
          for (let row = 0; row < frame.rowCount; row++) found.push(frame.columns.map((column) => cellAt(column, row))[0]);
      } finally {
        placed.release();
        await engine.close();
      }
      const compute = compileExpression(expression, typeOf);
      const expected = texts.map((text) => {
        const value = compute(() => valueOfText(text, JSON_TYPE));
        return type === 'LONG' ? value : textOfValue(value, type);
      });
      assert.equal(found, expected, source);
    }),
    { numRuns: caseCount(150), includeErrorInReport: true },
  );
  assert.is(memory.allocatedBytes, 0);
});

parts('are cut by kernels alone', async () => {
  const texts = Array.from({ length: 5000 }, (_, row) => stringifyJson({ a: { b: row }, list: [row, 1] }));
  for (const source of [
    "strlen(to_json_string(json_query(j, '$.a')))",
    "array_length(json_query_array(j, '$.list'))",
    'strlen(to_json_string(j))',
  ]) {
    const plan: ScanPlan = { ...SCAN, virtualColumns: [{ name: 'v', expression: parseExpression(source), outputType: 'LONG' }] };
    const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
    const placed = uploadFrame(frameOf(texts), memory);
    const profile = newProfile();
    const options = { ending: 'final', deadlineMs: Infinity, kernels: null, batchRows: null, profile } as const;
    for await (const _ of engine.runViews(plan, [placed.view], options, new AbortController().signal));
    placed.release();
    await engine.close();
    assert.equal([profile.valuesByRow, profile.valuesByEntry], [0, 0], source);
  }
});

parts.run();
