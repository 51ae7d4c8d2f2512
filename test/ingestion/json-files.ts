import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A new folder with a file of JSON lines for each list of rows: `0.json`, `1.json` and so on. */
export function folderOfJsonLines(prefix: string, files: readonly (readonly object[])[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), prefix));
  for (const [at, rows] of files.entries())
    writeFileSync(path.join(folder, `${at}.json`), rows.map((row) => JSON.stringify(row)).join('\n'));
  return folder;
}
