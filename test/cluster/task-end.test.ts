import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ErrorCode, ServiceError } from '../../src/base/errors.js';
import { tellEnd } from '../../src/cluster/middlemanager/task-end.js';
import type { TaskEndReport } from '../../src/cluster/rpc/services.js';
import { findTask, finishTask, insertTask } from '../../src/metadata/tasks.js';
import { openMetadata } from '../metadata/fixture.js';

/** The end of a task is told by its report, or by one that says why that is not there; it is sent again for nothing that will not change. */
const REASON = 'overlord at o:1 refused taskEnded with 413';
const SAID = `the report of the task is too large to be sent: ${REASON}`;
const FAULT = {
  errorCode: 'DruidException',
  druidErrorCode: 'bodyTooLarge',
  persona: 'USER',
  category: 'INVALID_INPUT',
  context: { canBeTriedAgain: 'false' },
  errorMessage: SAID,
};

const REPORTS: readonly (readonly [kind: string, report: TaskEndReport['report'], instead: unknown])[] = [
  [
    'of a statement',
    { multiStageQuery: { payload: { results: { results: [['x'.repeat(100)]] } } } },
    {
      multiStageQuery: {
        type: 'multiStageQuery',
        taskId: 't',
        payload: {
          status: { status: 'FAILED', errorReport: { taskId: 't', host: null, stageNumber: null, error: FAULT } },
          stages: [],
          counters: {},
        },
      },
    },
  ],
  ...[{ ingestionStatsAndErrors: { payload: { unparseableEvents: 'x'.repeat(100) } } }, { segments: 'x'.repeat(100) }, {}, null].map(
    (report) =>
      [
        `with ${Object.keys(report ?? {}).join() || 'nothing'}`,
        report,
        {
          ingestionStatsAndErrors: {
            taskId: 't',
            type: 'ingestionStatsAndErrors',
            payload: { ingestionState: 'COMPLETED', errorMsg: SAID },
          },
        },
      ] as const,
  ),
];

const ends = suite('ends of tasks');
const endOf = (report: TaskEndReport['report']): TaskEndReport => ({
  ...{ taskId: 't', run: { session: 's', attempt: 2 }, succeeded: true, errorMessage: null, report },
});

/** Tells an end to an Overlord that answers with these, one after the other; gives what it heard. */
async function told(
  end: TaskEndReport,
  answers: readonly (ErrorCode | 'ok')[],
): Promise<{ heard: TaskEndReport[]; refused: string | null }> {
  const heard: TaskEndReport[] = [];
  const taskEnded = async (each: TaskEndReport): Promise<void> => {
    const answer = answers[heard.length] ?? 'ok';
    heard.push(each);
    if (answer !== 'ok') throw new ServiceError(answer, REASON);
  };
  try {
    await tellEnd({ taskEnded }, end);
    return { heard, refused: null };
  } catch (error) {
    return { heard, refused: (error as ServiceError).code };
  }
}

for (const [kind, report, instead] of REPORTS) {
  ends(`a report ${kind} that is taken is sent once`, async () => {
    assert.equal(await told(endOf(report), ['ok']), { heard: [endOf(report)], refused: null });
  });

  ends(`a report ${kind} that is too large is replaced`, async () => {
    const { heard, refused } = await told(endOf(report), ['body_too_large']);
    assert.is(refused, null);
    assert.equal(heard, [endOf(report), { ...endOf(null), succeeded: false, errorMessage: SAID, report: instead }]);
  });
}

ends('a failure whose report is too large keeps its own error', async () => {
  const { heard } = await told({ ...endOf({}), succeeded: false, errorMessage: 'row 17: t is null' }, ['body_too_large']);
  assert.is(heard[1]?.errorMessage, `row 17: t is null; ${SAID}`);
});

for (const code of ['unavailable', 'not_leader', 'timeout', 'capacity_exceeded', 'internal'] as const)
  ends(`${code} says nothing about the report`, async () => {
    assert.equal(await told(endOf({}), [code]), { heard: [endOf({})], refused: code });
  });

for (const [error, stored] of [
  ['found "a\0b"', 'found "a\\0b"'],
  ['as it is', 'as it is'],
  [null, null],
] as const)
  ends(`the error ${JSON.stringify(error)} of an end is stored`, async () => {
    const { database, close } = await openMetadata();
    try {
      await insertTask(database, { id: 't', groupId: 't', type: 'index', dataSource: 'd', priority: 0, payload: '{}' }, 1);
      await finishTask(database, 't', { succeeded: false, error, report: null }, 2);
      assert.is((await findTask(database, 't'))?.error, stored);
    } finally {
      await close();
    }
  });

ends.run();
