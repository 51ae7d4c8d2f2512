import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { framesOf, PartitionWriter, readIndex } from '../../src/ingestion/sql/stages/stage-output.js';
import type { Frame } from '../../src/model/frame.js';

const writers = suite<{ folder: string }>('rows by partition');
writers.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-partitions-'));
});
writers.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }));

/** Rows with a number and a text of it; the dictionary has all texts below `texts`. */
function frameOf(numbers: readonly number[], texts: number): Frame {
  const dictionary = Array.from({ length: texts }, (_, at) => `text ${at}`);
  return {
    rowCount: numbers.length,
    columns: [
      { name: 'n', kind: 'long', values: BigInt64Array.from(numbers, BigInt), nulls: null },
      { name: 's', kind: 'string', ids: Uint32Array.from(numbers, (number) => number % texts), dictionary },
    ],
  };
}

const [ROWS, PARTITIONS] = [4096, 512];

for (const [title, { bytesHeldMax, texts, framesMax }] of Object.entries({
  'all is held until the end': { bytesHeldMax: 1 << 30, texts: 3, framesMax: 1 },
  'rows are written as they come': { bytesHeldMax: 0, texts: 3, framesMax: 4 },
  'many partitions count for what they take': { bytesHeldMax: PARTITIONS * 128, texts: 3, framesMax: 4 },
  'a dictionary is larger than the rows of a partition': { bytesHeldMax: 1 << 30, texts: 1000, framesMax: 1 },
}))
  writers(title, async ({ folder }) => {
    const writer = await PartitionWriter.open(join(folder, 'rows'), bytesHeldMax);
    const all = Array.from({ length: ROWS }, (_, at) => at);
    for (let from = 0; from < ROWS; from += ROWS / 4) {
      const numbers = all.slice(from, from + ROWS / 4);
      await writer.add(
        frameOf(numbers, texts),
        Float64Array.from(numbers, (number) => number % PARTITIONS),
      );
    }
    const index = await readIndex(await writer.finish(), writer.read);
    assert.is(index.size, PARTITIONS);
    for (const [partition, { rowCount, frames }] of index) {
      assert.is(frames.length, framesMax);
      const rows: string[] = [];
      for await (const { columns } of framesOf(index, partition, writer.read)) {
        const [n, s] = columns;
        if (n?.kind !== 'long' || s?.kind !== 'string') throw new Error('columns have changed');
        // Joined dictionaries begin with null.
        assert.ok(s.dictionary.length <= rowCount + 1);
        n.values.forEach((value, at) => rows.push(`${value} ${s.dictionary[s.ids[at] ?? -1]}`));
      }
      const expected = all.filter((number) => number % PARTITIONS === partition).map((number) => `${number} text ${number % texts}`);
      assert.equal([rows, rowCount], [expected, expected.length]);
    }
    await writer.close();
  });

writers.run();
