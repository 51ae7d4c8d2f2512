// Interface of an input source.

import type { Readable } from 'node:stream';
import type { Interval } from '../../base/instant.js';
import type { ObjectReader } from '../../base/json-reader.js';
import type { Filter } from '../../model/filter.js';
import type { VisibleSegment } from '../../model/segment.js';
import type { HttpRules } from './url-policy.js';

/** One file, object or string that rows are read from. */
export interface InputEntity {
  /** Name by which a person finds it: a path, a URL. */
  readonly name: string;
  /** Stored size, compressed or not; null when unknown. */
  readonly sizeBytes: number | null;
  /** The stored bytes. */
  open(): Promise<Readable>;
  /** Its bytes are rows, whatever they begin with: nothing is decompressed. */
  readonly isPlain?: true;
  /** Its bytes come from within a file: no byte order mark is among them. */
  readonly isContinued?: true;
  /** Its content is lines of JSON, whatever format the spec has. */
  readonly isJsonLines?: true;
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
  /** Hosts of databases that may be connected to; absent or empty: every host. */
  readonly databaseHosts?: readonly string[];
  readonly signal: AbortSignal;
}

/** A part of a source that a sub-task can read by itself: a file, a time chunk. */
export interface SourceUnit {
  /** null when unknown. */
  readonly sizeBytes: number | null;
  readonly origin: UnitOrigin;
  readonly item: unknown;
}

/** The source that units are of. */
export interface UnitOrigin {
  /** Specs of sources that together have these units and nothing else. */
  readonly specsOf: (items: readonly unknown[]) => readonly Readonly<Record<string, unknown>>[];
}

/** Surroundings that a source asks for its units. */
export interface UnitLimits extends SourceLimits {
  visibleSegments(dataSource: string, intervals: readonly Interval[]): Promise<readonly VisibleSegment[]>;
}

/** An input source with its options read. */
export interface InputSource {
  readonly type: string;
  /** Whether any of its parts is an entity. */
  readonly needsFormat: boolean;
  /** Its entities are read without a format of the spec. */
  readonly bringsFormat?: true;
  /** In the order in which their rows are numbered. */
  readonly parts: (limits: SourceLimits) => Promise<readonly InputPart[]>;
  /** Absent: only one task can read it. */
  readonly units?: (limits: UnitLimits) => Promise<readonly SourceUnit[]>;
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
  only,
}: {
  readonly type: string;
  /** @throws ServiceError that names the field; refuses keys that the source does not have */
  readonly parse: (fields: ObjectReader) => Options;
  readonly entities: (options: Options, limits: SourceLimits) => Promise<readonly InputEntity[]>;
  /** The source as written, but with these of its entities only. Absent: only one task can read it. */
  readonly only?: (written: Readonly<Record<string, unknown>>, names: readonly string[]) => Readonly<Record<string, unknown>>;
}): InputSourceKind {
  return {
    type,
    open(fields) {
      const options = parse(fields);
      const source: InputSource = { type, needsFormat: true, parts: (limits) => entities(options, limits) };
      if (only === undefined) return source;
      const origin: UnitOrigin = { specsOf: (names) => [only(fields.members, names as readonly string[])] };
      const units = async (limits: UnitLimits): Promise<readonly SourceUnit[]> =>
        (await entities(options, limits)).map(({ name, sizeBytes }) => ({ sizeBytes, origin, item: name }));
      return { ...source, units };
    },
  };
}
