/** How answers can be printed. */
export const OUTPUT_FORMATS = ['table', 'csv', 'json', 'lines'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** What a file to load can be. */
export const FILE_FORMATS = ['json', 'csv', 'tsv', 'parquet'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];
