// The control of a streaming task as requests to it: the paths of the public interface, and the caller's side of them.

import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { createByName } from '../../base/names.js';
import { formatInstant, parseInstant } from '../../base/time.js';
import type { RowRates, StreamTaskControl, StreamTaskStatus } from '../../model/stream/control.js';
import { type Offsets, parseOffsets, type StreamKind, writtenOffsets } from '../../model/stream/offsets.js';
import type { ChatHandler, ChatRequest } from '../contract.js';

/** Answers requests of the public interface by a control; what it does not know goes to `further`. */
export function chatOfControl(kind: StreamKind, control: StreamTaskControl, further: ChatHandler): ChatHandler {
  const offsets = async (asked: Promise<Offsets>) => writtenOffsets(kind, await asked);
  const answers = new Map<string, (request: ChatRequest) => Promise<unknown>>([
    ['GET status', () => control.status()],
    ['GET time/start', async () => instantText(await control.startTime())],
    ['GET offsets/current', () => offsets(control.offsets())],
    ['GET offsets/end', () => offsets(control.endOffsets())],
    ['GET checkpoints', async () => writtenCheckpoints(kind, await control.checkpoints())],
    ['GET rowStats', async () => writtenRates(await control.rowStats())],
    [
      'GET unparseableEvents',
      async () =>
        (await control.parseErrors()).map(({ timeOfExceptionMs, ...rest }) => ({ ...rest, timeOfExceptionMillis: timeOfExceptionMs })),
    ],
    ['POST pause', () => offsets(control.pause())],
    ['POST resume', async () => done(control.resume())],
    ['POST stop', async () => done(control.stop())],
    [
      'POST offsets/end',
      async ({ body, query }) => done(control.setEndOffsets(readOffsets(kind, parseJson(body)), query.get('finish') !== 'false')),
    ],
  ]);
  return (request) => answers.get(`${request.method} ${request.path.join('/')}`)?.(request) ?? further(request);
}

async function done(work: Promise<void>): Promise<unknown> {
  await work;
  return {};
}

const instantText = (ms: EpochMs | null): string | null => (ms === null ? null : formatInstant(ms));

function readOffsets(kind: StreamKind, value: unknown): Offsets {
  return parseOffsets(kind, new ObjectReader(value, '', readContextOf('input_invalid', 'the offsets')));
}

/** Checkpoints as the context of a task and the interface have them: offsets by the number of a sequence. */
export function writtenCheckpoints(kind: StreamKind, checkpoints: ReadonlyMap<number, Offsets>): Readonly<Record<string, unknown>> {
  const written = createByName<unknown>();
  for (const [sequence, offsets] of checkpoints) written[sequence] = writtenOffsets(kind, offsets);
  return written;
}

export function readCheckpoints(kind: StreamKind, value: unknown): Map<number, Offsets> {
  const fields = new ObjectReader(value, '', readContextOf('input_invalid', 'checkpoints'));
  const checkpoints = new Map<number, Offsets>();
  for (const sequence of fields.keys()) {
    if (!/^\d{1,9}$/.test(sequence)) throw fields.invalid(sequence, 'is not the number of a sequence');
    checkpoints.set(Number(sequence), parseOffsets(kind, fields.object(sequence)));
  }
  return new Map([...checkpoints].sort(([left], [right]) => left - right));
}

function writtenRates({ totals, movingAverages }: RowRates): Readonly<Record<string, unknown>> {
  return { totals: { buildSegments: totals }, movingAverages: { buildSegments: movingAverages } };
}

/** Body of `rowStats` back as counts; null where the task tells none. */
function readRates(body: unknown): RowRates | null {
  const fields = new ObjectReader(body, '', readContextOf('internal', 'rowStats'));
  const totals = fields.optionalObject('totals')?.raw('buildSegments') as RowRates['totals'] | undefined;
  const movingAverages = fields.optionalObject('movingAverages')?.raw('buildSegments') as RowRates['movingAverages'] | undefined;
  return totals === undefined || movingAverages === undefined ? null : { totals, movingAverages };
}

/** The control of a task that is reached by requests. */
export function controlByChat(kind: StreamKind, ask: (request: ChatRequest) => Promise<unknown>): StreamTaskControl {
  const get = (path: string) => ask({ method: 'GET', path: path.split('/'), query: new Map(), body: '' });
  const post = (path: string, body = '', query: ReadonlyMap<string, string> = new Map()) =>
    ask({ method: 'POST', path: path.split('/'), query, body });
  return {
    status: async () => (await get('status')) as StreamTaskStatus,
    startTime: async () => {
      const text = await get('time/start');
      return typeof text === 'string' ? (parseInstant(text) ?? null) : null;
    },
    offsets: async () => readOffsets(kind, await get('offsets/current')),
    endOffsets: async () => readOffsets(kind, await get('offsets/end')),
    pause: async () => readOffsets(kind, await post('pause')),
    resume: async () => void (await post('resume')),
    stop: async () => void (await post('stop')),
    setEndOffsets: async (offsets, finish) =>
      void (await post('offsets/end', stringifyJson(writtenOffsets(kind, offsets)), new Map([['finish', String(finish)]]))),
    checkpoints: async () => readCheckpoints(kind, await get('checkpoints')),
    rowStats: async () => {
      const rates = readRates(await get('rowStats'));
      if (rates === null) throw new ServiceError('unavailable', 'the task tells no rates');
      return rates;
    },
    parseErrors: async () => {
      const list = (await get('unparseableEvents')) as readonly {
        timeOfExceptionMillis: number;
        errorType: string;
        input: string;
        details: readonly string[];
      }[];
      return list.map(({ timeOfExceptionMillis, ...rest }) => ({ ...rest, timeOfExceptionMs: timeOfExceptionMillis }));
    },
  };
}
