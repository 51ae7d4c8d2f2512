import type { Difference } from './case.js';

/** A difference that is meant. Each has a row of the same id in `docs/differences.md`, under "Muted in the comparison". */
export interface Mute {
  readonly id: string;
  covers(difference: Difference): boolean;
}

export const MUTES: readonly Mute[] = [
  {
    // Internal errors of the original: it answers nothing that could be followed.
    id: 'original-fails',
    covers: ({ original }) => original.state === 'broken',
  },
  {
    // Many statements are more than the original's planner has a native query for.
    id: 'sql-answered-here-only',
    covers: ({ case: { kind }, dolmen, original }) => kind === 'sql' && original.state === 'refused' && dolmen.state === 'rows',
  },
];

export function isMuted(difference: Difference): boolean {
  return MUTES.some((mute) => mute.covers(difference));
}
