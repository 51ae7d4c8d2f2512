import * as assert from 'uvu/assert';
import { type SystemTablesSource, systemRows } from '../../src/cluster/broker/system-tables.js';
import { FINISHED_LISTED_MAX } from '../../src/cluster/overlord/task-look.js';
import { ALLOW_ALL_CALLER, type Caller } from '../../src/model/access/authorizer.js';
import { itself, readable } from '../../src/server/access/readable.js';
import { rowsFor } from '../../src/server/access/system-rows.js';
import { permission, userWith } from '../server/access/secured-house.js';
import { overlordSuite } from './leading-overlord.js';

/** `sys.tasks` is the newest finished tasks that its reader may see: what others have done since takes no place in it. */
const READERS: readonly (readonly [who: string, caller: Caller, counts: Readonly<Record<string, number>>])[] = [
  ['one who may do everything', ALLOW_ALL_CALLER, { b_newer: FINISHED_LISTED_MAX }],
  ['one who may read the older ones', userWith('older', [permission('READ', 'DATASOURCE', 'a_.*')]), { a_older: 3 }],
  ['one who may read the newer ones', userWith('newer', [permission('READ', 'DATASOURCE', 'b_.*')]), { b_newer: FINISHED_LISTED_MAX }],
  ['one who may read both', userWith('both', [permission('READ', 'DATASOURCE', '.*')]), { b_newer: FINISHED_LISTED_MAX }],
  ['one who may read neither', userWith('neither', []), {}],
];

const tasks = overlordSuite('the newest tasks');
for (const [who, caller, counts] of READERS)
  tasks(`of ${who}`, async ({ database, overlord }) => {
    const insert = (dataSource: string, count: number, fromMs: number) =>
      database.rows(
        `INSERT INTO tasks (id, group_id, type, data_source, state, priority, created_ms, queued_ms, finished_ms, payload, file_name)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
         SELECT '${dataSource}' || n, 'g', 'index', '${dataSource}', 'SUCCESS', 0, ${fromMs} + n, ${fromMs} + n, ${fromMs} + n, '{}', '${dataSource}' || n FROM numbers`,
      );
    await insert('a_older', 3, 0);
    await insert('b_newer', FINISHED_LISTED_MAX + 5, 1000);
    // The test asks for these members only.
    const source = {
      peers: { leading: () => overlord },
      readable: caller.isUnrestricted ? null : (names: readonly string[]) => readable(caller, names, itself),
    } as unknown as SystemTablesSource;
    const rows = await rowsFor(caller, 'tasks', (table) => systemRows(source, table));
    const found = new Map<string, number>();
    for (const row of rows as readonly (readonly unknown[])[]) found.set(String(row[3]), (found.get(String(row[3])) ?? 0) + 1);
    assert.equal(Object.fromEntries(found), counts);
  });

tasks.run();
