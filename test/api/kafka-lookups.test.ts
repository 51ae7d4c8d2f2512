import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';
import { type Message, startKafka } from '../ingestion/stream/kafka.js';
import { loadCaseTables } from './cases.js';

/** Lookups that follow a topic, over HTTP: the channels of `edits` are `en` (3 rows), `fr` (2) and null (1). */
const tests = suite<{ folder: string; server: DolmenProcess }>('lookups of Kafka');
const kafka = await startKafka();
const PORT_OFFSET = 14_450;
const LOOKUPS = '/svc/coordinator/v1/lookups';

async function until<Value>(what: string, look: () => Promise<Value>, expected: unknown): Promise<void> {
  const wanted = JSON.stringify(expected);
  let found = '';
  for (let tries = 0; tries < 600; tries++) {
    found = await look().then(
      (value) => JSON.stringify(value),
      (error: unknown) => String(error),
    );
    if (found === wanted) return;
    await sleep(100);
  }
  assert.unreachable(`${what}: ${found}, expected ${wanted}`);
}

/** The channels as they are looked up, with their rows. */
const lookedUp = (url: string): Promise<unknown> =>
  sqlRows(url, "SELECT COALESCE(LOOKUP(channel, 'names'), '-') AS name, COUNT(*) FROM edits GROUP BY 1 ORDER BY 1");
const entries = (url: string): Promise<unknown> => sqlRows(url, 'SELECT k, v FROM lookup.names ORDER BY 1');

const put = (url: string, version: string, kafkaTopic: string, more: object = {}): Promise<unknown> =>
  callJson('POST', `${url}${LOOKUPS}/config/__default/names`, {
    version,
    lookupExtractorFactory: { type: 'kafka', kafkaTopic, kafkaProperties: { 'bootstrap.servers': kafka?.servers }, ...more },
  });

async function failure(url: string): Promise<unknown> {
  const { failed } = (await callJson('GET', `${url}${LOOKUPS}/status/__default/names?detailed=true`)) as { failed?: object };
  return failed !== undefined && Object.keys(failed).length > 0;
}

if (kafka === undefined) {
  tests.skip('a broker', () => undefined);
} else {
  const send = (...messages: readonly Message[]): Promise<void> => kafka.send('names', messages);

  tests.before(async (context) => {
    context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-kafka-lookups-'));
    context.server = await startDolmen({ dataDir: context.folder, portOffset: PORT_OFFSET });
    await loadCaseTables(context.server.url);
    await kafka.createTopic('names', 2);
    await kafka.createTopic('others', 1);
  });
  tests.after(async ({ server, folder }) => {
    await server?.stop();
    await kafka.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  tests('the whole topic is read from its beginning, without what was aborted', async ({ server: { url } }) => {
    await send({ key: 'en', value: 'old' }, { key: 'gone', value: 'x', partition: 1 }, { value: 'without a key' });
    await kafka.sendInTransaction('names', [{ key: 'en', value: 'aborted' }], 'abort');
    await kafka.sendInTransaction('names', [{ key: 'en', value: 'English' }], 'commit');
    await send({ key: 'gone', value: null, partition: 1 });
    await kafka.sendInTransaction('names', [{ key: 'fr', value: 'aborted', partition: 1 }], 'abort');
    await put(url, 'v1', 'names');
    await until('entries', () => entries(url), [['en', 'English']]);
    assert.equal(await lookedUp(url), [
      ['-', 3],
      ['English', 3],
    ]);
  });

  tests('messages that come are seen: new, replaced and removed keys', async ({ server: { url } }) => {
    await send({ key: 'fr', value: 'Français', partition: 1 }, { key: 'en', value: 'Englisch' });
    await until('new ones', () => lookedUp(url), [
      ['-', 1],
      ['Englisch', 3],
      ['Français', 2],
    ]);
    await send({ key: 'en', value: null });
    await until('a removed one', () => lookedUp(url), [
      ['-', 4],
      ['Français', 2],
    ]);
    await kafka.sendInTransaction('names', [{ key: 'en', value: 'aborted' }], 'abort');
    await send({ key: 'de', value: 'German' });
    await until('one behind what was aborted', () => entries(url), [
      ['de', 'German'],
      ['fr', 'Français'],
    ]);
  });

  tests('while the broker is away the last entries answer, and it says so', async ({ server: { url } }) => {
    await kafka.service.halt();
    await until('a failure', () => failure(url), true);
    assert.equal(await entries(url), [
      ['de', 'German'],
      ['fr', 'Français'],
    ]);
    await kafka.service.resume();
    await send({ key: 'fr', value: 'French', partition: 1 });
    await until('what came behind it', () => entries(url), [
      ['de', 'German'],
      ['fr', 'French'],
    ]);
    await until('no failure', () => failure(url), false);
  });

  tests('another topic takes its place, and a removed lookup is gone', async ({ server: { url } }) => {
    await kafka.send('others', [{ key: 'en', value: 'other' }]);
    await put(url, 'v2', 'others', { connectTimeout: 60_000, isOneToOne: true });
    await until('its entries', () => entries(url), [['en', 'other']]);
    await callJson('DELETE', `${url}${LOOKUPS}/config/__default/names`);
    const refused = () =>
      lookedUp(url).then(
        () => false,
        (error: unknown) => /unknown lookup/.test(String(error)),
      );
    await until('no lookup', refused, true);
  });
}

tests.run();
