import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runTask, waitForCount } from '../../bench/server.js';
import { startSix } from './six.js';

/** A query through six processes is one trace: the Router's span below that of the client, the Broker's and the Historical's below. */
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly code: number };
}

const load = {
  type: 'index_parallel',
  spec: {
    ioConfig: {
      type: 'index_parallel',
      inputSource: { type: 'inline', data: '2024-01-01T00:00:00Z,a\n2024-01-01T00:00:00Z,b' },
      inputFormat: { type: 'csv', columns: ['time', 'name'] },
    },
    dataSchema: {
      dataSource: 'traced',
      timestampSpec: { column: 'time', format: 'iso' },
      dimensionsSpec: { dimensions: ['name'] },
      granularitySpec: { segmentGranularity: 'day', rollup: false },
    },
    tuningConfig: { type: 'index_parallel' },
  },
};
const context = { useResultLevelCache: false, populateResultLevelCache: false };
const sql = { query: 'SELECT name, COUNT(*) FROM traced GROUP BY 1', context };
const native = { queryType: 'timeseries', dataSource: 'traced', intervals: ['2024/2025'], granularity: 'all', context };

const tracing = suite('traces through six processes');
tracing('SQL and native queries', async () => {
  const spans: Span[] = [];
  const collector = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    for (const { scopeSpans } of JSON.parse(text).resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
    response.writeHead(200).end('{}');
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
  const dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-traces-'));
  const six = await startSix(dataDir, 15_300, ['--property', `svc.emitter.opentelemetry.endpoint=${endpoint}`]);
  try {
    await runTask(six.url, load);
    await waitForCount(six.url, 'traced', 2);
    for (const [at, [where, body, kind]] of (
      [
        ['/svc/v2/sql', sql, 'sql'],
        ['/svc/v2', native, 'timeseries'],
      ] as const
    ).entries()) {
      const traceId = `${TRACE.slice(0, -1)}${at}`;
      const ask = async (traceparent: string) => {
        const headers = { 'Content-Type': 'application/json', traceparent };
        const answer = await fetch(`${six.url}${where}`, { method: 'POST', headers, body: JSON.stringify(body) });
        assert.is(answer.status, 200, await answer.text());
      };
      await ask(`00-${traceId.replace('0af', '0ff')}-${SPAN}-00`);
      await ask(`00-${traceId}-${SPAN}-01`);
      const found = () => spans.filter((span) => span.traceId === traceId);
      for (let looks = 0; found().length < 3 && looks < 200; looks++) await sleep(50);
      const [router, broker, historical, ...others] = found().toSorted(
        (a, b) => ORDER.indexOf(a.name.split(' ')[0] ?? '') - ORDER.indexOf(b.name.split(' ')[0] ?? ''),
      );
      assert.equal([router?.name, broker?.name, historical?.name], [`router ${where}`, `broker ${kind}`, 'historical group']);
      assert.equal([router?.parentSpanId, broker?.parentSpanId, historical?.parentSpanId], [SPAN, router?.spanId, broker?.spanId]);
      assert.equal(
        [router, broker, historical].map((span) => span?.status.code),
        [0, 0, 0],
      );
      assert.equal(others, []);
    }
    assert.equal(
      spans.filter(({ traceId }) => traceId.startsWith('0ff')),
      [],
      'traces that are not recorded',
    );
  } finally {
    await six.stop();
    collector.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
const ORDER = ['router', 'broker', 'historical'];

tracing.run();
