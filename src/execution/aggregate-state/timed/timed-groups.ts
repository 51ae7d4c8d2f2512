// The values at the best times of one thread's groups, in kernel memory.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Arena } from '../../../kernels/arena.js';
import { type ColumnType, isTextType } from '../../../model/schema.js';
import type { RunContext } from '../../block/context.js';
import { LENGTH, layTexts, referredTexts } from '../../block/text-references.js';
import { wellFormed } from '../../expression/uploaded-column.js';
import { referredColumn } from '../referred-column.js';
import type { EncodedStates, GroupStates, NumberedColumn, StateParts, TimedRows, TimedStates } from '../state-operations.js';
import { eachKnown, HAS_KEY } from './known-values.js';
import { TimedStore } from './timed-store.js';
import { decodeTimed, doubleOfKey, type Ending, encodeTimed, keyOfNumber, type TimedValue, worstTime } from './timed-value.js';

/** Values that wait until they are told to kernels together. */
const WAITING_MAX = BLOCK_ROWS;

interface Kind {
  readonly ending: Ending;
  readonly valueType: ColumnType;
  /** Bytes of a text that are its value. */
  readonly textBytesMax: number;
  readonly merge: (into: TimedValue, from: TimedValue) => void;
}

/** A time and a value for each group: segments and threads meet in kernels, and no value is decoded before it is asked for. */
export class TimedGroups implements GroupStates {
  readonly #context: RunContext;
  readonly #kind: Kind;
  readonly #charge: (bytes: number) => void;
  readonly #arena: Arena;
  readonly #waiting = new Map<number, TimedValue>();
  #store: TimedStore | undefined;
  #charged = 0;

  /** @param charge  told of every byte that is kept; throws when there are too many */
  constructor(context: RunContext, kind: Kind, charge: (bytes: number) => void) {
    this.#context = context;
    this.#kind = kind;
    this.#charge = charge;
    this.#arena = context.memory.arena();
  }

  get isEmpty(): boolean {
    return this.#store === undefined && this.#waiting.size === 0;
  }

  addTimed(rows: TimedRows): void {
    if (rows.n === 0) return;
    const { ending, valueType } = this.#kind;
    this.#store ??= new TimedStore({ context: this.#context, arena: this.#arena }, ending, valueType);
    this.#store.add(rows);
    this.#charge(this.#arena.bytes - this.#charged);
    this.#charged = this.#arena.bytes;
  }

  addTexts(texts: Address, groups: Address, n: number): void {
    this.addTimed({ times: 0, values: texts, areNull: false, groups, n });
  }

