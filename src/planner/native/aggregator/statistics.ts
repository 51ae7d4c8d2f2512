// Native names of statistical tests, as post-aggregators.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import type { Expression } from '../../../model/expression.js';
import { computed, type PostScope, type StateFamily } from './family.js';

/** Tests of statistics: post-aggregators over the values of others. */
export const STATISTICS: StateFamily = {
  aggregators: {},
  postAggregators: {
    zscore2sample: (reader, scope) => {
      const operands = ['successCount1', 'sample1Size', 'successCount2', 'sample2Size'].map((key) => readValue(reader, key, scope));
      return computed(reader, 'DOUBLE', 'z_score', ...operands);
    },
    pvalue2tailedZtest: (reader, scope) => computed(reader, 'DOUBLE', 'z_test', readValue(reader, 'zScore', scope)),
  },
};

function readValue(reader: ObjectReader, key: string, scope: PostScope): Expression {
  const { expression, state } = scope.read(reader.raw(key), reader.at(key));
  if (state === undefined) return expression;
  throw new ServiceError('query_invalid', `${reader.at(key)}: expected a number, found a state; a finalizingFieldAccess reads its value`);
}
