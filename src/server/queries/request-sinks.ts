// Places that requests are logged to, by `svc.request.logging.*`: files, the log of the process, and those made of others.

import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { parseJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { Log } from '../../base/log.js';
import { LogFile } from '../../base/log-file.js';
import { formatWithPattern, parseWithPattern } from '../../base/time-pattern.js';
import type { Configuration } from '../../configuration/configuration.js';
import { fieldsOf, figuresOf, type LoggedRequest, RequestLog, type RequestOutcome, type RequestSink } from './request-log.js';

export interface RequestFileSettings {
  readonly directory: string;
  /** Name of a file, as a pattern of the time: lines go to the file of their time. */
  readonly filePattern: string;
  /** Files of times before this long ago are removed; null: none. */
  readonly retainMs: number | null;
}

/** Files of lines of fields parted by tabs. A query is logged once its answer has ended, in the file of that time. */
export class RequestFiles implements RequestSink {
  readonly #settings: RequestFileSettings;
  readonly #now: () => EpochMs;
  readonly #nameAt: (ms: EpochMs) => string;
  readonly #timeOf: (name: string) => EpochMs | undefined;
  #name = '';
  #file: LogFile | undefined;

  /** @throws ServiceError `input_invalid` for a pattern that cannot be read, or that names no file of the directory */
  constructor(settings: RequestFileSettings, now: () => EpochMs) {
    this.#settings = settings;
    this.#now = now;
    this.#nameAt = formatWithPattern(settings.filePattern);
    this.#timeOf = parseWithPattern(settings.filePattern);
    const name = this.#nameAt(now());
    if (name === '' || name !== basename(name) || name.startsWith('.'))
      throw new ServiceError('input_invalid', `svc.request.logging.filePattern: gives '${name}', expected the name of a file`);
  }

  write(request: LoggedRequest, outcome: RequestOutcome): void {
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

export interface RequestThresholds {
  /** Queries below are left out, and so is what was refused: it took no time. */
  readonly nativeMsMin: number;
  readonly sqlMsMin: number;
  /** Types of native queries that are left out. */
  readonly mutedTypes: readonly string[];
}

/** Leaves out short queries and types of them. */
export function filtered({ nativeMsMin, sqlMsMin, mutedTypes }: RequestThresholds, sink: RequestSink): RequestSink {
  return {
    write(request, outcome) {
      const { queryType, milliseconds } = outcome;
      if (milliseconds >= ('native' in request ? nativeMsMin : sqlMsMin) && !mutedTypes.includes(queryType)) sink.write(request, outcome);
    },
    close: () => sink.close(),
  };
}

/** Writes to all of them. */
export function composed(sinks: readonly RequestSink[]): RequestSink {
  return {
    write: (request, outcome) => sinks.forEach((sink) => sink.write(request, outcome)),
    close: () => sinks.forEach((sink) => sink.close()),
  };
}

/** Native queries to one, statements to another. */
export function switching(native: RequestSink, sql: RequestSink): RequestSink {
  return {
    write: (request, outcome) => ('native' in request ? native : sql).write(request, outcome),
    close: () => [native, sql].forEach((sink) => sink.close()),
  };
}

/** Lines of the log of the process, at the level `info`. */
export function toProcessLog(log: Pick<Log, 'info'>): RequestSink {
  return {
    write(request, outcome) {
      const [time = '', remoteAddress = '', native = '', , sql = ''] = fieldsOf(request, outcome);
      log.info('request', { requestTime: time, remoteAddress, ...(native === '' ? { sql } : { native }), ...figuresOf(request, outcome) });
    },
    close: () => undefined,
  };
}

const NOWHERE: RequestSink = { write: () => undefined, close: () => undefined };

const TYPES = ['noop', 'file', 'slf4j', 'filtered', 'composing', 'switching'] as const;
const DOCUMENTED = ['emitter'];
const BASE = 'svc.request.logging';

/**
 * The log of requests; undefined when there is none.
 * @throws ServiceError `input_invalid` or `unsupported` naming the property
 */
export function openRequestLog(configuration: Configuration, log: Log, now: () => EpochMs): RequestLog | undefined {
  const type = configuration.get('svc.request.logging.type');
  const delegate = configuration.get('svc.request.logging.delegate.type');
  if (type === 'noop' || (type === 'filtered' && delegate === 'noop')) return undefined;
  const defaults: RequestFileSettings = {
    directory: configuration.get('svc.request.logging.dir'),
    filePattern: configuration.get('svc.request.logging.filePattern'),
    retainMs: configuration.get('svc.request.logging.durationToRetain'),
  };
  const open = (fields: ObjectReader): RequestSink => sinkOf(fields, { defaults, log, now });
  const single = (name: 'slf4j' | 'file'): RequestSink => (name === 'file' ? new RequestFiles(defaults, now) : toProcessLog(log));
  const named = (name: 'nativeQueryLogger' | 'sqlQueryLogger'): RequestSink => {
    const at = `${BASE}.${name}` as const;
    return open(new ObjectReader(readProperty(at, configuration.get(at)), at, context()));
  };
  switch (type) {
    case 'file':
    case 'slf4j':
      return new RequestLog(single(type), now);
    case 'filtered': {
      const thresholds = {
        nativeMsMin: configuration.get('svc.request.logging.queryTimeThresholdMs'),
        sqlMsMin: configuration.get('svc.request.logging.sqlQueryTimeThresholdMs'),
        mutedTypes: configuration.get('svc.request.logging.mutedQueryTypes'),
      };
      return new RequestLog(filtered(thresholds, single(delegate === 'slf4j' ? 'slf4j' : 'file')), now);
    }
    case 'composing': {
      const at = `${BASE}.loggerProviders` as const;
      const fields = new ObjectReader({ loggerProviders: readProperty(at, configuration.get(at)) }, BASE, context());
      return new RequestLog(composed(fields.objects('loggerProviders').map(open)), now);
    }
    case 'switching':
      return new RequestLog(switching(named('nativeQueryLogger'), named('sqlQueryLogger')), now);
  }
}

function context(): ReturnType<typeof readContextOf> {
  return readContextOf('input_invalid', BASE);
}

interface SinkSurroundings {
  /** Settings of files that name none of their own. */
  readonly defaults: RequestFileSettings;
  readonly log: Log;
  readonly now: () => EpochMs;
}

/** Depth of loggers inside of loggers is bounded by that of the JSON which is read. */
function sinkOf(fields: ObjectReader, { defaults, log, now }: SinkSurroundings): RequestSink {
  const type = fields.type(TYPES, { documented: DOCUMENTED });
  const inner = (each: ObjectReader): RequestSink => sinkOf(each, { defaults, log, now });
  switch (type) {
    case 'noop':
      fields.accept([]);
      return NOWHERE;
    case 'slf4j':
      fields.accept([]);
      return toProcessLog(log);
    case 'file':
      fields.accept(['dir', 'filePattern']);
      return new RequestFiles(
        {
          directory: fields.optionalString('dir') ?? defaults.directory,
          filePattern: fields.optionalString('filePattern') ?? defaults.filePattern,
          retainMs: defaults.retainMs,
        },
        now,
      );
    case 'filtered':
      fields.accept(['queryTimeThresholdMs', 'sqlQueryTimeThresholdMs', 'mutedQueryTypes', 'delegate']);
      return filtered(
        {
          nativeMsMin: fields.optionalInteger('queryTimeThresholdMs', 0) ?? 0,
          sqlMsMin: fields.optionalInteger('sqlQueryTimeThresholdMs', 0) ?? 0,
          mutedTypes: fields.has('mutedQueryTypes') ? fields.strings('mutedQueryTypes') : [],
        },
        inner(fields.object('delegate')),
      );
    case 'composing':
      fields.accept(['loggerProviders']);
      return composed(fields.objects('loggerProviders').map(inner));
    case 'switching':
      fields.accept(['nativeQueryLogger', 'sqlQueryLogger']);
      return switching(inner(fields.object('nativeQueryLogger')), inner(fields.object('sqlQueryLogger')));
  }
}

function readProperty(name: string, written: string): unknown {
  try {
    return parseJson(written);
  } catch {
    throw new ServiceError('input_invalid', `${name}: found '${written.slice(0, 100)}', expected JSON such as {"type":"file"}`);
  }
}
