import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BitGroups, encodedBits } from '../../../src/execution/aggregate-state/bit-groups.js';
import { stateOperations } from '../../../src/execution/aggregate-state/operations.js';
import type { ExpressionFold } from '../../../src/model/aggregate-state.js';
import { call, type Expression, long } from '../../../src/model/expression.js';
import { context } from './run-context.js';

const test = suite('bits of groups');
const GROUPS = 3000;

const column = (name: string): Expression => ({ kind: 'column', name });

function fold(name: string, initial: bigint): ExpressionFold {
  return {
    type: 'expression',
    name: 'result',
    fields: ['field'],
    accumulator: 'acc',
    valueType: 'LONG',
    resultType: 'LONG',
    fold: call(name, column('acc'), column('field')),
    combine: call(name, column('acc'), column('result')),
    finalize: null,
    compare: null,
    foldsNulls: false,
    combinesNulls: false,
    isNullUnlessAggregated: true,
    initial: long(initial),
    initialCombine: long(initial),
    maxBytes: 1024,
  };
}

/** Bits of a group in a part, of both signs and halves; undefined: it has none. */
function drawn(part: number, group: number): bigint | undefined {
  if ((group + part) % 3 === 0) return undefined;
  return BigInt.asIntN(64, BigInt(group * 7919 + 1) * 0x9e3779b97f4a7c15n + BigInt(part) * 0x7fffffffffffffffn);
}

for (const [name, initial, apply] of [
  ['bitwiseAnd', -1n, (a: bigint, b: bigint) => a & b],
  ['bitwiseOr', 0n, (a: bigint, b: bigint) => a | b],
  ['bitwiseXor', 0n, (a: bigint, b: bigint) => a ^ b],
] as const)
  test(`${name}: segments, other threads, spilled groups and objects meet`, () => {
    const operations = stateOperations(fold(name, initial));
    const kind = operations.bits;
    assert.ok(kind !== undefined);
    if (kind === undefined) return;
    let charged = 0;
    const make = (): BitGroups => new BitGroups(context, kind, operations, (bytes) => (charged += bytes));
    const [all, thread, spilled] = [make(), make(), make()];
    assert.ok(all.isEmpty);
    const expected = new Map<number, bigint>();
    const meet = (group: number, value: bigint): void => {
      const known = expected.get(group);
      expected.set(group, known === undefined ? value : apply(known, value));
    };
    // Groups have other numbers in each part.
    const numbersOf = (part: number): Uint32Array => Uint32Array.from({ length: GROUPS }, (_, group) => (group * 7 + part) % GROUPS);
    for (const [part, states] of [all, all, thread, spilled].entries()) {
      const numbers = numbersOf(part);
      const values = BigInt64Array.from({ length: GROUPS }, (_, group) => drawn(part, group) ?? 5n);
      states.addBits(
        values,
        Uint8Array.from({ length: GROUPS }, (_, group) => (drawn(part, group) === undefined ? 0 : 1)),
        numbers,
      );
      for (let group = 0; group < GROUPS; group++) {
        const value = drawn(part, group);
        if (value !== undefined) meet(numbers[group] ?? 0, value);
      }
    }
    const arena = context.memory.arena();
    const same = arena.take(GROUPS * 4);
    context.memory.u32(same, GROUPS).set(Array.from({ length: GROUPS }, (_, group) => group));
    all.join(thread.parts(), same, GROUPS);
    const bits = spilled.parts();
    assert.is(bits.kind, 'bits');
    if (bits.kind === 'bits') all.join(encodedBits(context, bits, operations), same, GROUPS);
    // States of rows that were read one by one.
    for (const group of [0, 1, 2, 2999]) {
      all.add(group, 7, kind.stateOf(BigInt(group) - 2n));
      meet(group, BigInt(group) - 2n);
    }
    const last = make();
    last.join(all.parts(), same, GROUPS);
    for (const states of [all, last]) {
      const read = states.reader();
      for (let group = 0; group < GROUPS; group++) {
        const state = read(group);
        assert.is(state === undefined ? undefined : operations.value(state), expected.get(group), `group ${group}`);
      }
    }
    assert.ok(charged >= GROUPS * 9 * 3);
    arena.release();
  });

test.run();
