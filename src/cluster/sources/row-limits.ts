// Limits of rows that a query holds: those of subqueries and right sides of joins.

import { ServiceError } from '../../base/errors.js';
import { frameBytes } from '../../execution/block/frame-bytes.js';
import type { UploadedRows } from '../../execution/run/engine.js';
import type { Frame } from '../../model/frame.js';

/** Name of the limit of bytes, for messages. */
export const BYTES_LIMIT = 'context.maxSubqueryBytes';

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

function tooManyRows(what: string, rowsMax: number): ServiceError {
  return new ServiceError('resource_limit', `${what} gives more than the ${rowsMax} rows of context.maxSubqueryRows`);
}
