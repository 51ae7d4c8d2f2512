// Coordination over the metadata file, for the processes of one machine.

import { liveAnnouncements, removeAnnouncement, removeAnnouncements, writeAnnouncements } from '../../metadata/announcements.js';
import type { Database } from '../../metadata/database.js';
import { findLeader, giveUpLease, type Leader, takeLease } from '../../metadata/leadership.js';
import type { Candidate, Coordination, Member } from './coordination.js';
import { Pulse, type PulseOptions } from './pulse.js';

export interface EmbeddedOptions {
  readonly database: Database;
  /** Unique to this start of the process. */
  readonly session: string;
  readonly now: () => number;
  /** Time between two heartbeats, at which members and leaders are read as well. */
  readonly heartbeatMs: number;
  /** A member without a heartbeat, or a leader without a renewal, for so long is gone. */
  readonly expiryMs: number;
  /** Renews on a thread once another process was seen; undefined: the event loop alone renews. */
  readonly pulse?: Pick<PulseOptions, 'file' | 'stallMs'>;
  /** A heartbeat failed (the metadata file is busy or gone); it is tried again at the next. */
  readonly onError: (error: unknown) => void;
}

interface Campaign {
  readonly role: string;
  readonly host: string;
  readonly candidate: Candidate;
  heldEpoch: number | null;
  /** `lost` and `gained` follow one another. */
  turn: Promise<void>;
}

/** Coordination over the metadata file, for any number of processes on one machine. */
export class EmbeddedCoordination implements Coordination {
  readonly session: string;
  readonly #options: EmbeddedOptions;
  readonly #announced: Omit<Member, 'session'>[] = [];
  readonly #campaigns: Campaign[] = [];
  readonly #listeners = new Set<() => void>();
  #members: readonly Member[] = [];
  /** Members by role, cached: requests ask for them far more often than members change. */
  readonly #membersOf = new Map<string, readonly Member[]>();
  #leaders = new Map<string, Leader>();
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  /** The beat that has not begun. */
  #nextBeat: Promise<void> | undefined;
  #seen: string;
  #closed = false;
  #pulse: Pulse | undefined;

  constructor(options: EmbeddedOptions) {
    this.#options = options;
    this.session = options.session;
    this.#seen = this.#picture();
    this.#schedule();
  }

  async announce(role: string, host: string, details: Readonly<Record<string, unknown>>): Promise<void> {
    this.#announced.push({ role, host, details });
    await this.#beat();
  }

  async withdraw(role: string, host: string): Promise<void> {
    const at = this.#announced.findIndex((member) => member.role === role && member.host === host);
    if (at < 0) return;
    this.#announced.splice(at, 1);
    await removeAnnouncement(this.#options.database, { role, host, session: this.session });
    await this.#beat();
  }

  async campaign(role: string, host: string, candidate: Candidate): Promise<void> {
    this.#campaigns.push({ role, host, candidate, heldEpoch: null, turn: Promise.resolve() });
    await this.#beat();
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
    return isHeldHere || leader.expiresMs > this.#options.now() ? leader : undefined;
  }

  isCurrent(role: string): boolean {
    const leader = this.#leaders.get(role);
    const expiresMs = Math.max(leader?.expiresMs ?? 0, (this.#pulse?.renewedMs ?? 0) + this.#options.expiryMs);
    return expiresMs > this.#options.now();
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
    clearTimeout(this.#timer);
    await this.#beating;
    await this.#pulse?.end();
    const { database } = this.#options;
    for (const campaign of this.#campaigns) {
      if (campaign.heldEpoch === null) continue;
      await campaign.turn;
      await campaign.candidate.lost();
      await giveUpLease(database, campaign.role, campaign.heldEpoch);
    }
    await removeAnnouncements(database, this.session);
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#pulse?.alive();
      this.#beat()
        .catch(this.#options.onError)
        .finally(() => this.#schedule());
    }, this.#options.heartbeatMs);
  }

  /** Beats follow one another; a caller's own announcement is in the one it waits for, with those of other callers. */
  #beat(): Promise<void> {
    if (this.#nextBeat !== undefined) return this.#nextBeat;
    const beat = this.#beating.then(() => {
      this.#nextBeat = undefined;
      return this.#closed ? undefined : this.#beatOnce();
    });
    this.#nextBeat = beat;
    this.#beating = beat.catch(() => undefined);
    return beat;
  }

  async #beatOnce(): Promise<void> {
    const { database, now, expiryMs } = this.#options;
    const { session } = this;
    const heartbeatMs = now();
    if (this.#announced.length > 0)
      await database.transaction((queries) =>
        writeAnnouncements(
          queries,
          this.#announced.map(({ role, host, details }) => ({ role, host, session, details, heartbeatMs })),
        ),
      );
    const live = await liveAnnouncements(database, heartbeatMs - expiryMs);
    this.#membersOf.clear();
    this.#members = live.map(({ role, host, session: owner, details }) => ({ role, host, session: owner, details }));
    for (const campaign of this.#campaigns) await this.#stand(campaign);
    this.#keepPulse();
    await this.#learnLeaders();
    this.#notify();
  }

  async #stand(campaign: Campaign): Promise<void> {
    const { database, now, expiryMs } = this.#options;
    const { role, host, candidate, heldEpoch } = campaign;
    const isFirst = !this.#leaders.has(role);
    const leader = await takeLease(database, { role, host, heldEpoch, nowMs: now(), leaseMs: expiryMs });
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
    const { pulse, heartbeatMs, expiryMs, onError } = this.#options;
    const hasOthers = this.#members.some((member) => member.session !== this.session);
    if (pulse !== undefined && hasOthers && !this.#closed)
      this.#pulse ??= new Pulse({ ...pulse, session: this.session, heartbeatMs, expiryMs }, onError);
    this.#pulse?.hold(this.#campaigns.flatMap(({ role, heldEpoch }) => (heldEpoch === null ? [] : [{ role, epoch: heldEpoch }])));
  }

  /** Learns the leaders of roles that this process is not a candidate for. */
  async #learnLeaders(): Promise<void> {
    const standing = new Set(this.#campaigns.map((campaign) => campaign.role));
    for (const role of new Set(this.#members.map((member) => member.role))) {
      if (standing.has(role)) continue;
      const leader = await findLeader(this.#options.database, role);
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
