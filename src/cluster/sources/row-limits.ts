// Limits of rows that a query holds: those of subqueries and right sides of joins.

import { ServiceError } from '../../base/errors.js';
import { frameBytes } from '../../execution/block/frame-bytes.js';
import type { UploadedRows } from '../../execution/run/engine.js';
import type { Frame } from '../../model/frame.js';
import type { RunLimits } from '../../model/run-limits.js';

/** Name of the limit of bytes, for messages. */
export const BYTES_LIMIT = 'context.maxSubqueryBytes';

/** Default size limit of a join's right side. */
const SIDE_BYTES_MAX = 512 << 20;
/** Results of subqueries that take more come as frames, chunk by chunk. */
const NESTED_BYTES_MAX = 96 << 20;

/** Limits of what the subqueries and the right sides of one query hold. */
export class HeldLimits {
  readonly sides: RowLimits & { readonly bytesMax: number };
  readonly subqueries: RowLimits;
  readonly nestedBytesMax: number;
  /** Whether the context says anything of it. */
  readonly areSet: boolean;

  constructor({ maxSubqueryRows = null, maxSubqueryBytes = null }: RunLimits) {
    // Bytes take precedence where both are set, as documented.
    const rowsMax = maxSubqueryBytes === null ? maxSubqueryRows : null;
    this.sides = { rowsMax, bytesMax: maxSubqueryBytes ?? SIDE_BYTES_MAX };
    this.subqueries = { rowsMax, bytesMax: maxSubqueryBytes };
    this.nestedBytesMax = Math.min(NESTED_BYTES_MAX, maxSubqueryBytes ?? Infinity);
    this.areSet = maxSubqueryRows !== null || maxSubqueryBytes !== null;
  }
}

/** Null: any number. */
interface RowLimits {
  readonly rowsMax: number | null;
  readonly bytesMax: number | null;
}

/** The frames, as long as they are within the limits. @throws ServiceError `resource_limit`, naming `what` gives them */
export async function* limited(frames: AsyncIterable<Frame>, what: string, { rowsMax, bytesMax }: RowLimits): AsyncGenerator<Frame> {
  let [rows, bytes] = [0, 0];
  for await (const frame of frames) {
    rows += frame.rowCount;
    if (rowsMax !== null && rows > rowsMax) throw tooManyRows(what, rowsMax);
    if (bytesMax !== null) bytes += frameBytes(frame);
    if (bytesMax !== null && bytes > bytesMax)
      throw new ServiceError('resource_limit', `${what} gives more than the ${bytesMax} bytes of ${BYTES_LIMIT}`);
    yield frame;
  }
}

/** Refuses rows that another query has placed. @throws ServiceError `resource_limit` */
export function refuseMany({ rowCount, bytes }: UploadedRows, what: string, { rowsMax, bytesMax }: RowLimits): void {
  if (rowsMax !== null && rowCount > rowsMax) throw tooManyRows(what, rowsMax);
  if (bytesMax !== null && bytes > bytesMax)
    throw new ServiceError('resource_limit', `${what} takes ${bytes} bytes, ${Math.max(0, bytesMax)} are left of ${BYTES_LIMIT}`);
}

/** The value that is made; undefined where it does not fit. */
export async function unlessFull<Made>(make: () => Promise<Made>): Promise<Made | undefined> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'resource_limit') return undefined;
    throw error;
  }
}

function tooManyRows(what: string, rowsMax: number): ServiceError {
  return new ServiceError('resource_limit', `${what} gives more than the ${rowsMax} rows of context.maxSubqueryRows`);
}

export function bytesOf(placed: readonly UploadedRows[]): number {
  return placed.reduce((sum, { bytes }) => sum + bytes, 0);
}
