// The input source `http`.

import { lookup } from 'node:dns/promises';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { networkInterfaces } from 'node:os';
import { Readable } from 'node:stream';
import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { NO_ANSWER, requestBody } from './http-request.js';
import { type Password, parsePassword, passwordText } from './password.js';
import { type InputEntity, inputSourceKind, type SourceLimits } from './source-kind.js';
import { parseSystemFields, systemValues } from './system-fields.js';
import { UrlPolicy } from './url-policy.js';

interface HttpSource {
  readonly uris: readonly string[];
  readonly username: string | null;
  readonly password: Password | null;
  /** Values by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly systemFields: ReturnType<typeof parseSystemFields>;
}

export const HTTP = inputSourceKind<HttpSource>({
  type: 'http',
  parse: parseHttpSource,
  entities: async (source, limits) => httpEntities(source, limits),
  only: (written, uris) => ({ ...written, uris }),
});

/** Silence after which a transfer is given up. */
const SILENCE_MS = 60_000;

function parseHttpSource(fields: ObjectReader): HttpSource {
  fields.accept(['uris', 'httpAuthenticationUsername', 'httpAuthenticationPassword', 'requestHeaders', 'systemFields']);
  const uris = fields.strings('uris');
  if (uris.length === 0) throw fields.invalid('uris', 'expected at least one URI');
  for (const uri of uris) {
    if (!/^https?:\/\//i.test(uri) || !URL.canParse(uri)) throw fields.invalid('uris', `expected http:// or https:// URIs, found "${uri}"`);
    const { username, password } = new URL(uri);
    if (username !== '' || password !== '')
      throw fields.invalid(
        'uris',
        'expected URIs without credentials (httpAuthenticationUsername and httpAuthenticationPassword take them)',
      );
  }
  const username = fields.optionalString('httpAuthenticationUsername') ?? null;
  return {
    uris,
    username,
    password: parsePassword(fields, 'httpAuthenticationPassword'),
    headers: headersOf(fields),
    systemFields: parseSystemFields(fields),
  };
}

/** Names and values as HTTP has them; which ones are allowed is a rule of the cluster. */
function headersOf(fields: ObjectReader): ReadonlyMap<string, string> {
  const written = fields.optionalObject('requestHeaders');
  const headers = new Map<string, string>();
  for (const name of written?.keys() ?? []) {
    const value = written?.string(name) ?? '';
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch (error) {
      throw fields.invalid(
        'requestHeaders',
        `"${name}" is not a header of HTTP: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    headers.set(name.toLowerCase(), value);
  }
  return headers;
}

function httpEntities(source: HttpSource, limits: SourceLimits): readonly InputEntity[] {
  return source.uris.map((uri) => ({
    name: uri,
    sizeBytes: null,
    localFile: null,
    systemFields: systemValues(source.systemFields, { __file_uri: uri, __file_path: new URL(uri).pathname }),
    open: () => download(uri, source, limits),
  }));
}

/** The body, cut off with an error once it is larger than the limit, or when the sender falls silent. */
async function download(
  uri: string,
  { username, password, headers }: HttpSource,
  { http, peers, signal }: SourceLimits,
): Promise<Readable> {
  const forbidden = [...headers.keys()].find((name) => !(http.allowedHeaders ?? []).includes(name));
  if (forbidden !== undefined)
    throw new ServiceError('forbidden', `inputSource.requestHeaders: ${forbidden} is not among svc.ingestion.http.allowedHeaders`);
  const secret = password === null ? '' : passwordText(password, http.passwordVariables ?? []);
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const fail = (error: unknown, ofSilence: string): ServiceError => {
    if (signal.aborted) return new ServiceError('cancelled', 'the task was cancelled', error);
    if (error instanceof ServiceError) return new ServiceError(error.code, `${uri} cannot be read: ${error.message}`, error);
    const reason = silence.signal.aborted ? ofSilence : 'the connection ended before the body did';
    return new ServiceError('input_unreadable', `${uri} cannot be read: ${reason}`, error);
  };
  try {
    const response = await requestBody({
      url: new URL(uri),
      authorization: username === null ? null : `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`,
      policy: new UrlPolicy({ rules: http, peers, resolve: (host) => lookup(host, { all: true }), machineAddresses: machineAddresses() }),
      headers,
      signal: AbortSignal.any([signal, silence.signal]),
    });
    return Readable.from(bounded(response), { objectMode: true });
  } catch (error) {
    clearTimeout(timer);
    throw fail(error, NO_ANSWER);
  }

  async function* bounded(body: Readable): AsyncGenerator<Uint8Array> {
    let received = 0;
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        received += chunk.length;
        if (received > http.maxBytes)
          throw new ServiceError('resource_limit', `the body is larger than svc.ingestion.http.maxBytes (${http.maxBytes} bytes)`);
        yield chunk;
      }
    } catch (error) {
      throw fail(error, `nothing came for ${SILENCE_MS / 1000} s`);
    } finally {
      clearTimeout(timer);
    }
  }
}

export function machineAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}
