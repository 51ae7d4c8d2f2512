// Divides local files for several threads.

import { stat } from 'node:fs/promises';
import type { InputFormat } from '../../format/format-kind.js';
import { localHead } from '../../source/archive.js';
import { isPlain, unreadable } from '../../source/decompress.js';
import type { FilePart } from '../../source/file-part.js';
import { type InputPart, isStored } from '../../source/source-kind.js';

/** A local file; plain data. */
export interface LocalFile {
  readonly name: string;
  readonly path: string;
  readonly systemFields?: ReadonlyMap<string, string>;
}

/** Rows that one thread reads in one go; plain data. */
export interface WorkPart {
  readonly file: LocalFile;
  readonly part: FilePart;
  /** It is the file as it is stored, compressed or not. */
  readonly isWhole: boolean;
}

export interface DividingOptions {
  readonly threads: number;
  /** Input below which one thread reads it all. */
  readonly bytesMin: number;
  /** Sizes of parts of files. */
  readonly partBytesMin: number;
  readonly partBytesMax: number;
}

/** Parts for each thread, so that one that is slow, or gets more of the processor, does not have the others wait. */
const PARTS_A_THREAD = 8;

/** The parts in the order of their rows; null: the input is not worth dividing, or is none of local files. */
export async function workParts(
  parts: readonly InputPart[],
  format: InputFormat,
  { threads, bytesMin, partBytesMin, partBytesMax }: DividingOptions,
): Promise<readonly WorkPart[] | null> {
  if (threads < 2) return null;
  const files: WorkPart[] = [];
  for (const entity of parts) {
    if (isStored(entity) || entity.localFile === null || entity.isJsonLines === true || entity.isPlain === true) return null;
    const { name, localFile, systemFields } = entity;
    const { size: fileBytes, mtimeMs: modifiedMs } = await stat(localFile).catch((error: unknown) => {
      throw unreadable(name, error);
    });
    const file = { name, path: localFile, ...(systemFields === undefined ? {} : { systemFields }) };
    files.push({ file, part: { from: 0, to: fileBytes, isAtRow: true, fileBytes, modifiedMs }, isWhole: true });
  }
  const total = files.reduce((sum, { part }) => sum + part.fileBytes, 0);
  if (total < bytesMin) return null;
  const partBytes = Math.min(partBytesMax, Math.max(partBytesMin, Math.ceil(total / (threads * PARTS_A_THREAD))));
  const isDivisible = format.readPart !== undefined || format.isByLine;
  const divided: WorkPart[] = [];
  for (const whole of files) {
    const count = Math.ceil(whole.part.fileBytes / partBytes);
    if (count < 2 || !isDivisible || !(await isReadInParts(whole.file))) divided.push(whole);
    else for (let at = 0; at < count; at++) divided.push(partOf(whole, at, count));
  }
  return divided.length < 2 ? null : divided;
}

function partOf({ file, part }: WorkPart, at: number, count: number): WorkPart {
  const bound = (number: number): number => Math.floor((part.fileBytes * number) / count);
  return { file, part: { ...part, from: bound(at), to: bound(at + 1), isAtRow: at === 0 }, isWhole: false };
}

/** false also for a file that cannot be read: its reader says why, behind the rows of those before it. */
async function isReadInParts({ name, path }: LocalFile): Promise<boolean> {
  return localHead(name, path).then(
    (head) => isPlain(name, head),
    () => false,
  );
}
