import { parseJson, stringifyJson } from '../../../src/base/json.js';
import { createEngine } from '../../../src/execution/run/local-engine.js';
import { plainData, valueOfText } from '../../../src/expression/value.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../../src/model/frame.js';
import type { GroupPlan } from '../../../src/model/plan.js';
import type { ColumnSchema, ColumnType } from '../../../src/model/schema.js';
import { planNative } from '../../../src/planner/native/plan-native.js';
import { uploadFrame } from '../../../src/storage/uploaded-frame.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'reference', threads: 0 });

/**
 * The rows of a native query's answer over one table, `t`, of frames: by name, arrays and JSON as plain data. Fields that
 * every query has are added.
 */
export async function answersOver(frames: readonly Frame[], query: object): Promise<Record<string, unknown>[]> {
  const columns = (frames[0]?.columns ?? []).map(
    (column): ColumnSchema => ({
      name: column.name,
      type: column.kind === 'long' ? 'LONG' : column.kind === 'multi' ? 'STRING' : (column.type ?? 'STRING'),
      multiValue: column.kind === 'multi',
      hasNulls: true,
    }),
  );
  const body = { queryType: 'timeseries', dataSource: 't', intervals: '1970/2100', granularity: 'all', ...query };
  const table = (name: string) => (name === 't' ? { interval: { start: 0, end: Date.UTC(2100, 0, 1) }, columns } : undefined);
  const { plans } = planNative(parseJson(stringifyJson(body)), false, { table });
  const placed = frames.map((frame) => uploadFrame(frame, memory));
  const rows: Record<string, unknown>[] = [];
  try {
    const options = { ending: 'final' as const, deadlineMs: Date.now() + 60_000, kernels: null, batchRows: 7 };
    for (const plan of plans) {
      if (plan.operator === 'segmentMetadata') throw new Error('no rows come of segmentMetadata');
      const views = placed.map(({ view }) => view);
      // Aggregators travel as JSON.
      const sent =
        plan.operator === 'group' ? { ...plan, aggregators: parseJson(stringifyJson(plan.aggregators)) as GroupPlan['aggregators'] } : plan;
      for await (const { rowCount, columns: cells } of engine.runViews(sent, views, options, new AbortController().signal))
        for (let row = 0; row < rowCount; row++)
          rows.push(
            Object.fromEntries(
              cells.map((column) => {
                const cell = cellAt(column, row);
                const type: ColumnType = column.kind === 'string' ? (column.type ?? 'STRING') : 'STRING';
                return [column.name, typeof cell === 'string' ? plainData(valueOfText(cell, type)) : cell];
              }),
            ),
          );
    }
    return rows;
  } finally {
    for (const { release } of placed) release();
  }
}
