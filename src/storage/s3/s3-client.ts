// The only file that calls the AWS SDK: lists, reads, writes and removes objects of S3.

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import type { FileHandle } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createRequire } from 'node:module';
import { ServiceError } from '../../base/errors.js';
import { onFirstUse } from '../../base/on-first-use.js';
import { checkedLookup } from './checked-lookup.js';
import { type Chunk, chunkOf, digestOf } from './file-chunks.js';
import { pauseBefore, refusalOf, type S3Failure } from './s3-failures.js';
import type { S3ClientSettings, S3Encryption } from './s3-settings.js';

export interface S3Object {
  readonly bucket: string;
  readonly key: string;
}

export interface S3Entry extends S3Object {
  readonly sizeBytes: number;
  /** Infinity where the server does not say: what is old is removed. */
  readonly modifiedMs: number;
}

export interface S3ClientOptions {
  readonly settings: S3ClientSettings;
  /** The addresses that may be connected to for a URL; absent: those that its host has. */
  readonly addressesOf?: (url: URL) => Promise<readonly LookupAddress[]>;
  readonly signal?: AbortSignal;
  /** Encryption by a key of ours, without which objects cannot be read. */
  readonly encryption?: S3Encryption | null;
  /** The error of a failure, whose message tells nothing of what listens where. */
  readonly failed: (name: string, failure: S3Failure, cause: unknown) => Error;
}

/** Writing of an object. */
export interface S3WriteOptions {
  readonly disableAcl: boolean;
  readonly partBytes: number;
  readonly multipartBytes: number;
}

const RANGE_BYTES = 8 << 20;
const ATTEMPTS = 6;
/** Most parts of an upload, which S3 sets. */
const PARTS_MAX = 10_000;
const PARTS_AT_A_TIME = 2;
/** Name of the digest among the metadata of an object that was written here. */
const DIGEST = 'sha256';

export interface S3Head {
  readonly sizeBytes: number;
  readonly tag: string | undefined;
  /** SHA-256 of its bytes, in hexadecimal digits; undefined: whoever wrote it did not say. */
  readonly digest: string | undefined;
}

/** A client of S3. Everything is tried again, with growing pauses, until the answer is one that will not change. */
export class S3Objects {
  readonly #options: S3ClientOptions;
  readonly #sdk = onFirstUse(() => createRequire(import.meta.url)('@aws-sdk/client-s3') as typeof import('@aws-sdk/client-s3'));
  readonly #client;

  constructor(options: S3ClientOptions) {
    this.#options = options;
    this.#client = onFirstUse(() => new (this.#sdk().S3Client)(this.#configuration()));
  }

