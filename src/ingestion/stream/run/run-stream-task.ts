// Runs an `index_kafka` or `index_kinesis` task.

import type { TaskContext, TaskOutcome } from '../../contract.js';
import { chatOfControl } from '../chat-control.js';
import { openStreamReader } from '../open-reader.js';
import { readerOptions } from '../stream-access.js';
import type { StreamReader } from '../stream-reader.js';
import type { StreamTaskSpec } from '../stream-task.js';
import { streamReports } from './stream-reports.js';
import { StreamRun } from './stream-run.js';

/** Runs a streaming task to its end. Never throws. */
export async function runStreamTask(
  spec: StreamTaskSpec,
  context: TaskContext,
  openReader: () => Promise<StreamReader> = () => openStreamReader(spec.io.source, readerOptions(context)),
): Promise<TaskOutcome> {
  if (context.attempt > 1) {
    // Its rows are read again from where the stored offsets are, which only its supervisor knows.
    const errorMessage =
      'the worker of the task was lost or stopped; its supervisor replaces it by one that goes on from the published offsets';
    context.log(errorMessage);
    return { succeeded: false, errorMessage, report: {} };
  }
  const run = new StreamRun(spec, context, openReader);
  context.serveChat(chatOfControl(spec.kind, run, streamReports(run, context.taskId)));
  return run.run();
}
