// The SQL tutorials: statements are those of the pages, rows too where a page tells them; what it tells in words stands here.

const ALL = (table) => `SELECT * FROM "${table}"`;

export const SQL_TUTORIALS = {
  async 'append by INSERT'(t) {
    const page = t.page('tutorials/tutorial-append-data.md');
    await t.load('first days', page.sql(0), 8);
    await t.query('rows of the first days', page.sql(1), page.answer(1), { ordered: true });
    await t.load('days appended', page.sql(2), 5);
    await t.query('rows of all days', page.sql(3), page.answer(3), { ordered: true });
  },

  async 'update by REPLACE'(t) {
    const page = t.page('tutorials/tutorial-update-data.md');
    await t.load('first rows', page.sql(0), 8);
    await t.query('as loaded', page.sql(1), page.answer(1), { ordered: true });
    await t.load('OVERWRITE ALL', page.sql(2), 8);
    await t.query('all replaced', ALL('update_tutorial'), page.answer(2), { ordered: true });
    await t.load('OVERWRITE WHERE', page.sql(3), 5);
    await t.query('one day replaced', ALL('update_tutorial'), page.answer(3));
    await t.load('an hour of a day', page.sql(4), 1);
    await t.query('one hour replaced', ALL('update_tutorial'), page.answer(4));
  },

  async 'rollup by GROUP BY'(t) {
    const page = t.page('tutorials/tutorial-rollup.md');
    await t.load('rolled up', page.sql(0), 5);
    await t.query('rows', page.sql(1), page.answer(1), { ordered: true });
  },

  async 'transform by SELECT'(t) {
    const page = t.page('tutorials/tutorial-transform.md');
    await t.load('transformed', page.sql(0), 3);
    await t.query('rows', page.sql(1), page.answer(1), { ordered: true });
  },

  async 'latest values'(t) {
    const page = t.page('tutorials/tutorial-latest-by.md');
    await t.load('points', page.sql(1), 6);
    await t.query('latest points of a user', page.sql(2), [
      { user_id: 'silly_monkey2', latest_points: 55 },
      { user_id: 'funny_bunny1', latest_points: 40 },
    ]);
    await t.load('points by hour', page.sql(3), 6);
    // The page's own table has the changes in place of the values; these are the values of its rows.
    await t.query('latest points of an hour', page.sql(4), [
      { hour_time: '2024-01-01T01:00:00.000Z', user_id: 'funny_bunny1', latest_points_hour: 30 },
      { hour_time: '2024-01-01T02:00:00.000Z', user_id: 'funny_bunny1', latest_points_hour: 35 },
      { hour_time: '2024-01-01T02:00:00.000Z', user_id: 'silly_monkey2', latest_points_hour: 55 },
      { hour_time: '2024-01-01T03:00:00.000Z', user_id: 'funny_bunny1', latest_points_hour: 40 },
    ]);
    await t.load('changes', page.sql(5), 6);
    await t.query('sums of changes', page.sql(6), [
      { hour_time: '2024-01-01T01:00:00.000Z', user_id: 'funny_bunny1', latest_points_hour: 20 },
      { hour_time: '2024-01-01T02:00:00.000Z', user_id: 'funny_bunny1', latest_points_hour: 5 },
      { hour_time: '2024-01-01T02:00:00.000Z', user_id: 'silly_monkey2', latest_points_hour: 25 },
      { hour_time: '2024-01-01T03:00:00.000Z', user_id: 'funny_bunny1', latest_points_hour: 10 },
    ]);
  },

  async 'theta sketches'(t) {
    const page = t.page('tutorials/tutorial-sketches-theta.md');
    await t.load('sketches of visitors', page.sql(0), 12);
    await t.is('rows', (await t.rows(page.sql(1))).length, 12);
    await t.query('sum of users by row', `SELECT SUM("users") AS "users" FROM (${page.sql(2)})`, [{ users: 17 }]);
    for (const n of [3, 4]) await t.query(`users of one show, ${n}`, page.sql(n), [{ users: 5 }]);
    await t.query('users of both episodes', page.sql(5), [{ users: 1 }]);
    await t.query('users of any episode', page.sql(6), [{ users: 5 }]);
    await t.query('users of the first episode only', page.sql(7), [{ users: 3 }]);
  },

  async 'null values'(t) {
    const page = t.page('tutorials/tutorial-sql-null.md');
    const answer = (n) =>
      page.answer(n).map((row) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, cell === 'empty' ? '' : cell])));
    await t.load('with nulls', page.sql(0), 4);
    await t.query('rows', page.sql(1), answer(1), { ordered: true });
    await t.query('unequal strings', page.sql(2), [{ EXPR$0: 2 }]);
    // The page calls the table by another name here.
    await t.query('counts of rows and values', page.sql(3).replace('"inline_data"', '"null_example"'), answer(3));
    await t.query('null or empty', page.sql(4), answer(4));
    await t.query('values that are not empty', page.sql(5), [{ EXPR$0: 2 }]);
    await t.query('numbers below 2', page.sql(6), [{ EXPR$0: 1 }]);
    await t.query('null and one', page.sql(7), [{ EXPR$0: null }]);
    await t.query('COALESCE of null', page.sql(8), [{ EXPR$0: 1 }]);
    await t.load('filtered while loading', page.sql(9), 2);
    await t.query('rows left', ALL('null_example'), answer(9));
  },

  async arrays(t) {
    const page = t.page('querying/arrays.md');
    await t.load('arrays', page.sql(0), 5);
    await t.load('arrays as keys of rollup', page.sql(1), 5);
    for (const n of [2, 3, 4, 5, 6, 7, 8]) await t.query(`block ${n}`, page.sql(n), page.answer(n));
  },

  async unnest(t) {
    const page = t.page('tutorials/tutorial-unnest-arrays.md');
    await t.load('lists', page.sql(0), 7);
    await unnested(t, page);
  },

  async 'unnest, loaded by a native task'(t) {
    const page = t.page('tutorials/tutorial-unnest-arrays.md');
    await t.task('lists', page.json(0));
    await unnested(t, page);
  },
};

/** Seven rows with two values each in `dim3`, and what the page says of each statement and query. */
async function unnested(t, page) {
  const counts = { 1: 7, 3: 14, 5: 10, 8: 14, 9: 4, 10: 2, 11: 1, 12: 12 };
  for (const [n, rows] of Object.entries(counts)) await t.count(`rows of block ${n}`, page.sql(Number(n)), rows);
  for (const [n, fewest] of [
    [4, 8],
    [7, 15],
  ])
    await t.query(`block ${n} has more rows than its table`, `SELECT COUNT(*) >= ${fewest} AS "grown" FROM (${page.sql(n)})`, [
      { grown: true },
    ]);
  const events = (answer) => answer.reduce((sum, { events }) => sum + events.length, 0);
  await t.native('scan', page.json(1), 14, events);
  await t.native('groupBy, descending', page.json(3), [...'nmlkjihgdcba'], (rows) => rows.map(({ event }) => event['unnest-dim3']));
  await t.native('topN, ascending by the least m1', page.json(4), [1, 1, 2], ([{ result }]) => result.map(({ a0 }) => a0));
  // Every row meets the rows of its m1: 1, 1, 2 × 2, 1 and 2 × 2 of them.
  await t.native('over a join', page.json(5), 22, events);
  await t.native('virtual column', page.json(6), 10, events);
}
