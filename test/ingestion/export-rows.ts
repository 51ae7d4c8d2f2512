// Exports rows as a task does that reads them alone.

import { writeRowFiles } from '../../src/ingestion/sql/export/row-files.js';
import { type ExportedFiles, type ExportOptions, exportInto } from '../../src/ingestion/sql/export-files.js';
import type { Frame } from '../../src/model/frame.js';
import type { ExportTarget, OutputColumn } from '../../src/model/statement.js';

interface RowOptions extends ExportOptions {
  readonly rowsPerFile: number;
  readonly timeZone: string;
  readonly signal: AbortSignal;
}

export function exportRows(
  frames: AsyncIterable<Frame>,
  columns: readonly OutputColumn[],
  target: ExportTarget,
  { rowsPerFile, timeZone, signal, ...options }: RowOptions,
): Promise<ExportedFiles> {
  return exportInto(target, options, async (folder) => {
    const files = { columns, format: target.format, timeZone, rowsPerFile, signal, next: () => folder.next(0) };
    return (await writeRowFiles(frames, files)).reduce((sum, { rowCount }) => sum + rowCount, 0);
  });
}
