import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Canceller } from '../../src/base/cancel-signal.js';
import { KeptUploads } from '../../src/cluster/sources/kept-uploads.js';
import type { UploadedRows } from '../../src/execution/run/engine.js';

const NEVER = new Canceller();

/** Rows of which each is told when it is released, made when the test says so. */
class Rows {
  readonly released: string[] = [];
  readonly #begun = new Map<string, (rows: UploadedRows) => void>();

  make(id: string): () => Promise<UploadedRows> {
    return () => new Promise((resolve) => this.#begun.set(id, resolve));
  }

  isBegun(id: string): boolean {
    return this.#begun.has(id);
  }

  end(id: string): void {
    this.#begun.get(id)?.({ id, rowCount: 1, bytes: 1, release: () => this.released.push(id) });
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function keeper(): KeptUploads {
  return new KeptUploads((_bytes, free) => {
    let [holders, isGivenUp, isFreed] = [1, false, false];
    const end = (): void => {
      if (!isGivenUp || holders > 0 || isFreed) return;
      isFreed = true;
      free();
    };
    return {
      hold: () => holders++,
      letGo: () => {
        holders--;
        end();
      },
      giveUp: () => {
        isGivenUp = true;
        end();
      },
    };
  });
}

const uploads = suite('kept uploads');

for (const [first, second] of [
  ['a', 'b'],
  ['b', 'a'],
] as const)
  uploads(`who waits for state ${first} gets it, though ${second} is asked for meanwhile`, async () => {
    const [kept, rows] = [keeper(), new Rows()];
    const take = (state: string, id: string) => kept.take({ name: 'l', digest: state }, 'form', rows.make(id), NEVER);
    const one = take(first, 'one');
    const waiting = take(first, 'waiting');
    const other = take(second, 'other');
    rows.end('one');
    assert.is((await one).id, 'one');
    await turn();
    // The rows that it waited for are given up: it makes its own.
    rows.end('waiting');
    rows.end('other');
    assert.is((await waiting).id, 'waiting');
    assert.is((await other).id, 'other');
    for (const taken of [one, waiting, other]) (await taken).release();
  });

uploads('who waits for rows that another makes is cancelled at once', async () => {
  const [kept, rows, canceller] = [keeper(), new Rows(), new Canceller()];
  const take = (id: string, signal: Canceller) => kept.take({ name: 'l', digest: 'a' }, 'form', rows.make(id), signal);
  const one = take('one', NEVER);
  const waiting = take('waiting', canceller);
  const error = new Error('cancelled');
  canceller.abort(error);
  assert.is(await waiting.catch((reason: unknown) => reason), error);
  assert.not.ok(rows.isBegun('waiting'));
  rows.end('one');
  assert.is((await one).id, 'one');
});

uploads.run();
