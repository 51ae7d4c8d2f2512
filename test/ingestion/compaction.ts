import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as assert from 'uvu/assert';
import type { Interval } from '../../src/base/instant.js';
import type { PublishRequest, TaskContext, TaskOutcome } from '../../src/ingestion/contract.js';
import { runTask } from '../../src/ingestion/task.js';
import { resolveTimeline } from '../../src/metadata/timeline.js';
import type { SegmentDescriptor, VisibleSegment } from '../../src/model/segment.js';
import { readBack, taskContext } from './run-task.js';

export interface Load {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly segmentGranularity?: string;
  readonly dimensions?: readonly unknown[];
  readonly metricsSpec?: readonly unknown[];
  readonly rollup?: boolean;
  readonly queryGranularity?: string;
  readonly maxRowsPerSegment?: number;
}

export interface Compacted {
  readonly outcome: TaskOutcome;
  readonly published: PublishRequest | undefined;
  /** Rows of what was published. */
  readonly rows: readonly Record<string, unknown>[];
  readonly inputs: readonly VisibleSegment[];
}

/** A table made of loads, each of which hides what lay under its time chunks before. Times are in the field `t`, milliseconds. */
export async function compact(
  loads: readonly Load[],
  payload: Readonly<Record<string, unknown>>,
  context: Partial<TaskContext> = {},
): Promise<Compacted> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-compact-'));
  try {
    const segments: SegmentDescriptor[] = [];
    for (const [number, load] of loads.entries()) {
      const published: PublishRequest[] = [];
      const outcome = await runTask(loadSpec(load), taskContext(path.join(folder, `load-${number}`), published));
      assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
      segments.push(...described(published[0]?.segments ?? [], `2020-01-01T00:00:00.00${number}Z`));
    }
    const inputs = resolveTimeline(segments).flatMap((chunk) => chunk.segments.map((segment) => ({ segment, visible: chunk.visible })));
    const published: PublishRequest[] = [];
    const outcome = await runTask(
      { type: 'compact', dataSource: 'edits', ...payload },
      {
        ...taskContext(path.join(folder, 'compact'), published),
        visibleSegments: async (_dataSource, intervals) =>
          inputs.filter(({ segment }) => intervals.some((each) => overlap(each, segment.id.interval))),
        ...context,
      },
    );
    const rows = published[0] === undefined ? [] : await readBack(published[0]);
    return { outcome, published: published[0], rows, inputs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const overlap = (a: Interval, b: Interval): boolean => a.start < b.end && b.start < a.end;

function loadSpec({
  rows,
  segmentGranularity = 'hour',
  dimensions = ['page'],
  metricsSpec = [],
  rollup = false,
  queryGranularity = 'none',
  maxRowsPerSegment = 1000,
}: Load): unknown {
  return {
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'edits',
        timestampSpec: { column: 't', format: 'millis' },
        dimensionsSpec: { dimensions },
        metricsSpec,
        granularitySpec: { segmentGranularity, queryGranularity, rollup },
      },
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'inline', data: rows.map((row) => JSON.stringify(row)).join('\n') },
        inputFormat: { type: 'json' },
      },
      tuningConfig: { type: 'index_parallel', partitionsSpec: { type: 'dynamic', maxRowsPerSegment } },
    },
  };
}

/** Segments under one version, numbered in their chunks. */
function described(pushed: PublishRequest['segments'], version: string): SegmentDescriptor[] {
  const counts = new Map<number, number>();
  return pushed.map(({ interval, part, ...file }) => {
    const partitionNumber = counts.get(interval.start) ?? 0;
    counts.set(interval.start, partitionNumber + 1);
    const partitions = pushed.filter((other) => other.interval.start === interval.start).length;
    return {
      id: { dataSource: 'edits', interval, version, partitionNumber },
      shardSpec: { ...(part ?? { type: 'numbered' }), partitionNum: partitionNumber, partitions },
      ...file,
    };
  });
}
