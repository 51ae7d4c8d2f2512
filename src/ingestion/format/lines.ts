// The input format `lines`.

import { contentOf } from '../source/decompress.js';
import { inputFormatKind } from './format-kind.js';
import { PlacedRows } from './placed-rows.js';
import { endOfLines, textLines, wholeRows } from './text-rows.js';

/** One row a line, with the whole line as its column `line`; blank lines are passed over. */
export const LINES = inputFormatKind({
  type: 'lines',
  files: { extensions: ['log', 'txt'], options: {} },
  parse: (fields) => fields.accept([]),
  isByLine: () => true,
  async *read(_, entity, reading) {
    const limits = { name: entity.name, maxRowBytes: reading.inputLimits.maxRowBytes, isContinued: entity.isContinued };
    const placed = new PlacedRows(reading);
    for await (const bytes of wholeRows(contentOf(entity, reading), endOfLines, limits)) {
      const { texts, feedsBefore, feeds } = textLines(bytes);
      for (const [at, text] of texts.entries())
        if (typeof text === 'string') placed.add({ line: text.replace(/\r$/, '') }, feedsBefore(at));
        else placed.reject(text.fault, text.sample, feedsBefore(at));
      yield* placed.block(feeds, null);
    }
  },
});
