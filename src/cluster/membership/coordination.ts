// Interface for announcing processes, watching them and electing leaders.

import type { Fence, Leader } from '../../metadata/leadership.js';

/** A process playing a role, as it announced itself. */
export interface Member {
  readonly role: string;
  /** `host:port`, under which it is reached. */
  readonly host: string;
  /** Id that every start of a process makes for itself: the same address with another session has forgotten everything. */
  readonly session: string;
  /** Details that the role announces; plain JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Discovery between the processes of a cluster: announce, watch, elect. Over the metadata file for one machine; over
 * PostgreSQL (advisory locks, LISTEN/NOTIFY) for several. Its view may be late by a heartbeat; leadership, which must not be
 * wrong, is checked again inside every metadata transaction (`fencedTransaction`).
 */
export interface Coordination {
  /** Session of this process. */
  readonly session: string;
  /** Announces this process in a role until `close`. It is among `members` when the promise resolves. */
  announce(role: string, host: string, details: Readonly<Record<string, unknown>>): Promise<void>;
  /** Takes back one announcement of this process. */
  withdraw(role: string, host: string): Promise<void>;
  /** Members with a recent heartbeat. */
  members(role: string): readonly Member[];
  /** True once this process has seen itself among the members. */
  readonly discovered: boolean;
  /** Stands for election until `close`; the first attempt is over when the promise resolves. */
  campaign(role: string, host: string, candidate: Candidate): Promise<void>;
  /**
   * The last known leader; undefined when none is known. Of another process, while its lease has not run out; this process
   * leads until it learns that another one took over, however late its timers are.
   */
  leader(role: string): Leader | undefined;
  /** Whether this process led the role not long ago by its own clock: else `refresh` tells whether it still does. */
  isCurrent(role: string): boolean;
  /** Learns members and leaders now. */
  refresh(): Promise<void>;
  /** Calls back after every change of members or leaders; returns how to stop that. */
  watch(listener: () => void): () => void;
  /** Withdraws announcements, gives up leadership. */
  close(): Promise<void>;
}

/** Callbacks of a candidate; they alternate, `gained` first, and do not overlap. `lost` ends all leader-only work before it first waits. */
export interface Candidate {
  gained(fence: Fence): Promise<void>;
  lost(): Promise<void>;
}
