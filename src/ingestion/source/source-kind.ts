// Interface of an input source.

import type { Readable } from 'node:stream';
import type { Interval } from '../../base/instant.js';
import type { ObjectReader } from '../../base/json-reader.js';
import type { Filter } from '../../model/filter.js';
import type { HttpRules } from './url-policy.js';

/** One file, object or string that rows are read from. */
export interface InputEntity {
  /** Name by which a person finds it: a path, a URL. */
  readonly name: string;
  /** Stored size, compressed or not; null when unknown. */
  readonly sizeBytes: number | null;
  /** The stored bytes. */
  open(): Promise<Readable>;
  /** Local file of the stored bytes, if any. */
  readonly localFile: string | null;
  /** Columns of all its rows, which discovery does not find. Absent for none. */
  readonly systemFields?: ReadonlyMap<string, string>;
}

/** Rows of a datasource; they need no format. */
export interface StoredRows {
  readonly name: string;
  readonly dataSource: string;
  readonly interval: Interval;
  readonly filter: Filter | null;
}

export type InputPart = InputEntity | StoredRows;

export function isStored(part: InputPart): part is StoredRows {
  return 'dataSource' in part;
}

/** Limits of an input source. */
export interface SourceLimits {
  readonly allowedDirectories: readonly string[];
  readonly http: HttpRules;
  /** `host:port` of the processes of the cluster, which no input source may read. */
  readonly peers: readonly string[];
  readonly signal: AbortSignal;
}

/** An input source with its options read. */
export interface InputSource {
  readonly type: string;
  /** Whether any of its parts is an entity. */
  readonly needsFormat: boolean;
  /** In the order in which their rows are numbered. */
  readonly parts: (limits: SourceLimits) => Promise<readonly InputPart[]>;
}

/** A row of the table of input sources (`INPUT_SOURCES`). */
export interface InputSourceKind {
  readonly type: string;
  readonly open: (fields: ObjectReader) => InputSource;
}

/** Joins the two halves of a source of entities: `parse` reads its options, `entities` lists what it names. */
export function inputSourceKind<Options>({
  type,
  parse,
  entities,
}: {
  readonly type: string;
  /** @throws ServiceError that names the field; refuses keys that the source does not have */
  readonly parse: (fields: ObjectReader) => Options;
  readonly entities: (options: Options, limits: SourceLimits) => Promise<readonly InputEntity[]>;
}): InputSourceKind {
  return {
    type,
    open(fields) {
      const options = parse(fields);
      return { type, needsFormat: true, parts: (limits) => entities(options, limits) };
    },
  };
}
