// Places of rows in the input, so that a person finds a row again.

/** Place of a row; plain data. */
export interface RowPlace {
  /** Name of the file, object, statement or datasource. */
  readonly source: string;
  /** Number of its record there, from 1; headers and blank lines are none. null: nobody counts them from the beginning. */
  readonly record: number | null;
  /** Line that the record begins in, from 1; null: there are no lines, or nobody counts them from the beginning. */
  readonly line: number | null;
}

/** Records and lines before a place. */
export interface Passed {
  readonly records: number;
  readonly lines: number;
}

export const NONE_PASSED: Passed = { records: 0, lines: 0 };

/** `a.csv, record 7, line 9`. */
export function placeText({ source, record, line }: RowPlace): string {
  return `${source}${record === null ? '' : `, record ${record}`}${line === null ? '' : `, line ${line}`}`;
}

/** The place of a row whose place in a part of its source is known. */
export function placeBehind({ source, record, line }: RowPlace, { records, lines }: Passed): RowPlace {
  return { source, record: record === null ? null : record + records, line: line === null ? null : line + lines };
}

/** Counts the records of a source as they come, in blocks and beside them. */
export class RecordCount {
  readonly #source: string;
  readonly #passed: Passed | null;
  /** Records of the blocks before, and those that were rejected since. */
  #records = 0;
  /** Rejected records, each by the rows of the next block that stand before it. */
  #ahead: number[] = [];

  /** @param passed  what stands before its first record; null: that is not known, and no place is */
  constructor(source: string, passed: Passed | null) {
    this.#source = source;
    this.#passed = passed;
  }

  /**
   * Counts a record that its format rejects.
   * @param before  rows of the next block that stand before it
   */
  rejected(before: number, line: number | undefined): RowPlace {
    this.#ahead.push(before);
    return this.#placeOf(this.#records + before + this.#ahead.length, line);
  }

  /** Counts the rows of a block; the places of these. */
  block(rowCount: number, lineOf: ((row: number) => number) | undefined): (row: number) => RowPlace {
    const [first, ahead] = [this.#records, this.#ahead];
    this.#records += rowCount + ahead.length;
    this.#ahead = [];
    return (row) => this.#placeOf(first + row + 1 + ahead.filter((before) => before <= row).length, lineOf?.(row));
  }

  #placeOf(record: number, line: number | undefined): RowPlace {
    if (this.#passed === null) return { source: this.#source, record: null, line: null };
    const { records, lines } = this.#passed;
    return { source: this.#source, record: record + records, line: line === undefined ? null : line + lines };
  }
}
