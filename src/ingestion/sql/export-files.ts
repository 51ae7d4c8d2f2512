// Writes the rows of INSERT INTO EXTERN as files below a folder.

import { type FileHandle, mkdir, open, readdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ServiceError } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import type { ExportFormat, ExportTarget, OutputColumn } from '../../model/statement.js';
import { taskFileName } from '../../model/task-file-name.js';
import { ENCODERS } from './export/formats.js';
import type { RowsEncoder } from './export/rows-encoder.js';

export interface ExportOptions {
  /** `svc.export.storage.baseDir`. */
  readonly baseDirectory: string;
  readonly taskId: string;
  /** Number of the run, which names its files. */
  readonly attempt: number;
  /** Rows after which a file ends. */
  readonly rowsPerFile: number;
  readonly timeZone: string;
  /** Throws where no rows are to fail the export (context key `failOnEmptyInsert`); null: they do not. */
  readonly refuseEmpty: (() => never) | null;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

export interface ExportedFiles {
  readonly files: readonly string[];
  readonly rowCount: number;
}

/** Folder of the list of files, and the list: it is there once all files are. */
const MANIFEST = path.join('_symlink_format_manifest', 'manifest');
/** A file that is in the folder while rows are exported into it: whose they are. */
const CLAIM = '_export_claim';
/** Time between two marks that the task of a claim is there, and the time without one after which it is not. */
const CLAIM_MARK_MS = 20_000;
const CLAIM_STALE_MS = 180_000;
const PROPERTY = 'svc.export.storage.baseDir';

/**
 * Writes all rows into new files of an empty folder, in a format of `export/formats.ts`. Files have their names only when all of
 * them are whole; a manifest that lists them comes last.
 * @throws ServiceError `forbidden` for a folder outside of the base directory, `conflict` for one that has files
 */
export async function exportRows(
  frames: AsyncIterable<Frame>,
  columns: readonly OutputColumn[],
  target: ExportTarget,
  options: ExportOptions,
): Promise<ExportedFiles> {
  const folder = await openFolder(target.exportPath, options);
  const claim = path.join(folder, CLAIM);
  const mark = (): void => {
    const at = options.now() / 1000;
    // A claim that cannot be marked is lost at worst, and the next task finds the files that are there.
    utimes(claim, at, at).catch(() => undefined);
  };
  const marking = setInterval(mark, CLAIM_MARK_MS);
  const prefix = `${filePrefix(options.taskId)}worker0-run${options.attempt}-partition`;
  const written: { readonly from: string; readonly to: string }[] = [];
  let rowCount = 0;
  const named: string[] = [];
  let file: RowsFile | null = null;
  try {
    for await (const frame of frames) {
      for (let from = 0; from < frame.rowCount; ) {
        if (options.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
        if (file === null) {
          const to = path.join(folder, `${prefix}${written.length}.${target.format}`);
          file = await RowsFile.open(`${to}.part`, columns, target.format, options.timeZone);
          written.push({ from: `${to}.part`, to });
        }
        const until = Math.min(frame.rowCount, from + options.rowsPerFile - file.rowCount);
        await file.add(frame, from, until);
        rowCount += until - from;
        from = until;
        if (file.rowCount === options.rowsPerFile) file = await file.finish();
      }
    }
    file = (await file?.finish()) ?? null;
    if (rowCount === 0) options.refuseEmpty?.();
    for (const { from, to } of written) {
      await rename(from, to);
      named.push(to);
    }
    await writeManifest(folder, named);
    await rm(claim, { force: true });
    return { files: named, rowCount };
  } catch (error) {
    await file?.close();
    await Promise.all([...written.map(({ from }) => from), ...named, claim].map((name) => rm(name, { force: true })));
    throw error;
  } finally {
    clearInterval(marking);
  }
}

function filePrefix(taskId: string): string {
  return `query-${taskFileName(taskId)}-`;
}

/** The folder, empty but for what an earlier run of the same task left. */
async function openFolder(exportPath: string, { baseDirectory, taskId, now }: ExportOptions): Promise<string> {
  await mkdir(baseDirectory, { recursive: true });
  const base = await realpath(baseDirectory);
  const asked = path.resolve(base, exportPath);
  const isBelow = (name: string): boolean => name === base || name.startsWith(base + path.sep);
  // A link on the way out is seen before anything is made behind it.
  if (!isBelow(asked) || !isBelow(await deepestKnown(asked)))
    throw new ServiceError('forbidden', `exportPath: ${exportPath} is not below ${baseDirectory} (${PROPERTY})`);
  await mkdir(asked, { recursive: true });
  const prefix = filePrefix(taskId);
  await removeStale(asked, now());
  for (const name of await readdir(asked)) {
    const isLeft =
      name.startsWith(prefix) ||
      (name === CLAIM && (await readFile(path.join(asked, CLAIM), 'utf8').catch(() => '')) === prefix) ||
      (name === path.dirname(MANIFEST) && (await listsOnly(path.join(asked, MANIFEST), prefix)));
    if (!isLeft)
      throw new ServiceError(
        'conflict',
        `exportPath: ${exportPath} holds files already, ${name} among them; rows are exported into an empty folder`,
      );
    await rm(path.join(asked, name), { recursive: true, force: true });
  }
  try {
    await writeFile(path.join(asked, CLAIM), prefix, { flag: 'wx' });
  } catch (error) {
    throw new ServiceError('conflict', `exportPath: rows of another task are exported into ${exportPath}`, error);
  }
  return asked;
}

/**
 * Removes the claim of a task that has died, and what it has written, unless all of it is there. A task that lives marks its claim; so does
 * one that is tried again, under whose name the files are.
 */
async function removeStale(folder: string, nowMs: number): Promise<void> {
  const claim = path.join(folder, CLAIM);
  const found = await stat(claim).catch(() => null);
  if (found === null || nowMs - found.mtimeMs < CLAIM_STALE_MS) return;
  const prefix = await readFile(claim, 'utf8').catch(() => '');
  const isWhole = (await readFile(path.join(folder, MANIFEST), 'utf8').catch(() => '')).includes(prefix);
  if (prefix !== '' && !isWhole)
    for (const name of await readdir(folder)) if (name.startsWith(prefix)) await rm(path.join(folder, name), { force: true });
  await rm(claim, { force: true });
}

/** Whether a manifest is not there yet, or names files of this prefix alone: an earlier run of the task has left it. */
async function listsOnly(manifest: string, prefix: string): Promise<boolean> {
  const text = await readFile(manifest, 'utf8').catch(() => '');
  return text.split('\n').every((line) => line === '' || path.posix.basename(line).startsWith(prefix));
}

/** The real path of the last part of a path that exists. */
async function deepestKnown(name: string): Promise<string> {
  try {
    return await realpath(name);
  } catch {
    return deepestKnown(path.dirname(name));
  }
}

async function writeManifest(folder: string, files: readonly string[]): Promise<void> {
  const manifest = path.join(folder, MANIFEST);
  await mkdir(path.dirname(manifest), { recursive: true });
  const file = await open(`${manifest}.part`, 'w');
  try {
    await file.writeFile(files.map((name) => `${pathToFileURL(name).href}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${manifest}.part`, manifest);
}

/** A file of rows while it is written. */
class RowsFile {
  rowCount = 0;
  readonly #file: FileHandle;
  readonly #rows: RowsEncoder;

  private constructor(file: FileHandle, rows: RowsEncoder) {
    this.#file = file;
    this.#rows = rows;
  }

  static async open(name: string, columns: readonly OutputColumn[], format: ExportFormat, timeZone: string): Promise<RowsFile> {
    const file = await open(name, 'w');
    try {
      return new RowsFile(file, await ENCODERS[format](columns, async (bytes) => file.writeFile(bytes), timeZone));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Writes rows [from, to) of a frame. */
  async add(frame: Frame, from: number, to: number): Promise<void> {
    await this.#rows.add(frame, from, to);
    this.rowCount += to - from;
  }

  async finish(): Promise<null> {
    await this.#rows.finish();
    await this.#file.sync();
    await this.#file.close();
    return null;
  }

  async close(): Promise<void> {
    await this.#file.close().catch(() => undefined);
  }
}
