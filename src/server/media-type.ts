// Checks the media type of request bodies.

import { ServiceError } from '../base/errors.js';

/** Media types of JSON that queries may come as. */
export const JSON_TYPES = ['application/json', 'text/json'] as const;

/**
 * The media type of a body, which must be told: a page of another site can send one that has none without asking first.
 * @param alternatives  other types that the route takes, each with its meaning, for the message
 * @throws ServiceError `content_type_unsupported`
 */
export function readMediaType(contentType: string | undefined, accepted: readonly string[], alternatives = ''): string {
  const found = contentType?.split(';')[0]?.trim().toLowerCase();
  if (found !== undefined && accepted.includes(found)) return found;
  const [json = ''] = accepted;
  throw new ServiceError('content_type_unsupported', `Content-Type: found ${found || 'none'}, expected ${json}${alternatives}`);
}
