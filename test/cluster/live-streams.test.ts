import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chainEnd, LiveStreams } from '../../src/cluster/broker/live-streams.js';
import type { LiveInventory } from '../../src/cluster/rpc/services.js';
import type { PublishedStream, StreamReach } from '../../src/model/stream/reach.js';
import { caseCount } from '../case-count.js';

const streams = suite('rows of streams that were answered');

const CHAINS: readonly (readonly [string, readonly (readonly [start: number, least: number])[], number, number])[] = [
  ['nobody shows anything', [], 10, 10],
  ['one task goes on', [[10, 15]], 10, 15],
  ['one that begins earlier', [[3, 15]], 10, 15],
  ['a gap is not passed', [[11, 15]], 10, 10],
  ['one behind the other, in any order', [[15, 20], [10, 15], [20, 21]], 10, 21], // biome-ignore format: a row
  ['one within the other', [[8, 30], [9, 12]], 10, 30], // biome-ignore format: a row
  ['one that has not come as far', [[2, 7]], 10, 10],
  ['numbers and not letters', [[9, 100]], 10, 100],
];
for (const [name, reaches, from, end] of CHAINS)
  streams(`a chain: ${name}`, () => {
    const parts = reaches.map(([start, least]) => ({ start: String(start), least: String(least) }));
    assert.is(chainEnd(String(from), parts), String(end));
  });

type Range = readonly [start: number, least: number, most: number];
const reachOf = (group: string, ranges: Readonly<Record<string, Range>>, stream = 'topic'): StreamReach => ({
  dataSource: 'ds',
  supervisorId: 's',
  stream,
  baseSequenceName: group,
  partitions: new Map(
    Object.entries(ranges).map(([partition, [start, least, most]]) => [
      partition,
      { start: String(start), least: String(least), most: String(most) },
    ]),
  ),
});
const told = (host: string, reach: StreamReach, generation = `${host}-0`): LiveInventory => ({ host, generation, segments: [], reach });
const published = (offsets: Readonly<Record<string, number>>, other: Partial<PublishedStream> = {}): PublishedStream => ({
  supervisorId: 's',
  dataSource: 'ds',
  stream: 'topic',
  offsets: new Map(Object.entries(offsets).map(([partition, offset]) => [partition, String(offset)])),
  resets: 0,
  isRunning: true,
  ...other,
});
interface Clock {
  ms: number;
  readonly streams: LiveStreams;
}
function clock(): Clock {
  const time: Clock = { ms: 0, streams: new LiveStreams(() => time.ms) };
  return time;
}
const missingOf = (of: LiveStreams): string | undefined => {
  const found = of.missing('ds');
  return found === undefined ? undefined : `${found.partition}: ${found.shown} of ${found.answered}`;
};
/** A task that has answered up to 40 and 50 is gone; published are 10 and 20. */
function afterKill(): Clock {
  const time = clock();
  time.streams.publish([published({ 0: 10, 1: 20 })]);
  time.streams.update([told('a', reachOf('g', { 0: [10, 30, 30], 1: [20, 50, 50] }))], []);
  time.streams.answered('a', { generation: 'a-0', reach: reachOf('g', { 0: [10, 40, 40], 1: [20, 50, 50] }) });
  time.streams.update([], ['a']);
  return time;
}

streams('a task that is there, or has answered nothing, leaves nothing to wait for', () => {
  const { streams: found } = clock();
  found.publish([published({ 0: 10 })]);
  found.update([told('a', reachOf('g', { 0: [10, 30, 30] }))], []);
  assert.is(missingOf(found), undefined);
  found.answered('a', { generation: 'a-0', reach: reachOf('g', { 0: [10, 40, 40] }) });
  assert.is(missingOf(found), undefined);
  const silent = clock().streams;
  silent.update([told('a', reachOf('g', { 0: [10, 30, 30] }))], []);
  silent.update([], ['a']);
  assert.is(missingOf(silent), undefined);
});

