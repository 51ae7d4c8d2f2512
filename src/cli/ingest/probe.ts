// Looks at the beginning of an input, to infer its format.

import { tmpdir } from 'node:os';
import { filesOf } from '../../ingestion/source/archive.js';
import { contentOf } from '../../ingestion/source/decompress.js';
import type { DolmenClient } from '../client.js';
import { fieldOf } from '../json-fields.js';
import { entityOf, LIMITS, rowsOfFile } from './sample-file.js';

/** A row: columns with their values; null or undefined where it has none. */
export type ProbedRow = ReadonlyMap<string, unknown>;

/** An input that may be looked at. */
export interface Probe {
  readonly name: string;
  /** The first characters of the content, without a byte order mark, and the name that tells its format: of an archive that of its first entry. */
  head(): Promise<{ readonly name: string; readonly head: string }>;
  /** The first rows, some hundred at least if there are so many. */
  rows(inputFormat: Readonly<Record<string, unknown>>, reject: (reason: string) => void): AsyncIterable<ProbedRow>;
}

const HEAD_BYTES = 65_536;
const SAMPLED_ROWS = 200;
const SAMPLED_LINES = 50;

/** A file of this machine. */
export function localProbe(file: string): Probe {
  return {
    name: file,
    rows: (inputFormat, reject) => rowsOfFile(file, inputFormat, reject),
    async head() {
      const reading = { read: () => undefined, workDirectory: tmpdir(), inputLimits: LIMITS };
      const chunks: Uint8Array[] = [];
      let size = 0;
      let name = file;
      for await (const { entity } of filesOf(await entityOf(file), reading)) {
        name = entity.name;
        for await (const chunk of contentOf(entity, reading)) {
          chunks.push(Buffer.from(chunk));
          size += chunk.length;
          if (size >= HEAD_BYTES) break;
        }
        break;
      }
      return {
        name,
        head: Buffer.concat(chunks)
          .toString('utf8')
          .replace(/^\uFEFF/, ''),
      };
    },
  };
}

/** An input that the server reads, by its sampler. */
export function remoteProbe(client: DolmenClient, name: string, inputSource: Readonly<Record<string, unknown>>): Probe {
  const sample = async (inputFormat: Readonly<Record<string, unknown>>, numRows: number): Promise<readonly unknown[]> => {
    const spec = {
      dataSchema: {
        dataSource: 'sample',
        timestampSpec: { column: '!!!_no_such_column_!!!', missingValue: '1970-01-01T00:00:00Z' },
        dimensionsSpec: {},
        granularitySpec: { rollup: false },
      },
      ioConfig: { type: 'index_parallel', inputSource, inputFormat },
    };
    const answer = await client.call('POST', '/svc/indexer/v1/sampler', { type: 'index_parallel', spec, samplerConfig: { numRows } });
    const data = fieldOf(answer, 'data');
    return Array.isArray(data) ? data : [];
  };
  return {
    name,
    async *rows(inputFormat, reject) {
      for (const row of await sample(inputFormat, SAMPLED_ROWS)) {
        const input = fieldOf(row, 'input');
        if (typeof input === 'object' && input !== null) yield new Map(Object.entries(input));
        else reject(String(fieldOf(row, 'error')));
      }
    },
    async head() {
      const lines = (await sample({ type: 'lines' }, SAMPLED_LINES)).flatMap((row) => {
        const line = fieldOf(fieldOf(row, 'input'), 'line');
        return typeof line === 'string' ? [line] : [];
      });
      return { name: /^https?:/i.test(name) ? new URL(name).pathname : name, head: lines.join('\n') };
    },
  };
}
