import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Log, SILENT_LOG } from '../../src/base/log.js';
import { ALLOW_ALL_CALLER } from '../../src/model/access/authorizer.js';
import type { HttpRequest, Route } from '../../src/server/http.types.js';
import { type LoopClock, LoopWatch } from '../../src/server/loop-watch.js';

const watching = suite('watch of the event loop');

const LATE_MS = 100;
const PERIOD_MS = LATE_MS / 4;

/** A watch under a clock of the test. */
function opened(lateMs = LATE_MS) {
  const warnings: { message: string; fields: unknown }[] = [];
  const log: Log = { ...SILENT_LOG, warn: (message, fields) => void warnings.push({ message, fields }) };
  const time = { nowMs: 0, processorMs: 0 as number | undefined };
  let look = (): void => undefined;
  let periods = 0;
  let isStopped = false;
  const clock: LoopClock = {
    nowMs: () => time.nowMs,
    processorMs: () => time.processorMs,
    every(periodMs, each) {
      assert.is(periodMs, PERIOD_MS);
      periods++;
      look = each;
      return { stop: () => void (isStopped = true) };
    },
  };
  const watch = new LoopWatch(lateMs, log, clock);
  watch.start();
  const route: Route = { method: 'GET', path: '/x', permission: { access: 'public' }, errors: 'map', handle: () => ({ status: 200 }) };
  const [watched] = watch.watched([route]);
  const request = (url: string): void => {
    const asked: HttpRequest = {
      method: 'GET',
      path: url,
      rawUrl: url,
      headers: {},
      query: new URLSearchParams(),
      viaAlias: false,
      caller: ALLOW_ALL_CALLER,
      body: Buffer.alloc(0),
      remoteAddress: '',
      signal: new AbortController().signal,
    };
    assert.equal(watched?.handle(asked, {}), { status: 200 });
  };
  return { watch, warnings, time, request, look: () => look(), periods: () => periods, isStopped: () => isStopped };
}

const CASES: readonly {
  name: string;
  takesMs: number;
  processorMs?: number;
  before?: readonly string[];
  during: readonly string[];
  line?: string;
}[] = [
  { name: 'on time', takesMs: PERIOD_MS, during: ['/a'] },
  { name: 'late, but not by enough', takesMs: PERIOD_MS + 99, during: ['/a'] },
  { name: 'late by just enough', takesMs: PERIOD_MS + 100, during: ['/a'], line: 'event loop late by 100 ms: request GET /a' },
  { name: 'several requests', takesMs: 525, during: ['/a', '/b'], line: 'event loop late by 500 ms: request GET /a, GET /b' },
  {
    name: 'more requests than are named',
    takesMs: 525,
    during: ['/a', '/b', '/c', '/d', '/e', '/f'],
    line: 'event loop late by 500 ms: request GET /c, GET /d, GET /e, GET /f',
  },
  { name: 'a request of before', takesMs: 525, before: ['/a', '/b'], during: [], line: 'event loop late by 500 ms: after request GET /b' },
  { name: 'no request at all', takesMs: 525, during: [], line: 'event loop late by 500 ms: no request' },
  {
    name: 'a long address',
    takesMs: 525,
    during: [`/${'x'.repeat(1000)}`],
    line: `event loop late by 500 ms: request GET /${'x'.repeat(195)}`,
  },
];
for (const { name, takesMs, before = [], during, line } of CASES)
  watching(name, () => {
    const { warnings, time, request, look } = opened();
    before.forEach(request);
    time.nowMs += PERIOD_MS;
    time.processorMs = 10;
    look();
    during.forEach(request);
    time.nowMs += takesMs;
    time.processorMs = 10 + takesMs / 5;
    look();
    assert.equal(
      warnings,
      line === undefined ? [] : [{ message: line, fields: { lateMs: takesMs - PERIOD_MS, busyMs: Math.round(takesMs / 5) } }],
    );
    time.nowMs += PERIOD_MS;
    look();
    assert.is(warnings.length, line === undefined ? 0 : 1);
  });

watching('without the processor time of a thread', () => {
  const { warnings, time, look } = opened();
  time.nowMs = 1025;
  time.processorMs = undefined;
  look();
  assert.equal(warnings, [{ message: 'event loop late by 1000 ms: no request', fields: { lateMs: 1000, busyMs: undefined } }]);
});

watching('the work of the watch itself does not count as late', () => {
  const { warnings, time, look } = opened();
  let clockMs = 0;
  // Each question to the clock takes longer than what is logged.
  const asked = { get: () => (clockMs += LATE_MS + 10) };
  Object.defineProperties(time, { nowMs: asked, processorMs: asked });
  for (let round = 0; round < 10; round++) look();
  assert.equal(warnings, []);
});

watching('0: there is no timer', () => assert.is(opened(0).periods(), 0));

watching('stops', () => {
  const { watch, isStopped } = opened();
  watch.stop();
  assert.ok(isStopped());
});

watching.run();
