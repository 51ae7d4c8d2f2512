// The input source `local`.

import { createReadStream, type Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { type InputEntity, inputSourceKind } from './source-kind.js';
import { parseSystemFields, systemValues } from './system-fields.js';

interface LocalSource {
  /** Directory whose files are read, at any depth, when their names match `filter`. */
  readonly baseDir: string | null;
  readonly filter: string | null;
  readonly files: readonly string[];
  readonly systemFields?: ReturnType<typeof parseSystemFields>;
}

export const LOCAL = inputSourceKind<LocalSource>({
  type: 'local',
  parse: parseLocalSource,
  entities: (source, limits) => localEntities(source, limits.allowedDirectories),
  only: ({ baseDir: _baseDir, filter: _filter, ...written }, files) => ({ ...written, files }),
});

const ALLOWED = 'svc.ingestion.local.allowedDirectories';

function parseLocalSource(fields: ObjectReader): LocalSource {
  fields.accept(['baseDir', 'filter', 'files', 'systemFields']);
  const source: LocalSource = {
    baseDir: fields.optionalString('baseDir') ?? null,
    filter: fields.optionalString('filter') ?? null,
    files: fields.strings('files'),
    systemFields: parseSystemFields(fields),
  };
  if (source.baseDir === null && source.files.length === 0) throw fields.invalid('', 'expected baseDir with filter, or files');
  if ((source.baseDir === null) !== (source.filter === null))
    throw fields.invalid('', 'baseDir and filter are given together or not at all');
  return source;
}

/**
 * The files of a local source by name. A path is resolved, symbolic links and all, before it is held against the
 * allowed directories, and only the resolved path is opened.
 */
export async function localEntities(source: LocalSource, allowedDirectories: readonly string[]): Promise<readonly InputEntity[]> {
  const roots = await rootsOf(allowedDirectories);
  const paths = new Set<string>();
  for (const file of source.files) paths.add(await resolveAllowed(file, roots));
  if (source.baseDir !== null && source.filter !== null) {
    const directory = await resolveAllowed(source.baseDir, roots);
    if (!(await stat(directory)).isDirectory())
      throw new ServiceError('input_unreadable', `inputSource.baseDir: ${source.baseDir} is not a directory`);
    const matches = globMatcher(source.filter);
    const found: string[] = [];
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      const name = path.join(entry.parentPath, entry.name);
      if (!entry.isDirectory() && (matches(entry.name) || matches(path.relative(directory, name)))) found.push(name);
    }
    if (found.length === 0)
      throw new ServiceError('input_unreadable', `inputSource: no file below ${source.baseDir} matches the filter ${source.filter}`);
    for (const name of found.sort()) paths.add(await resolveAllowed(name, roots));
  }
  const { systemFields = [] } = source;
  return Promise.all(
    [...paths].map(async (file) => ({
      ...(await fileEntity(file)),
      systemFields: systemValues(systemFields, { __file_uri: `file:${pathToFileURL(file).pathname}`, __file_path: file }),
    })),
  );
}

/** A regular file below the allowed directories, and when it was changed last. */
export async function allowedFile(name: string, allowedDirectories: readonly string[]): Promise<FoundFile> {
  return foundFile(await resolveAllowed(name, await rootsOf(allowedDirectories)));
}

export interface FoundFile {
  readonly entity: InputEntity;
  readonly fileName: string;
  readonly modifiedMs: number;
}