  #configuration() {
    const { settings, addressesOf } = this.#options;
    const { endpoint, region, pathStyle, crossRegion, credentials, connectionTimeoutMs, socketTimeoutMs, maxConnections } = settings;
    const options = {
      keepAlive: true,
      maxSockets: maxConnections,
      ...(addressesOf === undefined ? {} : { lookup: checkedLookup(endpoint, addressesOf) }),
    };
    return {
      ...(endpoint === null ? {} : { endpoint, region: region ?? 'us-east-1' }),
      ...(region === null ? {} : { region }),
      ...(credentials === null ? {} : { credentials }),
      forcePathStyle: pathStyle,
      followRegionRedirects: crossRegion,
      // Attempts are counted here, over answers and bodies alike.
      maxAttempts: 1,
      requestChecksumCalculation: 'WHEN_REQUIRED' as const,
      responseChecksumValidation: 'WHEN_REQUIRED' as const,
      requestHandler: {
        httpAgent: new HttpAgent(options),
        httpsAgent: new HttpsAgent(options),
        connectionTimeout: connectionTimeoutMs,
        socketTimeout: socketTimeoutMs,
      },
    };
  }

  /** Objects below a prefix, in the order of their keys. */
  async *list(bucket: string, prefix: string): AsyncGenerator<S3Entry> {
    let token: string | undefined;
    do {
      const command = new (this.#sdk().ListObjectsV2Command)({ Bucket: bucket, Prefix: prefix, ContinuationToken: token });
      const asked = token;
      const page = await this.#asked(`s3://${bucket}/${prefix}`, async (options) => {
        const answer = await this.#client().send(command, options);
        const { IsTruncated: isTruncated, NextContinuationToken: next } = answer;
        // A proxy's page, or an error that the SDK has not seen, would be an empty list; part of a list would be the whole of it.
        if (isTruncated === undefined || (isTruncated && (next === undefined || next === asked)))
          throw new Error('the answer is not a list');
        return answer;
      });
      for (const { Key: key, Size: sizeBytes = 0, LastModified: modified } of page.Contents ?? [])
        if (key !== undefined) yield { bucket, key, sizeBytes, modifiedMs: modified?.getTime() ?? Number.POSITIVE_INFINITY };
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async head(object: S3Object): Promise<S3Head> {
    const command = new (this.#sdk().HeadObjectCommand)({ ...this.#named(object), ...this.#ownKey() });
    return this.#asked(nameOf(object), async (options) => {
      const { ContentLength: sizeBytes, ETag: tag, Metadata: metadata } = await this.#client().send(command, options);
      if (sizeBytes === undefined) throw new Error('the answer does not tell the size');
      return { sizeBytes, tag, digest: metadata?.[DIGEST] };
    });
  }

  /** The bytes of an object, or of a part of it. An object that is replaced meanwhile is an error. */
  async *read(object: S3Object, range?: { readonly at: number; readonly bytes: number }): AsyncGenerator<Uint8Array> {
    if (range !== undefined) return yield* this.#readUntil(object, { at: range.at, end: range.at + range.bytes, tag: undefined });
    const { sizeBytes, tag } = await this.head(object);
    yield* this.readWhole(object, { sizeBytes, tag });
  }

  /** The bytes of an object as `head` found it. */
  readWhole(object: S3Object, { sizeBytes, tag }: Pick<S3Head, 'sizeBytes' | 'tag'>): AsyncGenerator<Uint8Array> {
    return this.#readUntil(object, { at: 0, end: sizeBytes, tag });
  }

  /** Bytes by ranges; what breaks off goes on behind the last byte that came. */
  async *#readUntil(object: S3Object, { at: start, end, tag }: { at: number; end: number; tag: string | undefined }) {
    const name = nameOf(object);
    let [at, attempt, known] = [start, 1, tag];
    while (at < end) {
      const until = Math.min(end, at + RANGE_BYTES);
      const before = at;
      try {
        const command = new (this.#sdk().GetObjectCommand)({
          ...this.#named(object),
          ...this.#ownKey(),
          Range: `bytes=${at}-${until - 1}`,
          IfMatch: known,
        });
        const answer = await this.#client().send(command, this.#sendOptions());
        known ??= answer.ETag;
        if (answer.ETag !== known) throw this.#options.failed(name, { kind: 'changed' }, undefined);
        if (!beginsAt(at, until - at, answer)) throw new Error('another range came');
        for await (const chunk of (answer.Body ?? []) as AsyncIterable<Uint8Array>) {
          // A server may send more than it was asked for.
          const wanted = chunk.subarray(0, until - at);
          at += wanted.length;
          if (wanted.length > 0) yield wanted;
          if (wanted.length < chunk.length) break;
        }
        if (at < until) throw new Error('the range is cut off');
      } catch (error) {
        if (at === until) continue;
        attempt = at > before ? 1 : attempt;
        await this.#pause(name, error, attempt++);
      }
    }
  }

  /**
   * Writes a file of the disk, whole or not at all, with the digest of its bytes among its metadata. Each request carries a digest
   * of its own body, which the server is to compare; where its answer does not show that it has these bytes, they are read again.
   */
  async writeFile(object: S3Object, file: FileHandle, options: S3WriteOptions): Promise<void> {
    const { size } = await file.stat();
    const digest = await digestOf(file, size);
    const isOnePart = size <= options.multipartBytes;
    await this.#written(object, digest, async () =>
      isOnePart
        ? this.#put(object, await chunkOf(file, 0, size), digest, options)
        : this.#writeParts(object, { file, size, digest }, options),
    );
  }

  async writeBytes(object: S3Object, bytes: Buffer, options: S3WriteOptions): Promise<void> {
    const digest = createHash('sha256').update(bytes).digest('hex');
    const chunk = { bytes, md5: createHash('md5').update(bytes).digest() };
    await this.#written(object, digest, () => this.#put(object, chunk, digest, options));
  }

  /** Writes until the object has its bytes. @param write  tells whether the server has shown that */
  async #written(object: S3Object, digest: string, write: () => Promise<boolean>): Promise<void> {
    for (let attempt = 1; !(await write()); attempt++) {
      const stored = createHash('sha256');
      for await (const chunk of this.read(object)) stored.update(chunk);
      if (stored.digest('hex') === digest) return;
      await this.#pause(nameOf(object), new Error('other bytes were stored than were sent'), attempt);
    }
  }

  async #put(object: S3Object, { bytes, md5 }: Chunk, digest: string, { disableAcl }: S3WriteOptions): Promise<boolean> {
    const command = new (this.#sdk().PutObjectCommand)({
      ...this.#created(object, digest, disableAcl),
      Body: bytes,
      ContentLength: bytes.length,
      ContentMD5: md5.toString('base64'),
    });
    return showsBytes(md5, await this.#asked(nameOf(object), (options) => this.#client().send(command, options)));
  }

  async #writeParts(
    object: S3Object,
    { file, size, digest }: { readonly file: FileHandle; readonly size: number; readonly digest: string },
    { disableAcl, partBytes }: S3WriteOptions,
  ): Promise<boolean> {
    const { CreateMultipartUploadCommand, UploadPartCommand, CompleteMultipartUploadCommand, AbortMultipartUploadCommand } = this.#sdk();
    const name = nameOf(object);
    const created = await this.#asked(name, (options) =>
      this.#client().send(new CreateMultipartUploadCommand(this.#created(object, digest, disableAcl)), options),
    );
    const upload = { ...this.#named(object), UploadId: created.UploadId };
    const bytesEach = Math.max(partBytes, Math.ceil(size / PARTS_MAX));
    const tags: (string | undefined)[] = Array.from({ length: Math.ceil(size / bytesEach) });
    let next = 0;
    let isShown = true;
    const writeNext = async (): Promise<void> => {
      while (next < tags.length) {
        const at = next++;
        const { bytes, md5 } = await chunkOf(file, at * bytesEach, Math.min(size, (at + 1) * bytesEach));
        const body = { Body: bytes, ContentLength: bytes.length, ContentMD5: md5.toString('base64') };
        const part = { ...upload, ...this.#ownKey(), PartNumber: at + 1, ...body };
        const answer = await this.#asked(name, (options) => this.#client().send(new UploadPartCommand(part), options));
        tags[at] = answer.ETag;
        isShown &&= showsBytes(md5, answer);
      }
    };
    try {
      const written = await Promise.allSettled(Array.from({ length: PARTS_AT_A_TIME }, writeNext));
      for (const each of written) if (each.status === 'rejected') throw each.reason;
      const parts = tags.map((tag, at) => ({ ETag: tag, PartNumber: at + 1 }));
      const command = { ...upload, ...this.#ownKey(), MultipartUpload: { Parts: parts } };
      const complete = (): Promise<void> =>
        this.#asked(name, async (options) => {
          const answer = await this.#client().send(new CompleteMultipartUploadCommand(command), options);
          // An answer of 200 is begun before S3 knows how it ends.
          if (answer.ETag === undefined) throw new Error('the answer does not say that the object is there');
        });
      await complete().catch(async (error: unknown) => {
        // An answer that was lost leaves an upload that S3 no longer knows, and the object.
        const head = await this.head(object).catch(() => undefined);
        if (head?.digest !== digest || head.sizeBytes !== size) throw error;
      });
      return isShown;
    } catch (error) {
      // The parts of an upload that is not ended take room; whoever cannot end it now leaves it to a rule of the bucket.
      await this.#client()
        .send(new AbortMultipartUploadCommand(upload))
        .catch(() => undefined);
      throw error;
    }
  }

  /** Not an error when it is absent. */
  async remove(object: S3Object): Promise<void> {
    const command = new (this.#sdk().DeleteObjectCommand)(this.#named(object));
    await this.#asked(nameOf(object), (options) =>
      this.#client()
        .send(command, options)
        .catch((error: unknown) => {
          if (refusalOf(error)?.kind !== 'absent') throw error;
        }),
    );
  }

  #named({ bucket, key }: S3Object): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: bucket, Key: key };
  }

  #created(object: S3Object, digest: string, disableAcl: boolean) {
    const { encryption } = this.#options;
    return {
      ...this.#named(object),
      Metadata: { [DIGEST]: digest },
      ...(disableAcl ? {} : { ACL: 'bucket-owner-full-control' as const }),
      ...(encryption?.type === 's3' ? { ServerSideEncryption: 'AES256' as const } : {}),
      ...(encryption?.type === 'kms'
        ? { ServerSideEncryption: 'aws:kms' as const, ...(encryption.keyId === null ? {} : { SSEKMSKeyId: encryption.keyId }) }
        : {}),
      ...this.#ownKey(),
    };
  }

  /** Parts of requests about objects that are encrypted by a key of ours. */
  #ownKey(): { readonly SSECustomerAlgorithm?: 'AES256'; readonly SSECustomerKey?: string; readonly SSECustomerKeyMD5?: string } {
    const { encryption } = this.#options;
    if (encryption?.type !== 'custom') return {};
    const md5 = createHash('md5').update(Buffer.from(encryption.base64Key, 'base64')).digest('base64');
    return { SSECustomerAlgorithm: 'AES256', SSECustomerKey: encryption.base64Key, SSECustomerKeyMD5: md5 };
  }

  #sendOptions(): { readonly abortSignal?: AbortSignal } {
    const { signal } = this.#options;
    return signal === undefined ? {} : { abortSignal: signal };
  }

  async #asked<Answer>(name: string, ask: (options: { readonly abortSignal?: AbortSignal }) => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(this.#sendOptions());
      } catch (error) {
        await this.#pause(name, error, attempt);
      }
    }
  }

  /** Waits before another attempt; throws what will not change, or has not in all attempts. */
  async #pause(name: string, error: unknown, attempt: number): Promise<void> {
    const { signal, failed } = this.#options;
    if (signal?.aborted === true) throw failed(name, { kind: 'cancelled' }, error);
    const refusal = refusalOf(error);
    if (refusal !== undefined) throw failed(name, refusal, error);
    if (error instanceof ServiceError) throw error;
    if (attempt >= ATTEMPTS) throw failed(name, { kind: 'unreachable' }, error);
    await pauseBefore(attempt, signal);
  }
}

const nameOf = ({ bucket, key }: S3Object): string => `s3://${bucket}/${key}`;

/** Whether an answer is of bytes from `at`: it says so, or has as many as were asked for, or the whole object was. */
function beginsAt(
  at: number,
  bytes: number,
  answer: { readonly ContentRange?: string | undefined; readonly ContentLength?: number | undefined },
): boolean {
  const [, first] = /^bytes (\d+)-/.exec(answer.ContentRange ?? '') ?? [];
  return first === undefined ? at === 0 || answer.ContentLength === bytes : Number(first) === at;
}

/** Tags of objects and parts are the MD5 of their bytes, unless these are encrypted with keys of which S3 tells no such thing. */
function showsBytes(md5: Buffer, { ETag: tag = '', ServerSideEncryption: by, SSECustomerAlgorithm: own }: WriteAnswer): boolean {
  return (by !== undefined && by !== 'AES256') || own !== undefined || tag.replaceAll('"', '') === md5.toString('hex');
}

interface WriteAnswer {
  readonly ETag?: string | undefined;
  readonly ServerSideEncryption?: string | undefined;
  readonly SSECustomerAlgorithm?: string | undefined;
}
