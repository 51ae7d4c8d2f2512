/** Output formats of the shell. */
export const OUTPUT_FORMATS = ['table', 'csv', 'json', 'lines'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
