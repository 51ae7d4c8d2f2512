// Changes of all supervisors at once.

import { ServiceError } from '../../../base/errors.js';
import { toServiceError } from '../../rpc/message.js';

/** A supervisor that is to be changed. */
export interface ChangedSupervisor {
  readonly id: string;
  change(): Promise<unknown>;
  /** The supervisor as it is now; undefined: it is gone. */
  find(): Promise<{ readonly suspended: boolean } | undefined>;
}

/** Failures after which the next supervisors would fail as well, each after a wait of its own. */
const ENDS_ALL: ReadonlySet<string> = new Set(['unavailable', 'not_leader']);

/**
 * Changes supervisors one after the other. One that fails holds up none of the others, unless metadata cannot be reached, or another
 * process leads. Supervisors that are as they were to be, or gone, do not count: others change them meanwhile.
 * @throws ServiceError with the code of the first failure; its message names every supervisor that is not as it was to be
 */
export async function changeAll(supervisors: readonly ChangedSupervisor[], isDone: (isSuspended: boolean) => boolean): Promise<void> {
  const failed = new Map<string, string[]>();
  let first: ServiceError | undefined;
  let untried: readonly string[] = [];
  for (const [at, supervisor] of supervisors.entries()) {
    const error = await failureOf(supervisor, isDone);
    if (error === undefined) continue;
    first ??= error;
    failed.set(error.message, [...(failed.get(error.message) ?? []), supervisor.id]);
    if (!ENDS_ALL.has(error.code)) continue;
    untried = supervisors.slice(at + 1).map(({ id }) => id);
    break;
  }
  if (first === undefined) return;
  const count = [...failed.values()].reduce((sum, ids) => sum + ids.length, untried.length);
  const reasons = [...failed].map(([message, ids]) => `${named(ids)}: ${message}`);
  if (untried.length > 0) reasons.push(`${named(untried)}: not tried after that`);
  throw new ServiceError(first.code, `${count} of ${supervisors.length} supervisors were not changed: ${reasons.join('; ')}`, first);
}

async function failureOf(
  { change, find }: ChangedSupervisor,
  isDone: (isSuspended: boolean) => boolean,
): Promise<ServiceError | undefined> {
  try {
    await change();
    return undefined;
  } catch (error) {
    // One that cannot be looked at counts as not changed.
    const now = await find().catch(() => ({ suspended: null }));
    return now === undefined || (now.suspended !== null && isDone(now.suspended)) ? undefined : toServiceError(error);
  }
}

const named = (ids: readonly string[]): string => ids.map((id) => `[${id}]`).join(', ');
