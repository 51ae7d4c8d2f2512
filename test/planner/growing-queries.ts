/** Statements and native queries that are made of `count` like parts, for tests of how planning grows with them. */
export interface GrowingQuery<Form> {
  readonly name: string;
  /** Parts of the smaller of the two sizes that are compared, where that is not the usual number. */
  readonly count?: number;
  readonly of: (count: number) => Form;
}

export interface GrowingStatement {
  readonly sql: string;
  readonly parameters?: readonly unknown[];
  /** Columns of the table `wide`; left out: a few. */
  readonly columns?: number;
}

/** Number of columns that every table has in addition to `__time`: `c0`, `c1`, … */
export const FEW_COLUMNS = 20;

export const list = (count: number, part: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(separator);
export const parts = <Part>(count: number, part: (index: number) => Part): readonly Part[] =>
  Array.from({ length: count }, (_, index) => part(index));
export const column = (index: number): string => `c${index % FEW_COLUMNS}`;
