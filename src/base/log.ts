// The log of a process: JSON lines appended to a file.

import { pino } from 'pino';
import { LogFile, type LogFileOptions } from './log-file.js';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** Facts beside the sentence. No credentials, no rows of data. An `Error` under `error` is written with its stack and causes. */
type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose lines all carry these fields. */
  with(fields: LogFields): Log;
}

/** One JSON object a line, appended to `file`; its folder is made when absent. A line that cannot be written harms nobody. */
export function openLog(options: LogFileOptions & { readonly level: LogLevel }): Log {
  const writer = pino(
    { level: options.level, base: { pid: process.pid }, timestamp: () => `,"time":"${new Date().toISOString()}"`, errorKey: 'error' },
    new LogFile(options),
  );
  return around(writer);
}

/** The part of a pino logger that is used here. */
type Writer = { readonly [Level in 'debug' | 'info' | 'warn' | 'error']: (fields: object, message: string) => void } & {
  child(fields: LogFields): Writer;
};

function around(writer: Writer): Log {
  return {
    debug: (message, fields) => writer.debug(fields ?? {}, message),
    info: (message, fields) => writer.info(fields ?? {}, message),
    warn: (message, fields) => writer.warn(fields ?? {}, message),
    error: (message, fields) => writer.error(fields ?? {}, message),
    with: (fields) => around(writer.child(fields)),
  };
}

/** A log that writes nothing, for tests and for code that was given no log. */
export const SILENT_LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore, with: () => SILENT_LOG };

function ignore(): void {}
