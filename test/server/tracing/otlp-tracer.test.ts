import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Log, SILENT_LOG } from '../../../src/base/log.js';
import { parseTraceparent } from '../../../src/model/tracing/span.js';
import { OtlpTracer } from '../../../src/server/tracing/otlp-tracer.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

const headers = suite('the header traceparent');
for (const [written, isSampled] of [
  // The example of the recommendation of W3C.
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, false],
  [`00-${TRACE}-${SPAN}-03`, true],
  [`cc-${TRACE}-${SPAN}-01-what-comes-later`, true],
  [`cc-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-01-more`, undefined],
  [`ff-${TRACE}-${SPAN}-01`, undefined],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  [`00-${TRACE}-${SPAN}`, undefined],
  [`00-${TRACE}-${SPAN}-1`, undefined],
  ['', undefined],
] as const)
  headers(written, () => {
    assert.equal(parseTraceparent(written), isSampled === undefined ? undefined : { traceId: TRACE, spanId: SPAN, isSampled });
  });
headers.run();

interface Context {
  collector: Server;
  endpoint: string;
  /** Spans of each request. */
  got: Record<string, unknown>[][];
}

const tracers = suite<Context>('spans sent to a collector');
tracers.before.each(async (context) => {
  context.got = [];
  context.collector = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    context.got.push(JSON.parse(text).resourceSpans[0].scopeSpans[0].spans);
    response.writeHead(200).end('{}');
  });
  context.collector.listen(0, '127.0.0.1');
  await once(context.collector, 'listening');
  context.endpoint = `http://127.0.0.1:${(context.collector.address() as AddressInfo).port}/v1/traces`;
});
tracers.after.each(async ({ collector }) => {
  collector.closeAllConnections();
  collector.close();
});

const tracerTo = (endpoint: string, log: Log = SILENT_LOG) => new OtlpTracer({ endpoint, instance: 'i', version: '1', log });

for (const [name, parent, isSent, parentSpanId] of [
  ['below another', `00-${TRACE}-${SPAN}-01`, true, SPAN],
  ['of a trace of its own', undefined, true, undefined],
  ['below one that cannot be read', 'odd', true, undefined],
  ['of a trace that is not recorded', `00-${TRACE}-${SPAN}-00`, false, undefined],
] as const)
  tracers(`a span ${name}`, async ({ endpoint, got }) => {
    const tracer = tracerTo(endpoint);
    const span = tracer.begin('work', parent);
    const own = parseTraceparent(span.traceparent);
    span.end({ a: 'b' }, 'timeout');
    await tracer.stop();
    assert.is(own?.isSampled, isSent);
    assert.is(own?.traceId === TRACE, parent?.includes(TRACE) === true);
    assert.is.not(own?.spanId, SPAN);
    const spans = got.flat().map(({ startTimeUnixNano, endTimeUnixNano, ...rest }) => {
      assert.ok(BigInt(startTimeUnixNano as string) <= BigInt(endTimeUnixNano as string));
      return rest;
    });
    const sent = {
      ...{ traceId: own?.traceId, spanId: own?.spanId, ...(parentSpanId === undefined ? {} : { parentSpanId }) },
      ...{ name: 'work', kind: 2, attributes: [{ key: 'a', value: { stringValue: 'b' } }], status: { code: 2, message: 'timeout' } },
    };
    assert.equal(spans, isSent ? [sent] : []);
  });

tracers('many go together, no more than a bound wait, and the log tells how many were left out', async ({ endpoint, got }) => {
  const told: unknown[] = [];
  const tracer = tracerTo(endpoint, { ...SILENT_LOG, warn: (_line: string, facts: unknown) => void told.push(facts) });
  for (let at = 0; at < 5000; at++) tracer.begin(String(at), undefined).end({}, undefined);
  await tracer.stop();
  assert.equal(
    got.map(({ length }) => length),
    Array(8).fill(512),
  );
  assert.equal(told, [{ spans: 5000 - 8 * 512 }]);
});

tracers('a collector that is away costs spans and one line of the log', async ({ endpoint, collector }) => {
  collector.close();
  const lines: string[] = [];
  const tracer = tracerTo(endpoint, { ...SILENT_LOG, warn: (line: string) => void lines.push(line) });
  for (let at = 0; at < 1000; at++) tracer.begin('work', undefined).end({}, undefined);
  await tracer.stop();
  assert.is(lines.length, 1);
  assert.match(lines[0] ?? '', 'svc.emitter.opentelemetry.endpoint');
});

tracers.run();
