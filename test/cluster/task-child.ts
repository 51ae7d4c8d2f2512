import type { FromTask, ToTask } from '../../src/cluster/middlemanager/task-messages.js';
import type { RowsPlan } from '../../src/model/row-source.js';

/** Stands for `task-main` in the tests of `TaskProcess`: does what the payload says. */
interface Payload {
  readonly does: 'succeed' | 'children' | 'tellPeers' | 'publish' | 'query' | 'leave' | 'again' | 'crash' | 'fill' | 'exit' | 'hang';
  readonly rows?: bigint;
}

const tell = (message: FromTask): Promise<void> => new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
const end = async (report: Readonly<Record<string, unknown>>): Promise<never> => {
  await tell({ kind: 'outcome', outcome: { succeeded: true, errorMessage: null, report } });
  process.exit(0);
};

const rows: number[] = [];
const answers = new Map<string, unknown>();
let leaves = false;
let asksAgain = false;

async function ask(): Promise<void> {
  await tell({ kind: 'query', query: { plan: { operator: 'scan' } as RowsPlan, source: { kind: 'table', name: 'ds' } } });
  await tell({ kind: 'nextFrame' });
}

process.on('message', async (message: ToTask) => {
  if (message.kind === 'chat') {
    const { chat, request } = message;
    if (request.path[0] === 'end') process.exit(0);
    if (request.path[0] === 'fail') await tell({ kind: 'chatFailed', chat, code: 'unavailable', message: 'not yet' });
    else await tell({ kind: 'chatAnswer', chat, body: request });
  }
  if (message.kind === 'answer') answers.set('list', message.value);
  if (message.kind === 'callFailed') answers.set('documents', `${message.code}: ${message.message}`);
  if (answers.size === 2) await end(Object.fromEntries(answers));
  if (message.kind === 'queryFailed') await end({ rows, refused: `${message.error.code}: ${message.error.message}` });
  if (message.kind === 'frame') {
    if (message.frame === null) await end({ rows });
    else rows.push(message.frame.rowCount);
    await tell({ kind: rows.length === 2 && leaves ? 'endQuery' : 'nextFrame' });
    if (rows.length === 2 && asksAgain) await ask();
    else if (rows.length === 2 && leaves) await end({ rows });
  }
  if (message.kind === 'published') await end({ ids: message.ids });
  if (message.kind === 'publishFailed') await end({ refused: `${message.code}: ${message.message}` });
  if (message.kind !== 'run') return;
  const { payload } = message;
  // A sample is sent as the bytes of its request.
  const { does, rows: count } = (payload instanceof Uint8Array ? JSON.parse(Buffer.from(payload).toString()) : payload) as Payload;
  console.log('hello from the task');
  await tell({
    kind: 'progress',
    progress: {
      phase: 'reading',
      startedMs: 0,
      atMs: 0,
      bytesRead: 0,
      bytesTotal: null,
      processed: 7,
      processedWithError: 0,
      thrownAway: 0,
      unparseable: 0,
    },
  });
  if (does === 'succeed') await end({ rows: count });
  if (does === 'children') {
    await tell({ kind: 'call', call: 7, method: 'documents', args: ['x'] });
    await tell({ kind: 'call', call: 8, method: 'list', args: [] });
    return;
  }
  if (does === 'tellPeers') await end({ peers: message.settings.peers });
  if (does === 'query' || does === 'leave' || does === 'again') {
    leaves = does !== 'query';
    asksAgain = does === 'again';
    await ask();
  }
  if (does === 'publish')
    await tell({ kind: 'publish', request: { taskId: message.taskId, dataSource: 'ds', segments: [], mode: { kind: 'append' } } });
  if (does === 'fill') for (const kept: object[] = []; ; ) kept.push({ at: kept.length });
  if (does === 'crash') process.kill(process.pid, 'SIGKILL');
  if (does === 'exit') process.exit(3);
  if (does === 'hang') process.on('SIGTERM', () => undefined);
});
