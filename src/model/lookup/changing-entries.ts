// Entries of a lookup that come and go one by one.

import { ServiceError } from '../../base/errors.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { type LookupTable, packEntries } from './lookup-table.js';
import { StringPool } from './string-pool.js';

/** In the place of the value of a key that is removed. */
const NO_VALUE = 2 ** 32 - 1;
const ROOM_MIN = 1 << 8;
/** Strings that nothing uses any more may be as many as those in use, and so many. */
const UNUSED_COUNT = 1 << 16;
/** Their bytes may be half of those in use, and so many. */
const UNUSED_BYTES = 1 << 20;

/** Entries to which others are added, and from which some are taken away. Equal entries make equal tables, however they came to be. */
export class ChangingEntries {
  readonly #bytesMax: number;
  #keys = new StringPool();
  #values = new StringPool();
  /** Numbers of values, by number of the key. */
  #valueIds: Uint32Array<ArrayBuffer> = new Uint32Array(ROOM_MIN);
  /** Keys that have a value, by its number. */
  #uses: Uint32Array<ArrayBuffer> = new Uint32Array(ROOM_MIN);
  #count = 0;
  /** Size of the strings in use. */
  #bytes = 0;

  /** @param bytesMax  of all strings together (`svc.lookup.maxBytes`) */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether there was another value, or none. @throws ServiceError `resource_limit` */
  set(key: string, value: string): boolean {
    const entry = this.#entryOf(key);
    const before = this.#valueIds[entry] ?? NO_VALUE;
    const known = this.#values.count;
    const id = this.#values.idOf(value);
    if (id === known) {
      this.#uses = withRoom(this.#uses, id);
      this.#uses[id] = 0;
    }
    if (id === before) return false;
    const uses = this.#uses[id] ?? 0;
    this.#uses[id] = uses + 1;
    if (uses === 0) this.#bytes += this.#values.sizeOf(id);
    this.#valueIds[entry] = id;
    if (before === NO_VALUE) {
      this.#count++;
      this.#bytes += this.#keys.sizeOf(entry);
    } else this.#release(before);
    if (this.#bytes > this.#bytesMax)
      throw new ServiceError('resource_limit', `the lookup has more than svc.lookup.maxBytes (${this.#bytesMax}) bytes of keys and values`);
    return true;
  }

  /** Whether the key was there. */
  remove(key: string): boolean {
    const entry = this.#entryOf(key);
    const before = this.#valueIds[entry] ?? NO_VALUE;
    if (before === NO_VALUE) return false;
    this.#valueIds[entry] = NO_VALUE;
    this.#count--;
    this.#bytes -= this.#keys.sizeOf(entry);
    this.#release(before);
    return true;
  }

  /** Makes room for so many changes, in turns, if need be that of strings that nothing uses. Nothing may be changed meanwhile. */
  async makeRoom(more: number, turns: LoopTurns): Promise<void> {
    const unusedBytes = this.#keys.filled + this.#values.filled - this.#bytes;
    const most = Math.max(this.#keys.count, this.#values.count);
    if (unusedBytes > this.#bytes / 2 + UNUSED_BYTES || most > this.#count * 2 + UNUSED_COUNT) await this.#settle(turns);
    await this.#keys.makeRoom(more, turns);
    await this.#values.makeRoom(more, turns);
  }

  /** The entries as they are now. Nothing may be changed meanwhile. */
  async table(): Promise<LookupTable> {
    await this.#settle(new LoopTurns());
    return packEntries(this.#keys, this.#values, this.#valueIds);
  }

  #entryOf(key: string): number {
    const known = this.#keys.count;
    const entry = this.#keys.idOf(key);
    if (entry === known) {
      this.#valueIds = withRoom(this.#valueIds, entry);
      this.#valueIds[entry] = NO_VALUE;
    }
    return entry;
  }

  #release(id: number): void {
    const uses = (this.#uses[id] ?? 0) - 1;
    this.#uses[id] = uses;
    if (uses === 0) this.#bytes -= this.#values.sizeOf(id);
  }

  /** Numbers the strings in use anew, in the order of keys, and lets the others go. */
  async #settle(turns: LoopTurns): Promise<void> {
    const order = await this.#keys.inOrder((entry) => this.#valueIds[entry] !== NO_VALUE, turns);
    const [keys, values] = [new StringPool(), new StringPool()];
    const valueIds = new Uint32Array(Math.max(ROOM_MIN, order.length));
    // A number more than the new one; 0: it has none yet.
    const numbered = new Uint32Array(this.#values.count);
    let uses: Uint32Array<ArrayBuffer> = new Uint32Array(ROOM_MIN);
    for (const [at, entry] of order.entries()) {
      if (at % ENTRIES_PER_LOOK === 0) {
        await keys.makeRoom(ENTRIES_PER_LOOK, turns);
        await values.makeRoom(ENTRIES_PER_LOOK, turns);
        if (turns.isDue) await turns.give();
      }
      const before = this.#valueIds[entry] ?? 0;
      const id = numbered[before] || values.idOfAnother(this.#values, before) + 1;
      numbered[before] = id;
      uses = withRoom(uses, id - 1);
      uses[id - 1] = (uses[id - 1] ?? 0) + 1;
      valueIds[keys.idOfAnother(this.#keys, entry)] = id - 1;
    }
    [this.#keys, this.#values, this.#valueIds, this.#uses] = [keys, values, valueIds, uses];
  }
}

const ENTRIES_PER_LOOK = 128;

/** The same list, or a longer one, with a place for this number. */
function withRoom(list: Uint32Array<ArrayBuffer>, at: number): Uint32Array<ArrayBuffer> {
  if (at < list.length) return list;
  const longer = new Uint32Array(Math.max(at + 1, list.length * 2));
  longer.set(list);
  return longer;
}
