// Files of rows that sub-tasks hand to those that merge them.

import { type FileHandle, open } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import type { SegmentPart } from '../../model/segment.js';
import type { SegmentFrame } from '../../storage/columns/packed-column.js';

/*
 * A file: pieces one after another, each
 *
 *   offset 0   f64 little-endian  start of the time chunk
 *   offset 8   f64 little-endian  end of the time chunk
 *   offset 16  u32 little-endian  place of the part in its chunk
 *   offset 20  u32 little-endian  bytes that follow
 *   offset 24  V8's structured clone format: the part, and the frame of its rows
 *
 * Only this service writes and reads them, and a file is in deep storage whole or not at all.
 */
const HEADER_BYTES = 24;

/** Rows of one part of a chunk. */
export interface PartialRows {
  readonly interval: Interval;
  /** Place of the part in its chunk. */
  readonly at: number;
  readonly part: SegmentPart | null;
  readonly frame: SegmentFrame;
}

/** Writes pieces to files, one file for each group of parts. Whoever opened it closes it. */
export class PartialRowsWriter {
  readonly #fileOf: (group: number) => string;
  readonly #files = new Map<number, FileHandle>();

  constructor(fileOf: (group: number) => string) {
    this.#fileOf = fileOf;
  }

  get groups(): readonly number[] {
    return [...this.#files.keys()].sort((a, b) => a - b);
  }

  async add(group: number, { interval, at, part, frame }: PartialRows): Promise<void> {
    const payload = serialize({ part, frame });
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeDoubleLE(interval.start, 0);
    header.writeDoubleLE(interval.end, 8);
    header.writeUInt32LE(at, 16);
    header.writeUInt32LE(payload.length, 20);
    let file = this.#files.get(group);
    if (file === undefined) {
      file = await open(this.#fileOf(group), 'w');
      this.#files.set(group, file);
    }
    await file.writeFile(header);
    await file.writeFile(payload);
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) await file.close();
  }
}

/** Pieces of one part of a chunk, in files. */
export interface PartPieces {
  readonly interval: Interval;
  readonly at: number;
  /** Reads the pieces. */
  read(): Promise<{ readonly part: SegmentPart | null; readonly frames: readonly SegmentFrame[] }>;
}

interface Place {
  readonly file: string;
  readonly position: number;
  readonly bytes: number;
}

/** The parts that have pieces in the files, by time and place; their pieces in the order of the files. */
export async function partsIn(files: readonly string[]): Promise<readonly PartPieces[]> {
  const parts = new Map<string, { readonly interval: Interval; readonly at: number; readonly places: Place[] }>();
  for (const name of files)
    await reading(name, async (file) => {
      const { size } = await file.stat();
      const header = Buffer.alloc(HEADER_BYTES);
      for (let position = 0; position < size; ) {
        await readWhole(file, header, position, name);
        const interval = { start: header.readDoubleLE(0), end: header.readDoubleLE(8) };
        const [at, bytes] = [header.readUInt32LE(16), header.readUInt32LE(20)];
        const key = `${interval.start}/${at}`;
        const part = parts.get(key) ?? { interval, at, places: [] };
        part.places.push({ file: name, position: position + HEADER_BYTES, bytes });
        parts.set(key, part);
        position += HEADER_BYTES + bytes;
      }
    });
  return [...parts.values()]
    .sort((a, b) => a.interval.start - b.interval.start || a.at - b.at)
    .map(({ interval, at, places }) => ({ interval, at, read: () => readPieces(places) }));
}

async function readPieces(places: readonly Place[]): ReturnType<PartPieces['read']> {
  const pieces: Pick<PartialRows, 'part' | 'frame'>[] = [];
  for (const { file: name, position, bytes } of places)
    await reading(name, async (file) => {
      const payload = Buffer.alloc(bytes);
      await readWhole(file, payload, position, name);
      pieces.push(deserialize(payload) as Pick<PartialRows, 'part' | 'frame'>);
    });
  return { part: pieces[0]?.part ?? null, frames: pieces.map(({ frame }) => frame) };
}

async function reading(name: string, read: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(name);
  try {
    await read(file);
  } finally {
    await file.close();
  }
}

async function readWhole(file: FileHandle, into: Buffer, position: number, name: string): Promise<void> {
  const { bytesRead } = await file.read(into, 0, into.length, position);
  if (bytesRead !== into.length) throw new ServiceError('internal', `partial rows in ${name} end in the middle`);
}
