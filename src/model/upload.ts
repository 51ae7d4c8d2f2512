// Results of plans that stay in kernel memory.

import type { StageKey, StageRange } from './stage.js';

/** Rows that are to be the build side of a join. */
export interface BuildRequest {
  /** Parts of the key, by the columns that hold them. */
  readonly keys: readonly Pick<StageKey, 'build' | 'type' | 'nullsMeet'>[];
  /** Comparisons that rows will be looked up by beside the key; left out: none. */
  readonly ranges?: readonly StageRange[];
  /** Nothing but whether a key occurs will be asked. */
  readonly keysOnly: boolean;
  /** Whether rows without a partner will be asked for. */
  readonly marked: boolean;
  readonly bytesMax: number;
  /** Name of the limit, for messages. */
  readonly limit: string;
}

/**
 * Asks whoever computes the result of a plan to leave it in the kernel memory of its process, as a build side. It answers with one frame
 * that says so (`Frame.uploaded`), or with the rows where it cannot. Who asks releases the id, whether or not it was used.
 */
export interface Upload extends BuildRequest {
  readonly id: string;
  /** Columns of the result, by their names there and in kernel memory. */
  readonly columns: readonly UploadColumn[];
  /** Null: any number. */
  readonly rowsMax: number | null;
  /** Rows that take more than `bytesMax` come as frames, rather than to be refused. */
  readonly orFrames: boolean;
  /** Only for scans: rows that kernels cannot gather, or that take more than `bytesMax`, do not come at all. */
  readonly orNothing?: true;
  /** The rows in words, for messages. */
  readonly subject: string;
}

export interface UploadColumn {
  readonly name: string;
  readonly from: string;
  /** Only for scans that may leave nothing (`orNothing`): LONGs in place of strings, equal where these are; null has one as well. */
  readonly isNumbered?: true;
  /** Only there too: nothing is left where one of its doubles is NaN or -0, which groups and rows of results take in different ways. */
  readonly isPlain?: true;
}
