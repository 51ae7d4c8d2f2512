// Interface of an input format.

import type { Buffer } from 'node:buffer';
import type { ObjectReader } from '../../base/json-reader.js';
import type { DecompressionLimits } from '../codec/decompression-limits.js';
import type { FilePart } from '../source/file-part.js';
import type { InputEntity } from '../source/source-kind.js';
import type { InputBlock, RejectRow } from './input-block.js';

/** Limits of rows, from the properties `svc.ingestion.maxColumns` and `svc.ingestion.maxRowBytes`. */
export interface RowLimits {
  readonly maxColumns: number;
  readonly maxRowBytes: number;
}

/** Limits of one input; those of compressed ones from `svc.ingestion.decompression.*`. */
export interface InputLimits extends RowLimits {
  readonly decompression: DecompressionLimits;
}

export interface Reading {
  /** Names that will be asked for; null: any. */
  readonly columns: ReadonlySet<string> | null;
  readonly workDirectory: string;
  readonly inputLimits: InputLimits;
  /** Name of the kernel set; absent: the usual one. */
  readonly kernels?: string;
  /** Only the first rows are wanted: blocks are short, and nothing is read far ahead. */
  readonly samples?: boolean;
  /** Told of the stored bytes as they are taken in. */
  readonly read: (bytes: number) => void;
  readonly reject: RejectRow;
  /** Told of the line feeds of content that has lines, as they are passed. */
  readonly passed?: (lines: number) => void;
}

/** Reading of a part of a file, and who is told where its rows were. */
export interface PartReading extends Reading {
  readonly part: FilePart;
  /** Told before the first row where it begins. */
  readonly began: (at: number) => void;
  /** Told behind the last row where the next one begins, or would. */
  readonly ended: (at: number) => void;
}

/** An input format with its options read: ready to open entities. */
export interface InputFormat {
  readonly type: string;
  /** Whether every line feed ends a row, and rows need nothing from before them: so a file can be read in parts. */
  readonly isByLine: boolean;
  /** Whether every line of a text is a row, though not every line feed ends one; absent: it is not known, unless the format `isByLine`. */
  readonly areRows?: (text: Buffer) => boolean;
  /** Rows of an entity in blocks. */
  readonly read: (entity: InputEntity, reading: Reading) => AsyncGenerator<InputBlock>;
  /** Rows of a part of a local file that is not compressed; absent: such files are read whole, or line by line. */
  readonly readPart?: (entity: InputEntity, reading: PartReading) => AsyncGenerator<InputBlock>;
  /** The format of a message of a stream that has line feeds; absent: itself. */
  readonly ofMessage?: InputFormat;
}

/** A row of the table of input formats (`INPUT_FORMATS`). */
export interface InputFormatKind {
  readonly type: string;
  /** File extensions and options for `dolmen ingest`; null when the format needs options from the user. */
  readonly files: { readonly extensions: readonly string[]; readonly options: Readonly<Record<string, unknown>> } | null;
  readonly open: (fields: ObjectReader) => InputFormat;
}

/** Joins the two halves of a format: `parse` reads its options, `read` reads entities with them. */
export function inputFormatKind<Options>({
  type,
  files,
  parse,
  isByLine = () => false,
  areRows = () => undefined,
  ofMessage,
  read,
  readPart,
}: {
  readonly type: string;
  readonly files: InputFormatKind['files'];
  /** @throws ServiceError that names the field; refuses keys that the format does not have */
  readonly parse: (fields: ObjectReader) => Options;
  /** See `InputFormat`; left out: it is not. */
  readonly isByLine?: (options: Options) => boolean;
  /** See `InputFormat`; undefined: absent. */
  readonly areRows?: (options: Options) => ((text: Buffer) => boolean) | undefined;
  /** See `InputFormat`. */
  readonly ofMessage?: (options: Options) => Options;
  readonly read: (options: Options, entity: InputEntity, reading: Reading) => AsyncGenerator<InputBlock>;
  /** See `InputFormat`. */
  readonly readPart?: (options: Options, entity: InputEntity, reading: PartReading) => AsyncGenerator<InputBlock>;
}): InputFormatKind {
  return {
    type,
    files,
    open(fields) {
      const options = parse(fields);
      const opened = (by: Options): InputFormat => {
        const rowsOfLines = areRows(by);
        return {
          type,
          isByLine: isByLine(by),
          ...(rowsOfLines === undefined ? {} : { areRows: rowsOfLines }),
          read: (entity, reading) => read(by, entity, reading),
          ...(readPart === undefined ? {} : { readPart: (entity, reading) => readPart(by, entity, reading) }),
        };
      };
      return ofMessage === undefined ? opened(options) : { ...opened(options), ofMessage: opened(ofMessage(options)) };
    },
  };
}
