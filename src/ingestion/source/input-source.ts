import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { ServiceError } from '../../base/errors.js';
import type { Fields } from '../task-spec/fields.js';
import { type HttpSource, httpEntities, parseHttpSource } from './http.js';
import { type LocalSource, localEntities, parseLocalSource } from './local.js';

/** One file, object or text that rows are read from. */
export interface InputEntity {
  /** As a person would look for it: a path, a URL. */
  readonly name: string;
  /** As stored, compressed or not; null when that is unknown. */
  readonly sizeBytes: number | null;
  /** The stored bytes. */
  open(): Promise<Readable>;
  /** Where the stored bytes lie on this machine, when they do. */
  readonly localFile: string | null;
}

export interface InlineSource {
  readonly type: 'inline';
  readonly data: string;
}

export type InputSource = InlineSource | LocalSource | HttpSource;

/** What an input source may use. */
export interface SourceLimits {
  readonly allowedDirectories: readonly string[];
  readonly maxHttpBytes: number;
  readonly signal: AbortSignal;
}

/** Documented input sources that this version does not read. */
const UNSUPPORTED = ['s3', 'google', 'azure', 'azureStorage', 'hdfs', 'sql', 'combining', 'druid', 'iceberg', 'delta'];

export function parseInputSource(fields: Fields): InputSource {
  switch (fields.type(['inline', 'local', 'http'], UNSUPPORTED)) {
    case 'inline':
      fields.accept(['data']);
      return { type: 'inline', data: fields.string('data') };
    case 'local':
      return parseLocalSource(fields);
    default:
      return parseHttpSource(fields);
  }
}

/**
 * The entities of a source, in the order in which their rows are numbered.
 * @throws ServiceError `input_unreadable` when there is none, `forbidden` outside the allowed directories
 */
export async function inputEntities(source: InputSource, limits: SourceLimits): Promise<readonly InputEntity[]> {
  const entities = await findEntities(source, limits);
  if (entities.length === 0) throw new ServiceError('input_unreadable', 'the input source names no input');
  return entities;
}

async function findEntities(source: InputSource, limits: SourceLimits): Promise<readonly InputEntity[]> {
  switch (source.type) {
    case 'inline':
      return [inlineEntity(source.data)];
    case 'local':
      return localEntities(source, limits.allowedDirectories);
    case 'http':
      return httpEntities(source, limits);
  }
}

function inlineEntity(data: string): InputEntity {
  const bytes = Buffer.from(data, 'utf8');
  return { name: 'inline data', sizeBytes: bytes.length, localFile: null, open: async () => Readable.from([bytes]) };
}
