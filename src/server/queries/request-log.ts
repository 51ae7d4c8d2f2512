// The request log: a line for every query, with its text, its user and how it went.

import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { LogFile } from '../../base/log-file.js';
import { formatInstant } from '../../base/time.js';
import { formatWithPattern, parseWithPattern } from '../../base/time-pattern.js';
import { textWithoutSecrets } from '../../ingestion/source/secrets.js';

/** `svc.request.logging.*`. */
export interface RequestLogSettings {
  readonly directory: string;
  /** Name of a file, as a pattern of the time: lines go to the file of their time. */
  readonly filePattern: string;
  /** Files of times before this long ago are removed; null: none. */
  readonly retainMs: number | null;
  /** Queries below are left out. */
  readonly nativeMsMin: number;
  readonly sqlMsMin: number;
  /** Types of native queries that are left out. */
  readonly mutedTypes: readonly string[];
}

/** A query as it was sent: the body of a native one, or a statement. */
export type LoggedRequest = { readonly remoteAddress: string } & (
  | { readonly native: Buffer }
  | { readonly sql: string; readonly context: Readonly<Record<string, unknown>>; readonly parameters: readonly unknown[] }
);

export interface RequestOutcome {
  readonly startedAt: EpochMs;
  /** A native query's type, or `sql`. */
  readonly queryType: string;
  readonly milliseconds: number;
  readonly planningMs: number;
  readonly bytes: number;
  readonly success: boolean;
  readonly user: string;
}

/**
 * Lines of fields parted by tabs: time, address, native query, figures, statement; one of the two queries is empty. A query is logged once its
 * answer has ended, in the file of that time.
 */
export class RequestLog {
  readonly #settings: RequestLogSettings;
  readonly #now: () => EpochMs;
  readonly #nameAt: (ms: EpochMs) => string;
  readonly #timeOf: (name: string) => EpochMs | undefined;
  #name = '';
  #file: LogFile | undefined;

  /** @throws ServiceError `input_invalid` for a pattern that cannot be read, or that names no file of the directory */
  constructor(settings: RequestLogSettings, now: () => EpochMs) {
    this.#settings = settings;
    this.#now = now;
    this.#nameAt = formatWithPattern(settings.filePattern);
    this.#timeOf = parseWithPattern(settings.filePattern);
    const name = this.#nameAt(now());
    if (name === '' || name !== basename(name) || name.startsWith('.'))
      throw new ServiceError('input_invalid', `svc.request.logging.filePattern: gives '${name}', expected the name of a file`);
  }

  write(request: LoggedRequest, outcome: RequestOutcome): void {
    const { nativeMsMin, sqlMsMin, mutedTypes } = this.#settings;
    const { queryType, milliseconds } = outcome;
    if (milliseconds < ('native' in request ? nativeMsMin : sqlMsMin) || mutedTypes.includes(queryType)) return;
    this.#fileNow().write(`${fieldsOf(request, outcome).join('\t')}\n`);
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#name = '';
  }

  #fileNow(): LogFile {
    const name = this.#nameAt(this.#now());
    if (this.#file !== undefined && name === this.#name) return this.#file;
    this.close();
    this.#removeOld();
    this.#name = name;
    this.#file = new LogFile({ file: join(this.#settings.directory, name), maxBytes: Number.MAX_SAFE_INTEGER, maxFiles: 1 });
    return this.#file;
  }

  /** Other files of the directory are left alone. */
  #removeOld(): void {
    const { directory, retainMs } = this.#settings;
    if (retainMs === null) return;
    for (const name of namesIn(directory)) {
      const time = this.#timeOf(name);
      if (time !== undefined && time < this.#now() - retainMs) rmSync(join(directory, name), { force: true });
    }
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // It is made with the first file.
    return [];
  }
}

function fieldsOf(request: LoggedRequest, outcome: RequestOutcome): readonly string[] {
  const { startedAt, milliseconds, planningMs, bytes, success, user } = outcome;
  const [time, planning] = [Math.round(milliseconds), Math.round(planningMs)];
  const first = [formatInstant(startedAt), request.remoteAddress];
  if ('native' in request) {
    const figures = { 'query/time': time, 'query/bytes': bytes, success, identity: user };
    return [...first, stringifyJson(parseJson(request.native.toString('utf8'))), stringifyJson(figures), ''];
  }
  const { sql, context, parameters } = request;
  const figures = { 'sqlQuery/time': time, 'sqlQuery/planningTimeMs': planning, 'sqlQuery/bytes': bytes, success, identity: user };
  const statement = { query: textWithoutSecrets(sql), context, ...(parameters.length === 0 ? {} : { parameters }) };
  return [...first, '', stringifyJson(figures), stringifyJson(statement)];
}