streams('rows of a task that is gone are missing until another one, or what is published, has all of them', () => {
  const { streams: found } = afterKill();
  assert.is(missingOf(found), '0: 10 of 40');
  assert.is(found.missing('other'), undefined);
  found.update([told('b', reachOf('g', { 0: [10, 39, 45], 1: [20, 50, 50] }))], []);
  assert.is(missingOf(found), '0: 39 of 40');
  found.update([told('b', reachOf('g', { 0: [10, 40, 45], 1: [20, 50, 50] }))], []);
  assert.is(missingOf(found), undefined);
  // It goes as well, and had answered nothing: what the first one answered is missing again.
  found.update([], ['b']);
  assert.is(missingOf(found), '0: 10 of 40');
  found.publish([published({ 0: 40, 1: 45 })]);
  assert.is(missingOf(found), '1: 45 of 50');
  found.publish([published({ 0: 41, 1: 50 })]);
  assert.is(missingOf(found), undefined);
});

streams('a task that begins behind what the view has published has a gap before it', () => {
  const { streams: found } = afterKill();
  found.update([told('b', reachOf('h', { 0: [25, 60, 60], 1: [20, 60, 60] }))], []);
  assert.is(missingOf(found), '0: 10 of 40');
  found.publish([published({ 0: 25, 1: 20 })]);
  assert.is(missingOf(found), undefined);
});

streams('one of replicas is shown; when it goes, the one that has read the most, up to where the first one was', () => {
  const { streams: found } = clock();
  found.publish([published({ 0: 10 })]);
  const all = [
    told('a', reachOf('g', { 0: [10, 30, 30] })),
    told('b', reachOf('g', { 0: [10, 25, 25] })),
    told('c', reachOf('g', { 0: [10, 28, 28] })),
  ];
  found.update(all, []);
  assert.equal(
    ['a', 'b', 'c', 'unknown'].map((host) => found.leads(host)),
    [true, false, false, true],
  );
  found.answered('a', { generation: 'a-0', reach: reachOf('g', { 0: [10, 30, 30] }) });
  // It does not answer, and may be there still.
  assert.is(found.demote('a', new Set(['a'])), true);
  assert.equal(
    ['a', 'b', 'c'].map((host) => found.leads(host)),
    [false, false, true],
  );
  assert.is(missingOf(found), '0: 28 of 30');
  found.update([told('c', reachOf('g', { 0: [10, 30, 31] }))], ['a', 'b']);
  assert.is(missingOf(found), undefined);
  assert.is(found.demote('c', new Set()), false);
  assert.is(found.leads('c'), true);
});

streams('rows of an answer that a task gives after another one has taken its place are missing until that one has them', () => {
  const { streams: found } = clock();
  found.publish([published({ 0: 10 })]);
  found.update([told('a', reachOf('g', { 0: [10, 30, 30] })), told('b', reachOf('g', { 0: [10, 30, 30] }))], []);
  assert.is(found.demote('a', new Set(['a', 'b'])), false);
  assert.is(found.demote('a', new Set(['a'])), true);
  assert.is(missingOf(found), undefined);
  found.answered('a', { generation: 'a-0', reach: reachOf('g', { 0: [10, 32, 33] }) });
  assert.is(missingOf(found), '0: 30 of 33');
  found.update([told('b', reachOf('g', { 0: [10, 33, 33] }), 'b-1')], []);
  assert.is(missingOf(found), undefined);
});

streams('a replica that never led, and is asked for published rows, leaves nothing to wait for', () => {
  const { streams: found } = clock();
  found.publish([published({ 0: 10 })]);
  found.update([told('a', reachOf('g', { 0: [10, 30, 30] })), told('b', reachOf('g', { 0: [10, 33, 33] }))], []);
  const behind = ['a', 'b'].find((host) => !found.leads(host)) ?? '';
  found.answered(behind, { generation: `${behind}-0`, reach: reachOf('g', { 0: [10, 40, 40] }) }, false);
  assert.is(missingOf(found), undefined);
});

streams('rows that a task drops are missing while the view does not show them as published', () => {
  const { streams: found } = clock();
  found.publish([published({ 0: 10 })]);
  found.update([told('a', reachOf('g', { 0: [10, 30, 30] }))], []);
  found.answered('a', { generation: 'a-0', reach: reachOf('g', { 0: [10, 30, 30] }) });
  found.update([told('a', reachOf('g', { 0: [20, 30, 30] }), 'a-1')], []);
  assert.is(missingOf(found), '0: 10 of 20');
  found.publish([published({ 0: 20 })]);
  assert.is(missingOf(found), undefined);
});

