/** A function in SQL of `x`, and the same in DuckDB's words; left out where they are the same, null where it has no such function. */
export type Words = readonly [name: string, sql: string, duckdb?: string | null | undefined];

export const sum = (expression: string): string => `SUM(${expression})`;
export const most = (expression: string): string => `MAX(${expression})`;
export const lengths = (expression: string): string => `SUM(LENGTH(${expression}))`;
export const holds = (expression: string): string => `COUNT(*) FILTER (WHERE ${expression})`;
