import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stringifyJson } from '../../src/base/json.js';
import type { ColumnSchema } from '../../src/model/schema.js';
import { planNative } from '../../src/planner/native/plan-native.js';
import { planSql } from '../../src/planner/sql/plan-sql.js';
import { GROWING_NATIVE } from './growing-native.js';
import { FEW_COLUMNS, type GrowingQuery } from './growing-queries.js';
import { GROWING_STATEMENTS } from './growing-statements.js';

/**
 * Growth of planning with its input: four times as many parts may take some four times the processor time, not sixteen.
 * Queries that take next to nothing at the larger size are not compared.
 */
const growth = suite('growth of planning');

const PARTS = 450;
const TIMES = 4;
/** Between linear and quadratic, which are 4 and 16. */
const RATIO_MAX = 9;
const SMALL_MS = 60;
/** A busy machine and the collector of garbage blur one measurement, not all. */
const ATTEMPTS = 10;
const NOW = Date.UTC(2026, 0, 1);

function columnsOf(count: number): readonly ColumnSchema[] {
  const column = (name: string, type: 'LONG' | 'STRING'): ColumnSchema => ({ name, type, multiValue: false, hasNulls: name !== '__time' });
  return [column('__time', 'LONG'), column('s0', 'STRING'), ...Array.from({ length: count }, (_, index) => column(`c${index}`, 'LONG'))];
}

function tableOf(count: number) {
  return { columns: columnsOf(count), rowCount: 1000, interval: { start: 0, end: NOW } };
}

function processorMs(work: () => void): number {
  const begin = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}

function test<Form>(kind: string, { name, count = PARTS, of }: GrowingQuery<Form>, planned: (form: Form) => () => void): void {
  growth(`${kind}: ${name}`, () => {
    const small = planned(of(count));
    const large = planned(of(count * TIMES));
    const ratios: number[] = [];
    small();
    while (ratios.length < ATTEMPTS) {
      const largeMs = processorMs(large);
      if (largeMs <= SMALL_MS) return;
      ratios.push(largeMs / processorMs(small));
      if (ratios.some((ratio) => ratio <= RATIO_MAX)) return;
    }
    assert.unreachable(`${TIMES} times the parts took ${ratios.map((ratio) => ratio.toFixed(1)).join(', ')} times the processor time`);
  });
}

for (const growing of GROWING_STATEMENTS)
  test('a statement', growing, ({ sql, parameters = [], columns = FEW_COLUMNS }) => {
    const table = tableOf(columns);
    const schema = { tables: () => ['wide'], table: (name: string) => (name === 'wide' ? table : undefined) };
    return () => void planSql({ query: sql, context: {}, parameters }, schema, NOW);
  });

for (const growing of GROWING_NATIVE)
  test('a native query', growing, (query) => {
    const body: unknown = JSON.parse(stringifyJson(query));
    const table = tableOf(FEW_COLUMNS);
    return () => void planNative(body, true, { table: (name) => (name === 'wide' ? table : undefined) });
  });

growth.run();
