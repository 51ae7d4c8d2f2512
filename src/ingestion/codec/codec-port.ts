// Messages between a thread that decompresses and the one that reads.

/** Codecs whose libraries work in long turns, so that they have threads of their own. */
export type CodecName = 'bzip2' | 'xz' | 'lz4' | 'snappy';

/** Input and output of a codec; both wait until the other side is ready. */
export interface CodecPort {
  /** The next bytes of the file; undefined at its end. */
  read(): Uint8Array | undefined;
  /** Takes a copy. */
  write(bytes: Uint8Array): void;
}

/** Messages of the thread; each but the last two waits for one answer. */
export type FromCodec =
  | { readonly kind: 'wants' }
  | { readonly kind: 'made'; readonly bytes: Uint8Array }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

/** The answer: more of the input, or nothing at its end and to pieces that were made. */
export interface ToCodec {
  readonly bytes?: Uint8Array;
}

/** Data that a thread begins with. */
export interface CodecStart {
  readonly codec: CodecName;
  /** Counts the answers; the thread sleeps on it. */
  readonly answers: Int32Array;
}
