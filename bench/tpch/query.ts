export interface BenchQuery {
  readonly id: string;
  /** One text for both engines. */
  readonly sql: string;
  /** Places of the output columns that ORDER BY names; rows that are equal in these may come in any order. */
  readonly orderedBy: readonly number[];
}
