import { DESCRIPTIONS } from '../../src/cluster/rpc/descriptions.js';
import { type ClientRequest, HttpClient } from '../../src/cluster/rpc/http-client.js';
import { decodeValue, encodeMessage, encodeValue } from '../../src/cluster/rpc/message.js';
import { remoteService } from '../../src/cluster/rpc/remote.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { Plan } from '../../src/model/plan.js';
import { alternate, median } from '../harness.js';

/** Answers of Historicals to a question: as they travel, and as JSON. Milliseconds are of processor time, one end and the other. */
export interface Wire {
  readonly bytes: number;
  readonly frames: number;
  readonly packMs: number;
  readonly unpackMs: number;
  readonly jsonBytes: number;
  readonly jsonPackMs: number;
  readonly jsonUnpackMs: number;
}

/** Asks the Historicals as a Broker does, and counts the bytes of their answers. */
export async function wireOf(
  plan: Plan,
  hosts: readonly string[],
  headers: Readonly<Record<string, string>>,
  rounds: number,
): Promise<Wire> {
  const http = new HttpClient({ processHeaders: headers });
  let bytes = 0;
  const client = {
    async send(request: ClientRequest) {
      const response = await http.send(request);
      const counted = async function* (): AsyncGenerator<Uint8Array> {
        for await (const chunk of response.body) {
          if (request.path.endsWith('/runPlan')) bytes += chunk.length;
          yield chunk;
        }
      };
      return { ...response, body: counted() };
    },
  };
  const frames: Frame[] = [];
  try {
    for (const host of hosts) {
      const historical = remoteService(DESCRIPTIONS.historical, client, { role: 'historical', host });
      const { segmentIds } = await historical.inventory();
      const request = {
        ...({
          queryId: 'bench',
          plan,
          segmentIds,
          ending: hosts.length === 1 ? 'final' : 'partial',
          deadlineMs: Date.now() + 60_000,
        } as const),
        ...{ priority: 0, kernels: null, limits: {}, useCache: false, populateCache: false },
      };
      for await (const item of historical.runPlan(request, new AbortController().signal)) if ('rowCount' in item) frames.push(item);
    }
  } finally {
    await http.close();
  }
  const packed = frames.map(encodeValue);
  const texts = frames.map(jsonOf);
  const timings = alternate(
    [
      { name: 'pack', run: () => frames.forEach((frame) => void encodeMessage({ kind: 'value', value: frame })) },
      { name: 'unpack', run: () => packed.forEach((each) => void decodeValue(Buffer.from(each))) },
      { name: 'jsonPack', run: () => frames.forEach((frame) => void Buffer.from(jsonOf(frame))) },
      { name: 'jsonUnpack', run: () => texts.forEach((text) => void JSON.parse(text)) },
    ],
    { rounds, roundMs: 20 },
  );
  const [packMs = 0, unpackMs = 0, jsonPackMs = 0, jsonUnpackMs = 0] = timings.map(({ nanoseconds }) => median(nanoseconds) / 1e6);
  const jsonBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return { bytes, frames: frames.length, packMs, unpackMs, jsonBytes, jsonPackMs, jsonUnpackMs };
}

/** The rows of a frame as a list of lists, as other wire formats have them. Its numbers lie within those of JSON. */
function jsonOf({ rowCount, columns }: Frame): string {
  const rows: unknown[][] = [];
  for (let row = 0; row < rowCount; row++)
    rows.push(
      columns.map((column) => {
        const cell = cellAt(column, row);
        return typeof cell === 'bigint' ? Number(cell) : cell;
      }),
    );
  return JSON.stringify(rows);
}
