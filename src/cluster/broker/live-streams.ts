// Streams as the Broker has shown them: no answer may have fewer of their rows than one before.

import { compareOffsets } from '../../model/stream/offsets.js';
import type { PartitionReach, PublishedStream, StreamReach } from '../../model/stream/reach.js';
import type { LiveInventory, ReachReport } from '../rpc/services.js';

/** Time after which rows that nobody shows any more are not waited for. */
const FLOOR_AGE_MS = 600_000;

interface Task {
  readonly group: string;
  generation: string;
  /** Rows of the segments that the view has of it. */
  reach: StreamReach;
  /** Rows of its answers; null: it has answered nothing that counts. */
  answered: ReadonlyMap<string, PartitionReach> | null;
  /** Its answers count: the offsets of its supervisor were not set since it began. */
  counts: boolean;
  /** Number of the look that first found it. */
  readonly foundAt: number;
}

/** Place in a partition that answers have reached, while nobody who has shown it is there any more. */
interface Floor {
  readonly supervisorId: string;
  readonly stream: string;
  readonly partition: string;
  /** Offset from which on its rows were shown by tasks. */
  readonly start: string;
  readonly most: string;
  readonly sinceMs: number;
}

/** Rows that were in an answer, and that the view does not show. */
export interface MissingRows {
  readonly supervisorId: string;
  readonly stream: string;
  readonly partition: string;
  /** Place that published rows and those of tasks reach without a gap. */
  readonly shown: string;
  /** Place that answers had reached. */
  readonly answered: string;
}

/**
 * Rows of streams that tasks show and that are published, and how far answers have come. The rows of a task that is there never get fewer;
 * when it goes, the place to which its answers came is a floor, which published rows and those of other tasks have to reach again.
 */
export class LiveStreams {
  readonly #now: () => number;
  readonly #tasks = new Map<string, Task>();
  /** The task of each group of replicas whose rows are shown. */
  readonly #leaders = new Map<string, string>();
  /** Floors by datasource, then by supervisor, stream and partition. */
  readonly #floors = new Map<string, Map<string, Floor>>();
  #published: ReadonlyMap<string, PublishedStream> = new Map();
  #looks = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the rows of a task are shown: one of replicas is, and so is a task that tells no reach. */
  leads(host: string): boolean {
    const task = this.#tasks.get(host);
    return task === undefined || this.#leaders.get(task.group) === host;
  }

