// A live segment: rows of a stream that are queried before they are published.

import type { ColumnSchema } from '../../../model/schema.js';
import { LIVE, type SegmentId, segmentColumns } from '../../../model/segment.js';
import { segmentIdText } from '../../../model/segment-id.js';
import type { LiveDescriptor } from '../../../model/stream/live.js';
import type { LivePart } from './live-part.js';

/** The rows of a time chunk in one sequence of a task. Its parts are replaced as a whole, in one turn of the event loop. */
export class LiveSegment {
  readonly id: SegmentId;
  readonly text: string;
  readonly sequence: string;
  /** In order of arrival. */
  parts: readonly LivePart[] = [];
  isPublished = false;

  constructor(id: SegmentId, sequence: string) {
    this.id = id;
    this.text = segmentIdText(id);
    this.sequence = sequence;
  }

  get rowCount(): number {
    return this.parts.reduce((sum, { rowCount }) => sum + rowCount, 0);
  }

  /** Whether a part has a column that none of its parts has, or not with that type. */
  lacksColumnsOf({ schema }: LivePart): boolean {
    const known = new Set(this.parts.flatMap((part) => part.schema.map(({ name, type }) => `${type} ${name}`)));
    return schema.some(({ name, type }) => !known.has(`${type} ${name}`));
  }

  /**
   * Rows and columns as they are now. A column that parts have with several types is listed with each of them: plans that read it must
   * know.
   */
  describe(metrics: readonly string[]): LiveDescriptor {
    const columns = new Map<string, ColumnSchema>();
    const seen = new Map<string, number>();
    for (const { schema } of this.parts)
      for (const column of schema) {
        const key = JSON.stringify([column.name, column.type]);
        const known = columns.get(key);
        columns.set(key, known === undefined ? column : joined(known, column));
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }
    return {
      id: this.id,
      shardSpec: { type: 'numbered', partitionNum: this.id.partitionNumber, partitions: 0 },
      loadSpec: { type: LIVE, path: this.text },
      sizeBytes: 0,
      rowCount: this.rowCount,
      dimensions: [...new Set(this.parts.flatMap(({ dimensions }) => dimensions))],
      metrics,
      ...segmentColumns(
        [...columns].map(([key, column]) => (seen.get(key) === this.parts.length ? column : { ...column, hasNulls: true })),
      ),
      isPublished: this.isPublished,
    };
  }
}

function joined(one: ColumnSchema, other: ColumnSchema): ColumnSchema {
  const { name, type } = one;
  const schema = { name, type, multiValue: one.multiValue || other.multiValue, hasNulls: one.hasNulls || other.hasNulls };
  const { distinctCount } = one;
  if (distinctCount === undefined || other.distinctCount === undefined) return schema;
  return { ...schema, distinctCount: Math.max(distinctCount, other.distinctCount) };
}
