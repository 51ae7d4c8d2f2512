// Reads and checks payloads of tasks and requests to the sampler, on the plan thread.

import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { describeKillTask, isKillPayload } from '../../cluster/overlord/kill-task.js';
import type { TaskRead } from '../../cluster/overlord/submission.js';

/**
 * Reads and checks a task's payload, as far as that goes without its input. Ingestion is loaded with the first task.
 * @param now  the instant of CURRENT_TIMESTAMP in a statement
 * @throws ServiceError `input_invalid` or `unsupported` naming the field
 */
export async function readTask(text: string, now: EpochMs): Promise<TaskRead> {
  const payload = parsed(text);
  const document = stringifyJson(payload);
  if (isKillPayload(payload)) return { document, description: describeKillTask(payload) };
  const { validateTask } = await import('../../ingestion/task.js');
  return { document, description: validateTask(payload, now) };
}

/**
 * Checks a request to the sampler, as far as that goes without its input; gives its limits.
 * @throws ServiceError `input_invalid` or `unsupported` naming the field
 */
export async function readSampleLimits(body: Uint8Array): Promise<{ readonly timeoutMs: number }> {
  const { readSampleSpec } = await import('../../ingestion/sampler/sample-spec.js');
  const { timeoutMs } = readSampleSpec(body).limits;
  return { timeoutMs };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new ServiceError('input_invalid', `body: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}
