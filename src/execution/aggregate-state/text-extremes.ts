// The smallest or largest strings of one thread's groups, in kernel memory.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { RunContext } from '../block/context.js';
import { layTexts, referredTexts } from '../block/text-references.js';
import { wellFormed } from '../expression/uploaded-column.js';
import { BestTexts } from './best-texts.js';
import { referredColumn } from './referred-column.js';
import type { EncodedStates, GroupStates, NumberedColumn, StateParts, TextStates } from './state-operations.js';

/** The smallest or largest text of a group; null before any. */
export interface BestText {
  text: string | null;
}

export type End = 'min' | 'max';

export function isBetter(end: End, text: string, than: string): boolean {
  return end === 'min' ? text < than : text > than;
}

/** Texts that wait until they are told to kernels together. */
const WAITING_MAX = BLOCK_ROWS;

/** A reference for each group, and the bytes it refers to. What segments give by kernels is never decoded before it is asked for. */
export class TextExtremes implements GroupStates {
  readonly #context: RunContext;
  readonly #end: End;
  readonly #charge: (bytes: number) => void;
  readonly #arena: Arena;
  #best: BestTexts | undefined;
  #charged = 0;
  readonly #waiting = new Map<number, string>();

  constructor(context: RunContext, end: End, charge: (bytes: number) => void) {
    this.#context = context;
    this.#end = end;
    this.#charge = charge;
    this.#arena = context.memory.arena();
  }

  get isEmpty(): boolean {
    return this.#best === undefined && this.#waiting.size === 0;
  }

  /** @param texts  references, 0 for none, one for each of the groups */
  addTexts(texts: Address, groups: Address, n: number): void {
    this.#best ??= new BestTexts({ context: this.#context, arena: this.#arena }, this.#end);
    this.#best.add(texts, groups, n);
    this.#charge(this.#arena.bytes - this.#charged);
    this.#charged = this.#arena.bytes;
  }

  add(group: number, _order: number, state: unknown): void {
    const text = wellFormed((state as BestText).text);
    if (text === null) return;
    const known = this.#waiting.get(group);
    if (known !== undefined && !isBetter(this.#end, text, known)) return;
    this.#waiting.set(group, text);
    if (this.#waiting.size >= WAITING_MAX) this.#flush();
  }

  change(work: (stateOf: (group: number) => unknown) => void): void {
    const changed = new Map<number, BestText>();
    work((group) => {
      const known = changed.get(group) ?? { text: null };
      changed.set(group, known);
      return known;
    });
    for (const [group, state] of changed) this.add(group, 0, state);
  }

  reader(): (group: number) => unknown {
    const { references, count } = this.parts();
    const read = referredTexts(this.#context.memory, references, count);
    return (group) => {
      const text = group < count ? read(group) : null;
      return text === null ? undefined : { text };
    };
  }

  column(groups: Uint32Array): NumberedColumn {
    return referredColumn(this.#context.memory, this.parts(), groups);
  }

  parts(): TextStates {
    this.#flush();
    return { kind: 'texts', references: this.#best?.state ?? 0, count: this.#best?.groups ?? 0 };
  }

  join(parts: StateParts, groupOf: Address, groupCount: number): void {
    if (parts.kind === 'encoded') {
      const numbers = this.#context.memory.u32(groupOf, groupCount).slice();
      parts.groups.forEach((group, index) => {
        this.add(numbers[group] ?? 0, 0, { text: decodeText(parts.states[index] ?? '') });
      });
      return;
    }
    if (parts.kind !== 'texts') return;
    const count = Math.min(parts.count, groupCount);
    for (let from = 0; from < count; from += BLOCK_ROWS) {
      this.#context.check();
      this.addTexts(parts.references + from * 8, groupOf + from * 4, Math.min(BLOCK_ROWS, count - from));
    }
  }

  handOver(): readonly Address[] {
    this.#best = undefined;
    return this.#arena.handOver();
  }

  free(): void {
    this.#best = undefined;
    this.#arena.release();
  }

  #flush(): void {
    if (this.#waiting.size === 0) return;
    const [numbers, texts] = [[...this.#waiting.keys()], [...this.#waiting.values()]];
    this.#waiting.clear();
    const { memory } = this.#context;
    const arena = memory.arena();
    try {
      const groups = arena.take(numbers.length * 4);
      memory.u32(groups, numbers.length).set(numbers);
      this.addTexts(layTexts(memory, arena, texts), groups, numbers.length);
    } finally {
      arena.release();
    }
  }
}

export function encodeText(text: string | null): string {
  return text === null ? 'n' : `v${text}`;
}

export function decodeText(encoded: string): string | null {
  return encoded.startsWith('v') ? encoded.slice(1) : null;
}

/** The states as the texts that spilled groups are written with. */
export function encodedTexts(context: RunContext, { references, count }: TextStates): EncodedStates {
  const [groups, states]: [number[], string[]] = [[], []];
  const read = referredTexts(context.memory, references, count);
  for (let group = 0; group < count; group++) {
    if (group % BLOCK_ROWS === 0) context.check();
    const text = read(group);
    if (text === null) continue;
    groups.push(group);
    states.push(encodeText(text));
  }
  return { kind: 'encoded', groups, orders: groups.map(() => 0), states };
}
