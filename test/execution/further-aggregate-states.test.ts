import { isDeepStrictEqual } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromBase64 } from '../../src/sketch/base64.js';
import { Bloom, hash64OfLong, hash64OfText, NULL_HASH } from '../../src/sketch/bloom.js';
import { Tuple } from '../../src/sketch/tuple.js';
import { collect, everyWay, groupsOf, near, planOf, rowsOf } from './every-way.js';

const rows = rowsOf(3000);

const further = suite('further states');

further('of sets are the same whatever the indexLayout', async () => {
  const plan = planOf([
    collect({ type: 'bloom', entries: 600 }, ['plain'], { name: 'texts', type: 'COMPLEX<bloom>' }),
    collect({ type: 'bloom', entries: 600 }, ['holes'], { name: 'numbers', type: 'COMPLEX<bloom>' }),
    collect({ type: 'bloom', entries: 30 }, ['many'], { name: 'lists', type: 'COMPLEX<bloom>' }),
    collect({ type: 'tuple', size: 64, width: 2 }, ['plain', 'small', 'small'], { name: 'keys', output: 'both' }),
    collect({ type: 'tuple', size: 4096, width: 1 }, ['many', 'small'], { name: 'tags' }),
    collect({ type: 'fixedHistogram', shape: { lower: 0, upper: 50_000, number: 10, outliers: 'overflow' }, asBytes: false }, ['holes'], {
      name: 'fixed',
      type: 'COMPLEX<json>',
    }),
  ]);
  const [first, ...others] = await everyWay(plan, rows);
  for (const { way, groups } of others) assert.ok(isDeepStrictEqual([...groups].sort(), [...(first?.groups ?? [])].sort()), way);
  for (const [name, members] of groupsOf(rows, 'text')) {
    const [texts, numbers, lists, , keys, tags, fixed] = first?.groups.get(name) ?? [];
    const [inTexts, inNumbers, inLists] = [texts, numbers, lists].map((text) => Bloom.decode(fromBase64(String(text))));
    for (const row of members) {
      assert.ok(inTexts?.has(hash64OfText(String(row['plain']))));
      assert.ok(inNumbers?.has(row['holes'] === null ? NULL_HASH : hash64OfLong(row['holes'] as bigint)));
      for (const tag of row['many'] as string[]) assert.ok(inLists?.has(hash64OfText(tag)));
    }
    const sketch = Tuple.decode(fromBase64(String(keys)), 64);
    const sum = members.reduce((total, row) => total + Number(row['small']), 0);
    const [left, right] = sketch.moments();
    assert.is(left?.sum, right?.sum);
    // A sample of 64 of 500 keys: twelve per cent is one standard deviation.
    near((left?.sum ?? 0) / sketch.fraction, sum, 0.5, `sum of ${name}`);
    assert.is(tags, new Set(members.flatMap((row) => row['many'] as string[])).size);
    const holes = members.flatMap((row) => (row['holes'] === null ? [] : [Number(row['holes'])]));
    const counted = JSON.parse(String(fixed)) as Record<string, unknown>;
    assert.equal(
      [counted['count'], counted['upperOutlierCount'], counted['missingValueCount']],
      [holes.filter((value) => value < 50_000).length, holes.filter((value) => value >= 50_000).length, members.length - holes.length],
    );
  }
});

further('that depend on order do on the order of segments only', async () => {
  const column = { kind: 'column', name: 'small' } as const;
  const accumulator = { kind: 'column', name: 'acc' } as const;
  const zero = { kind: 'literal', type: 'LONG', value: 0n } as const;
  const plus = (operand: typeof column | { readonly kind: 'column'; readonly name: 'sum' }) =>
    ({ kind: 'call', function: '+', arguments: [accumulator, operand] }) as const;
  const plan = planOf([
    collect({ type: 'histogram', resolution: 20, buckets: 7, lower: null, upper: null, asBytes: true }, ['holes'], {
      name: 'histogram',
      type: 'STRING',
    }),
    collect(
      {
        type: 'expression',
        name: 'sum',
        fields: ['small'],
        accumulator: 'acc',
        fold: plus(column),
        combine: plus({ kind: 'column', name: 'sum' }),
        finalize: null,
        compare: null,
        initial: zero,
        initialCombine: zero,
        valueType: 'LONG',
        resultType: 'LONG',
        isNullUnlessAggregated: true,
        foldsNulls: true,
        combinesNulls: true,
        maxBytes: 8192,
      },
      ['small'],
      { name: 'sum', type: 'LONG' },
    ),
  ]);
  const results = await everyWay(plan, rows);
  for (const ways of [[' by '], ['segments here', 'two threads']]) {
    const [first, ...others] = results.filter(({ way }) => ways.some((each) => way.includes(each)));
    for (const { way, groups } of others) assert.ok(isDeepStrictEqual([...groups].sort(), [...(first?.groups ?? [])].sort()), way);
  }
  for (const { way, groups } of results)
    for (const [name, members] of groupsOf(rows, 'text'))
      assert.is(
        groups.get(name)?.[1],
        members.reduce((sum, row) => sum + (row['small'] as bigint), 0n),
        way,
      );
});

further.run();
