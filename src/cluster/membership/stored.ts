// Coordination over records that processes share: beats, elections, and news of changes.

import { type Clock, SYSTEM_CLOCK, sleep, type Timer } from '../../base/clock/clock.js';
import { ServiceError } from '../../base/errors.js';
import { extended } from '../../base/names.js';
import type { Leader } from '../../metadata/leadership.js';
import type { Candidate, Coordination, Member } from './coordination.js';
import type { MembershipStore } from './membership-store.js';
import { Pulse, type PulseOptions } from './pulse.js';

export interface StoredOptions {
  readonly store: MembershipStore;
  /** Unique to this start of the process. */
  readonly session: string;
  /** Time between two heartbeats, at which members and leaders are read as well. */
  readonly heartbeatMs: number;
  /** A member without a heartbeat for so long is gone. */
  readonly expiryMs: number;
  /** The same of a leader without a renewal; default: `expiryMs`. */
  readonly leaseMs?: number;
  /** Renews on a thread once another process was seen; undefined: the event loop alone renews. */
  readonly pulse?: Pick<PulseOptions, 'settings' | 'stallMs'>;
  /** Clock of its timers; default: that of the machine. */
  readonly clock?: Clock;
  /** A heartbeat failed (the metadata file is busy or gone); it is tried again at the next. */
  readonly onError: (error: unknown) => void;
}

/** Time that a database which is away has to come back before a process that begins ends. */
const BEGIN_MS = 30_000;
const AGAIN_MS = 100;

interface Campaign {
  readonly role: string;
  readonly host: string;
  readonly candidate: Candidate;
  heldEpoch: number | null;
  /** `lost` and `gained` follow one another. */
  turn: Promise<void>;
}

/** Coordination over a `MembershipStore`, for any number of processes. */
export class StoredCoordination implements Coordination {
  readonly session: string;
  readonly #options: StoredOptions;
  readonly #announced: Omit<Member, 'session'>[] = [];
  readonly #campaigns: Campaign[] = [];
  readonly #listeners = new Set<() => void>();
  #members: readonly Member[] = [];
  /** Members by role, cached: requests ask for them far more often than members change. */
  readonly #membersOf = new Map<string, readonly Member[]>();
  #leaders = new Map<string, Leader>();
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #beating: Promise<void> = Promise.resolve();
  /** The beat that has not begun. */
  #nextBeat: Promise<void> | undefined;
  #seen: string;
  #closed = false;
  #pulse: Pulse | undefined;
  readonly #leaseMs: number;
  /** The last beat failed. */
  #mustRecover = false;
  /** Until then members that were known before a failure stay. */
  #keepsUntilMs = 0;

