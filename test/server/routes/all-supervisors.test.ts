import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import { openSecuredHouse } from '../access/secured-house.js';

/** Changes of all supervisors at once, beside others: each of them is as asked for, or gone. */
const BASE = '/svc/indexer/v1/supervisor';
const house = await openSecuredHouse(11_800);
const post = (path: string, body?: unknown) => house.ask(ALLOW_ALL_CALLER, 'POST', path, body);

const NAMES = ['a', 'b', 'c'];
/** A supervisor that begins long after the test, and one that compacts. */
const specsOf = (dataSource: string, suspended: boolean): readonly object[] => [
  {
    type: 'kafka',
    spec: {
      dataSchema: {
        dataSource,
        timestampSpec: { column: 't', format: 'iso' },
        dimensionsSpec: { dimensions: ['a'] },
        granularitySpec: { segmentGranularity: 'day', rollup: false },
      },
      ioConfig: {
        topic: 't',
        inputFormat: { type: 'json' },
        startDelay: 'PT10H',
        consumerProperties: { 'bootstrap.servers': '127.0.0.1:9' },
      },
      tuningConfig: { type: 'kafka' },
    },
    suspended,
  },
  { type: 'autocompact', spec: { dataSource }, suspended },
];
const IDS = NAMES.flatMap((name) => [name, `autocompact__${name}`]).sort();

interface Shown {
  readonly id: string;
  readonly suspended: boolean;
}

async function states(): Promise<readonly (readonly [id: string, suspended: boolean])[]> {
  const { status, body } = await house.ask(ALLOW_ALL_CALLER, 'GET', `${BASE}?full`);
  assert.is(status, 200, body);
  return (JSON.parse(body) as Shown[]).map(({ id, suspended }) => [id, suspended] as const).sort(([a], [b]) => (a < b ? -1 : 1));
}

const of = (suspended: boolean) => IDS.map((id) => [id, suspended]);
const without = (gone: string, suspended: boolean) => of(suspended).filter(([id]) => id !== gone);
const CASES: readonly (readonly [begun: 'running' | 'suspended', requests: readonly string[], after: unknown])[] = [
  ['running', ['suspendAll'], of(true)],
  ['running', ['suspendAll', 'suspendAll'], of(true)],
  ['running', ['suspendAll', 'suspendAll', 'suspendAll'], of(true)],
  ['running', ['b/suspend', 'suspendAll'], of(true)],
  ['running', ['b/terminate', 'suspendAll'], without('b', true)],
  ['running', ['autocompact__b/terminate', 'suspendAll'], without('autocompact__b', true)],
  ['running', ['suspendAll', 'terminateAll'], []],
  ['running', ['terminateAll', 'suspendAll'], []],
  ['suspended', ['suspendAll'], of(true)],
  ['suspended', ['resumeAll', 'resumeAll'], of(false)],
  ['suspended', ['b/resume', 'autocompact__c/terminate', 'resumeAll'], without('autocompact__c', false)],
  ['suspended', ['terminateAll', 'terminateAll'], []],
  ['suspended', ['b/terminate', 'terminateAll'], []],
];

const all = suite('all supervisors');
all.after(() => house.close());
for (const [begun, requests, after] of CASES)
  all(`${requests.join(' beside ')}, of those that are ${begun}`, async () => {
    for (const name of NAMES)
      for (const spec of specsOf(name, begun === 'suspended')) {
        const { status, body } = await post(BASE, spec);
        assert.is(status, 200, body);
      }
    assert.equal(await states(), of(begun === 'suspended'));
    const answers = await Promise.all(requests.map((path) => post(`${BASE}/${path}`)));
    for (const [at, { status, body }] of answers.entries())
      if (requests[at]?.endsWith('All')) assert.equal([status, JSON.parse(body)], [200, { status: 'success' }], requests[at]);
    assert.equal(await states(), after);
  });

for (const [verb, failing, others] of [
  ['suspendAll', ['b'], true],
  ['suspendAll', ['a', 'c'], true],
  ['terminateAll', ['b'], undefined],
] as const)
  all(`${verb} where the metadata store refuses ${failing.join(', ')}`, async () => {
    for (const name of NAMES) for (const spec of specsOf(name, false)) assert.is((await post(BASE, spec)).status, 200);
    const listed = failing.map((name) => `'${name}'`).join(', ');
    await house.inMetadata((database) =>
      database.rows(
        `CREATE TRIGGER refusal BEFORE INSERT ON supervisors WHEN NEW.id IN (${listed}) BEGIN SELECT RAISE(ABORT, 'refused'); END`,
      ),
    );
    const { status, body } = await post(`${BASE}/${verb}`);
    await house.inMetadata((database) => database.rows('DROP TRIGGER refusal'));
    assert.is(status, 500);
    const { error } = JSON.parse(body) as { error: string };
    assert.match(error, `${failing.length} of 6 supervisors were not changed: ${failing.map((name) => `[${name}]`).join(', ')}: `);
    assert.match(error, 'refused');
    const isFailing = (id: string) => failing.some((name) => name === id);
    assert.equal(
      await states(),
      IDS.flatMap((id) => (isFailing(id) ? [[id, false]] : others === undefined ? [] : [[id, others]])),
    );
    assert.is((await post(`${BASE}/terminateAll`)).status, 200);
  });

all.run();
