// The folder that INSERT INTO EXTERN fills with files.

import { mkdir, open, readdir, readFile, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ServiceError } from '../../base/errors.js';
import type { ExportTarget } from '../../model/statement.js';
import { taskFileName } from '../../model/task-file-name.js';

export interface ExportOptions {
  /** `svc.export.storage.baseDir`. */
  readonly baseDirectory: string;
  readonly taskId: string;
  /** Number of the run, which names its files. */
  readonly attempt: number;
  /** Throws where no rows are to fail the export (context key `failOnEmptyInsert`); null: they do not. */
  readonly refuseEmpty: (() => never) | null;
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
 * Fills an empty folder with files. They have their names only when all of them are whole; a manifest that lists them comes last.
 * @param fill  writes the files, and gives the rows that they have
 * @throws ServiceError `forbidden` for a folder outside of the base directory, `conflict` for one that has files
 */
export async function exportInto(
  target: ExportTarget,
  options: ExportOptions,
  fill: (folder: ExportFolder) => Promise<number>,
): Promise<ExportedFiles> {
  const folder = new ExportFolder(await openFolder(target.exportPath, options), target, options);
  const marking = setInterval(() => folder.mark(), CLAIM_MARK_MS);
  try {
    const rowCount = await fill(folder);
    if (rowCount === 0) options.refuseEmpty?.();
    return { files: await folder.finish(), rowCount };
  } catch (error) {
    await folder.abandon();
    throw error;
  } finally {
    clearInterval(marking);
  }
}

/** A folder while it is filled. */
export class ExportFolder {
  readonly #folder: string;
  readonly #target: ExportTarget;
  readonly #options: ExportOptions;
  readonly #written: { readonly from: string; readonly to: string }[] = [];
  readonly #named: string[] = [];
  readonly #counts = new Map<number, number>();

  constructor(folder: string, target: ExportTarget, options: ExportOptions) {
    this.#folder = folder;
    this.#target = target;
    this.#options = options;
  }

  /** The path under which the next file of a worker is to be written. */
  next(worker: number): string {
    const { taskId, attempt } = this.#options;
    const partition = this.#counts.get(worker) ?? 0;
    this.#counts.set(worker, partition + 1);
    const name = `${filePrefix(taskId)}worker${worker}-run${attempt}-partition${partition}.${this.#target.format}`;
    const to = path.join(this.#folder, name);
    this.#written.push({ from: `${to}.part`, to });
    return `${to}.part`;
  }

  /** Marks the claim. One that cannot be marked is lost at worst, and the next task finds the files that are there. */
  mark(): void {
    const at = this.#options.now() / 1000;
    utimes(this.#claim, at, at).catch(() => undefined);
  }

  async finish(): Promise<readonly string[]> {
    for (const { from, to } of this.#written) {
      await synced(from);
      await rename(from, to);
      this.#named.push(to);
    }
    await writeManifest(this.#folder, this.#named);
    await rm(this.#claim, { force: true });
    return this.#named;
  }

  async abandon(): Promise<void> {
    const names = [...this.#written.map(({ from }) => from), ...this.#named, this.#claim];
    await Promise.all(names.map((name) => rm(name, { force: true })));
  }

  get #claim(): string {
    return path.join(this.#folder, CLAIM);
  }
}

async function synced(name: string): Promise<void> {
  const file = await open(name, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
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