  add(group: number, _order: number, state: unknown): void {
    const { time, value } = state as TimedValue;
    if (value === null && time === worstTime(this.#kind.ending)) return;
    const known = this.#waiting.get(group);
    if (known === undefined) this.#waiting.set(group, { time, value });
    else this.#kind.merge(known, { time, value });
    if (this.#waiting.size >= WAITING_MAX) this.#flush();
  }

  change(work: (stateOf: (group: number) => unknown) => void): void {
    const changed = new Map<number, TimedValue>();
    work((group) => {
      const known = changed.get(group) ?? { time: worstTime(this.#kind.ending), value: null };
      changed.set(group, known);
      return known;
    });
    for (const [group, state] of changed) this.add(group, 0, state);
  }

  reader(): (group: number) => unknown {
    return timedReader(this.#context, this.parts());
  }

  /** Undefined where a text is longer than its value may be: that is made of the text. */
  column(groups: Uint32Array): NumberedColumn | undefined {
    const { values: references, known, count } = this.parts();
    if (known !== 0 || !isTextType(this.#kind.valueType)) return undefined;
    const { memory } = this.#context;
    const words = memory.u32(references, count * 2);
    for (let group = 0; group < count; group++) if (((words[group * 2 + 1] ?? 0) & LENGTH) > this.#kind.textBytesMax) return undefined;
    return referredColumn(memory, { references, count }, groups);
  }

  parts(): TimedStates {
    this.#flush();
    const { ending, valueType } = this.#kind;
    return this.#store?.parts() ?? { kind: 'timed', ending, valueType, times: 0, values: 0, known: 0, count: 0 };
  }

  join(parts: StateParts, groupOf: Address, groupCount: number): void {
    const { check, memory } = this.#context;
    if (parts.kind === 'encoded') {
      const numbers = memory.u32(groupOf, groupCount).slice();
      const { valueType } = this.#kind;
      parts.groups.forEach((group, index) => this.add(numbers[group] ?? 0, 0, decodeTimed(parts.states[index] ?? '', valueType)));
      return;
    }
    if (parts.kind !== 'timed') return;
    const { times, values, known } = parts;
    const count = Math.min(parts.count, groupCount);
    if (known === 0) {
      for (let from = 0; from < count; from += BLOCK_ROWS) {
        check();
        const n = Math.min(BLOCK_ROWS, count - from);
        this.addTimed({ times: times + from * 8, values: values + from * 8, areNull: false, groups: groupOf + from * 4, n });
      }
      return;
    }
    const arena = memory.arena();
    try {
      eachKnown({ context: this.#context, arena }, { count, times, keys: values, known }, groupOf, (rows) => this.addTimed(rows));
    } finally {
      arena.release();
    }
  }

  handOver(): readonly Address[] {
    this.#store = undefined;
    return this.#arena.handOver();
  }

  free(): void {
    this.#store = undefined;
    this.#waiting.clear();
    this.#arena.release();
  }

  #flush(): void {
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    const arena = this.#context.memory.arena();
    try {
      const isNull = ([, { value }]: (typeof waiting)[number]): boolean => value === null;
      this.#tell(arena, waiting.filter(isNull), true);
      this.#tell(
        arena,
        waiting.filter((each) => !isNull(each)),
        false,
      );
    } finally {
      arena.release();
    }
  }

  #tell(arena: Arena, waiting: readonly (readonly [number, TimedValue])[], areNull: boolean): void {
    const { memory } = this.#context;
    const n = waiting.length;
    if (n === 0) return;
    const [groups, times] = [arena.take(n * 4), arena.take(n * 8)];
    memory.u32(groups, n).set(waiting.map(([group]) => group));
    memory.i64(times, n).set(waiting.map(([, { time }]) => time));
    const values = isTextType(this.#kind.valueType)
      ? layTexts(
          memory,
          arena,
          waiting.map(([, { value }]) => (typeof value === 'string' ? wellFormed(value) : null)),
        )
      : arena.take(n * 8);
    if (!isTextType(this.#kind.valueType))
      memory
        .i64(values, n)
        .set(waiting.map(([, { value }]) => (typeof value === 'bigint' || typeof value === 'number' ? keyOfNumber(value) : 0n)));
    this.addTimed({ times, values, areNull, groups, n });
  }
}

/** Reads the state of a group; undefined: no row took part. */
function timedReader(
  { memory }: RunContext,
  { ending, valueType, times, values, known, count }: TimedStates,
): (group: number) => TimedValue | undefined {
  const instants = memory.i64(times, count);
  if (known === 0) {
    const [read, worst] = [referredTexts(memory, values, count), worstTime(ending)];
    return (group) => {
      const [time = worst, value] = [instants[group], group < count ? read(group) : null];
      return value === null && time === worst ? undefined : { time, value };
    };
  }
  const [marks, keys] = [memory.u8(known, count), memory.i64(values, count)];
  return (group) => {
    const mark = marks[group] ?? 0;
    if (mark === 0) return undefined;
    const key = keys[group] ?? 0n;
    return { time: instants[group] ?? 0n, value: mark !== HAS_KEY ? null : valueType === 'LONG' ? key : doubleOfKey(key) };
  };
}

/** The states as the texts that spilled groups are written with. */
export function encodedTimed(context: RunContext, parts: TimedStates): EncodedStates {
  const [groups, states]: [number[], string[]] = [[], []];
  const read = timedReader(context, parts);
  for (let group = 0; group < parts.count; group++) {
    if (group % BLOCK_ROWS === 0) context.check();
    const state = read(group);
    if (state === undefined) continue;
    groups.push(group);
    states.push(encodeTimed(state));
  }
  return { kind: 'encoded', groups, orders: groups.map(() => 0), states };
}
