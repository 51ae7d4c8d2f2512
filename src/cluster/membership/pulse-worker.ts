// Thread that renews leases and announcements while the event loop is busy.

import { parentPort, workerData } from 'node:worker_threads';
import { renewAnnouncements } from '../../metadata/announcements.js';
import { openSqlite } from '../../metadata/database.js';
import { renewLeases } from '../../metadata/leadership.js';
import { ALIVE_AT, type HeldLease, type PulseWorkerData, RENEWED_AT, type ToPulse } from './pulse.js';

/** The thread of a `Pulse`. */
const { file, session, heartbeatMs, expiryMs, stallMs, shared } = workerData as PulseWorkerData;
const signs = new Float64Array(shared);
const database = await openSqlite(file);
let leases: readonly HeldLease[] = [];
let running: Promise<void> = Promise.resolve();

const timer = setInterval(() => {
  running = running.then(renew).catch((error: unknown) => parentPort?.postMessage(`renewal failed: ${String(error)}`));
}, heartbeatMs);
parentPort?.on('message', (message: ToPulse) => {
  if (message.kind === 'leases') leases = message.leases;
  else void end();
});

async function renew(): Promise<void> {
  const nowMs = Date.now();
  if ((signs[ALIVE_AT] ?? 0) < nowMs - stallMs) return;
  await database.transaction(async (queries) => {
    await renewAnnouncements(queries, session, nowMs);
    await renewLeases(queries, leases, nowMs + expiryMs);
  });
  signs[RENEWED_AT] = nowMs;
}

async function end(): Promise<void> {
  clearInterval(timer);
  await running;
  await database.close();
  parentPort?.close();
}
