// Clock of a thread's work: time that went into work which overtook it does not count.

/** Milliseconds that the work under way has given away, and those below it to whatever overtook them. */
let awayMs = 0;

/** Milliseconds by a clock that stands still while other work is done on top of this one. Only differences mean anything. */
export function ownNow(): number {
  return performance.now() - awayMs;
}

/** Lets other work be done; gives back how many milliseconds that took. */
export function giveAway(others: () => number): number {
  const before = awayMs;
  const tookMs = others();
  // The time that the others gave away in turn is part of theirs.
  awayMs = before + tookMs;
  return tookMs;
}
