// The only file that calls yauzl: the entries of a zip archive as files.

import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { ServiceError } from '../../base/errors.js';
import { checkExpansion, type DecompressionLimits } from '../codec/decompression-limits.js';
import type { InputEntity } from './source-kind.js';

/** The part of the library that is used; its types are not installed. */
interface Entry {
  readonly fileName: string;
  readonly compressionMethod: number;
  readonly compressedSize: number;
  readonly uncompressedSize: number;
  readonly crc32: number;
  readonly relativeOffsetOfLocalHeader: number;
  isEncrypted(): boolean;
}
interface ZipFile {
  readonly fileSize: number;
  eachEntry(): AsyncIterable<Entry>;
  openReadStreamPromise(entry: Entry): Promise<Readable>;
  close(): void;
}
interface Library {
  openPromise(file: string, options: { readonly autoClose: boolean; readonly strictFileNames: boolean }): Promise<ZipFile>;
}

/** Folder of what macOS keeps beside files, which are not rows. */
const MAC_FOLDER = '__MACOSX/';
/** Methods of entries that are read, as the format numbers them. */
const METHODS = [0, 8];

/**
 * The entries of an archive in the order of its list, folders and what macOS adds aside; each to be read before the next is asked for. Nothing of an archive
 * beyond the limits is read.
 * @param entity  the archive
 * @param file  its local file
 * @param read  told of the stored bytes of each entry
 */
export async function* zipEntries(
  entity: InputEntity,
  file: string,
  limits: DecompressionLimits,
  read: (bytes: number) => void,
): AsyncGenerator<{ readonly entity: InputEntity; readonly read: (bytes: number) => void }> {
  const { openPromise } = createRequire(import.meta.url)('yauzl') as Library;
  let archive: ZipFile;
  try {
    archive = await openPromise(file, { autoClose: false, strictFileNames: false });
  } catch (error) {
    throw damaged(entity.name, error);
  }
  try {
    for (const entry of await entriesOf(archive, entity.name, limits)) {
      yield {
        entity: {
          name: `${entity.name}#${entry.fileName}`,
          sizeBytes: null,
          localFile: null,
          ...(entity.systemFields === undefined ? {} : { systemFields: entity.systemFields }),
          open: async () => Readable.from(contentOfEntry(archive, entry, entity.name), { objectMode: true }),
        },
        // The content is more than what is stored.
        read: () => undefined,
      };
      read(entry.compressedSize);
    }
  } finally {
    archive.close();
  }
}

async function entriesOf(archive: ZipFile, name: string, limits: DecompressionLimits): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let contentBytes = 0;
  try {
    for await (const entry of archive.eachEntry()) {
      if (entries.length >= limits.maxEntries)
        throw new ServiceError(
          'resource_limit',
          `${name} has more entries than svc.ingestion.decompression.maxEntries (${limits.maxEntries})`,
        );
      contentBytes += entry.uncompressedSize;
      checkExpansion(limits, { name, storedBytes: archive.fileSize, contentBytes });
      if (entry.fileName.endsWith('/') || entry.fileName.startsWith(MAC_FOLDER)) continue;
      if (entry.isEncrypted()) throw new ServiceError('input_unreadable', `${name}#${entry.fileName} is encrypted`);
      if (!METHODS.includes(entry.compressionMethod))
        throw new ServiceError(
          'input_unreadable',
          `${name}#${entry.fileName} is compressed by method ${entry.compressionMethod}; accepted: 0 (stored), 8 (deflate)`,
        );
      entries.push(entry);
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : damaged(name, error);
  }
  return entries;
}

async function* contentOfEntry(archive: ZipFile, entry: Entry, name: string): AsyncGenerator<Uint8Array> {
  let checksum = 0;
  try {
    for await (const bytes of (await archive.openReadStreamPromise(entry)) as AsyncIterable<Uint8Array>) {
      checksum = crc32(bytes, checksum);
      yield bytes;
    }
    if (checksum >>> 0 !== entry.crc32) throw new Error('its checksum differs');
  } catch (error) {
    throw damaged(`${name}#${entry.fileName}, at byte ${entry.relativeOffsetOfLocalHeader} of the archive,`, error);
  }
}

function damaged(name: string, error: unknown): ServiceError {
  return new ServiceError('input_unreadable', `${name} is damaged: ${error instanceof Error ? error.message : String(error)}`, error);
}
