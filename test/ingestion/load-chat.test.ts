import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceError } from '../../src/base/errors.js';
import type { ChatHandler, TaskContext, TaskProgress } from '../../src/ingestion/contract.js';
import { runTask } from '../../src/ingestion/task.js';
import { withLocalChildren } from './local-children.js';
import { taskContext } from './run-task.js';

/** Requests to a batch task while it runs. */
const chats = suite('requests to batch tasks');

const FILES = 3;
const ROWS = 4;

type Ask = (path: string) => Promise<unknown>;

interface Asked {
  /** Answers to the paths, given when each sub-task begins; of a load without sub-tasks, when it publishes. */
  readonly answers: readonly Readonly<Record<string, unknown>>[];
  readonly progress: readonly TaskProgress[];
  readonly children: readonly string[];
}

async function load(maxNumConcurrentSubTasks: number, paths: (children: readonly string[]) => readonly string[]): Promise<Asked> {
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-chat-'));
  try {
    for (let file = 0; file < FILES; file++)
      writeFileSync(
        join(folder, `${file}.json`),
        Array.from({ length: ROWS }, (_, n) => `{"t":${n},"a":"${n}"}`)
          .join('\n')
          .concat('\nbad'),
      );
    let handler: ChatHandler | undefined;
    const ask: Ask = async (path) =>
      handler?.({ method: 'GET', path: path.split('/'), query: new Map(), body: '' }).catch((error: ServiceError) => error.code);
    const pending: Promise<Readonly<Record<string, unknown>>>[] = [];
    const begun: string[] = [];
    const askAll = async (): Promise<Readonly<Record<string, unknown>>> => {
      const asked = paths(begun).map(async (path): Promise<[string, unknown]> => [path, await ask(path)]);
      return Object.fromEntries(await Promise.all(asked));
    };
    const progress: TaskProgress[] = [];
    let now = 0;
    const base: TaskContext = {
      ...taskContext(folder, []),
      allowedDirectories: [folder],
      now: () => (now += 500),
      progress: (update) => void progress.push(update),
      serveChat: (serve) => {
        handler = serve;
      },
      async publish({ segments }) {
        if (begun.length === 0) pending.push(askAll());
        return segments.map((_, at) => `${at}`);
      },
    };
    const { context } = withLocalChildren(base, base.storage, ({ id }) => {
      begun.push(id);
      pending.push(askAll());
    });
    const outcome = await runTask(
      {
        type: 'index_parallel',
        spec: {
          dataSchema: { dataSource: 'ds', timestampSpec: { column: 't' }, dimensionsSpec: { dimensions: ['a'] } },
          ioConfig: { inputSource: { type: 'local', baseDir: folder, filter: '*.json' }, inputFormat: { type: 'json' } },
          tuningConfig: {
            type: 'index_parallel',
            maxNumConcurrentSubTasks,
            maxSavedParseExceptions: 5,
            splitHintSpec: { type: 'maxSize', maxNumFiles: 1 },
          },
        },
      },
      context,
    );
    assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
    return { answers: await Promise.all(pending), progress, children: begun };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

chats('a load over sub-tasks tells its phase, its sub-tasks and its rows', async () => {
  const general = ['mode', 'phase', 'progress', 'subtasks/running', 'rowStats', 'subtaskspecs/complete', 'nothing'];
  const { answers, children } = await load(2, (begun) => {
    const first = begun[0]?.replace(/_\d+$/, '') ?? '';
    return [...general, ...['', '/state', '/history', '/other'].map((part) => `subtaskspec/${first}${part}`), 'subtaskspec/none'];
  });
  assert.is(answers.length, FILES);
  const first = children[0]?.replace(/_\d+$/, '') ?? '';
  const [early = {}, , late = {}] = answers;
  assert.is(early['mode'], 'parallel');
  assert.is(early['phase'], 'segment generation');
  assert.equal(early['progress'], { running: 2, succeeded: 0, failed: 0, complete: 0, total: 2, estimatedExpectedSucceeded: FILES });
  assert.is((early['subtasks/running'] as unknown[]).length, 2);
  assert.is((early['subtasks/running'] as unknown[])[0], children[0]);
  assert.is(early['nothing'], 'not_found');
  assert.is(early['subtaskspec/none'], 'not_found');
  assert.is(early[`subtaskspec/${first}/other`], 'not_found');
  assert.is(early[`subtaskspec/${first}/history`], 'not_found');
  const state = early[`subtaskspec/${first}/state`] as Record<string, unknown>;
  assert.equal(state['currentStatus'], { id: children[0], status: 'RUNNING' });
  assert.equal(state['taskHistory'], []);
  assert.is((early[`subtaskspec/${first}`] as Record<string, unknown>)['id'], first);
  assert.equal(late['progress'], { running: 1, succeeded: 2, failed: 0, complete: 2, total: 3, estimatedExpectedSucceeded: FILES });
  assert.equal(late[`subtaskspec/${first}/history`], [{ id: children[0], status: 'SUCCESS' }]);
  assert.is((late['subtaskspecs/complete'] as unknown[]).length, 2);
  const { totals } = late['rowStats'] as { readonly totals: { readonly buildSegments: Record<string, number> } };
  assert.is(totals.buildSegments['processed'], 2 * ROWS);
  assert.is(totals.buildSegments['unparseable'], 2);
});

chats('rows of sub-tasks that run are part of the progress, each counted once', async () => {
  const { progress } = await load(2, () => []);
  const rows = progress.map(({ processed }) => processed);
  assert.equal(
    rows,
    [...rows].sort((a, b) => a - b),
  );
  assert.is(rows.at(-1), FILES * ROWS);
});

chats('a load without sub-tasks tells that it has none', async () => {
  const paths = ['mode', 'phase', 'progress', 'subtaskspecs', 'rowStats', 'unparseableEvents', 'liveReports'];
  const { answers } = await load(1, () => paths);
  const [answer = {}] = answers;
  assert.is(answer['mode'], 'sequential');
  assert.is(answer['phase'], 'input_invalid');
  assert.is(answer['progress'], 'unavailable');
  assert.is(answer['subtaskspecs'], 'unavailable');
  const counts = { processed: FILES * ROWS, processedWithError: 0, thrownAway: 0, unparseable: FILES };
  const { totals } = answer['rowStats'] as { readonly totals: { readonly buildSegments: { readonly processedBytes: number } } };
  assert.equal(totals.buildSegments, { ...counts, processedBytes: totals.buildSegments.processedBytes });
  const events = answer['unparseableEvents'] as { readonly buildSegments: readonly { readonly input: string }[] };
  assert.equal(
    events.buildSegments.map(({ input }) => input),
    ['bad', 'bad', 'bad'],
  );
  const report = answer['liveReports'] as { readonly ingestionStatsAndErrors: { readonly payload: Record<string, unknown> } };
  assert.equal(report.ingestionStatsAndErrors.payload['rowStats'], answer['rowStats']);
  assert.is(report.ingestionStatsAndErrors.payload['ingestionState'], 'BUILD_SEGMENTS');
});

chats.run();
