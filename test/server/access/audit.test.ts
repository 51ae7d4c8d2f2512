import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Caller } from '../../../src/model/access/authorizer.js';
import { loadTask, openSecuredHouse, permission, userWith } from './secured-house.js';

/** Changes leave a line that tells who made them, and what was there before and after. */

const house = await openSecuredHouse(10_300);
const changer = userWith('changer', [
  permission('WRITE', 'CONFIG', 'CONFIG'),
  permission('READ', 'CONFIG', 'CONFIG'),
  permission('READ', 'DATASOURCE', 'wiki'),
  permission('WRITE', 'DATASOURCE', 'wiki'),
]);
const audits = suite('audit trail');
audits.after(() => house.close());

interface Entry {
  readonly auditInfo: { readonly identity?: string; readonly ip: string };
  readonly payload?: string;
  readonly previousPayload?: string;
}

const FOREVER = [{ type: 'loadForever', tieredReplicants: { _default_tier: 1 } }];
const DROP = [{ type: 'dropForever' }];
const lookup = (value: string) => ({ version: value, lookupExtractorFactory: { type: 'map', map: { k: value } } });

const cases: readonly {
  readonly name: string;
  readonly path: string;
  readonly history: string | null;
  readonly bodies: readonly [object, object];
  readonly holds: readonly [RegExp, RegExp];
}[] = [
  {
    name: 'rules',
    path: '/svc/coordinator/v1/rules/wiki',
    history: '/svc/coordinator/v1/rules/wiki/history',
    bodies: [FOREVER, DROP],
    holds: [/loadForever/, /dropForever/],
  },
  {
    name: 'dynamic configuration',
    path: '/svc/coordinator/v1/config',
    history: '/svc/coordinator/v1/config/history',
    bodies: [{ maxSegmentsToMove: 11 }, { maxSegmentsToMove: 22 }],
    holds: [/"maxSegmentsToMove":11/, /"maxSegmentsToMove":22/],
  },
  {
    name: 'worker configuration',
    path: '/svc/indexer/v1/worker',
    history: '/svc/indexer/v1/worker/history',
    bodies: [{ selectStrategy: { type: 'fillCapacity' } }, { selectStrategy: { type: 'equalDistribution' } }],
    holds: [/fillCapacity/, /equalDistribution/],
  },
  {
    name: 'compaction',
    path: '/svc/coordinator/v1/config/compaction',
    history: null,
    bodies: [
      { dataSource: 'wiki', skipOffsetFromLatest: 'P1D' },
      { dataSource: 'wiki', skipOffsetFromLatest: 'P2D' },
    ],
    holds: [/P1D/, /P2D/],
  },
  {
    name: 'lookups',
    path: '/svc/coordinator/v1/lookups/config/__default/x',
    history: null,
    bodies: [lookup('one'), lookup('two')],
    holds: [/one/, /two/],
  },
];

for (const { name, path, history, bodies, holds } of cases) {
  audits(`${name}: who, before and after`, async () => {
    for (const body of bodies) {
      const { status, body: text } = await house.ask(changer, 'POST', path, body);
      assert.ok(status === 200 || status === 202, text);
    }
    if (history === null) return;
    const { body } = await house.ask(changer, 'GET', `${history}?count=2`);
    const [last, first] = JSON.parse(body) as readonly [Entry, Entry];
    for (const { auditInfo } of [last, first]) assert.equal([auditInfo.identity, auditInfo.ip], ['changer', '127.0.0.1']);
    assert.match(first.payload ?? '', holds[0]);
    assert.match(last.payload ?? '', holds[1]);
    assert.match(last.previousPayload ?? '', holds[0]);
  });
}

audits('compaction tells who changed it in its own history', async () => {
  const { body } = await house.ask(changer, 'GET', '/svc/coordinator/v1/config/compaction/wiki/history?count=1');
  assert.is((JSON.parse(body) as readonly [Entry])[0].auditInfo.identity, 'changer');
});

