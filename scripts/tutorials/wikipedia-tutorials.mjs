// Tutorials over a file that is on the web only: statements are unchanged but for its address, at which a stand-in of it lies.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROWS = 39_244;
const channels = (rows) => rows.reduce((sum, row) => sum + Number(row.EXPR$1), 0);

export const WIKIPEDIA_TUTORIALS = {
  async 'EXTERN over http'(t) {
    const page = t.page('tutorials/tutorial-msq-extern.md');
    await t.load('loaded', page.sql(0), ROWS);
    const rows = await t.rows(page.sql(2));
    t.is('channels', [rows.length, channels(rows), rows[0].channel], [51, ROWS, '#en.wikipedia']);
    await t.taskRows('the same over the file', page.sql(3), (own) => [own.length, own[0][0]], [51, '#en.wikipedia']);
  },

  async 'a spec turned into SQL'(t) {
    const page = t.page('tutorials/tutorial-msq-convert-spec.md');
    const native = JSON.parse(t.rehomed(JSON.stringify(page.json(0))));
    await t.task('the spec', native);
    await t.segments('one segment', 'wikipedia', { segments: 1, rows: ROWS });
    await t.load('the statement', page.sql(0), ROWS);
  },

  async 'queries from the console'(t) {
    const page = t.page('tutorials/tutorial-query.md');
    await t.load('loaded', t.page('tutorials/tutorial-msq-extern.md').sql(0), ROWS);
    await t.query('edits of pages and countries', `SELECT SUM("Edits") AS n FROM (${page.sql(0)})`, [{ n: ROWS }]);
    await t.count('EXPLAIN', page.sql(2), 1);
    await t.count('hours', page.sql(3), 24);
    await t.query('added by channel and page', `SELECT COUNT(*) > 1000 AS many FROM (${page.sql(4)})`, [{ many: true }]);
    await t.count('SQL over HTTP', page.json(0).query, 10);
  },

  async export(t) {
    const page = t.page('tutorials/tutorial-extern.md');
    await t.load('loaded', page.sql(0), ROWS);
    await t.load('exported', page.sql(1));
    const files = readdirSync('/tmp/druid/wiki_example', { withFileTypes: true });
    t.is('a CSV file and a folder', files.map((entry) => entry.isDirectory()).sort(), [false, true]);
    const csv = files.find((entry) => entry.isFile());
    const lines = readFileSync(join('/tmp/druid/wiki_example', csv.name), 'utf8').trim().split('\n');
    // Nothing is exported into a folder that has files: the next run finds it empty.
    rmSync('/tmp/druid/wiki_example', { recursive: true });
    t.is('header and ten rows', [lines[0].trim(), lines.length], ['channel,changes', 11]);
  },

  async 'query from deep storage'(t) {
    const page = t.page('tutorials/tutorial-query-deep-storage.md');
    await t.load('loaded by the hour', page.sql(0), ROWS, { maxNumTasks: 2 });
    const before = (await t.rows("SELECT COUNT(*) AS n FROM wikipedia WHERE __time < TIMESTAMP '2016-06-27 00:10:00'"))[0].n;
    t.is('rows before ten past', before > 10, true);
    const { status } = await t.call('POST', '/druid/coordinator/v1/rules/wikipedia', page.json(0));
    t.is('the rule is accepted', status, 200);
    const replicas = async () =>
      (await t.rows('SELECT COUNT(*) AS n FROM sys."segments" WHERE datasource = \'wikipedia\' AND "replication_factor" = 0'))[0].n;
    // The rule ends a minute before the hour does: it decides of hours that lie in it whole, or overlap it.
    await t.until('segments of deep storage only', replicas, 3);
    await t.until('none of their rows is served', async () => (await t.rows(page.sql(2))).length, 0);
    const text = "SET executionMode = 'ASYNC'; SELECT page FROM wikipedia WHERE __time < TIMESTAMP '2016-06-27 00:10:00' LIMIT 10";
    await t.statement('asked for by a statement', text, { schema: [{ name: 'page', type: 'VARCHAR', nativeType: 'STRING' }], rows: 10 });
    const all = "SET executionMode = 'ASYNC'; SELECT COUNT(*) AS n FROM wikipedia WHERE __time < TIMESTAMP '2016-06-27 00:10:00'";
    await t.statement('counted by a statement', all, { rows: 1, first: [before] });
  },
};
