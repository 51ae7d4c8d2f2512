import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { type InputEntity, inputSourceKind, type SourceLimits } from './source-kind.js';

interface HttpSource {
  readonly uris: readonly string[];
  readonly username: string | null;
  readonly password: string | null;
}

export const HTTP = inputSourceKind<HttpSource>({
  type: 'http',
  parse: parseHttpSource,
  entities: async (source, limits) => httpEntities(source, limits),
});

/** Nothing may come for so long before a transfer is given up. */
const SILENCE_MS = 60_000;

function parseHttpSource(fields: ObjectReader): HttpSource {
  fields.accept(['uris', 'httpAuthenticationUsername', 'httpAuthenticationPassword', 'requestHeaders']);
  if (fields.has('requestHeaders')) throw fields.unsupported('requestHeaders');
  const uris = fields.strings('uris');
  if (uris.length === 0) throw fields.invalid('uris', 'expected at least one URI');
  for (const uri of uris) {
    if (!/^https?:\/\//i.test(uri) || !URL.canParse(uri)) throw fields.invalid('uris', `expected http:// or https:// URIs, found "${uri}"`);
  }
  const password = fields.raw('httpAuthenticationPassword');
  const text =
    typeof password === 'object' && password !== null
      ? passwordOf(fields.object('httpAuthenticationPassword'))
      : (fields.optionalString('httpAuthenticationPassword') ?? null);
  return { uris, username: fields.optionalString('httpAuthenticationUsername') ?? null, password: text };
}

function httpEntities(source: HttpSource, limits: SourceLimits): readonly InputEntity[] {
  return source.uris.map((uri) => ({ name: uri, sizeBytes: null, localFile: null, open: () => download(uri, source, limits) }));
}

/** The body, cut off with an error once it is larger than the limit, or when the sender falls silent. */
async function download(uri: string, source: HttpSource, limits: SourceLimits): Promise<Readable> {
  const headers: Record<string, string> = { accept: '*/*' };
  if (source.username !== null)
    headers['authorization'] = `Basic ${Buffer.from(`${source.username}:${source.password ?? ''}`).toString('base64')}`;
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const fail = (error: unknown): ServiceError => {
    if (error instanceof ServiceError) return error;
    if (limits.signal.aborted) return new ServiceError('cancelled', 'the task was cancelled', error);
    const reason = silence.signal.aborted ? `nothing came for ${SILENCE_MS / 1000} s` : reasonOf(error);
    return new ServiceError('input_unreadable', `${uri} cannot be read: ${reason}`, error);
  };
  try {
    const response = await fetch(uri, { headers, signal: AbortSignal.any([limits.signal, silence.signal]), redirect: 'follow' });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new ServiceError('input_unreadable', `${uri} cannot be read: the server answers ${response.status} ${response.statusText}`);
    }
    const body = Readable.fromWeb(response.body as ReadableStream);
    return Readable.from(bounded(body), { objectMode: true });
  } catch (error) {
    clearTimeout(timer);
    throw fail(error);
  }

  async function* bounded(body: Readable): AsyncGenerator<Uint8Array> {
    let received = 0;
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        received += chunk.length;
        if (received > limits.maxHttpBytes)
          throw new ServiceError('resource_limit', `${uri} is larger than svc.ingestion.http.maxBytes (${limits.maxHttpBytes} bytes)`);
        yield chunk;
      }
    } catch (error) {
      throw fail(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** The password of `{type: "default", password}`; other providers would read the environment of the server. */
function passwordOf(provider: ObjectReader): string {
  provider.type(['default'], { documented: ['environment'] });
  provider.accept(['password']);
  return provider.string('password');
}
