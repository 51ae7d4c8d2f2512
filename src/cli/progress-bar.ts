// Progress bar of a task in the terminal.

import { Presets, SingleBar } from 'cli-progress';
import { countText, style, withThousands } from './style.js';

export interface ProgressState {
  readonly phase: string;
  /** 0 to 1; null while the total is unknown. */
  readonly fraction: number | null;
  readonly rows: number;
  /** Rows a second and the time that is left, in words; may be empty. */
  readonly pace: string;
}

export interface ProgressView {
  update(state: ProgressState): void;
  /** Takes the bar away. */
  stop(): void;
}

/** A bar on a terminal; elsewhere one line for each phase. Always on standard error. */
export function showProgress(title: string): ProgressView {
  return process.stderr.isTTY ? bar(title) : lines(title);
}

function bar(title: string): ProgressView {
  const single = new SingleBar(
    {
      format: `${title} ${style.accent('{bar}')} {percentage}% | {phase} | {rows} rows | {pace} | {duration_formatted}`,
      hideCursor: true,
      stream: process.stderr,
      clearOnComplete: true,
    },
    Presets.rect,
  );
  single.start(1000, 0, { phase: 'waiting', rows: '0', pace: '' });
  return {
    update: ({ phase, fraction, rows, pace }) =>
      single.update(Math.floor((fraction ?? 0) * 1000), { phase, rows: withThousands(rows), pace }),
    stop: () => single.stop(),
  };
}

function lines(title: string): ProgressView {
  let last = '';
  return {
    update({ phase, rows }) {
      if (phase === last) return;
      last = phase;
      process.stderr.write(`${title}: ${phase}${rows > 0 ? `, ${countText(rows, 'row')}` : ''}\n`);
    },
    stop: () => {},
  };
}
