// One simulation: a cluster, tasks and queries, faults, and then a calm in which everything must come right.

import { Canceller } from '../../src/base/cancel-signal.js';
import { ServiceError } from '../../src/base/errors.js';
import { ETERNITY, type Interval } from '../../src/base/instant.js';
import { LoopTurns } from '../../src/base/loop-turns.js';
import type { Coordination } from '../../src/cluster/membership/coordination.js';
import { Peers } from '../../src/cluster/rpc/peers.js';
import type { SegmentMetadataPlan } from '../../src/model/plan.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { type Kind, Machine, type Parts, REPLICANTS, type Variant } from './cluster.js';
import { Files } from './files.js';
import { History, segmentKey, storedOffset } from './history.js';
import { Network } from './network.js';
import { Store } from './store.js';
import type { SimulatedTask } from './worker.js';
import { Process, World } from './world.js';

const DAY_MS = 86_400_000;
const FAULTS_MS = 12_000;
/** Longest calm: leases run out, lost calls end, everything is looked at anew once. */
const CALM_MS = 180_000;
const LOOK_MS = 400;
const STREAM = 'stream';

export interface Outcome {
  readonly violations: readonly string[];
  readonly traceHash: string;
  /** Last lines of the trace. */
  readonly lines: readonly string[];
  readonly publishes: number;
  readonly queries: { readonly answered: number; readonly refused: number };
  readonly faults: number;
  readonly simulatedMs: number;
}

/** Runs the simulation of a seed: the same events in the same order, whenever and wherever. */
export async function simulate(seed: number, variant: Variant = 'sound'): Promise<Outcome> {
  const world = new World(seed);
  const clock = LoopTurns.clock;
  // Turns are given by the time that the machine takes, which differs from run to run.
  LoopTurns.clock = { monotonicMs: () => 0 };
  try {
    return await new Simulation(world, variant).run();
  } finally {
    LoopTurns.clock = clock;
  }
}

class Simulation {
  readonly #world: World;
  readonly #variant: Variant;
  readonly #files = new Files();
  readonly #history: History;
  readonly #network: Network;
  readonly #machines: Machine[] = [];
  readonly #client: Process;
  readonly #acknowledged = new Set<string>();
  /** Machines that do not reach the metadata store, until an instant. */
  readonly #cutOff = new Map<string, number>();
  readonly #paused = new Set<Process>();
  #lostAnswers = 0;
  #isCalm = false;
  #tasks = 0;
  #rows = 0;
  #answered = 0;
  #refused = 0;
  #faults = 0;

  constructor(world: World, variant: Variant) {
    this.#world = world;
    this.#variant = variant;
    this.#history = new History(world, this.#files);
    this.#network = new Network(world);
    this.#client = new Process(world, 'client', 1);
  }

