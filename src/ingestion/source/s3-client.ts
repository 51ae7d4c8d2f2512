// The only file that calls the AWS SDK: lists and reads objects of S3.

import { Buffer } from 'node:buffer';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createRequire } from 'node:module';
import type { LookupFunction } from 'node:net';
import { ServiceError } from '../../base/errors.js';
import type { UrlPolicy } from './url-policy.js';

export interface S3Object {
  readonly bucket: string;
  readonly key: string;
}

/** Settings of a client. */
export interface S3Access {
  /** null: that of AWS. */
  readonly endpoint: URL | null;
  readonly region: string | null;
  readonly pathStyle: boolean;
  readonly crossRegion: boolean;
  /** null: the SDK looks for them where it does. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string } | null;
  readonly connectionTimeoutMs: number;
  readonly socketTimeoutMs: number;
  readonly maxConnections: number;
  readonly policy: Pick<UrlPolicy, 'addressesOf'>;
  readonly signal: AbortSignal;
}

const RANGE_BYTES = 8 << 20;
const ATTEMPTS = 4;
const PAUSE_MS = 200;

/** Lists and reads objects; errors name them, and never tell what listens where. */
export class S3Reader {
  readonly #access: S3Access;
  readonly #sdk = createRequire(import.meta.url)('@aws-sdk/client-s3') as typeof import('@aws-sdk/client-s3');
  readonly #client;

  constructor(access: S3Access) {
    this.#access = access;
    const { endpoint, region, pathStyle, crossRegion, credentials, connectionTimeoutMs, socketTimeoutMs, maxConnections } = access;
    const lookup: LookupFunction = (host, options, callback) => {
      const url = new URL(endpoint?.href ?? 'https://localhost/');
      url.hostname = host;
      access.policy.addressesOf(url).then(
        (addresses) => {
          const [first] = addresses;
          if (options.all === true) callback(null, [...addresses]);
          else callback(null, first?.address ?? '', first?.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, ''),
      );
    };
    const options = { keepAlive: true, maxSockets: maxConnections, lookup };
    this.#client = new this.#sdk.S3Client({
      ...(endpoint === null ? {} : { endpoint: endpoint.href, region: region ?? 'us-east-1' }),
      ...(region === null ? {} : { region }),
      ...(credentials === null ? {} : { credentials }),
      forcePathStyle: pathStyle,
      followRegionRedirects: crossRegion,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        httpAgent: new HttpAgent(options),
        httpsAgent: new HttpsAgent(options),
        connectionTimeout: connectionTimeoutMs,
        requestTimeout: socketTimeoutMs,
      },
    });
  }

  /** Objects below a prefix with their sizes, in the order of their keys. */
  async *list(bucket: string, prefix: string): AsyncGenerator<S3Object & { readonly sizeBytes: number }> {
    let token: string | undefined;
    do {
      const command = new this.#sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token });
      const page = await this.#asked(`s3://${bucket}/${prefix}`, () => this.#client.send(command, { abortSignal: this.#access.signal }));
      for (const { Key: key, Size: sizeBytes = 0 } of page.Contents ?? []) if (key !== undefined) yield { bucket, key, sizeBytes };
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  /** The bytes of an object by ranges, each asked for again when it breaks off. An object that is replaced meanwhile is an error. */
  async *read({ bucket, key }: S3Object): AsyncGenerator<Uint8Array> {
    const name = `s3://${bucket}/${key}`;
    const { HeadObjectCommand, GetObjectCommand } = this.#sdk;
    const options = { abortSignal: this.#access.signal };
    const head = await this.#asked(name, () => this.#client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), options));
    const size = head.ContentLength ?? 0;
    for (let start = 0; start < size; start += RANGE_BYTES) {
      const end = Math.min(size, start + RANGE_BYTES);
      const command = { Bucket: bucket, Key: key, Range: `bytes=${start}-${end - 1}`, IfMatch: head.ETag };
      yield await this.#asked(name, async () => {
        const { Body: body, ETag: tag } = await this.#client.send(new GetObjectCommand(command), options);
        const bytes = Buffer.from((await body?.transformToByteArray()) ?? []);
        if (tag !== head.ETag) throw new ServiceError('input_unreadable', `${name} was changed while it was read`);
        if (bytes.length !== end - start) throw new Error('the range is cut off');
        return bytes;
      });
    }
  }

  /** Asks, and again after what may pass: the SDK does so for answers, not for bodies that break off. */
  async #asked<Answer>(name: string, ask: () => Promise<Answer>): Promise<Answer> {
    const { signal } = this.#access;
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask();
      } catch (error) {
        if (signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled', error);
        if (error instanceof ServiceError) throw error;
        const refused = refusal(name, error);
        if (refused !== undefined) throw refused;
        if (attempt >= ATTEMPTS)
          throw new ServiceError('input_unreadable', `${name} cannot be read: there is no answer of S3, or it breaks off`, error);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** attempt));
      }
    }
  }
}

/** The error of an answer of S3 that will not change; undefined for what may pass, and for what is not an answer. */
function refusal(name: string, error: unknown): ServiceError | undefined {
  if (!(error instanceof Error)) return undefined;
  const status = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode;
  const reason =
    status === 412
      ? 'was changed while it was read'
      : status === 404
        ? 'does not exist'
        : status === 403
          ? 'cannot be read: S3 refuses these credentials'
          : status !== undefined && status >= 300 && status < 500
            ? `cannot be read: S3 answers ${status} (${error.name})`
            : /credential|region is missing/i.test(`${error.name} ${error.message}`)
              ? 'cannot be read: there are no credentials or no region for S3'
              : undefined;
  return reason === undefined ? undefined : new ServiceError('input_unreadable', `${name} ${reason}`, error);
}
