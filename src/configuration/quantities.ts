// Quantities in which properties are given.

export const MEBIBYTE = 2 ** 20;
export const GIBIBYTE = 2 ** 30;
export const DAY_MS = 86_400_000;
/** The most that one WebAssembly memory can address. */
export const BANK_BYTES_MAX = 4 * GIBIBYTE;

/** Bytes as a default is written. */
export const wholeMebibytes = (count: number): string => String(Math.floor(count / MEBIBYTE) * MEBIBYTE);
