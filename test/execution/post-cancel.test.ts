import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ResultTable } from '../../src/execution/block/result-table.js';
import { NO_EMPTY_VALUES } from '../../src/execution/post/leaf-result.js';
import { runSteps } from '../../src/execution/post/steps.js';
import type { PostStep } from '../../src/model/plan.js';

const ROWS = 100_000;

/** Texts in an order of their own, each decoded through a counter. */
function tableOf(decoded: { count: number }): ResultTable {
  const ids = Uint32Array.from({ length: ROWS }, (_, row) => (row * 7919) % ROWS);
  const text = (id: number): string => {
    decoded.count++;
    return `text ${String(id).padStart(6, '0')}`;
  };
  const values = BigInt64Array.from(ids, (id) => BigInt(id));
  return {
    rowCount: ROWS,
    keys: ['name'],
    columns: [
      { kind: 'string', name: 'name', ids, text },
      { kind: 'long', name: 'value', values, nulls: null },
    ],
  };
}

const by = (column: string, limit: number | null): PostStep => ({
  step: 'sort',
  by: [{ column, descending: true, nulls: 'last', ordering: 'lexicographic' }],
  offset: 0,
  limit,
});

const steps: Readonly<Record<string, PostStep>> = {
  'a sort of all rows by text': by('name', null),
  'a sort of all rows by number': by('value', null),
  'the best rows': by('name', 100),
  'the best of each bucket': {
    step: 'topPerBucket',
    bucket: 'value',
    by: [{ column: 'name', descending: false, nulls: 'first', ordering: 'lexicographic' }],
    limit: 1,
  },
  'a limit': { step: 'limit', offset: 10, limit: null },
  'buckets that are filled': { step: 'fillBuckets', bucket: 'value', granularity: { kind: 'duration', durationMs: 1, origin: 0 } },
  'a filter': { step: 'filter', filter: { kind: 'equals', column: 'name', type: 'STRING', value: 'text 000001' } },
  'a computed column': {
    step: 'compute',
    name: 'computed',
    type: 'STRING',
    expression: { kind: 'call', function: 'upper', arguments: [{ kind: 'column', name: 'name' }] },
  },
};

const cancelled = suite('post-processing steps that are cancelled');

for (const [name, step] of Object.entries(steps)) {
  cancelled(`${name}: looks often, and goes no further`, () => {
    let looks = 0;
    const decoded = { count: 0 };
    const leaf = { intervals: [{ start: 0, end: 2 * ROWS }], emptyValues: NO_EMPTY_VALUES, check: () => void looks++ };
    runSteps(tableOf(decoded), [step], leaf);
    const [looksInAll, decodedInAll] = [looks, decoded.count];
    assert.ok(looksInAll >= ROWS / 4096, `${looksInAll} looks`);

    looks = 0;
    decoded.count = 0;
    const stopped = new Error('stopped');
    const check = (): void => {
      if (++looks === 3) throw stopped;
    };
    assert.throws(
      () => runSteps(tableOf(decoded), [step], { ...leaf, check }),
      (error: unknown) => error === stopped,
    );
    assert.is(looks, 3, 'nobody looks again');
    if (decodedInAll > 0) assert.ok(decoded.count * 4 < decodedInAll, `${decoded.count} of ${decodedInAll} texts were read`);
  });
}

cancelled('a sort by text has the order of its texts', () => {
  const table = runSteps(tableOf({ count: 0 }), [by('name', null)], {
    intervals: [],
    emptyValues: NO_EMPTY_VALUES,
    check: () => undefined,
  });
  const [, values] = table.columns;
  assert.ok(values?.kind === 'long');
  assert.equal(
    values.values,
    BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(ROWS - 1 - row)),
  );
});

cancelled.run();
