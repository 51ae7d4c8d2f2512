// Options of delimited text.

import type { RowLimits } from './format-kind.js';
import type { RejectRow } from './input-block.js';

/** Separator of the values of a list where the format does not say: the control character A. */
export const LIST_DELIMITER = '\u0001';

export interface DelimitedFormat {
  readonly type: 'csv' | 'tsv';
  /** One ASCII character. */
  readonly delimiter: string;
  readonly listDelimiter: string | null;
  /** null: the header names them. */
  readonly columns: readonly string[] | null;
  readonly findColumnsFromHeader: boolean;
  readonly skipHeaderRows: number;
  /** A column that its values type takes fields that are numbers as such. */
  readonly tryParseNumbers: boolean;
}

export interface DelimitedReading {
  readonly name: string;
  readonly limits: RowLimits;
  readonly reject: RejectRow;
  /** Name of the kernel set; any, unless given. */
  readonly kernels?: string | undefined;
}

export function firstDuplicate(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}
