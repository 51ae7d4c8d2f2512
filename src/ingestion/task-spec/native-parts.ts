// Reads the parts of a task spec that use the language of native queries: aggregators and filters.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import type { Filter } from '../../model/filter.js';
import { parseAggregator } from '../../planner/native/aggregator/aggregator.js';
import { parseFilter } from '../../planner/native/filter/filter.js';

/** The aggregator of a metric, in the language of native queries. */
export function aggregatorOf(fields: ObjectReader): ReturnType<typeof parseAggregator> {
  return asInput(() => parseAggregator(fields.members, fields.path));
}

/** A filter in the language of native queries; null where the field is left out. */
export function filterOf(fields: ObjectReader, key: string): Filter | null {
  return fields.has(key) ? asInput(() => parseFilter(fields.raw(key), fields.at(key))) : null;
}

/** Errors of the native query language, told as errors of the task's payload. */
function asInput<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'query_invalid') throw error;
    throw new ServiceError('input_invalid', error.message, error);
  }
}
