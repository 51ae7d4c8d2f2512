// Reads a URL with the limits and checks of `http` input sources.

import type { LookupAddress } from 'node:dns';
import { type IncomingMessage, request as requestHttp, STATUS_CODES } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { ServiceError } from '../../base/errors.js';
import type { UrlPolicy } from './url-policy.js';

export interface HttpRead {
  readonly url: URL;
  /** Value of the `Authorization` header; sent to the origin of `url` only. */
  readonly authorization: string | null;
  /** Further headers by name in lower case, likewise; they come before others. */
  readonly headers?: ReadonlyMap<string, string>;
  readonly policy: Pick<UrlPolicy, 'addressesOf'>;
  readonly signal: AbortSignal;
}

const REDIRECTS_MAX = 10;
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);
/** Encodings that the first bytes of a body tell. */
const SELF_EVIDENT_ENCODINGS = ['', 'identity', 'gzip', 'x-gzip', 'zstd'];

/**
 * The response with the body of a URL, after redirects; the policy is asked anew for each.
 * @throws ServiceError `forbidden` by the policy, `input_unreadable` for an answer that is not a body; whatever the
 *   signal was aborted for. A host that is not there, a closed port and a server that does not speak HTTP fail alike,
 *   so that a load does not tell what listens where.
 */
export async function requestBody({
  url,
  authorization,
  headers: further = new Map(),
  policy,
  signal,
}: HttpRead): Promise<IncomingMessage> {
  let next = url;
  let credentials: ReadonlyMap<string, string> = new Map([
    ...(authorization === null ? [] : [['authorization', authorization] as const]),
    ...further,
  ]);
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const response = await send(next, credentials, policy, signal);
    const { statusCode = 0, headers } = response;
    if (statusCode >= 200 && statusCode < 300) return withReadableEncoding(response);
    response.destroy();
    if (!REDIRECTS.has(statusCode) || headers.location === undefined)
      throw new ServiceError('input_unreadable', `the server answers ${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd());
    const target = redirectTarget(headers.location, next);
    if (target.origin !== next.origin) credentials = new Map();
    next = target;
  }
  throw new ServiceError('input_unreadable', `the server redirects more than ${REDIRECTS_MAX} times`);
}

async function send(
  url: URL,
  credentials: ReadonlyMap<string, string>,
  policy: HttpRead['policy'],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  try {
    const addresses = await unlessAborted(policy.addressesOf(url), signal);
    return await connect(url, addresses, credentials, signal);
  } catch (error) {
    if (error instanceof ServiceError || signal.aborted) throw error;
    throw new ServiceError('input_unreadable', isAboutCertificate(error) ? 'its certificate is not trusted' : NO_ANSWER, error);
  }
}

/** Said of everything that comes before an HTTP answer. */
export const NO_ANSWER = 'there is no HTTP answer';

/** Connects to one of `addresses`, whatever the name of the host resolves to by now. */
function connect(
  url: URL,
  addresses: readonly LookupAddress[],
  credentials: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const lookup: LookupFunction = (_host, options, callback) => {
    const [first] = addresses;
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
  const headers = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'dolmen',
    ...Object.fromEntries(credentials),
  };
  const options = { agent: false, headers, lookup, signal };
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
    request
      .on('response', resolve)
      .on('error', reject)
      // An answer that changes the protocol ends without another event.
      .on('close', () => reject(new Error('closed')))
      .end();
  });
}

function redirectTarget(location: string, from: URL): URL {
  const target = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (target === undefined || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '')
    throw new ServiceError('input_unreadable', 'the server redirects to a URL that is not http or https, or has credentials');
  return target;
}

function withReadableEncoding(response: IncomingMessage): IncomingMessage {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (SELF_EVIDENT_ENCODINGS.includes(encoding)) return response;
  response.destroy();
  throw new ServiceError('input_unreadable', `the server sends Content-Encoding ${encoding}, expected identity, gzip or zstd`);
}

/** Whether the error is about a certificate, by the codes of OpenSSL and Node.js; the server's operator must mend it. */
function isAboutCertificate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /CERT|SIGNATURE/.test(String(error.code));
}

function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
