// Keeps the rows of lookups in kernel memory between queries.

import type { CancelSignal } from '../../base/cancel-signal.js';
import type { UploadedRows } from '../../execution/run/engine.js';

/** Keeper of something of so many bytes as long as there is room; `free` is called when there is none. Undefined: there is none now. */
export type KeepRoom = (bytes: number, free: () => void) => Room | undefined;

interface Room {
  hold(): void;
  letGo(): void;
  giveUp(): void;
}

/** One state of a lookup. */
export interface LookupState {
  readonly name: string;
  readonly digest: string;
}

interface Made {
  readonly rows: UploadedRows;
  /** Undefined: there was none, and the rows are those of who made them alone. */
  readonly room: Room | undefined;
}

interface Kept {
  readonly state: LookupState;
  made: Promise<Made>;
}

/**
 * Rows of lookups as joins and other readers want them, made by the first that wants them: they stay until their room is needed, or the
 * lookup is asked for in another state.
 */
export class KeptUploads {
  readonly #keep: KeepRoom;
  readonly #kept = new Map<string, Kept>();

  constructor(keep: KeepRoom) {
    this.#keep = keep;
  }

  /** Number of what is kept. */
  get size(): number {
    return this.#kept.size;
  }

  /**
   * The rows, which the caller releases.
   * @param form    in which they lie there: equal for equal columns and keys
   * @param signal  ends the wait for who makes them
   */
  async take(state: LookupState, form: string, make: () => Promise<UploadedRows>, signal: CancelSignal): Promise<UploadedRows> {
    this.#giveUpOthers(state);
    const key = JSON.stringify([state.name, state.digest, form]);
    for (let known = this.#kept.get(key); known !== undefined; known = this.#kept.get(key)) {
      await settled(known.made, signal);
      // Who makes them may be cancelled: that is nothing to others.
      const made = await known.made.catch(() => undefined);
      if (made?.room === undefined) this.#forget(key, known);
      else if (this.#kept.get(key) === known) {
        const { rows, room } = made;
        room.hold();
        return { ...rows, release: room.letGo.bind(room) };
      }
    }
    const kept: Kept = { state, made: NOTHING };
    kept.made = this.#make(key, kept, make);
    this.#kept.set(key, kept);
    try {
      const { rows, room } = await kept.made;
      if (room === undefined) this.#forget(key, kept);
      return room === undefined ? rows : { ...rows, release: room.letGo.bind(room) };
    } catch (error) {
      this.#forget(key, kept);
      throw error;
    }
  }

  async #make(key: string, kept: Kept, make: () => Promise<UploadedRows>): Promise<Made> {
    const rows = await make();
    const room = this.#keep(rows.bytes, () => {
      this.#forget(key, kept);
      rows.release();
    });
    return { rows, room };
  }

  #forget(key: string, kept: Kept): void {
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
  }

  /** Gives up the same lookup in other states. */
  #giveUpOthers({ name, digest }: LookupState): void {
    for (const [key, kept] of this.#kept) {
      if (kept.state.name !== name || kept.state.digest === digest) continue;
      this.#kept.delete(key);
      kept.made.then(
        ({ room }) => room?.giveUp(),
        () => undefined,
      );
    }
  }
}

const NOTHING = new Promise<Made>(() => undefined);

/** Resolves when a promise is settled either way. @throws the reason of the signal, when that fires before */
function settled(promise: Promise<unknown>, signal: CancelSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    const end = (): void => {
      signal.removeEventListener('abort', stop);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
    promise.then(end, end);
  });
}
