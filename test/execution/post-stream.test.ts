import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { NO_EMPTY_VALUES } from '../../src/execution/post/leaf-result.js';
import { StreamedSteps } from '../../src/execution/post/stream.js';
import { SpillSpace } from '../../src/execution/spill/spill-space.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { PostStep } from '../../src/model/plan.js';

const HELD_ROWS = 50;
const memory = KernelMemory.create({ maximumBytes: 1 << 20 });
const used = memory.allocate(64);
memory.i32(used, 16).fill(0);
const LIMITS = { directoryProperty: 'test.folder', sortBytes: 1 << 28, heldBytes: null };
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-stream-'));
const spill = new SpillSpace({ ...LIMITS, folder, bytesMax: 1 << 24, used }, memory, 0);
const leaf = { intervals: [], emptyValues: NO_EMPTY_VALUES, check: () => undefined };

/** A number, a text, and the place among all rows. */
type Row = readonly [number, string | null, number];

function frameOf(rows: readonly Row[]): Frame {
  const longs = (name: string, at: 0 | 2): Frame['columns'][number] => ({
    kind: 'long',
    name,
    values: BigInt64Array.from(rows, (row) => BigInt(row[at])),
    nulls: null,
  });
  const text = { kind: 'string', name: 'text', ids: Uint32Array.from(rows, (_, at) => at), dictionary: rows.map((row) => row[1]) } as const;
  return { rowCount: rows.length, columns: [longs('number', 0), text, longs('place', 2)] };
}

const rowsOf = (frames: Iterable<Frame>): unknown[][] =>
  [...frames].flatMap((frame) => Array.from({ length: frame.rowCount }, (_, row) => frame.columns.map((column) => cellAt(column, row))));

function* through(steps: StreamedSteps, frames: readonly Frame[]): Generator<Frame> {
  for (const frame of frames) {
    yield* steps.push(frame);
    if (steps.isFull) break;
  }
  yield* steps.end();
}

const left = (): string[] => (existsSync(folder) ? readdirSync(folder) : []);

const sortBy = (offset: number, limit: number | null, descending = false): PostStep => ({
  step: 'sort',
  by: [{ column: 'number', descending, nulls: 'last', ordering: 'numeric' }],
  offset,
  limit,
});

const arbitraryRows = fc
  .array(fc.tuple(fc.integer({ min: -20, max: 20 }), fc.option(fc.string({ maxLength: 4 }))), { maxLength: 600 })
  .map((rows): Row[] => rows.map(([number, text], place) => [number, text, place]));

const stream = suite('post-processing steps over streamed rows');

stream('a sort has the order of all rows, whether few are wanted or all, and equal rows stay as they came', () => {
  fc.assert(
    fc.property(
      arbitraryRows,
      fc.integer({ min: 1, max: 70 }),
      fc.option(fc.nat({ max: 700 })),
      fc.nat({ max: 80 }),
      fc.boolean(),
      (rows, frameRows, limit, offset, descending) => {
        const frames: Frame[] = [];
        for (let at = 0; at < rows.length; at += frameRows) frames.push(frameOf(rows.slice(at, at + frameRows)));
        const steps = new StreamedSteps(
          [
            sortBy(offset, limit, descending),
            {
              step: 'project',
              columns: [
                { name: 'p', from: 'place' },
                { name: 't', from: 'text' },
              ],
            },
          ],
          leaf,
          { heldRowsMax: 1000, spill, heldRows: HELD_ROWS },
        );
        const expected = [...rows]
          .sort((a, b) => (descending ? b[0] - a[0] : a[0] - b[0]) || a[2] - b[2])
          .slice(offset, limit === null ? undefined : offset + limit)
          .map(([, text, place]) => [BigInt(place), text]);
        assert.equal(rowsOf(through(steps, frames)), expected);
        assert.equal(left(), [], 'no file is left');
      },
    ),
    { numRuns: 60 },
  );
});

const many = Array.from({ length: 40 }, (_, frame) =>
  frameOf(Array.from({ length: 20 }, (__, row): Row => [(row * 7) % 20, `${row}`, frame * 20 + row])),
);

stream('more rows than may be held are no error where they need not be', () => {
  const options = { heldRowsMax: 2 * HELD_ROWS, heldRows: HELD_ROWS };
  const run = (step: PostStep, where: SpillSpace | undefined): number =>
    rowsOf(through(new StreamedSteps([step], leaf, { ...options, spill: where }), many)).length;
  assert.is(run(sortBy(0, null), spill), 800);
  assert.is(run(sortBy(0, 10), undefined), 10);
  assert.throws(() => run(sortBy(0, null), undefined), /maxRowsQueuedForOrdering/);
});

