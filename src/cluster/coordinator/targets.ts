// Visible segments that are loaded, kept up by what changes.

import { LoopTurns } from '../../base/loop-turns.js';
import { own } from '../../base/names.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { idTextOf } from '../../model/segment-id.js';
import { ChangeLog } from '../change-log.js';
import type { Copies, SegmentServer, SnapshotUpdate } from '../rpc/services.js';
import type { Target } from './assignment.js';
import type { SegmentCatalog } from './catalog.js';
import type { Retention } from './retention.js';
import type { Decision } from './rules.js';

export interface TargetRules {
  readonly catalog: SegmentCatalog;
  readonly retention: Retention;
  readonly nowMs: number;
  /** Copies by tier of a segment that is broadcast. */
  readonly everywhere: Target['tieredReplicants'];
}

/** Copies by tier of what is broadcast: more than a tier has servers means every server. */
export function onEveryServer(servers: readonly SegmentServer[]): Target['tieredReplicants'] {
  return Object.fromEntries(servers.map(({ tier }) => [tier, Number.MAX_SAFE_INTEGER]));
}

/** Names of the tiers that have servers. */
export function tierNames(servers: readonly SegmentServer[]): string {
  return [...new Set(servers.map(({ tier }) => tier))].sort().join('\n');
}

/** A used segment that is overshadowed, or that the rules load nowhere. */
interface Other {
  readonly segment: SegmentDescriptor;
  readonly isOvershadowed: boolean;
}

type ToldSegments = Pick<SnapshotUpdate, 'segments' | 'copies' | 'others' | 'overshadowed' | 'since'>;

/** Targets by printed id, and which of them came, went or changed at which revision of metadata. */
export class Targets {
  readonly #targets = new Map<string, Target>();
  /** Used segments that are no targets, by printed id. */
  readonly #others = new Map<string, Other>();
  /** Null before the first plan. */
  #log: ChangeLog | null = null;
  /** Segments that came, went or changed since the last call of `noteRevision`. */
  readonly #unnoted = new Set<string>();
  /** Targets that are different since they were last taken. */
  #changed = new Set<string>();

  get byId(): ReadonlyMap<string, Target> {
    return this.#targets;
  }

  /** Whether some came, went or changed since the last call of `noteRevision`. */
  get hasUnnoted(): boolean {
    return this.#unnoted.size > 0;
  }

  /** Plans these segments anew and gives the event loop its turns. */
  async plan(segments: Iterable<SegmentDescriptor>, rules: TargetRules): Promise<void> {
    const turns = new LoopTurns();
    for (const segment of segments) {
      this.#planOne(segment, rules);
      if (turns.isDue) await turns.give();
    }
  }

  /** Plans all segments anew, each once: those that are used, and those that are known and used no more. Gives the event loop its turns. */
  async planAll(rules: TargetRules): Promise<void> {
    const { catalog } = rules;
    const turns = new LoopTurns();
    for (const known of [this.#targets, this.#others])
      for (const { segment } of known.values()) {
        if (!catalog.isUsed(segment)) this.#planOne(segment, rules);
        if (turns.isDue) await turns.give();
      }
    for (const segment of catalog.allUsed()) {
      this.#planOne(segment, rules);
      if (turns.isDue) await turns.give();
    }
  }

  /** Changes since the last call are those up to this revision. */
  noteRevision(revision: number): void {
    if (this.#log === null) this.#log = new ChangeLog(revision);
    else for (const id of this.#unnoted) this.#log.note(id, revision);
    this.#unnoted.clear();
  }

  /** Ids of targets that came, went or changed since the last call. */
  takeChanged(): ReadonlySet<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /**
   * The segments, or with a revision those that came, went or changed since then, where that is known. Gives the event loop its turns:
   * nothing may be planned meanwhile.
   */
  async segmentsSince(revision: number | null): Promise<ToldSegments> {
    const turns = new LoopTurns();
    const changed = revision === null ? undefined : this.#log?.since(revision);
    const [segments, copies, others, overshadowed]: [SegmentDescriptor[], Copies[], SegmentDescriptor[], boolean[]] = [[], [], [], []];
    const told = { segments, copies, others, overshadowed };
    const tell = (target: Target | undefined, other: Other | undefined): void => {
      if (target !== undefined) {
        segments.push(target.segment);
        copies.push(target.tieredReplicants);
      }
      if (other !== undefined) {
        others.push(other.segment);
        overshadowed.push(other.isOvershadowed);
      }
    };
    if (revision === null || changed === undefined) {
      for (const target of this.#targets.values()) {
        tell(target, undefined);
        if (turns.isDue) await turns.give();
      }
      for (const other of this.#others.values()) {
        tell(undefined, other);
        if (turns.isDue) await turns.give();
      }
      return told;
    }
    const gone: string[] = [];
    for (const id of changed) {
      const target = this.#targets.get(id);
      if (target === undefined) gone.push(id);
      tell(target, this.#others.get(id));
      if (turns.isDue) await turns.give();
    }
    return { ...told, since: { revision, gone } };
  }

  #planOne(segment: SegmentDescriptor, rules: TargetRules): void {
    const { catalog } = rules;
    const id = idTextOf(segment);
    const before = this.#targets.get(id);
    const tieredReplicants = copiesOf(segment, rules);
    const isOther = tieredReplicants === undefined && catalog.isUsed(segment);
    this.#setOther(id, isOther ? { segment, isOvershadowed: catalog.isOvershadowed(segment) } : undefined);
    if (tieredReplicants === undefined) {
      if (!this.#targets.delete(id)) return;
    } else {
      if (before !== undefined && isSame(before.tieredReplicants, tieredReplicants)) return;
      this.#targets.set(id, { id, segment, tieredReplicants });
    }
    this.#changed.add(id);
    this.#unnoted.add(id);
  }

  #setOther(id: string, other: Other | undefined): void {
    if (this.#others.get(id)?.isOvershadowed === other?.isOvershadowed) return;
    if (other === undefined) this.#others.delete(id);
    else this.#others.set(id, other);
    this.#unnoted.add(id);
  }
}

/** Effect of the rules on a segment: one that hides a part of an older one is kept as that is, so that what was replaced does not come back. */
export function decisionOn(segment: SegmentDescriptor, { catalog, retention, nowMs }: Omit<TargetRules, 'everywhere'>): Decision {
  const own = retention.decide(segment, nowMs);
  if (isLoaded(own)) return own;
  const others = catalog.hiddenInPart(segment).map((older) => retention.decide(older, nowMs));
  return others.find(isLoaded) ?? others.find(({ kind }) => kind !== 'drop') ?? own;
}

function isLoaded(decision: Decision): boolean {
  if (decision.kind !== 'load') return decision.kind === 'broadcast';
  return Object.values(decision.tieredReplicants).some((count) => count > 0);
}

/** Copies by tier; undefined for a segment that is loaded nowhere. */
function copiesOf(
  segment: SegmentDescriptor,
  { catalog, retention, nowMs, everywhere }: TargetRules,
): Target['tieredReplicants'] | undefined {
  if (catalog.isOvershadowed(segment)) return undefined;
  const decision = decisionOn(segment, { catalog, retention, nowMs });
  if (decision.kind === 'drop') return undefined;
  if (decision.kind === 'broadcast') return everywhere;
  return Object.values(decision.tieredReplicants).some((count) => count > 0) ? decision.tieredReplicants : undefined;
}

function isSame(a: Target['tieredReplicants'], b: Target['tieredReplicants']): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => own(a, name) === own(b, name));
}
