/*
 * Layout of values in kernel memory, as agreed on by storage (which fills it), kernels (which compute on it) and execution
 * (which brings both together).
 */

/**
 * A byte offset into the WebAssembly memory of the process. Arrays of column values begin at a multiple of 64 and are padded
 * with zeros to a multiple of 64 rows.
 */
export type Address = number;

/** Representation of a column's values in memory. Narrow integers are unsigned; a LONG is `base + value`. */
export type Physical = 'U8' | 'U16' | 'U32' | 'I64' | 'F32' | 'F64';

export const PHYSICAL_BYTES: Readonly<Record<Physical, number>> = { U8: 1, U16: 2, U32: 4, I64: 8, F32: 4, F64: 8 };

/** Rows of one block: the unit of disk blocks, of kernel calls and of min/max. */
export const BLOCK_ROWS = 16384;