stream('rows of many bytes are put on disk however few they are, lists among them', () => {
  const small = new SpillSpace({ ...LIMITS, sortBytes: 2000, folder, bytesMax: 1 << 24, used }, memory, 0);
  const withLists = (frame: Frame, at: number): Frame => ({
    ...frame,
    columns: [
      ...frame.columns,
      {
        kind: 'multi',
        name: 'list',
        // Rows have no value, one, two and three in turn.
        offsets: Uint32Array.from({ length: frame.rowCount + 1 }, (_, row) => ([0, 0, 1, 3][row % 4] ?? 0) + 6 * Math.floor(row / 4)),
        ids: Uint32Array.from({ length: 6 * Math.ceil(frame.rowCount / 4) }, (_, value) => value % 3),
        dictionary: ['a', 'b', `${at}`],
      },
    ],
  });
  const frames = many.map(withLists);
  const steps = new StreamedSteps([sortBy(0, null)], leaf, { heldRowsMax: 100_000, spill: small });
  for (const frame of frames) assert.equal([...steps.push(frame)], []);
  assert.is(left().length, 1);
  const byNumber = (a: unknown[], b: unknown[]): number => Number(a[0]) - Number(b[0]) || Number(a[2]) - Number(b[2]);
  assert.equal(rowsOf(steps.end()), rowsOf(frames).sort(byNumber));
  assert.equal(left(), []);
  // A hundred rows are too many to be held.
  const best = new StreamedSteps([sortBy(0, 100)], leaf, { heldRowsMax: 100_000, spill: small });
  assert.equal(rowsOf(through(best, frames)), rowsOf(frames).sort(byNumber).slice(0, 100));
  assert.equal(left(), []);
});

stream('a step that needs all rows is refused by its bytes', () => {
  const heldBytes = { max: 4000, property: 'test.bytes' };
  const small = new SpillSpace({ ...LIMITS, sortBytes: 1000, heldBytes, folder, bytesMax: 1 << 24, used }, memory, 0);
  const top: PostStep = { step: 'topPerBucket', bucket: 'number', by: [], limit: 3 };
  assert.throws(
    () => rowsOf(through(new StreamedSteps([top], leaf, { heldRowsMax: 100_000, spill: small }), many)),
    /4000 bytes.*test\.bytes/,
  );
});

stream('rows of several types are held or refused, not put on disk', () => {
  const other: Frame = {
    ...frameOf([[1, 'x', 0]]),
    columns: [{ kind: 'string', name: 'number', ids: Uint32Array.of(0), dictionary: ['5'] }, ...frameOf([[1, 'x', 0]]).columns.slice(1)],
  };
  const steps = (): StreamedSteps => new StreamedSteps([sortBy(0, null)], leaf, { heldRowsMax: 10_000, spill, heldRows: HELD_ROWS });
  assert.is(rowsOf(through(steps(), [other, ...many])).length, 801);
  const late = steps();
  assert.throws(
    () => rowsOf(through(late, [...many, other])),
    (error: unknown) => error instanceof ServiceError && error.code === 'resource_limit',
  );
  late.close();
  assert.equal(left(), []);
});

stream('a reader that stops leaves nothing behind', () => {
  const steps = new StreamedSteps([sortBy(0, null)], leaf, { heldRowsMax: 1000, spill, heldRows: HELD_ROWS });
  for (const frame of many) assert.equal([...steps.push(frame)], []);
  assert.is(left().length, 1);
  for (const _ of steps.end()) break;
  assert.equal(left(), []);
  const never = new StreamedSteps([sortBy(0, null)], leaf, { heldRowsMax: 1000, spill, heldRows: HELD_ROWS });
  for (const frame of many) never.push(frame);
  never.close();
  assert.equal(left(), []);
});

stream('limits count rows over frames', () => {
  const steps = new StreamedSteps([{ step: 'limit', offset: 25, limit: 30 }], leaf, { heldRowsMax: 1000, spill });
  const places = rowsOf(through(steps, many)).map(([, , place]) => Number(place));
  assert.equal(
    places,
    Array.from({ length: 30 }, (_, row) => row + 25),
  );
  assert.ok(steps.isFull);
});

stream.after(() => rmSync(folder, { recursive: true, force: true }));

stream.run();
