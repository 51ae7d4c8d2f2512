// Finds what the words of `dolmen ingest` name: files, folders, patterns, URLs and standard input.

import { createWriteStream, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../base/errors.js';
import { globMatcher } from '../../ingestion/source/local.js';

/** Inputs of one load. */
export interface Inputs {
  /** Local files, in the order of the words, those of a folder or pattern by name. */
  readonly files: readonly string[];
  /** Addresses that the server reads itself. */
  readonly urls: readonly string[];
  /** Name of the datasource where nobody says one; null: somebody has to. */
  readonly name: string | null;
  /** Removes what was written for it. */
  takeBack(): void;
}

const STANDARD_INPUT = '-';
const IS_URL = /^(https?|s3):\/\//i;
const IS_PATTERN = /[*?[{]/;

/** @throws ServiceError `input_invalid` for a word that names nothing */
export async function findInputs(words: readonly string[], standardInput: Readable = process.stdin): Promise<Inputs> {
  const files = new Set<string>();
  const urls = new Set<string>();
  let folder: string | null = null;
  const takeBack = (): void => {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (const word of words) {
      if (IS_URL.test(word)) urls.add(word);
      else if (word === STANDARD_INPUT) {
        folder ??= mkdtempSync(join(tmpdir(), 'dolmen-ingest-'));
        files.add(await written(standardInput, join(folder, 'standard-input')));
      } else for (const file of filesOf(word)) files.add(file);
    }
  } catch (error) {
    takeBack();
    throw error;
  }
  const [word = ''] = words;
  const isNamed =
    words.length === 1 && word !== STANDARD_INPUT && (IS_URL.test(word) || statSync(word, { throwIfNoEntry: false }) !== undefined);
  return {
    files: [...files],
    urls: [...urls],
    name: isNamed ? nameFor(IS_URL.test(word) ? new URL(word).pathname : resolve(word)) : null,
    takeBack,
  };
}

/** Its bytes lie on disk, because formats are read from both ends, and a task may be tried again. */
async function written(standardInput: Readable, file: string): Promise<string> {
  await pipeline(standardInput, createWriteStream(file, { mode: 0o600 }));
  if (statSync(file).size === 0) throw new ServiceError('input_invalid', 'standard input is empty');
  return file;
}

function filesOf(word: string): readonly string[] {
  const found = statSync(word, { throwIfNoEntry: false });
  if (found?.isFile() === true) return [word];
  if (found?.isDirectory() === true) {
    const files = filesBelow(word);
    if (files.length === 0) throw new ServiceError('input_invalid', `the folder ${word} has no files`);
    return files;
  }
  if (found !== undefined) throw new ServiceError('input_invalid', `${word} is neither a file nor a folder`);
  if (!IS_PATTERN.test(word)) throw new ServiceError('input_invalid', `there is no file ${word}`);
  const root = fixedPart(word);
  const matches = globMatcher(relative(root, resolve(word)), { field: word, crossesFolders: true });
  const files = filesBelow(root).filter((file) => matches(relative(root, resolve(file))));
  if (files.length === 0) throw new ServiceError('input_invalid', `no file matches ${word}`);
  return files;
}

/** The folder that a pattern begins in. */
function fixedPart(pattern: string): string {
  let folder = resolve(pattern);
  while (IS_PATTERN.test(folder)) folder = dirname(folder);
  return folder;
}

/**
 * Files at any depth, by name; empty ones, hidden ones and those in hidden folders are left out. A symbolic link stands for the file
 * it leads to; one that leads to a folder, or nowhere, is passed over.
 */
function filesBelow(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, file: join(entry.parentPath, entry.name) }))
    .filter(({ entry, file }) => !entry.isDirectory() && !relative(folder, file).split(sep).some(isHidden))
    .map(({ file }) => file)
    .filter(isFilled)
    .sort();
}

function isFilled(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size > 0;
}

/** Names of what programs keep beside data, such as `_SUCCESS`. */
function isHidden(name: string): boolean {
  return name.startsWith('.') || name.startsWith('_');
}

/** `flights-3m.parquet` → `flights-3m`. */
export function nameFor(file: string): string {
  return basename(file)
    .replace(/\.(gz|gzip|zst|zstd|bz2|bz|xz|lz4|sz|snappy|zip)$/i, '')
    .replace(/\.[^.]+$/, '')
    .replace(/[^\w-]+/g, '_');
}

/** The input source of a task that reads files, as the server finds them, and URLs. */
export function sourceOf(files: readonly string[], urls: readonly string[]): Readonly<Record<string, unknown>> {
  const pages = urls.filter((url) => !url.toLowerCase().startsWith('s3:'));
  const objects = urls.filter((url) => url.toLowerCase().startsWith('s3:')).map(s3SourceOf);
  const delegates = [
    ...(files.length === 0 ? [] : [{ type: 'local', files }]),
    ...(pages.length === 0 ? [] : [{ type: 'http', uris: pages }]),
    ...objects,
  ];
  const [only] = delegates;
  return delegates.length === 1 && only !== undefined ? only : { type: 'combining', delegates };
}

/** One object, all below a prefix that ends with a slash, or those that match a pattern. */
function s3SourceOf(url: string): Readonly<Record<string, unknown>> {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/?(.*)$/is.exec(url) ?? [];
  if (bucket === '') throw new ServiceError('input_invalid', `expected s3://bucket/path, found ${url}`);
  const pattern = key.search(IS_PATTERN);
  if (pattern >= 0) return { type: 's3', prefixes: [`s3://${bucket}/${key.slice(0, pattern)}`], objectGlob: key };
  return key === '' || key.endsWith('/') ? { type: 's3', prefixes: [url] } : { type: 's3', uris: [url] };
}
