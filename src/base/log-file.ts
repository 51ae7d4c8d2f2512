// The log file: appends lines, and puts the file aside when it has grown to its limit.

import { closeSync, fstatSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface LogFileOptions {
  readonly file: string;
  /** The file is put aside before it grows beyond. */
  readonly maxBytes: number;
  /** Files that are kept, the one being written among them. */
  readonly maxFiles: number;
}

/** Lines may hold what was asked: other users of the machine read nothing of them. */
const MODE = 0o640;

/**
 * A file of lines that never ends the process and never grows without bound. Full, it becomes `<file>.1`, that one
 * `<file>.2`, and the oldest goes. A line that cannot be written is lost; once lines can be written again, one tells how
 * many were. Several processes may write to one file.
 */
export class LogFile {
  readonly #options: LogFileOptions;
  #descriptor: number | undefined;
  #bytes = 0;
  #lost = 0;
  #reason = '';

  constructor(options: LogFileOptions) {
    this.#options = options;
    this.#try(() => this.#open());
  }

  /** @param line  ends with a line break */
  write(line: string): void {
    const bytes = Buffer.from(line);
    const isWritten = this.#try(() => {
      if (this.#descriptor === undefined) this.#open();
      if (this.#bytes + bytes.length > this.#options.maxBytes) this.#rotate();
      this.#tellOfLost();
      this.#append(bytes);
    });
    if (!isWritten) this.#lost++;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #try(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.#reason = error instanceof Error ? error.message : String(error);
      return false;
    }
  }

  #open(): void {
    const { file } = this.#options;
    mkdirSync(dirname(file), { recursive: true });
    this.#descriptor = openSync(file, 'a', MODE);
    this.#bytes = fstatSync(this.#descriptor).size;
  }

  /** Another process may have put the file aside, or written to it. */
  #rotate(): void {
    const { file, maxBytes, maxFiles } = this.#options;
    const isOurs = this.#descriptor !== undefined && inodeOf(file) === fstatSync(this.#descriptor).ino;
    if (isOurs && this.#bytes > 0) {
      for (let number = maxFiles - 1; number > 0; number--) {
        const from = number === 1 ? file : `${file}.${number - 1}`;
        this.#try(() => renameSync(from, `${file}.${number}`));
      }
    }
    this.close();
    this.#open();
    // One file only: its lines give way to the new ones.
    if (this.#bytes >= maxBytes || maxFiles === 1) this.#empty();
  }

  #empty(): void {
    this.close();
    this.#descriptor = openSync(this.#options.file, 'w');
    this.close();
    this.#open();
  }

  #tellOfLost(): void {
    if (this.#lost === 0) return;
    const message = `${this.#lost} lines of this log could not be written: ${this.#reason}`;
    // A line that was cut off by a full disk ends here.
    this.#append(Buffer.from(`\n${JSON.stringify({ level: 50, pid: process.pid, time: new Date().toISOString(), msg: message })}\n`));
    this.#lost = 0;
  }

  #append(bytes: Buffer): void {
    if (this.#descriptor === undefined) return;
    for (let at = 0; at < bytes.length; ) {
      const count = writeSync(this.#descriptor, bytes, at);
      at += count;
      this.#bytes += count;
    }
  }
}

function inodeOf(file: string): number | undefined {
  try {
    return statSync(file).ino;
  } catch {
    return undefined; // removed by a person: the next line makes it again
  }
}