/** The regular files in a directory, not those further below. */
export async function allowedFilesIn(directory: string, allowedDirectories: readonly string[]): Promise<readonly FoundFile[]> {
  const roots = await rootsOf(allowedDirectories);
  const resolved = await resolveAllowed(directory, roots);
  if (!(await stat(resolved)).isDirectory()) throw new ServiceError('input_unreadable', `inputSource: ${directory} is not a directory`);
  const names = (await readdir(resolved, { withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => path.join(resolved, name));
  return Promise.all(names.map(foundFile));
}

async function foundFile(file: string): Promise<FoundFile> {
  const entity = await fileEntity(file);
  return { entity, fileName: path.basename(file), modifiedMs: (await stat(file)).mtimeMs };
}

function rootsOf(allowedDirectories: readonly string[]): Promise<readonly string[]> {
  return Promise.all(allowedDirectories.map((directory) => realpath(directory).catch(() => path.resolve(directory))));
}

async function resolveAllowed(name: string, roots: readonly string[]): Promise<string> {
  const lexical = path.resolve(name);
  // Whether something exists outside is not ours to tell.
  if (!isBelow(lexical, roots) && !isBelow(await realpath(lexical).catch(() => lexical), roots)) throw outside(name);
  let resolved: string;
  try {
    resolved = await realpath(lexical);
  } catch (error) {
    throw new ServiceError('input_unreadable', `inputSource: ${name} does not exist`, error);
  }
  if (!isBelow(resolved, roots)) throw outside(name);
  return resolved;
}

function outside(name: string): ServiceError {
  return new ServiceError('forbidden', `inputSource: ${name} is not below a directory of ${ALLOWED}`);
}

function isBelow(name: string, roots: readonly string[]): boolean {
  return roots.some((root) => name === root || name.startsWith(root.endsWith(path.sep) ? root : root + path.sep));
}

async function fileEntity(file: string): Promise<InputEntity> {
  const found = await stat(file);
  if (!found.isFile())
    throw new ServiceError('input_unreadable', `inputSource: ${file} is ${found.isDirectory() ? 'a directory' : 'no regular file'}`);
  return {
    name: file,
    sizeBytes: found.size,
    localFile: file,
    open: async () => Readable.from(unchanging(file, found), { highWaterMark: CHUNKS_AHEAD }),
  };
}

/** The bytes of a file that must stay what it is now. */
export async function openLocal(file: string): Promise<Readable> {
  return Readable.from(unchanging(file, await stat(file)), { highWaterMark: CHUNKS_AHEAD });
}

/** Chunks that are read before they are asked for. */
const CHUNKS_AHEAD = 2;

/** The bytes of a file, which must still be what it was at its end: rows of two states of it are those of neither. */
async function* unchanging(file: string, before: Stats): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file, { highWaterMark: 1 << 20 });
  const { size, mtimeMs } = await stat(file);
  if (size !== before.size || mtimeMs !== before.mtimeMs)
    throw new ServiceError('input_unreadable', `inputSource: ${file} was changed while it was read`);
}

/** `*` any characters but `/`, `?` one, `[a-z]` one of them, `{a,b}` either; `**` any characters at all where it crosses folders. */
export function globMatcher(
  glob: string,
  { field, crossesFolders }: { readonly field: string; readonly crossesFolders: boolean } = {
    field: 'inputSource.filter',
    crossesFolders: false,
  },
): (name: string) => boolean {
  let pattern = '';
  let depth = 0;
  for (let at = 0; at < glob.length; at++) {
    const character = glob.charAt(at);
    const close = character === '[' ? glob.indexOf(']', at + 2) : -1;
    if (character === '*') {
      // Two and more are as one: a pattern of stars must not try every split.
      const first = at;
      while (glob.charAt(at + 1) === '*') at++;
      pattern += crossesFolders && at > first ? '[^]*' : '[^/]*';
    } else if (character === '?') pattern += '[^/]';
    else if (close > 0) {
      pattern += `[${glob
        .slice(at + 1, close)
        .replace(/^!/, '^')
        .replace(/[\\\]]/g, '\\$&')}]`;
      at = close;
    } else if (character === '{') {
      depth++;
      pattern += '(?:';
    } else if (character === '}' && depth > 0) {
      depth--;
      pattern += ')';
    } else if (character === ',' && depth > 0) pattern += '|';
    else pattern += character.replace(/[.+^$()|[\]\\{}/]/g, '\\$&');
  }
  if (depth > 0) throw new ServiceError('input_invalid', `${field}: "${glob}" leaves a { open`);
  let compiled: RegExp;
  try {
    compiled = new RegExp(`^${pattern}$`, 'u');
  } catch (error) {
    throw new ServiceError('input_invalid', `${field}: "${glob}" is not a file pattern; accepted: * ? [a-z] {a,b}`, error);
  }
  return (name) => compiled.test(name);
}
