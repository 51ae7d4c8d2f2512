// The tutorials that load by native tasks, by the files of `examples/quickstart/tutorial`, and those about the life of segments.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WIKIPEDIA_ROWS = 39_244;
const HOURS = 24;

const spec = (t, file) => JSON.parse(readFileSync(join(t.tree, 'examples/quickstart/tutorial', file), 'utf8'));
const animals = (rows) => rows.map(([time, animal, count, number]) => ({ __time: `2018-01-01T${time}:00.000Z`, animal, count, number }));

export const NATIVE_TUTORIALS = {
  async 'load a file'(t) {
    const page = t.page('tutorials/tutorial-batch.md');
    await t.task('the spec of the page', page.json(0));
    await t.segments('one segment', 'wikipedia', { segments: 1, rows: WIKIPEDIA_ROWS });
    await t.task('wikipedia-index.json', spec(t, 'wikipedia-index.json'));
    await t.segments('replaced', 'wikipedia', { segments: 1, rows: WIKIPEDIA_ROWS });
    const top = ([{ result }]) => [result.length, result[0]];
    await t.native('top pages', spec(t, 'wikipedia-top-pages.json'), [10, { count: 33, page: 'Wikipedia:Vandalismusmeldung' }], top);
    const { query } = spec(t, 'wikipedia-top-pages-sql.json');
    await t.query('top pages by SQL', `SELECT * FROM (${query}) LIMIT 1`, [{ page: 'Wikipedia:Vandalismusmeldung', Edits: 33 }]);
  },

  async 'load a file by the loader of the console'(t) {
    const { dataSchema, ioConfig } = spec(t, 'wikipedia-index.json').spec;
    const sampled = async (over) => {
      const body = {
        type: 'index',
        spec: { type: 'index', ioConfig: { ...ioConfig, type: 'index' }, dataSchema: { ...dataSchema, ...over } },
        samplerConfig: { numRows: 50, timeoutMs: 15_000 },
      };
      return (await t.call('POST', '/druid/indexer/v1/sampler', body)).body;
    };
    const raw = await sampled({
      timestampSpec: { column: '!!!_no_such_column_!!!', missingValue: '1970-01-01T00:00:00Z' },
      dimensionsSpec: {},
    });
    t.is('rows sampled', [raw.numRowsRead, raw.data?.length], [50, 50]);
    const parsed = await sampled({});
    t.is('time parsed', parsed.data?.[0]?.parsed?.__time, Date.parse('2015-09-12T00:46:58.771Z'));
  },

  async rollup(t) {
    await t.task('rollup-index.json', spec(t, 'rollup-index.json'));
    await t.query('rows', 'SELECT * FROM "rollup-tutorial"', t.page('tutorials/tutorial-rollup.md').answer(1), { ordered: true });
  },

  async transform(t) {
    await t.task('transform-index.json', spec(t, 'transform-index.json'));
    await t.query('rows', 'SELECT * FROM "transform-tutorial"', [
      { __time: '2018-01-01T05:01:00.000Z', animal: 'super-mongoose', location: 2, count: 1, number: 200, 'triple-number': 600 },
      { __time: '2018-01-01T06:01:00.000Z', animal: 'super-snake', location: 3, count: 1, number: 300, 'triple-number': 900 },
      { __time: '2018-01-01T07:01:00.000Z', animal: 'super-octopus', location: 1, count: 1, number: 100, 'triple-number': 300 },
    ]);
  },

  async 'update, combine and append'(t) {
    const all = 'SELECT * FROM "updates-tutorial"';
    await t.task('updates-init-index.json', spec(t, 'updates-init-index.json'));
    await t.query(
      'first rows',
      all,
      animals([
        ['01:01', 'tiger', 1, 100],
        ['03:01', 'aardvark', 1, 42],
        ['03:01', 'giraffe', 1, 14124],
      ]),
    );
    await t.task('updates-overwrite-index.json', spec(t, 'updates-overwrite-index.json'));
    await t.query(
      'overwritten',
      all,
      animals([
        ['01:01', 'lion', 1, 100],
        ['03:01', 'aardvark', 1, 9999],
        ['04:01', 'bear', 1, 111],
      ]),
    );
    await t.task('updates-append-index.json', spec(t, 'updates-append-index.json'));
    // The count of the rows that are read again is that of their rows, and the lions are rolled up.
    const combined = [
      ['01:01', 'lion', 2, 400],
      ['03:01', 'aardvark', 1, 9999],
      ['04:01', 'bear', 1, 111],
      ['05:01', 'mongoose', 1, 737],
      ['06:01', 'snake', 1, 1234],
      ['07:01', 'octopus', 1, 115],
    ];
    await t.query('combined with what was there', all, animals(combined));
    await t.task('updates-append-index2.json', spec(t, 'updates-append-index2.json'));
    await t.query(
      'appended: not rolled up with what was there',
      all,
      animals([...combined, ['04:01', 'bear', 1, 222], ['09:01', 'falcon', 1, 1241]]),
    );
    await t.query(
      'grouped',
      'SELECT "animal", SUM("count") AS "count", SUM("number") AS "number" FROM "updates-tutorial" WHERE "animal" = \'bear\' GROUP BY 1',
      [{ animal: 'bear', count: 2, number: 333 }],
    );
  },

  async 'an ingestion spec, step by step'(t) {
    const page = t.page('tutorials/tutorial-ingestion-spec.md');
    writeFileSync(join(t.examples, 'quickstart/ingestion-tutorial-data.json'), page.text('json', 0));
    await t.task('the final spec', page.json(18));
    await t.query('rows', page.sql(0), page.answer(0), { ordered: true });
    await t.segments('a segment an hour', 'ingestion-tutorial', { segments: 2, rows: 5 });
  },

  async compaction(t) {
    const count = 'SELECT COUNT(*) AS "n" FROM "compaction-tutorial"';
    await t.task('compaction-init-index.json', spec(t, 'compaction-init-index.json'));
    await t.segments('one to three segments an hour', 'compaction-tutorial', { segments: 51, rows: WIKIPEDIA_ROWS });
    await t.query('rows', count, [{ n: WIKIPEDIA_ROWS }]);
    await t.task('compaction-keep-granularity.json', spec(t, 'compaction-keep-granularity.json'));
    await t.segments('a segment an hour', 'compaction-tutorial', { segments: HOURS, rows: WIKIPEDIA_ROWS });
    await t.query('rows, compacted', count, [{ n: WIKIPEDIA_ROWS }]);
    await t.task('compaction-day-granularity.json', spec(t, 'compaction-day-granularity.json'));
    await t.segments('one segment', 'compaction-tutorial', { segments: 1, rows: WIKIPEDIA_ROWS });
  },

  async retention(t) {
    await t.task('retention-index.json', spec(t, 'retention-index.json'));
    await t.segments('a segment an hour', 'retention-tutorial', { segments: HOURS, rows: WIKIPEDIA_ROWS });
    const rules = [
      { type: 'loadByInterval', interval: '2015-09-12T12:00:00.000Z/2015-09-13T00:00:00.000Z', tieredReplicants: { _default_tier: 2 } },
      { type: 'dropForever' },
    ];
    const { status } = await t.call('POST', '/druid/coordinator/v1/rules/retention-tutorial', rules);
    t.is('rules are accepted', status, 200);
    const hours = async () =>
      (await t.rows('SELECT DISTINCT FLOOR(__time TO HOUR) AS h FROM "retention-tutorial" ORDER BY 1')).map(({ h }) => h.slice(11, 13));
    await t.until(
      'the later twelve hours are left',
      hours,
      Array.from({ length: 12 }, (_, hour) => String(hour + 12)),
    );
  },

  async 'delete and kill'(t) {
    await t.task('deletion-index.json', spec(t, 'deletion-index.json'));
    const base = '/druid/coordinator/v1/datasources/deletion-tutorial';
    const hours = async () =>
      (await t.rows('SELECT DISTINCT FLOOR(__time TO HOUR) AS h FROM "deletion-tutorial" ORDER BY 1')).map(({ h }) =>
        Number(h.slice(11, 13)),
      );
    const but = (...gone) => Array.from({ length: HOURS }, (_, hour) => hour).filter((hour) => !gone.includes(hour));
    await t.until('every hour', hours, but());
    const dropped = await t.call('POST', `${base}/markUnused`, { interval: '2015-09-12T18:00:00.000Z/2015-09-12T20:00:00.000Z' });
    t.is('an interval is marked unused', [dropped.status, dropped.body], [200, { numChangedSegments: 2 }]);
    await t.until('two hours are gone', hours, but(18, 19));
    const last = (await t.call('GET', `${base}/segments`)).body.slice(-2);
    const byId = await t.call('POST', `${base}/markUnused`, { segmentIds: last });
    t.is('segments are marked unused by their ids', [byId.status, byId.body], [200, { numChangedSegments: 2 }]);
    await t.until('four hours are gone', hours, but(18, 19, 22, 23));
    const files = t.storedFiles();
    await t.task('deletion-kill.json', spec(t, 'deletion-kill.json'));
    await t.until('unused segments, which were in deep storage, are removed from it', async () => files - t.storedFiles(), 4);
  },
};
