// Frames of a server's run, with the report of it.

import type { Frame } from '../model/frame.js';
import type { Plan } from '../model/plan.js';
import type { Profile } from '../model/profile.js';
import type { RunReport } from './rpc/services.js';

/**
 * The frames and, when they are through, the report. Groups are all done when their frames come: there the report goes
 * before the last frame, so that it is known when the first rows are written. Scans give each frame at once.
 */
export async function* withReport(frames: AsyncIterable<Frame>, profile: Profile, plan: Plan): AsyncGenerator<Frame | RunReport> {
  let last: Frame | undefined;
  for await (const frame of frames) {
    if (plan.operator === 'scan') yield frame;
    else {
      if (last !== undefined) yield last;
      last = frame;
    }
  }
  yield { profile };
  if (last !== undefined) yield last;
}