  /** Takes in what tasks have told, and which of them are gone. */
  update(updates: readonly LiveInventory[], gone: Iterable<string>): void {
    this.#looks++;
    for (const { host, generation, reach } of updates) {
      // Another process may have its address by now.
      if (sessionOf(this.#tasks.get(host)?.generation) !== sessionOf(generation)) this.#remove(host);
      const known = this.#tasks.get(host);
      if (reach === undefined) continue;
      if (known === undefined) {
        const group = groupOf(reach);
        this.#tasks.set(host, { group, generation, reach, answered: null, counts: true, foundAt: this.#looks });
        if (!this.#leaders.has(group)) this.#leaders.set(group, host);
        continue;
      }
      this.#raiseToStart(known, reach);
      known.generation = generation;
      known.reach = reach;
    }
    for (const host of gone) this.#remove(host);
  }

  /**
   * Has a replica take the place of a task that does not answer; false: there is none.
   * @param silent  tasks that do not answer either
   */
  demote(host: string, silent: ReadonlySet<string>): boolean {
    const task = this.#tasks.get(host);
    if (task === undefined || !this.leads(host)) return false;
    const other = this.#best(task.group, (each) => each !== host && !silent.has(each));
    if (other === undefined) return false;
    if (task.answered !== null) this.#raise(task.reach, task.answered);
    this.#leaders.set(task.group, other);
    return true;
  }

  /**
   * Takes note of the rows of an answer, before any of them is handed on.
   * @param led  whether its newest rows were shown when it was asked: replicas that never led are asked for published rows too
   */
  answered(host: string, { generation, reach }: ReachReport, led = true): void {
    const task = this.#tasks.get(host);
    if (task === undefined) return this.#raise(reach, reach.partitions);
    // Nobody sees these rows any more: who leads now has to have them before anybody else is answered.
    if (led && task.counts && !this.leads(host)) this.#raise(reach, reach.partitions);
    if (task.counts) task.answered = furthest(task.answered ?? new Map(), reach.partitions);
    // Its segments are those of the view: so are their rows.
    if (task.generation === generation)
      task.reach = { ...task.reach, partitions: furthest(task.reach.partitions, reach.partitions, task.reach.partitions) };
  }

  /**
   * Sets what is published, as the view shows it. What was answered before the offsets of a supervisor were set, or its stream was changed,
   * counts no more.
   */
  publish(streams: readonly PublishedStream[]): void {
    if (streams.length === 0 && this.#published.size === 0) return;
    const before = this.#published;
    this.#published = new Map(streams.map((stream) => [stream.supervisorId, stream]));
    for (const [id, { resets, stream }] of before) {
      const now = this.#published.get(id);
      if (now !== undefined && now.resets === resets && now.stream === stream) continue;
      for (const floors of this.#floors.values()) for (const [key, floor] of floors) if (floor.supervisorId === id) floors.delete(key);
      for (const task of this.#tasks.values())
        if (task.reach.supervisorId === id && (task.foundAt < this.#looks || task.reach.stream !== now?.stream)) {
          task.counts = false;
          task.answered = null;
        }
    }
  }

  /** The first rows of a datasource that an answer had and the view does not show; undefined: it shows all of them. */
  missing(dataSource: string): MissingRows | undefined {
    const floors = this.#floors.get(dataSource);
    if (floors === undefined) return undefined;
    let found: MissingRows | undefined;
    for (const [key, floor] of floors) {
      const shown = this.#isForgotten(floor) ? null : this.#reached(dataSource, floor);
      if (shown === null) floors.delete(key);
      else if (found === undefined && compareOffsets(shown, floor.most) < 0) {
        const { supervisorId, stream, partition, most } = floor;
        found = { supervisorId, stream, partition, shown, answered: most };
      }
    }
    if (floors.size === 0) this.#floors.delete(dataSource);
    return found;
  }

  #remove(host: string): void {
    const task = this.#tasks.get(host);
    if (task === undefined) return;
    if (task.answered !== null) this.#raise(task.reach, task.answered);
    this.#tasks.delete(host);
    if (this.#leaders.get(task.group) === host) this.#choose(task.group);
  }

  #isForgotten({ supervisorId, stream, sinceMs }: Floor): boolean {
    if (this.#now() - sinceMs > FLOOR_AGE_MS) return true;
    const published = this.#published.get(supervisorId);
    if (published !== undefined && published.stream !== stream) return true;
    if (published?.isRunning === true) return false;
    // Nobody is going to read its rows again.
    return ![...this.#tasks.values()].some(({ reach }) => reach.supervisorId === supervisorId);
  }

  /** The place that is reached without a gap; null: all of it is published. */
  #reached(dataSource: string, { supervisorId, stream, partition, start, most }: Floor): string | null {
    const published = this.#published.get(supervisorId)?.offsets.get(partition);
    if (published !== undefined && compareOffsets(published, most) >= 0) return null;
    const reaches: PartitionReach[] = [];
    for (const [host, { reach }] of this.#tasks) {
      const isSame = reach.dataSource === dataSource && reach.supervisorId === supervisorId && reach.stream === stream;
      const own = isSame && this.leads(host) ? reach.partitions.get(partition) : undefined;
      if (own !== undefined) reaches.push(own);
    }
    return chainEnd(published ?? start, reaches);
  }

  /** A task that drops rows has seen to it that the published ones are shown: should they not be, they are missing. */
  #raiseToStart({ reach: before, answered, counts }: Task, now: StreamReach): void {
    if (answered === null || !counts) return;
    const dropped = new Map<string, PartitionReach>();
    for (const [partition, { start }] of now.partitions) {
      const known = before.partitions.get(partition);
      if (known !== undefined && compareOffsets(start, known.start) > 0)
        dropped.set(partition, { start: known.start, least: start, most: start });
    }
    this.#raise(before, dropped);
  }

  #raise({ dataSource, supervisorId, stream }: StreamReach, partitions: ReadonlyMap<string, PartitionReach>): void {
    const floors = this.#floors.get(dataSource) ?? new Map<string, Floor>();
    for (const [partition, { start, most }] of partitions) {
      if (compareOffsets(most, start) <= 0) continue;
      const key = JSON.stringify([supervisorId, stream, partition]);
      const known = floors.get(key);
      if (known !== undefined && compareOffsets(known.most, most) >= 0) continue;
      const first = known !== undefined && compareOffsets(known.start, start) < 0 ? known.start : start;
      floors.set(key, { supervisorId, stream, partition, start: first, most, sinceMs: this.#now() });
    }
    if (floors.size > 0) this.#floors.set(dataSource, floors);
  }

  #choose(group: string): void {
    const best = this.#best(group, () => true);
    if (best === undefined) this.#leaders.delete(group);
    else this.#leaders.set(group, best);
  }

  /** The replica that has read the most. */
  #best(group: string, isFit: (host: string) => boolean): string | undefined {
    let best: readonly [string, Task] | undefined;
    for (const [host, task] of this.#tasks) {
      if (task.group !== group || !isFit(host)) continue;
      if (best === undefined || isFurther(task.reach, best[1].reach)) best = [host, task];
    }
    return best?.[0];
  }
}

/** The place that is reached from another one through ranges that touch or overlap. */
export function chainEnd(from: string, reaches: readonly Pick<PartitionReach, 'start' | 'least'>[]): string {
  let place = from;
  for (let hasMoved = true; hasMoved; ) {
    hasMoved = false;
    for (const { start, least } of reaches) {
      if (compareOffsets(start, place) > 0 || compareOffsets(least, place) <= 0) continue;
      place = least;
      hasMoved = true;
    }
  }
  return place;
}

/** @param starts  whose starts count; left out: the lower ones */
function furthest(
  one: ReadonlyMap<string, PartitionReach>,
  other: ReadonlyMap<string, PartitionReach>,
  starts?: ReadonlyMap<string, PartitionReach>,
): ReadonlyMap<string, PartitionReach> {
  const joined = new Map(one);
  for (const [partition, reach] of other) {
    const known = one.get(partition);
    if (known === undefined) {
      joined.set(partition, reach);
      continue;
    }
    const start = starts?.get(partition)?.start ?? lower(known.start, reach.start);
    joined.set(partition, { start, least: higher(known.least, reach.least), most: higher(known.most, reach.most) });
  }
  return joined;
}

function isFurther(one: StreamReach, other: StreamReach): boolean {
  let ahead = 0;
  for (const [partition, { most }] of one.partitions) ahead += Math.sign(compareOffsets(most, other.partitions.get(partition)?.most ?? ''));
  return ahead > 0;
}

function lower(one: string, other: string): string {
  return compareOffsets(one, other) <= 0 ? one : other;
}

function higher(one: string, other: string): string {
  return compareOffsets(one, other) >= 0 ? one : other;
}

/** The process that a generation is of. */
function sessionOf(generation: string | undefined): string | undefined {
  return generation?.slice(0, generation.lastIndexOf('-'));
}

function groupOf({ supervisorId, baseSequenceName }: StreamReach): string {
  return JSON.stringify([supervisorId, baseSequenceName]);
}
