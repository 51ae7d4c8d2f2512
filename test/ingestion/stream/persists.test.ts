import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Persists } from '../../../src/ingestion/stream/run/persists.js';

const LIMITS = { maxRowsInMemory: 100, maxBytesInMemory: 900, periodMs: 1000 };

interface Case {
  readonly rows: number;
  readonly bytes: number;
  /** Milliseconds since the last write. */
  readonly ms?: number;
  /** Whether a write is under way already. */
  readonly isWriting?: true;
  readonly begins: boolean;
  readonly waits: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  'memory is half full': { rows: 10, bytes: 450, begins: false, waits: false },
  'memory is filling up': { rows: 10, bytes: 600, begins: true, waits: false },
  'memory is full': { rows: 10, bytes: 900, begins: true, waits: false },
  'as many rows as were asked for': { rows: 100, bytes: 1, begins: true, waits: false },
  'it is time': { rows: 1, bytes: 1, ms: 1000, begins: true, waits: false },
  'memory is filling up while rows are written': { rows: 10, bytes: 600, isWriting: true, begins: false, waits: false },
  'memory is full while rows are written': { rows: 10, bytes: 900, isWriting: true, begins: false, waits: true },
};

const persists = suite('writes of live rows');

for (const [name, { rows, bytes, ms = 0, isWriting, begins, waits }] of Object.entries(CASES))
  persists(name, async () => {
    let [writes, nowMs] = [0, 0];
    let [heldRows, heldBytes] = [100, 0];
    let end: () => void = () => undefined;
    const live = {
      get heldRows() {
        return heldRows;
      },
      get heldBytes() {
        return heldBytes;
      },
      persist: () => {
        writes++;
        return new Promise<void>((done) => {
          end = done;
        });
      },
    };
    const writer = new Persists(live, LIMITS, () => nowMs);
    if (isWriting) await writer.persistIfDue();
    const before = writes;
    [heldRows, heldBytes, nowMs] = [rows, bytes, ms];
    let isThrough = false;
    const asked = writer.persistIfDue().then(() => {
      isThrough = true;
    });
    await turn();
    assert.is(writes - before, begins ? 1 : 0);
    assert.is(isThrough, !waits);
    end();
    await asked;
    await writer.settled();
  });

persists.run();
