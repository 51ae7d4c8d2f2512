// Thread that renews leases and announcements while the event loop is busy.

import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '../../metadata/open-database.js';
import type { HeldLease } from './membership-store.js';
import { openMembership } from './open-membership.js';
import { ALIVE_AT, type PulseWorkerData, RENEWED_AT, type ToPulse } from './pulse.js';

/** The thread of a `Pulse`. */
const { settings, session, heartbeatMs, leaseMs, stallMs, shared } = workerData as PulseWorkerData;
const signs = new Float64Array(shared);
const database = await openDatabase(settings);
const store = openMembership(settings, database);
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
  await store.renew(session, leases, leaseMs);
  signs[RENEWED_AT] = store.now();
}

async function end(): Promise<void> {
  clearInterval(timer);
  await running;
  await store.disconnect();
  await database.close();
  parentPort?.close();
}