  async run(): Promise<Outcome> {
    const world = this.#world;
    const { chance } = world;
    const history = this.#history;
    const store: Store = await Store.open(world, {
      committed: (commit) => history.committed(store, commit),
      shown: (process, { sql, bindings }, rows) => {
        if (this.#variant === 'fence' && sql.startsWith('SELECT epoch, host, expires_ms FROM leaders'))
          return rows.map((row) => ({ ...row, epoch: history.epochOf(process, String(bindings[0])) ?? row['epoch'] }));
        if (this.#variant === 'locks' && sql.startsWith('SELECT * FROM locks WHERE data_source')) return [];
        return this.#variant === 'carried' && sql.startsWith('SELECT segment_id FROM carried_segments') ? [] : rows;
      },
      lostAnswers: () => this.#lostAnswers,
      isReached: ({ name }) => (this.#cutOff.get(name) ?? 0) <= world.nowMs,
    });
    const parts: Parts = { world, network: this.#network, store, files: this.#files, history, variant: this.#variant };
    const counts: readonly [Kind, number][] = [
      ['master', chance.between(1, 10) > 1 ? 2 : 3],
      ['historical', chance.between(2, 3)],
      ['broker', chance.between(1, 2)],
      ['worker', chance.between(1, 2)],
    ];
    for (const [kind, count] of counts) for (let at = 1; at <= count; at++) this.#machines.push(new Machine(parts, kind, `${kind}${at}:1`));
    for (const machine of this.#machines) world.after(chance.between(0, 1500), () => machine.start());
    const coordination = { leader: () => undefined, members: () => [] } as unknown as Coordination;
    const peers = new Peers({ client: this.#network.clientOf(this.#client), coordination, clock: this.#client.clock });
    void this.#submitAll(peers);
    void this.#stream(peers, store);
    for (let at = 0; at < 2; at++) void this.#query();
    world.after(2500, () => this.#fault());
    this.#look();
    await world.runUntil(FAULTS_MS, () => world.violations.length > 0);
    this.#calm();
    let left: readonly string[] = ['nothing was looked at'];
    for (let at = 0; at < CALM_MS && left.length > 0 && world.violations.length === 0; at += 1000) {
      await world.runUntil(world.nowMs + 1000, () => world.violations.length > 0);
      left = this.#unsettled(store);
    }
    if (left.length > 0 && world.violations.length === 0) world.violated(`after ${CALM_MS} ms of calm: ${left.join('; ')}`);
    if (world.violations.length === 0) history.checkEnds(store);
    const simulatedMs = world.nowMs;
    for (const { process } of this.#machines) process.crash();
    this.#client.crash();
    // Connections end, and with them an open transaction.
    await world.runUntil(world.nowMs + 10);
    return {
      violations: world.violations,
      traceHash: world.traceHash(),
      lines: world.lines,
      publishes: history.publishes,
      queries: { answered: this.#answered, refused: this.#refused },
      faults: this.#faults,
      simulatedMs,
    };
  }

  #of(kind: Kind): readonly Machine[] {
    return this.#machines.filter((machine) => machine.kind === kind);
  }

  /** Tasks of the two datasources: one with locks that keep others out, one whose appends run beside replaces. */
  async #submitAll(peers: Peers): Promise<void> {
    const { chance } = this.#world;
    await this.#client.sleep(2000);
    while (!this.#isCalm) {
      const isConcurrent = chance.is(0.5);
      const dataSource = isConcurrent ? 'beside' : 'alone';
      if (chance.is(0.05)) {
        const id = `kill${this.#tasks++}`;
        const interval = '2000-01-01/2100-01-01';
        void this.#submit(peers, id, { type: 'kill', id, dataSource, interval });
      } else {
        const days = chance.pick([[0], [1], [0, 1], [1, 2], [0, 1, 2]]);
        const kind = chance.pick(['append', 'append', 'append', 'replace', 'rewrite', 'rewrite'] as const);
        const task: SimulatedTask = {
          id: `${kind}${this.#tasks++}`,
          kind,
          dataSource,
          chunks: days.map(day),
          rows: days.map(() => Array.from({ length: chance.between(1, 4) }, () => this.#rows++)),
          isConcurrent,
          fails: chance.is(0.08),
          priority: chance.pick([50, 50, 50, 25, 75]),
        };
        this.#history.submitted(task);
        void this.#submit(peers, task.id, task);
      }
      await this.#client.sleep(chance.between(100, 2200));
    }
  }

  /** Submits a task until some leader says that it has it. */
  async #submit(peers: Peers, id: string, task: object): Promise<boolean> {
    for (;;) {
      const { name } = this.#world.chance.pick(this.#of('master'));
      try {
        await peers.at('overlord', name).submit(JSON.stringify(task));
        break;
      } catch (error) {
        // It is there already: the answer to an earlier try was lost.
        if (error instanceof ServiceError && error.code === 'conflict') break;
        if (error instanceof ServiceError && error.code !== 'not_leader' && error.code !== 'unavailable' && error.code !== 'timeout') {
          this.#world.violated(`task ${id} is refused: ${error.code}: ${error.message}`);
          return false;
        }
        await this.#client.sleep(this.#world.chance.between(100, 1500));
      }
    }
    this.#acknowledged.add(id);
    return true;
  }

  /** Has a stream read, as a supervisor does: from what is published on, sometimes by two replicas. */
  async #stream(peers: Peers, store: Store): Promise<void> {
    const { chance } = this.#world;
    await this.#client.sleep(2500);
    while (!this.#isCalm) {
      const [stored] = store.peek('SELECT payload FROM stream_offsets WHERE supervisor_id = ?', [STREAM]);
      const begin = stored === undefined ? 0 : storedOffset(String(stored['payload']));
      const common = { kind: 'stream', dataSource: STREAM, chunks: [day(0), day(1)], rows: [], isConcurrent: true, fails: false } as const;
      const replicas = Array.from({ length: chance.is(0.3) ? 2 : 1 }, (): SimulatedTask => {
        return { ...common, id: `stream${this.#tasks++}`, priority: 75, begin, sequences: chance.between(1, 4) };
      });
      for (const replica of replicas) {
        this.#history.submitted(replica);
        await this.#submit(peers, replica.id, replica);
      }
      const ids = replicas.map(({ id }) => id);
      const isOver = (): boolean =>
        store.peek(`SELECT id FROM tasks WHERE id IN (${ids.map(() => '?').join(', ')}) AND state NOT IN ('SUCCESS', 'FAILED')`, ids)
          .length === 0;
      while (!isOver() && !this.#isCalm) await this.#client.sleep(700);
    }
  }

  /** Asks a Broker again and again for every segment of a datasource. */
  async #query(): Promise<void> {
    const { chance } = this.#world;
    const history = this.#history;
    for (;;) {
      await this.#client.sleep(chance.between(300, 3500));
      const { broker, process } = chance.pick(this.#of('broker'));
      if (broker === undefined || !process.isAlive || process.isPaused) continue;
      const dataSource = chance.pick(['alone', 'beside', STREAM]);
      const atLeast = history.placeOf(process, dataSource);
      const sinceMs = this.#world.nowMs;
      const nowMs = process.clock.now();
      const plan: SegmentMetadataPlan = {
        operator: 'segmentMetadata',
        dataSource,
        intervals: [ETERNITY],
        filter: null,
        virtualColumns: [],
        post: [],
        analyses: [],
        columns: { kind: 'none' },
        merge: false,
      };
      const options = { queryId: `q${sinceMs}`, deadlineMs: nowMs + 10_000, priority: 0, kernels: null, signal: new Canceller() };
      try {
        const found = await broker.analyze(plan, options);
        this.#answered++;
        history.shown(
          process,
          dataSource,
          found.map(({ id }) => id),
          sinceMs,
          atLeast,
        );
      } catch (error) {
        this.#refused++;
        const { code, message } = error as ServiceError;
        this.#world.note(`${process.name} refuses a query: ${code}`);
        if (!['unavailable', 'segments_unavailable', 'timeout'].includes(code))
          this.#world.violated(`a query failed with ${code}: ${message}`);
      }
    }
  }

  /** Looks at every Broker's view. */
  #look(): void {
    for (const { broker, process } of this.#of('broker'))
      for (const dataSource of this.#history.dataSources)
        if (broker?.ready === true && !process.isPaused) this.#history.shown(process, dataSource, shownBy(broker, dataSource));
    this.#world.after(LOOK_MS, () => this.#look());
  }

  #fault(): void {
    if (this.#isCalm) return;
    const { chance } = this.#world;
    const world = this.#world;
    const machine = chance.pick(this.#machines);
    const lastsMs = chance.is(0.2) ? chance.between(4000, 15_000) : chance.between(200, 4000);
    const other = chance.pick(this.#machines);
    const kind = chance.pick([
      'crash',
      'crash',
      'leave',
      'pause',
      'pause',
      'cut',
      'one-way',
      'store',
      'store',
      'answers',
      'network',
      'files',
      'clock',
    ]);
    world.note(`fault ${kind} of ${machine.name} and ${other.name} for ${lastsMs}`);
    this.#faults++;
    const until = world.nowMs + lastsMs;
    if (kind === 'crash' || kind === 'leave') {
      if (kind === 'crash') machine.crash();
      else machine.leave(lastsMs);
      world.after(lastsMs + chance.between(0, 500), () => machine.start());
    } else if (kind === 'pause') {
      const { process } = machine;
      process.pause();
      this.#paused.add(process);
      world.after(lastsMs, () => process.resume());
    } else if (kind === 'cut' || kind === 'one-way') {
      this.#network.cut(machine.name, other.name, until);
      if (kind === 'cut') this.#network.cut(other.name, machine.name, until);
    } else if (kind === 'store') this.#cutOff.set(machine.name, until);
    else if (kind === 'answers') this.#lostAnswers = chance.pick([0, 0.05, 0.3]);
    else if (kind === 'network') {
      this.#network.loss = chance.pick([0, 0.02, 0.2]);
      this.#network.slowness = chance.pick([0, 0.05, 0.3]);
    } else if (kind === 'files') this.#files.failures = chance.pick([0, 0.05, 0.3]);
    else world.stepCalendar(chance.between(-20_000, 20_000));
    world.after(chance.is(0.3) ? chance.between(0, 300) : chance.between(300, 3500), () => this.#fault());
  }

  /** Ends all faults. */
  #calm(): void {
    this.#world.note('calm');
    this.#isCalm = true;
    this.#network.heal();
    this.#cutOff.clear();
    this.#lostAnswers = 0;
    this.#files.failures = 0;
    for (const process of this.#paused) process.resume();
    for (const machine of this.#machines) machine.start();
  }

  /** Everything that a cluster at rest still has to do. */
  #unsettled(store: Store): readonly string[] {
    const left = this.#history.unfinished(store, this.#acknowledged).map((task) => `task ${task}`);
    const historicals = this.#of('historical');
    const servedBy = new Map<string, number>();
    for (const { historical } of historicals)
      for (const { id } of historical?.holding().segments ?? [])
        servedBy.set(segmentIdText(id), (servedBy.get(segmentIdText(id)) ?? 0) + 1);
    const wanted = Math.min(REPLICANTS, historicals.length);
    for (const dataSource of this.#history.dataSources) {
      const visible = this.#history.visible(dataSource);
      for (const id of visible === '' ? [] : visible.split(' ')) {
        const copies = servedBy.get(id) ?? 0;
        servedBy.delete(id);
        if (copies !== wanted) left.push(`${id} is served by ${copies}`);
      }
      for (const { broker, name } of this.#of('broker'))
        if (broker === undefined || segmentKey(shownBy(broker, dataSource)) !== visible)
          left.push(`${name} does not show ${dataSource} as it is`);
    }
    for (const [id, copies] of servedBy) left.push(`${id} is not needed and served by ${copies}`);
    return left;
  }
}

const day = (number: number): Interval => ({ start: number * DAY_MS, end: (number + 1) * DAY_MS });

function shownBy(broker: NonNullable<Machine['broker']>, dataSource: string): readonly string[] {
  return broker.candidates(dataSource, { intervals: [ETERNITY] }).map(({ segment }) => segmentIdText(segment.id));
}
