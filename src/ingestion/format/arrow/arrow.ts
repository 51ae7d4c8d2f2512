// The input format `arrow`.

import { createWriteStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../../base/errors.js';
import { createByName } from '../../../base/names.js';
import { shallowJsonText } from '../../../expression/functions/json-size.js';
import { contentOf, headOf } from '../../source/decompress.js';
import type { InputEntity } from '../../source/source-kind.js';
import { firstDuplicate } from '../delimited-format.js';
import { compileFlatten, type FlattenSpec, type JsonObject, parseFlattenSpec } from '../flatten.js';
import { inputFormatKind, type Reading } from '../format-kind.js';
import type { InputBlock, ValueBlock } from '../input-block.js';
import { jsonBlock } from '../json-block.js';
import { SAMPLE_LENGTH_MAX } from '../json-scanner.js';
import { faultsOf } from '../not-text.js';
import { type ArrowBatch, arrowBatches } from './arrow-file.js';

interface ArrowFormat {
  readonly binaryAsString: boolean;
  readonly flatten: FlattenSpec | null;
}

const BLOCK_ROWS = 16_384;
const SAMPLE_ROWS = 64;
/** First bytes of a file; a stream has none. */
const FILE_MAGIC = 'ARROW1';
/** Largest message of a stream. */
const MESSAGE_BYTES_MAX = 1 << 30;
const END_MARK = Buffer.from([255, 255, 255, 255, 0, 0, 0, 0]);

/** Files and streams of Arrow's interprocess format; times come as milliseconds. A record batch is in memory at once. */
export const ARROW = inputFormatKind<ArrowFormat>({
  type: 'arrow',
  files: { extensions: ['arrow', 'arrows', 'feather', 'ipc'], options: {} },
  parse(fields) {
    fields.accept(['flattenSpec', 'binaryAsString']);
    return { binaryAsString: fields.boolean('binaryAsString', false), flatten: parseFlattenSpec(fields) };
  },
  read: readArrow,
});

async function* readArrow(format: ArrowFormat, entity: InputEntity, reading: Reading): AsyncGenerator<ValueBlock> {
  const { bytes, all } = await headOf(contentOf(entity, { ...reading, samples: false }));
  const isFile = Buffer.from(bytes).toString('latin1', 0, FILE_MAGIC.length) === FILE_MAGIC;
  try {
    if (!isFile) {
      const end = new StreamEnd();
      yield* blocksOf(format, end.batches(arrowBatches(end.watch(all), format.binaryAsString)), reading);
      if (!end.isMarked) throw new Error('the stream has no end mark: it was cut off, or what follows its end is no part of it');
      return;
    }
    // The list of batches is at the end of a file.
    const file = path.join(reading.workDirectory, 'input.arrow');
    let handle: FileHandle | undefined;
    try {
      await pipeline(all, createWriteStream(file));
      handle = await open(file);
      if (!(await endsWithMagic(handle))) throw new Error('the file ends too early');
      yield* blocksOf(format, arrowBatches(handle, format.binaryAsString), reading);
    } finally {
      await handle?.close();
      await rm(file, { force: true });
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError(
      'input_unreadable',
      `${entity.name} cannot be read as Arrow: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

/** The last bytes of a stream: one that is cut off between two messages is told from a whole one by its end mark alone. */
class StreamEnd {
  #last = Buffer.alloc(0);
  /** Bytes since the last batch: the library holds a message until it has all of it. */
  #pulled = 0;

  async *batches(batches: AsyncIterable<ArrowBatch>): AsyncGenerator<ArrowBatch> {
    for await (const batch of batches) {
      this.#pulled = 0;
      yield batch;
    }
  }

  async *watch(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#pulled += chunk.length;
      if (this.#pulled > MESSAGE_BYTES_MAX)
        throw new Error(`a record batch is larger than ${MESSAGE_BYTES_MAX} bytes, or its length is damaged`);
      this.#last = Buffer.concat([this.#last, chunk.subarray(-END_MARK.length)]).subarray(-END_MARK.length);
      yield chunk;
    }
  }

  /** Whether it ends with the mark. That of streams before version 0.15, four zeros, is also the padding of messages. */
  get isMarked(): boolean {
    return this.#last.equals(END_MARK);
  }
}

/** A file that is cut off would pass for a stream. */
async function endsWithMagic(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  const end = Buffer.alloc(FILE_MAGIC.length);
  await handle.read(end, 0, end.length, Math.max(0, size - end.length));
  return end.toString('latin1') === FILE_MAGIC;
}

async function* blocksOf(
  { flatten }: ArrowFormat,
  batches: AsyncIterable<ArrowBatch>,
  { samples, columns }: Reading,
): AsyncGenerator<ValueBlock> {
  const rowsMax = samples === true ? SAMPLE_ROWS : BLOCK_ROWS;
  const flat = flatten === null ? null : compileFlatten(flatten);
  for await (const batch of batches) {
    const duplicate = firstDuplicate(batch.names);
    if (duplicate !== undefined) throw new Error(`it names the column "${duplicate}" twice`);
    for (let start = 0; start < batch.rowCount; start += rowsMax) {
      const block = blockOf(batch, start, Math.min(batch.rowCount, start + rowsMax), columns);
      yield flat === null
        ? block
        : Object.assign(
            jsonBlock(
              Array.from({ length: block.rowCount }, (_, row) => block.record(row)),
              flat,
            ),
            block.faults === undefined ? {} : { faults: block.faults },
          );
    }
  }
}

/** Values of a column are made when somebody asks for them, once. */
function blockOf(
  batch: ArrowBatch,
  start: number,
  end: number,
  wanted: ReadonlySet<string> | null,
): ValueBlock & Pick<InputBlock, 'faults'> {
  const made = new Map<string, readonly unknown[]>();
  const values = (name: string): readonly unknown[] => {
    const column = batch.names.indexOf(name);
    const found = made.get(name) ?? (column < 0 ? new Array<null>(end - start).fill(null) : batch.values(column, start, end));
    made.set(name, found);
    return found;
  };
  const record = (row: number): JsonObject => {
    const members = createByName<unknown>();
    for (const name of batch.names) members[name] = values(name)[row];
    return members;
  };
  const faults = faultsOf(
    batch.names.flatMap((name, column) =>
      (wanted === null || wanted.has(name)) && batch.hasNotText(column) ? [{ name, faults: batch.notTextRows(column, start, end) }] : [],
    ),
  );
  return {
    ...(faults === undefined ? {} : { faults }),
    kind: 'values',
    rowCount: end - start,
    columns: batch.names,
    values,
    record,
    sample: (row) => (shallowJsonText(record(row)) ?? 'a row nested too deeply to be shown').slice(0, SAMPLE_LENGTH_MAX),
  };
}