streams('another process at the address of a task is another task', () => {
  const { streams: found } = clock();
  found.publish([published({ 0: 10 })]);
  found.update([told('a', reachOf('g', { 0: [10, 30, 30] }), 'first-0')], []);
  found.answered('a', { generation: 'first-0', reach: reachOf('g', { 0: [10, 30, 30] }) });
  found.update([told('a', reachOf('g', { 0: [10, 12, 12] }), 'second-0')], []);
  assert.is(missingOf(found), '0: 12 of 30');
});

const FORGOTTEN: readonly (readonly [string, (time: Clock) => void])[] = [
  ['the offsets are reset', ({ streams: found }) => found.publish([published({ 0: 10, 1: 20 }, { resets: 1 })])],
  ['the offsets are forgotten', ({ streams: found }) => found.publish([])],
  ['the stream is another one', ({ streams: found }) => found.publish([published({ 0: 10, 1: 20 }, { stream: 'other' })])],
  ['the supervisor is suspended', ({ streams: found }) => found.publish([published({ 0: 10, 1: 20 }, { isRunning: false })])],
  ['ten minutes have passed', (time) => { time.ms = 600_001; }], // biome-ignore format: a row
];
for (const [name, happens] of FORGOTTEN)
  streams(`nothing is waited for any more once ${name}`, () => {
    const time = afterKill();
    assert.is.not(missingOf(time.streams), undefined);
    happens(time);
    assert.is(missingOf(time.streams), undefined);
  });

streams('what a task answers after the offsets were set does not count, and that of the next one does', () => {
  const { streams: found } = clock();
  found.publish([published({ 0: 10 })]);
  found.update([told('a', reachOf('g', { 0: [10, 30, 30] }))], []);
  found.update([], []);
  found.publish([published({ 0: 0 }, { resets: 1 })]);
  found.answered('a', { generation: 'a-0', reach: reachOf('g', { 0: [10, 30, 30] }) });
  found.update([told('b', reachOf('h', { 0: [0, 5, 5] }))], ['a']);
  assert.is(missingOf(found), undefined);
  found.answered('b', { generation: 'b-0', reach: reachOf('h', { 0: [0, 5, 5] }) });
  found.update([], ['b']);
  assert.is(missingOf(found), '0: 0 of 5');
});

streams('a suspended supervisor whose tasks publish is waited for', () => {
  const { streams: found } = clock();
  found.publish([published({ 0: 10 })]);
  found.update([told('a', reachOf('g', { 0: [10, 30, 30] })), told('b', reachOf('h', { 0: [30, 40, 40] }))], []);
  found.answered('b', { generation: 'b-0', reach: reachOf('h', { 0: [30, 40, 40] }) });
  found.publish([published({ 0: 10 }, { isRunning: false })]);
  found.update([], ['b']);
  assert.is(missingOf(found), '0: 30 of 40');
  found.update([], ['a']);
  assert.is(missingOf(found), undefined);
});

/** A sequence of a group: the rows from one offset to another; the same in replicas. */
interface Sequence {
  readonly name: string;
  readonly start: number;
  end: number | null;
}
interface Group {
  readonly name: string;
  readonly sequences: Sequence[];
  isLast: boolean;
}
interface ModelTask {
  readonly host: string;
  readonly group: Group;
  position: number;
  /** Segments that it has, by the name of their sequence. */
  readonly held: Set<string>;
  changes: number;
}

/** A stream of one partition, tasks that read it, metadata, and a Broker whose picture of all of it is as old as its last look. */
class Model {
  readonly streams = new LiveStreams(() => 0);
  #sent = 0;
  #hosts = 0;
  readonly #groups: Group[] = [newGroup(0)];
  readonly #tasks = new Map<string, ModelTask>();
  readonly #metadata = { stored: 0, resets: 0, rows: 0, sequences: new Set<string>() };
  /** The Broker's: what it last saw of metadata, and of each task. */
  #seen = { resets: 0, rows: 0, sequences: new Set<string>() };
  readonly #known = new Map<string, { readonly task: ModelTask; generation: string; held: ReadonlySet<string> }>();
  #most = 0;
  hasLost = false;
  answers = 0;

  constructor() {
    // A supervisor stores where it begins before a task does.
    this.adopt();
  }

  send(rows: number): void {
    this.#sent += rows;
  }