  constructor(options: StoredOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.session = options.session;
    this.#leaseMs = options.leaseMs ?? options.expiryMs;
    options.store.onNews(() => {
      if (!this.#closed) this.#beat().catch(options.onError);
    });
    this.#seen = this.#picture();
    this.#schedule();
  }

  async announce(role: string, host: string, details: Readonly<Record<string, unknown>>): Promise<void> {
    this.#announced.push({ role, host, details });
    await this.#beatAtLast();
  }

  async withdraw(role: string, host: string): Promise<void> {
    const at = this.#announced.findIndex((member) => member.role === role && member.host === host);
    if (at < 0) return;
    this.#announced.splice(at, 1);
    await this.#options.store.withdraw({ role, host, session: this.session });
    await this.#beat();
  }

  async campaign(role: string, host: string, candidate: Candidate): Promise<void> {
    this.#campaigns.push({ role, host, candidate, heldEpoch: null, turn: Promise.resolve() });
    await this.#beatAtLast();
  }

  members(role: string): readonly Member[] {
    let found = this.#membersOf.get(role);
    if (found === undefined) {
      found = this.#members.filter((member) => member.role === role);
      this.#membersOf.set(role, found);
    }
    return found;
  }

  leader(role: string): Leader | undefined {
    const leader = this.#leaders.get(role);
    if (leader === undefined) return undefined;
    // Nobody else can have acted as the leader without a newer epoch, which every transaction is checked against.
    const isHeldHere = this.#campaigns.some((campaign) => campaign.role === role && campaign.heldEpoch === leader.epoch);
    return isHeldHere || leader.expiresMs > this.#options.store.now() ? leader : undefined;
  }

  isCurrent(role: string): boolean {
    const leader = this.#leaders.get(role);
    const expiresMs = Math.max(leader?.expiresMs ?? 0, (this.#pulse?.renewedMs ?? 0) + this.#leaseMs);
    return expiresMs > this.#options.store.now();
  }

  refresh(): Promise<void> {
    return this.#beat();
  }

  get discovered(): boolean {
    return this.#members.some((member) => member.session === this.session);
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#clock.clearTimer(this.#timer);
    await this.#beating;
    await this.#pulse?.end();
    const { store, onError } = this.#options;
    for (const campaign of this.#campaigns) {
      if (campaign.heldEpoch === null) continue;
      // Whoever waited for it has its failure.
      await campaign.turn.catch(() => undefined);
      await campaign.candidate.lost();
      // A database that is away takes nothing back: leases and announcements run out there, and the rest of the process ends.
      await store.giveUp(campaign.role, campaign.heldEpoch).catch(onError);
    }
    await store.withdrawAll(this.session).catch(onError);
    await store.disconnect();
  }

  #schedule(): void {
    if (this.#closed) return;
    const beat = (): void => {
      this.#pulse?.alive();
      this.#beat()
        .catch(this.#options.onError)
        .finally(() => this.#schedule());
    };
    this.#timer = this.#clock.setTimer(beat, this.#options.heartbeatMs, undefined);
  }

  /**
   * A beat that succeeds. A process that begins may lose its sessions: another candidate takes one that got the lock and is slow to take
   * the lease for paused, and the database may be started anew.
   */
  async #beatAtLast(): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + BEGIN_MS;
    for (;;) {
      try {
        return await this.#beat();
      } catch (error) {
        const isMomentary = error instanceof ServiceError && error.code === 'unavailable';
        if (!isMomentary || this.#closed || this.#clock.monotonicMs() >= untilMs) throw error;
        this.#options.onError(error);
        await sleep(this.#clock, AGAIN_MS);
      }
    }
  }

  /** Beats follow one another; a caller's own announcement is in the one it waits for, with those of other callers. */
  #beat(): Promise<void> {
    if (this.#nextBeat !== undefined) return this.#nextBeat;
    const beat = this.#beating.then(() => {
      this.#nextBeat = undefined;
      return this.#closed ? undefined : this.#beatOnce();
    });
    beat.catch(() => {
      this.#mustRecover = true;
    });
    this.#nextBeat = beat;
    this.#beating = beat.catch(() => undefined);
    return beat;
  }

  async #beatOnce(): Promise<void> {
    const { store, expiryMs } = this.#options;
    const { session } = this;
    await store.prepare();
    if (this.#announced.length > 0) await store.announce(this.#announced.map((each) => extended(each, { session })));
    const nowMs = store.now();
    if (this.#mustRecover) this.#keepsUntilMs = nowMs + expiryMs;
    this.#mustRecover = false;
    const live = await store.live(nowMs - expiryMs);
    const found = live.map(({ role, host, session: owner, details }) => ({ role, host, session: owner, details }));
    // Others may need a while to come back to a database that was away: they are not gone because they have not yet.
    const places = new Set(found.map(({ role, host }) => `${role} ${host}`));
    const kept = nowMs < this.#keepsUntilMs ? this.#members.filter(({ role, host }) => !places.has(`${role} ${host}`)) : [];
    this.#membersOf.clear();
    this.#members = kept.length === 0 ? found : [...found, ...kept];
    for (const campaign of this.#campaigns) await this.#stand(campaign);
    this.#keepPulse();
    await this.#learnLeaders();
    this.#notify();
  }

  async #stand(campaign: Campaign): Promise<void> {
    const { role, host, candidate, heldEpoch } = campaign;
    const isFirst = !this.#leaders.has(role);
    const leader = await this.#options.store.stand({ role, host, heldEpoch, leaseMs: this.#leaseMs });
    this.#leaders.set(role, leader);
    if (heldEpoch !== null && leader.epoch !== heldEpoch) {
      campaign.heldEpoch = null;
      // Leadership ends at once. Work in progress may take a while to end, and news of others must be read meanwhile.
      campaign.turn = candidate.lost().catch(this.#options.onError);
    }
    // A row of our host with another epoch was just taken by us: nobody else writes our address.
    if (campaign.heldEpoch === null && leader.host === host) {
      campaign.heldEpoch = leader.epoch;
      const { epoch } = leader;
      campaign.turn = campaign.turn.then(() => candidate.gained({ role, epoch }));
      if (isFirst) await campaign.turn;
      else campaign.turn = campaign.turn.catch(this.#options.onError);
    }
  }

  /** Starts the thread that sends heartbeats once there is another process; with one process nobody waits for them. */
  #keepPulse(): void {
    const { pulse, heartbeatMs, onError } = this.#options;
    const hasOthers = this.#members.some((member) => member.session !== this.session);
    if (pulse !== undefined && hasOthers && !this.#closed)
      this.#pulse ??= new Pulse({ ...pulse, session: this.session, heartbeatMs, leaseMs: this.#leaseMs }, onError);
    this.#pulse?.hold(this.#campaigns.flatMap(({ role, heldEpoch }) => (heldEpoch === null ? [] : [{ role, epoch: heldEpoch }])));
  }

  /** Learns the leaders of roles that this process is not a candidate for. */
  async #learnLeaders(): Promise<void> {
    const standing = new Set(this.#campaigns.map((campaign) => campaign.role));
    for (const role of new Set(this.#members.map((member) => member.role))) {
      if (standing.has(role)) continue;
      const leader = await this.#options.store.leader(role);
      if (leader !== undefined) this.#leaders.set(role, leader);
    }
  }

  #notify(): void {
    const picture = this.#picture();
    if (picture === this.#seen) return;
    this.#seen = picture;
    for (const listener of this.#listeners) listener();
  }

  /** Equal as long as members and leaders are; renewals of a lease are no change. */
  #picture(): string {
    return JSON.stringify([this.#members, [...this.#leaders.values()].map(({ role, epoch, host }) => [role, epoch, host])]);
  }
}
