import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ALLOW_ALL_CALLER, type Caller } from '../../../src/model/access/authorizer.js';
import { openSecuredHouse, permission, userWith } from './secured-house.js';

/** Lists of the newest are of what their reader may see: whatever others have done since takes no place in them. */
const house = await openSecuredHouse(11_400);
const rows = [{ t: Date.UTC(2024, 0, 1), n: 1 }];
const reader = userWith('reader', [permission('READ', 'DATASOURCE', 'a_.*'), permission('READ', 'STATE', 'STATE')]);
const stranger = userWith('stranger', [permission('READ', 'STATE', 'STATE')]);

const lists = suite('lists of the newest');
lists.before(async () => {
  await house.load('a_older', rows);
  await house.load('b_newer', rows);
});
lists.after(() => house.close());

const LISTS: readonly (readonly [path: string, nameOf: (entry: Record<string, unknown>) => unknown])[] = [
  ['/svc/indexer/v1/completeTasks?max=1', ({ dataSource }) => dataSource],
  ['/svc/indexer/v1/tasks?state=complete&max=1', ({ dataSource }) => dataSource],
  ['/svc/indexer/v1/tasks/history?count=1', ({ key }) => key],
];
const READERS: readonly (readonly [who: string, caller: Caller, sees: readonly string[]])[] = [
  ['one who may do everything', ALLOW_ALL_CALLER, ['b_newer']],
  ['one who may read the older one', reader, ['a_older']],
  ['one who may read neither', stranger, []],
];
for (const [path, nameOf] of LISTS)
  for (const [who, caller, sees] of READERS)
    lists(`${path} of ${who}`, async () => {
      const { status, body } = await house.ask(caller, 'GET', path);
      assert.is(status, 200, body);
      assert.equal((JSON.parse(body) as Record<string, unknown>[]).map(nameOf), sees);
    });

lists.run();
