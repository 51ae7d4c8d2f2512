import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import type { QueryOptions } from '../../src/cluster/broker/contract.js';
import { requestFor, runOptions } from '../../src/cluster/broker/segment-runs.js';
import { LIMIT_ROWS, type RunLimits } from '../../src/model/run-limits.js';
import { readContext } from '../../src/planner/native/context.js';
import { readSqlContext } from '../../src/planner/sql/context.js';
import { scanPlan } from './fakes.js';

/* Every limit of the table travels from the context of a query to the historicals and to the broker's own engine. */

const limits = suite('run limits');

const readNative = (context: Readonly<Record<string, unknown>>): RunLimits =>
  readContext(new ObjectReader({ context }, '', readContextOf('query_invalid', 'query'))).limits;
const optionsOf = (given: RunLimits): QueryOptions => ({
  queryId: 'q',
  deadlineMs: 1000,
  priority: 0,
  kernels: null,
  limits: given,
  signal: new AbortController().signal,
});

for (const [name, { minimum, unlimited = [] }] of LIMIT_ROWS) {
  limits(`${name} is read from the context of native queries and of statements`, () => {
    const smallest = unlimited.includes(String(minimum)) ? minimum + 1 : minimum;
    for (const given of [smallest, String(smallest), 1_000_000]) {
      assert.is(readNative({ [name]: given })[name], Number(given));
      assert.is(readSqlContext({ [name]: given }).limits[name], Number(given));
    }
    for (const given of [null, ...unlimited]) assert.is(readNative({ [name]: given })[name], null);
    assert.throws(() => readNative({ [name]: minimum - 1 }), new RegExp(`context\\.${name}`));
  });

  limits(`${name} goes with requests to historicals and with runs of the broker itself`, () => {
    const options = optionsOf({ [name]: 7 });
    const read = { host: 'h', segmentIds: [], intervals: [] };
    assert.is(requestFor(scanPlan('ds'), read, 'final', options).limits[name], 7);
    assert.is(runOptions(options).limits?.[name], 7);
    assert.is(runOptions(options, 'partial').limits?.[name], 7);
  });
}

limits.run();
