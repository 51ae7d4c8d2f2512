import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import { openSecuredHouse } from '../access/secured-house.js';

/** Numbers of the bodies that configure a cluster: what a field does not accept is refused with its name, what was found and what is accepted. */
interface Accepted {
  readonly least: number;
  readonly most?: number;
  /** Fractions as well. */
  readonly isRatio?: true;
  /** Also as text. */
  readonly asText?: true;
}

const INTEGER_MAX = 2 ** 31 - 1;
const COUNT: Accepted = { least: 0, most: INTEGER_MAX };
const RATIO: Accepted = { least: 0, most: 1, isRatio: true };
const UNBOUNDED: Accepted = { least: 0, asText: true };
const PRIORITY: Accepted = { least: -INTEGER_MAX, most: INTEGER_MAX, asText: true };

const SUPERVISOR = {
  type: 'kafka',
  suspended: true,
  context: {},
  spec: {
    dataSchema: {
      dataSource: 'd',
      timestampSpec: { column: 't', format: 'iso' },
      dimensionsSpec: { dimensions: ['a'] },
      granularitySpec: { segmentGranularity: 'day', rollup: false },
    },
    ioConfig: { topic: 't', inputFormat: { type: 'json' }, consumerProperties: { 'bootstrap.servers': '127.0.0.1:9' } },
    tuningConfig: { type: 'kafka' },
  },
};
const LIMITS = {
  type: 'default',
  selectStrategy: { type: 'fillCapacity', taskLimits: { maxSlotCountByType: {}, maxSlotRatioByType: {} } },
};
const POLICY = { compactionPolicy: { type: 'mostFragmentedFirst' } };

const FIELDS: readonly (readonly [path: string, body: unknown, field: string, accepted: Accepted])[] = [
  ...(
    [
      ['millisToWaitBeforeDeleting', { least: 0, most: Number.MAX_SAFE_INTEGER }],
      ['maxSegmentsToMove', COUNT],
      ['replicantLifetime', COUNT],
      ['replicationThrottleLimit', COUNT],
      ['balancerComputeThreads', COUNT],
      ['maxKillTaskSlots', COUNT],
      ['maxSegmentsInNodeLoadingQueue', COUNT],
      ['killTaskSlotRatio', RATIO],
    ] as const
  ).map(([field, accepted]) => ['/svc/coordinator/v1/config', {}, field, accepted] as const),
  ['/svc/coordinator/v1/rules/d', [{ type: 'loadForever', tieredReplicants: {} }], '0.tieredReplicants.hot', COUNT],
  ['/svc/coordinator/v1/config/compaction', { dataSource: 'd' }, 'taskPriority', PRIORITY],
  ['/svc/coordinator/v1/config/compaction', { dataSource: 'd' }, 'inputSegmentSizeBytes', UNBOUNDED],
  ['/svc/coordinator/v1/config/compaction', { dataSource: 'd', tuningConfig: {} }, 'tuningConfig.maxRetry', UNBOUNDED],
  ['/svc/coordinator/v1/config/compaction/cluster', {}, 'maxCompactionTaskSlots', { ...COUNT, asText: true }],
  ['/svc/coordinator/v1/config/compaction/cluster', POLICY, 'compactionPolicy.minUncompactedCount', { ...UNBOUNDED, least: 1 }],
  ['/svc/indexer/v1/worker', LIMITS, 'selectStrategy.taskLimits.maxSlotCountByType.index', UNBOUNDED],
  ['/svc/indexer/v1/supervisor', SUPERVISOR, 'spec.ioConfig.taskCount', { ...UNBOUNDED, least: 1 }],
  ['/svc/indexer/v1/supervisor', SUPERVISOR, 'spec.ioConfig.pollTimeout', UNBOUNDED],
  ['/svc/indexer/v1/supervisor', SUPERVISOR, 'spec.tuningConfig.handoffConditionTimeout', UNBOUNDED],
  ['/svc/indexer/v1/supervisor', SUPERVISOR, 'spec.tuningConfig.chatRetries', UNBOUNDED],
  ['/svc/indexer/v1/supervisor', SUPERVISOR, 'context.priority', PRIORITY],
];
const VALUES: readonly unknown[] = [-1e10, -1, 0, 0.5, 1, 1.5, 7, 2 ** 31, 1e300, '7', '-1', '0.5', 'x', '', true, [], [1], {}];

function isAccepted(value: unknown, { least, most = Number.POSITIVE_INFINITY, isRatio, asText }: Accepted): boolean {
  const number = asText === true && typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && (isRatio === true || Number.isInteger(number)) && number >= least && number <= most;
}

/** A copy of a body with a value at a path. */
function withValue(body: unknown, path: string, value: unknown): unknown {
  const [key = '', ...rest] = path.split('.');
  const members = body as Readonly<Record<string, unknown>>;
  const made = rest.length === 0 ? value : withValue(members[key], rest.join('.'), value);
  if (Array.isArray(body)) return body.map((item: unknown, at) => (String(at) === key ? made : item));
  return { ...members, [key]: made };
}

const house = await openSecuredHouse(12_200);
const numbers = suite('numbers of bodies');
numbers.after(() => house.close());

for (const [path, body, field, accepted] of FIELDS)
  numbers(`${path}: ${field}`, async () => {
    for (const value of VALUES) {
      const found = JSON.stringify(value);
      const answer = await house.ask(ALLOW_ALL_CALLER, 'POST', path, withValue(body, field, value));
      const isOurs = isAccepted(value, accepted);
      assert.is(answer.status, isOurs ? 200 : 400, `${found}: ${answer.body}`);
      if (isOurs) continue;
      const { error } = JSON.parse(answer.body) as { error: string };
      assert.ok(error.includes(field.split('.').at(-1) ?? ''), `${found}: ${error}`);
      assert.match(error, /expected/, found);
      assert.match(error, /found/, found);
    }
  });

numbers.run();
