// The sketches of one thread's groups, as hashes until they are read.

import { assert } from '../../../base/errors.js';
import type { Address } from '../../../base/layout.js';
import { ROWS_PER_CHECK } from '../../block/checked-loops.js';
import type { RunContext } from '../../block/context.js';
import type { EncodedStates, GroupStates, HashStates, StateOperations, StateParts } from '../state-operations.js';
import { GatheredHashes, type HashKind, type HashSketch } from './gathered-hashes.js';

/** States of groups that are hashes while there are few of a group, and are sketches beyond that. */
export class HashGroups implements GroupStates {
  readonly #context: RunContext;
  readonly #kind: HashKind;
  readonly #decode: (text: string) => HashSketch;
  readonly #charge: (bytes: number) => void;
  #hashes: GatheredHashes;
  #charged = 0;

  /** @param charge  told of every byte that is kept; throws when there are too many */
  constructor(context: RunContext, kind: HashKind, decode: (text: string) => HashSketch, charge: (bytes: number) => void) {
    this.#context = context;
    this.#kind = kind;
    this.#decode = decode;
    this.#charge = charge;
    this.#hashes = new GatheredHashes(kind);
  }

  get isEmpty(): boolean {
    return this.#hashes.isEmpty;
  }

  add(group: number, _order: number, state: unknown): void {
    this.#hashes.addSketch(group, state as HashSketch);
    this.#chargeMore();
  }

  addHashes(given: GatheredHashes, groupOf: Uint32Array): void {
    this.#hashes.addAll(given, groupOf, () => {
      this.#context.check();
      this.#chargeMore();
    });
    this.#chargeMore();
  }

  change(work: (stateOf: (group: number) => unknown) => void): void {
    work(this.#hashes.stateOf);
    this.#chargeMore();
  }

  reader(): (group: number) => unknown {
    return this.#hashes.reader();
  }

  parts(): HashStates {
    const { groups, kept, count, sketches } = this.#hashes;
    return {
      kind: 'hashes',
      groups: groups.slice(0, count),
      kept: kept.slice(0, count * this.#kind.width),
      sketches: Array.from(sketches, ([group, sketch]) => ({ group, packed: this.#kind.pack(sketch) })),
    };
  }

  join(parts: StateParts, groupOf: Address, groupCount: number): void {
    const numbers = this.#context.memory.u32(groupOf, groupCount).slice();
    if (parts.kind === 'hashes') this.addHashes(sentHashes(this.#kind, parts), numbers);
    else {
      assert(parts.kind === 'encoded', 'sketches travel as hashes or as texts');
      parts.groups.forEach((group, index) => {
        this.add(numbers[group] ?? 0, 0, this.#decode(parts.states[index] ?? ''));
      });
    }
  }

  handOver(): readonly Address[] {
    return [];
  }

  free(): void {
    this.#hashes = new GatheredHashes(this.#kind);
  }

  #chargeMore(): void {
    const { bytes } = this.#hashes;
    if (bytes === this.#charged) return;
    this.#charge(bytes - this.#charged);
    this.#charged = bytes;
  }
}

/** The hashes of another thread. */
function sentHashes(kind: HashKind, { groups, kept, sketches }: HashStates): GatheredHashes {
  const hashes = new GatheredHashes(kind);
  hashes.groups = groups;
  hashes.kept = kept;
  hashes.count = groups.length;
  for (const { group, packed } of sketches) hashes.addSketch(group, kind.unpack(packed));
  return hashes;
}

/** The states as the texts that spilled groups are written with. */
export function encodedHashes(context: RunContext, parts: HashStates, operations: StateOperations<unknown>): EncodedStates {
  const { hashes: kind } = operations;
  assert(kind !== undefined, 'states that are hashes have a kind of them');
  const given = sentHashes(kind, parts);
  const read = given.reader();
  const present = new Set([...parts.groups, ...given.sketches.keys()]);
  const [groups, orders, states]: [number[], number[], string[]] = [[], [], []];
  for (const group of present) {
    if (groups.length % ROWS_PER_CHECK === 0) context.check();
    groups.push(group);
    orders.push(0);
    states.push(operations.encode(read(group)));
  }
  return { kind: 'encoded', groups, orders, states };
}
