import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { encodedPieces, QuantileGroups } from '../../../src/execution/aggregate-state/quantiles/quantile-groups.js';
import { ValuePieces } from '../../../src/execution/aggregate-state/quantiles/value-pieces.js';
import { encodeQuantiles } from '../../../src/sketch/base64-codec.js';
import { Quantiles } from '../../../src/sketch/quantiles.js';
import { context } from './run-context.js';

const quantiles = suite('quantiles of groups');
const K = 16;
const SEGMENTS = 9;
const GROUPS = 40;

/** Values of a group in a segment: none, few, or more than a sketch keeps as they are. */
function valuesOf(group: number, segment: number): number[] {
  const count = group < 3 ? group * 37 : (group * 7 + segment * 5) % (group % 2 === 0 ? 4 : 40);
  return Array.from({ length: count }, (_, at) => {
    const drawn = (at * 7919 + group * 104_729 + segment * 1_299_709) % 1009;
    return drawn % 97 === 0 ? Number.NaN : drawn % 89 === 0 ? -0 : drawn - 500;
  });
}

function sketchOf(values: readonly number[]): Quantiles {
  const sketch = new Quantiles(K);
  for (const value of values) sketch.add(value);
  return sketch;
}

/** The pieces of some segments. */
function make(segments: readonly number[], charge: (bytes: number) => void): QuantileGroups {
  const states = new QuantileGroups(context, { k: K, fraction: 0.5 }, charge);
  for (const segment of segments) {
    const pieces = new ValuePieces(K);
    for (let group = 0; group < GROUPS; group++) {
      const values = valuesOf(group, segment);
      if (values.length >= 2 * K) pieces.addSketch(group, segment, sketchOf(values));
      else if (values.length > 0) pieces.add(group, segment, Float64Array.from(values), 0, values.length);
    }
    states.addPieces(
      pieces,
      Uint32Array.from({ length: GROUPS }, (_, group) => group),
    );
  }
  return states;
}

quantiles('are those of sketches merged in the order of segments, whichever thread met them and whether they were spilled', () => {
  let charged = 0;
  const charge = (bytes: number): void => void (charged += bytes);
  const arena = context.memory.arena();
  const groupOf = arena.take(GROUPS * 4);
  context.memory.u32(groupOf, GROUPS).set(Array.from({ length: GROUPS }, (_, group) => group));
  const all = new QuantileGroups(context, { k: K, fraction: 0.5 }, charge);
  assert.ok(all.isEmpty);
  all.join(make([1, 4, 8], charge).parts(), groupOf, GROUPS);
  all.join(encodedPieces(context, make([0, 3, 5], charge).parts()), groupOf, GROUPS);
  all.join(make([7, 2, 6], charge).parts(), groupOf, GROUPS);
  assert.ok(charged > 0);
  const read = all.reader();
  for (let group = 0; group < GROUPS; group++) {
    const expected = new Quantiles(K);
    for (let segment = 0; segment < SEGMENTS; segment++) expected.merge(sketchOf(valuesOf(group, segment)));
    const state = read(group) as Quantiles | undefined;
    if (expected.count === 0 && state === undefined) continue;
    assert.is(state && encodeQuantiles(state), encodeQuantiles(expected), `group ${group}`);
    for (const fraction of [0, 0.01, 0.5, 0.95, 1]) assert.equal(state?.quantile(fraction), expected.distribution().quantile(fraction));
  }
  assert.is(read(GROUPS + 1000), undefined);
  const asked = Uint32Array.from({ length: GROUPS + 1 }, (_, group) => GROUPS - group);
  assert.equal(
    [...(all.numbers(asked, () => undefined) ?? [])],
    [...asked].map((group) => (read(group) as Quantiles | undefined)?.quantile(0.5) ?? Number.NaN),
  );
  arena.release();
});

quantiles('of few values are exact, wherever they came from', () => {
  const values = Array.from({ length: 2 * K - 1 }, (_, at) => (at * 5) % 31);
  const states = new QuantileGroups(context, { k: K, fraction: 0.5 }, () => undefined);
  const pieces = new ValuePieces(K);
  values.forEach((value, at) => {
    pieces.add(0, 31 - at, Float64Array.of(value), 0, 1);
  });
  states.addPieces(pieces, Uint32Array.of(5));
  const state = states.reader()(5) as Quantiles;
  // The values are 0 to 30: the smallest of which a fraction is not larger.
  for (const [fraction, expected] of [
    [0, 0],
    [1 / 31, 0],
    [0.5, 15],
    [0.9, 27],
    [1, 30],
  ] as const)
    assert.is(state.quantile(fraction), expected, String(fraction));
  assert.is(state.count, 31);
  const zeros = new QuantileGroups(context, { k: K, fraction: 0.5 }, () => undefined);
  const ofZeros = new ValuePieces(K);
  for (const [segment, value] of [0, -0, 0].entries()) ofZeros.add(0, segment, Float64Array.of(value), 0, 1);
  zeros.addPieces(ofZeros, Uint32Array.of(0));
  assert.ok(Object.is(zeros.numbers(Uint32Array.of(0), () => undefined)?.[0], 0));
});

quantiles.run();
