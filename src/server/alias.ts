// Serves the paths and headers of Druid's clients (`apiName=druid`).

import { type ByName, createByName } from '../base/names.js';
import type { HttpRequest, HttpResponse } from './http.types.js';

/**
 * The second word of `svc.server.http.apiName`: with `druid`, `/druid/v2/` is `/svc/v2/`, `/druid-ext/...` is
 * `/svc-ext/...`, and `X-Svc-*` headers come and go as `X-Druid-*` too.
 */
export interface Alias {
  /** The path under `/svc`, and whether it came in under the alias. Segments stay percent-encoded. */
  path(rawPath: string): { readonly path: string; readonly viaAlias: boolean };
  /** Adds the `x-svc-` twin of every `x-<alias>-` header that has none. */
  requestHeaders(headers: ByName<string>): void;
  responseHeaders(headers: NonNullable<HttpResponse['headers']>): NonNullable<HttpResponse['headers']>;
}

const NO_ALIAS: Alias = {
  path: (path) => ({ path, viaAlias: false }),
  requestHeaders: () => {},
  responseHeaders: (headers) => headers,
};

export function createAlias(apiName: string): Alias {
  if (apiName === 'svc') return NO_ALIAS;
  const requestPrefix = `x-${apiName}-`;
  const responsePrefix = `X-${apiName[0]?.toUpperCase()}${apiName.slice(1)}-`;
  return {
    path(path) {
      const after = path[apiName.length + 1];
      const viaAlias = path.startsWith(apiName, 1) && (after === undefined || after === '/' || after === '-');
      return viaAlias ? { path: `/svc${path.slice(apiName.length + 1)}`, viaAlias } : { path, viaAlias };
    },
    requestHeaders(headers) {
      for (const [name, value] of Object.entries(headers)) {
        if (name.startsWith(requestPrefix)) headers[`x-svc-${name.slice(requestPrefix.length)}`] ??= value;
      }
    },
    responseHeaders(headers) {
      const mirrored: ByName<string> = Object.assign(createByName<string>(), headers);
      for (const [name, value] of Object.entries(headers)) {
        if (/^x-svc-/i.test(name)) mirrored[`${responsePrefix}${name.slice('x-svc-'.length)}`] = value;
      }
      return mirrored;
    },
  };
}

/** The path a request was sent to, without query; percent-encoded as sent. */
export function rawPathOf(request: HttpRequest): string {
  const at = request.rawUrl.indexOf('?');
  return at < 0 ? request.rawUrl : request.rawUrl.slice(0, at);
}
