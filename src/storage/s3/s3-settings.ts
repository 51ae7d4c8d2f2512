// Settings of S3: where it is, who asks, how objects are written.

/** Settings of a client, plain data: they go to the processes of tasks. */
export interface S3ClientSettings {
  /** URL; null: that of AWS. */
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly pathStyle: boolean;
  readonly crossRegion: boolean;
  /** null: the SDK looks for them where it does. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string } | null;
  readonly connectionTimeoutMs: number;
  /** Time without a byte after which a connection counts as broken. */
  readonly socketTimeoutMs: number;
  readonly maxConnections: number;
}

/** Encryption by the server; null: as the bucket says. */
export type S3Encryption =
  | { readonly type: 's3' }
  /** null: the key that the account has for S3. */
  | { readonly type: 'kms'; readonly keyId: string | null }
  | { readonly type: 'custom'; readonly base64Key: string };

/** A folder of a bucket, and how objects are written there; plain data. */
export interface S3Place {
  readonly bucket: string;
  /** Folder without slashes around it; empty: the bucket itself. */
  readonly prefix: string;
  readonly client: S3ClientSettings;
  readonly encryption: S3Encryption | null;
  /** Whether objects name no ACL; otherwise the owner of the bucket gets full control. */
  readonly disableAcl: boolean;
  readonly partBytes: number;
  /** Files above it are uploaded in parts. */
  readonly multipartBytes: number;
}

/** The URL of an endpoint that may be written without its protocol; undefined for what is not one. */
export function endpointUrl(written: string, protocol: string): string | undefined {
  const url = /^https?:\/\//.test(written) ? written : `${protocol}://${written}`;
  return URL.canParse(url) ? new URL(url).href : undefined;
}
