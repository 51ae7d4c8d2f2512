// The input source `combining`.

import type { ObjectReader } from '../../base/json-reader.js';
import type { InputSource, InputSourceKind, SourceUnit } from './source-kind.js';

/**
 * The parts of several sources, one source after the other; all that need a format have the same.
 * @param open  reads a source of any type
 */
export function combining(open: (fields: ObjectReader) => InputSource): InputSourceKind {
  return {
    type: 'combining',
    open(fields) {
      fields.accept(['delegates']);
      const sources = fields.objects('delegates').map(open);
      if (sources.length === 0) throw fields.invalid('delegates', 'expected at least one input source');
      return {
        type: 'combining',
        needsFormat: sources.some(({ needsFormat }) => needsFormat),
        parts: async (limits) => (await Promise.all(sources.map((source) => source.parts(limits)))).flat(),
        async units(limits) {
          const written = fields.objects('delegates');
          const whole = (at: number): SourceUnit[] => {
            const spec = written[at]?.members ?? {};
            return [{ sizeBytes: null, origin: { specsOf: () => [spec] }, item: at }];
          };
          return (await Promise.all(sources.map(async (source, at) => (await source.units?.(limits)) ?? whole(at)))).flat();
        },
      };
    },
  };
}