audits('a task that is submitted leaves a line, and its sender must have the right', async () => {
  const task = loadTask('wiki', [{ t: 0, a: 1 }]);
  assert.is((await house.ask(changer, 'POST', '/svc/indexer/v1/task', task)).status, 200);
  assert.is(
    (await house.ask(userWith('reader', [permission('READ', 'DATASOURCE', 'wiki')]), 'POST', '/svc/indexer/v1/task', task)).status,
    403,
  );
  assert.equal(
    (await house.audited('ingestion.batch')).map(({ key, auditInfo }) => [key, auditInfo.identity]),
    [['wiki', 'changer']],
  );
});

audits('submissions are listed for those who may read their datasources', async () => {
  const listed = async (caller: Caller, query = '') => {
    const { status, body } = await house.ask(caller, 'GET', `/svc/indexer/v1/tasks/history${query}`);
    assert.is(status, 200, body);
    return JSON.parse(body) as readonly (Entry & { readonly key: string; readonly type: string; readonly auditTime: string })[];
  };
  const reader = (name: string) => userWith('reader', [permission('READ', 'DATASOURCE', name)]);
  const all = await listed(reader('wiki'));
  assert.equal(
    all.map(({ key, type, auditInfo }) => [key, type, auditInfo.identity, auditInfo.ip]),
    [['wiki', 'ingestion.batch', 'changer', '127.0.0.1']],
  );
  assert.is(JSON.parse(all[0]?.payload ?? '').type, 'index_parallel');
  assert.equal(await listed(reader('wiki'), '?dataSource=wiki&count=5'), all);
  assert.equal(await listed(reader('wiki'), '?dataSource=other'), []);
  assert.equal(await listed(reader('other')), []);
  assert.equal(await listed(reader('wiki'), '?interval=1990/1991'), []);
  assert.is((await house.ask(reader('wiki'), 'GET', '/svc/indexer/v1/tasks/history?count=10001')).status, 400);
});

const forbidden: readonly [name: string, task: object][] = [
  [
    'an input source that reads another datasource',
    {
      ...loadTask('wiki', []),
      spec: {
        ...specOf('wiki'),
        ioConfig: { type: 'index_parallel', inputSource: { type: 'druid', dataSource: 'other', interval: '2024/2025' } },
      },
    },
  ],
  ['another datasource', loadTask('other', [{ t: 0 }])],
  ['a statement over another datasource', statement('INSERT INTO wiki SELECT * FROM other PARTITIONED BY ALL')],
  [
    'a statement that writes another datasource',
    statement("INSERT INTO other SELECT TIMESTAMP '2024-01-01' AS __time, 1 AS a PARTITIONED BY ALL"),
  ],
  [
    'files',
    statement(
      `INSERT INTO wiki SELECT a AS x FROM TABLE(EXTERN('{"type":"inline","data":"{}"}', '{"type":"json"}')) EXTEND (a BIGINT) PARTITIONED BY ALL`,
    ),
  ],
  ['results for another user', { ...statement('SELECT 1 AS a'), spec: { query: 'SELECT 1 AS a', user: 'admin' } }],
  ['removal of another datasource', { type: 'kill', dataSource: 'other', interval: '2024/2025' }],
  ['compaction of another datasource', { type: 'compact', dataSource: 'other', interval: '2024-01-01/2024-01-02' }],
];
for (const [name, task] of forbidden)
  audits(`a task is refused for ${name}`, async () => {
    const { status, body } = await house.ask(changer, 'POST', '/svc/indexer/v1/task', task);
    assert.is(status, 403, body);
  });

function specOf(dataSource: string): object {
  return (loadTask(dataSource, [{ t: 0 }]) as { readonly spec: object }).spec;
}

function statement(query: string): object {
  const columns = ['__time', 'a'].map((name) => ({ name, type: 'LONG', multiValue: false, hasNulls: false }));
  return { type: 'query_controller', spec: { query, schema: { tables: { other: columns }, lookups: [] } } };
}

audits.run();
