// Writes response bodies in pieces that uWebSockets.js does not lose.

/**
 * uWebSockets.js gathers 16 KiB at a time. Of what does not fit beside what stands before it (headers, the length of a
 * chunk) it loses everything, without a word, where the client is behind with reading: no write may be that long.
 */
const GATHERED_BYTES_MAX = 12 * 1024;

/** Larger bodies go out as fast as the client reads, rather than into the socket's buffer at once. */
export const COPIED_BYTES_MAX = GATHERED_BYTES_MAX;

/**
 * uWebSockets.js closes a connection on which nothing happened for ten seconds, has no setting for it, and looks every
 * four seconds: eight are certain.
 */
const KEEP_ALIVE = 'Keep-Alive: timeout=8';

/** Policy under which a browser that shows an answer as a page runs nothing of it. */
const CONTENT_SECURITY_POLICY = "Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The first of the headers that every answer has. */
export const COMMON_HEADER = 'X-Content-Type-Options';
/** A browser that has seen this comes back with TLS only, for a year. */
const TRANSPORT_SECURITY = 'Strict-Transport-Security: max-age=31536000; includeSubDomains';

/**
 * Its value, and the others behind it: uWebSockets.js writes a value as it is, and three calls take a
 * tenth of what a small answer costs.
 */
const COMMON_HEADERS = {
  closing: `nosniff\r\n${CONTENT_SECURITY_POLICY}`,
  staying: `nosniff\r\n${CONTENT_SECURITY_POLICY}\r\n${KEEP_ALIVE}`,
} as const;
const COMMON_TLS_HEADERS = {
  closing: `${COMMON_HEADERS.closing}\r\n${TRANSPORT_SECURITY}`,
  staying: `${COMMON_HEADERS.staying}\r\n${TRANSPORT_SECURITY}`,
} as const;

export function commonHeaders(closes: boolean, isTls: boolean): string {
  const headers = isTls ? COMMON_TLS_HEADERS : COMMON_HEADERS;
  return closes ? headers.closing : headers.staying;
}

/** Splits a chunk into pieces that fit one write. None is empty: an empty write would end the body. */
export function* pieces(chunk: string | Uint8Array): Generator<string | Uint8Array> {
  // A character takes three bytes at most.
  const bytesMax = typeof chunk === 'string' ? chunk.length * 3 : chunk.length;
  if (bytesMax === 0) return;
  if (bytesMax <= GATHERED_BYTES_MAX) {
    yield chunk;
    return;
  }
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  for (let at = 0; at < bytes.length; at += GATHERED_BYTES_MAX) yield bytes.subarray(at, at + GATHERED_BYTES_MAX);
}

/** A value may carry what a client sent, such as a query id; it must not begin a header of its own. */
export function withoutControls(value: string): string {
  return /[^\x20-\x7e]/.test(value) ? value.replace(/\p{Cc}+/gu, ' ') : value;
}