  /** Starts a task of a group, from the first of its sequences that is not published. */
  start(choice: number): void {
    const group = this.#groups[choice % this.#groups.length];
    if (group === undefined || [...this.#tasks.values()].filter((task) => task.group === group).length >= 2) return;
    const first = group.sequences.find(({ name }) => !this.#metadata.sequences.has(name));
    if (first === undefined) return;
    const host = `t${this.#hosts++}`;
    this.#tasks.set(host, { host, group, position: first.start, held: new Set([first.name]), changes: 0 });
  }

  read(choice: number, rows: number): void {
    const task = this.#chosen(choice);
    if (task === undefined) return;
    for (let left = rows; left > 0; ) {
      const sequence = task.group.sequences.find(({ start, end }) => start <= task.position && (end === null || task.position < end));
      if (sequence === undefined) return;
      const to = Math.min(task.position + left, sequence.end ?? this.#sent, this.#sent);
      if (to === task.position) return;
      if (!task.held.has(sequence.name)) task.changes++;
      task.held.add(sequence.name);
      left -= to - task.position;
      task.position = to;
    }
  }

  /** Ends the sequence that a group reads at the furthest of its tasks. */
  checkpoint(choice: number, isLast: boolean): void {
    const group = this.#chosen(choice)?.group;
    const open = group?.sequences.at(-1);
    if (group === undefined || open === undefined || open.end !== null) return;
    const end = Math.max(...[...this.#tasks.values()].filter((task) => task.group === group).map(({ position }) => position));
    if (end <= open.start) return;
    open.end = end;
    group.isLast = isLast;
    if (isLast) this.#groups.push(newGroup(end, this.#groups.length));
    else group.sequences.push({ name: `${group.name}_${group.sequences.length}`, start: end, end: null });
  }

  publish(choice: number): void {
    const { sequences, stored } = this.#metadata;
    const task = this.#chosen(choice);
    const next = task?.group.sequences.find(
      ({ name, end }) => end !== null && end <= task.position && task.held.has(name) && !sequences.has(name),
    );
    if (task === undefined || next?.end == null || next.start !== stored) return;
    this.#metadata.stored = next.end;
    this.#metadata.rows += next.end - next.start;
    sequences.add(next.name);
  }

  /** A task drops a sequence: usually when the Broker shows it as published. */
  drop(choice: number, isTooEarly: boolean): void {
    const task = this.#chosen(choice);
    const [first] = task?.held ?? [];
    if (task === undefined || first === undefined || !this.#metadata.sequences.has(first)) return;
    if (!isTooEarly && !this.#seen.sequences.has(first)) return;
    if (isTooEarly) this.hasLost = true;
    task.held.delete(first);
    task.changes++;
    if (task.held.size === 0 && task.group.isLast) this.#tasks.delete(task.host);
  }

  kill(choice: number): void {
    const task = this.#chosen(choice);
    if (task === undefined) return;
    this.hasLost = true;
    this.#tasks.delete(task.host);
  }

  /** Sets the stored offset, and ends all tasks. */
  reset(offset: number): void {
    this.#metadata.stored = Math.min(offset, this.#sent);
    this.#metadata.resets++;
    this.#groups.length = 0;
    this.#groups.push({ ...newGroup(this.#metadata.stored), name: `r${this.#metadata.resets}` });
    this.#groups[0]?.sequences.splice(0, 1, { name: `r${this.#metadata.resets}_0`, start: this.#metadata.stored, end: null });
    this.look();
    this.adopt();
    this.#tasks.clear();
  }

  /** The Broker looks at the tasks. */
  look(): void {
    const gone = [...this.#known.keys()].filter((host) => !this.#tasks.has(host));
    for (const host of gone) this.#known.delete(host);
    const updates = [...this.#tasks.values()].map((task) => told(task.host, this.#reach(task), `${task.host}-${task.changes}`));
    for (const task of this.#tasks.values())
      this.#known.set(task.host, { task, generation: `${task.host}-${task.changes}`, held: new Set(task.held) });
    this.streams.update(updates, gone);
  }

  /** The Broker adopts what is published. */
  adopt(): void {
    const { stored, resets, rows, sequences } = this.#metadata;
    if (resets !== this.#seen.resets) this.#most = 0;
    this.#seen = { resets, rows, sequences: new Set(sequences) };
    this.streams.publish([published({ 0: stored }, { resets })]);
  }

  /** A query, unless it waits or fails. */
  count(): void {
    if (this.streams.missing('ds') !== undefined) return;
    const asked = [...this.#known].filter(([host]) => this.streams.leads(host));
    // One that is gone, or has dropped what the Broker asks for.
    const isShown = (name: string): boolean => !this.#seen.sequences.has(name);
    if (asked.some(([host, { task, held }]) => !this.#tasks.has(host) || [...held].some((name) => isShown(name) && !task.held.has(name))))
      return;
    let rows = this.#seen.rows;
    for (const [host, { task, held }] of asked) {
      this.streams.answered(host, { generation: `${host}-${task.changes}`, reach: this.#reach(task) });
      for (const { name, start, end } of task.group.sequences)
        if (held.has(name) && isShown(name)) rows += Math.max(0, Math.min(end ?? task.position, task.position) - start);
    }
    this.answers++;
    assert.ok(rows >= this.#most, `${rows} rows after ${this.#most}`);
    this.#most = rows;
  }

  /** All is read and looked at. */
  settle(): void {
    this.look();
    for (let round = 0; round < this.#groups.length; round++) this.start(round);
    for (let round = 0; round < this.#tasks.size; round++) this.read(round, Number.MAX_SAFE_INTEGER);
    this.adopt();
    this.look();
  }

  #chosen(choice: number): ModelTask | undefined {
    const tasks = [...this.#tasks.values()];
    return tasks[choice % Math.max(1, tasks.length)];
  }

  #reach({ group, position, held }: ModelTask): StreamReach {
    const start = group.sequences.find(({ name }) => held.has(name))?.start ?? position;
    return reachOf(group.name, { 0: [start, position, position] });
  }
}

function newGroup(start: number, number = 0): Group {
  return { name: `g${number}`, sequences: [{ name: `g${number}_0`, start, end: null }], isLast: false };
}

const number = fc.nat({ max: 20 });
const step = fc.oneof(
  ...(
    ['send', 'send', 'start', 'start', 'read', 'read', 'count', 'count', 'count', 'look', 'adopt', 'checkpoint', 'publish', 'drop'] as const
  ).map((kind) => fc.record({ kind: fc.constant(kind), choice: number, rows: number })),
);
const loss = fc.record({ kind: fc.constantFrom('kill', 'kill', 'early drop', 'reset'), choice: number, rows: number });

function take(model: Model, { kind, choice, rows }: { readonly kind: string; readonly choice: number; readonly rows: number }): void {
  if (kind === 'send') model.send(rows);
  else if (kind === 'start') model.start(choice);
  else if (kind === 'read') model.read(choice, rows);
  else if (kind === 'count') {
    if (choice % 3 > 0) model.look();
    model.count();
  } else if (kind === 'look') model.look();
  else if (kind === 'adopt') model.adopt();
  else if (kind === 'checkpoint') model.checkpoint(choice, rows % 3 === 0);
  else if (kind === 'publish') model.publish(choice);
  else if (kind === 'drop') model.drop(choice, false);
  else if (kind === 'early drop') model.drop(choice, true);
  else if (kind === 'kill') model.kill(choice);
  else model.reset(choice);
}

streams('whatever befalls tasks, the rows that a reader counts never get fewer, and are not waited for for ever', () => {
  let [answers, losses] = [0, 0];
  const history = fc.array(fc.oneof({ weight: 6, arbitrary: step }, { weight: 1, arbitrary: loss }), { minLength: 20, maxLength: 120 });
  fc.assert(
    fc.property(history, (steps) => {
      const model = new Model();
      for (const each of steps) take(model, each);
      model.settle();
      assert.is(missingOf(model.streams), undefined);
      model.count();
      answers += model.answers;
      losses += Number(model.hasLost);
    }),
    { numRuns: caseCount(400) },
  );
  assert.ok(answers > 400 && losses > 50, `${answers} answers, ${losses} histories with losses`);
});

streams('nothing is waited for while no task is lost', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
      const model = new Model();
      for (const each of steps) {
        take(model, each);
        assert.is(missingOf(model.streams), undefined);
      }
    }),
    { numRuns: caseCount(400) },
  );
});

streams.run();
