import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { call, double, type Expression } from '../../src/model/expression.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { rowsOf } from '../cluster/plain-rows.js';

/* Conditions and numbers made of `__time` alone, over blocks of rows that many buckets share: counted against arithmetic. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const test = suite('functions of time over many rows of a bucket');

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Wednesday; rows begin before 1970, seven seconds apart, more than two blocks of them, and stop for a day and a half in between. */
const START = Date.UTC(1969, 11, 31);
const TIMES = Array.from({ length: 40_000 }, (_, row) => START + row * 7_000 + (row < 20_000 ? 0 : 1.5 * DAY));
const placed = uploadFrame(
  { rowCount: TIMES.length, columns: [{ kind: 'long', name: '__time', values: BigInt64Array.from(TIMES, BigInt), nulls: null }] },
  memory,
);
test.after(async () => {
  placed.release();
  assert.is(memory.allocatedBytes, 0);
  await engine.close();
});

const long = (value: number): Expression => ({ kind: 'literal', type: 'LONG', value: BigInt(value) });
const time: Expression = { kind: 'column', name: '__time' };
const extract = (unit: string): Expression => call('timestamp_extract', time, { kind: 'literal', type: 'STRING', value: unit });
const modulo = (value: number, by: number): number => ((value % by) + by) % by;
const hourOf = (at: number): number => Math.floor(modulo(at, DAY) / HOUR);
/** 1 for Monday; 1970 began on a Thursday. */
const dayOf = (at: number): number => modulo(Math.floor(at / DAY) + 3, 7) + 1;
const floored = (at: number): number => Math.floor(at / DAY) * DAY;

async function answer(changes: Partial<GroupPlan>): Promise<unknown> {
  const plan: GroupPlan = {
    operator: 'group',
    dataSource: 'rows',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [],
    keys: [],
    aggregators: [{ kind: 'count', name: 'found', filter: null }],
    emptyGroup: true,
    post: [],
    ...changes,
  };
  const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null, ending: 'final' } as const;
  const [row] = await rowsOf(engine.runViews(plan, [{ ...placed.view, id: 'segment' }], options, new AbortController().signal));
  return row?.['found'];
}

const CONDITIONS: readonly [name: string, condition: Expression, holds: (at: number) => boolean][] = [
  ['an hour', call('==', extract('HOUR'), long(8)), (at) => hourOf(at) === 8],
  ['the first hour', call('<', extract('HOUR'), long(1)), (at) => hourOf(at) < 1],
  ['no hour', call('==', extract('HOUR'), long(24)), () => false],
  ['every hour', call('>=', extract('HOUR'), long(0)), () => true],
  ['not an hour', call('!', call('==', extract('HOUR'), long(8))), (at) => hourOf(at) !== 8],
  [
    'hours at night',
    call('||', call('>=', extract('HOUR'), long(22)), call('<', extract('HOUR'), long(5))),
    (at) => hourOf(at) >= 22 || hourOf(at) < 5,
  ],
  [
    'an hour of a weekday',
    call('&&', call('==', extract('HOUR'), long(12)), call('<', extract('DOW'), long(5))),
    (at) => hourOf(at) === 12 && dayOf(at) < 5,
  ],
  ['a part that is no whole number', call('*', call('-', extract('HOUR'), long(1)), double(0.5)), (at) => hourOf(at) > 1],
  [
    'a day',
    call('==', call('timestamp_floor', time, { kind: 'literal', type: 'STRING', value: 'P1D' }), long(DAY)),
    (at) => floored(at) === DAY,
  ],
  [
    'hours and a bound of time',
    call('&&', call('>', extract('HOUR'), long(3)), call('<', time, long(2 * HOUR))),
    (at) => hourOf(at) > 3 && at < 2 * HOUR,
  ],
];
for (const [name, condition, holds] of CONDITIONS)
  test(name, async () => {
    assert.equal(await answer({ filter: { kind: 'expression', expression: condition } }), BigInt(TIMES.filter(holds).length));
    assert.equal(
      await answer({ filter: { kind: 'not', filter: { kind: 'expression', expression: condition } } }),
      BigInt(TIMES.filter((at) => !holds(at)).length),
    );
  });

const NUMBERS: readonly [name: string, expression: Expression, valueOf: (at: number) => number][] = [
  ['hours', extract('HOUR'), hourOf],
  ['hours and days', call('+', call('*', extract('DOW'), long(100)), extract('HOUR')), (at) => dayOf(at) * 100 + hourOf(at)],
  ['years', extract('YEAR'), (at) => (at < 0 ? 1969 : 1970)],
  ['the starts of days', call('timestamp_floor', time, { kind: 'literal', type: 'STRING', value: 'P1D' }), floored],
  ['comparisons', call('==', extract('HOUR'), long(8)), (at) => Number(hourOf(at) === 8)],
];
for (const [name, expression, valueOf] of NUMBERS)
  test(`sums of ${name}`, async () => {
    const found = await answer({
      virtualColumns: [{ name: 'number', expression, outputType: 'LONG' }],
      aggregators: [{ kind: 'sum', name: 'found', column: 'number', type: 'LONG', filter: null }],
    });
    assert.equal(found, BigInt(TIMES.reduce((sum, at) => sum + valueOf(at), 0)));
  });

test.run();
