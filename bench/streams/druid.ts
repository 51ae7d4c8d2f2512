import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { callJson } from '../server.js';
import type { Engine } from './engine.js';

const HERE = fileURLToPath(new URL('../../../bench/streams/druid', import.meta.url));
const JARS = path.join(process.env['DRUID_DIR'] ?? fileURLToPath(new URL('../../../build/druid-streams', import.meta.url)), 'lib');
const READY_WITHIN_MS = 180_000;

/** Packages of Java that Druid asks for on Java 17; a MiddleManager gives them to its tasks by itself. */
const JAVA_17 = [
  ...['jdk.internal.ref', 'jdk.internal.misc'].map((name) => `--add-exports=java.base/${name}=ALL-UNNAMED`),
  ...['java.lang', 'java.io', 'java.nio', 'jdk.internal.ref', 'sun.nio.ch'].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
  '--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED',
];
const LOG = `-Dlog4j.configurationFile=${path.join(HERE, 'log4j2.xml')}`;
const JAVA = ['-server', '-Duser.timezone=UTC', '-Dfile.encoding=UTF-8', '-XX:+ExitOnOutOfMemoryError', '-XX:+UseG1GC', LOG];
/** Options of a task's process. Druid's own configuration of servers of medium size has the same with 1 GB of heap. */
const TASK_JAVA = ['-Xms2g', '-Xmx2g', '-XX:MaxDirectMemorySize=1g', ...JAVA];
const TASK_PROCESSING = { 'buffer.sizeBytes': '100MiB', numThreads: '1', numMergeBuffers: '2' };

/** Druid that runs as processes of its own: ZooKeeper, a Coordinator that is Overlord as well, a MiddleManager, and a Peon for each task. */
export interface Druid extends Engine {
  stop(): Promise<void>;
}

/** Why Druid cannot be started here, or undefined when it can. */
export function whyNoDruid(): string | undefined {
  if (spawnSync('java', ['-version']).status !== 0) return 'there is no Java here';
  return existsSync(JARS) ? undefined : 'there are no jars of Druid: bench/streams/druid/fetch.sh fetches them';
}

/**
 * @param folder  where its files and logs lie
 * @throws Error with the end of its logs when it is not ready within three minutes
 */
export async function startDruid(folder: string): Promise<Druid> {
  const [zooKeeper, overlord, worker, derby, peon] = await freePorts(5);
  const processes: ChildProcess[] = [];
  const logs: string[] = [];
  const run = (name: string, args: readonly string[]): ChildProcess => {
    const file = path.join(folder, `${name}.log`);
    const log = openSync(file, 'w');
    const child = spawn('java', args, { cwd: folder, stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    processes.push(child);
    logs.push(file);
    return child;
  };
  const stop = async (): Promise<void> => {
    for (const child of processes.reverse()) await ended(child);
  };
  mkdirSync(path.join(folder, 'zookeeper'), { recursive: true });
  const common = {
    host: '127.0.0.1',
    bindOnHost: 'true',
    'extensions.loadList': '[]',
    'zk.service.host': `127.0.0.1:${zooKeeper}`,
    'metadata.storage.type': 'derby',
    'metadata.storage.connector.connectURI': `jdbc:derby://127.0.0.1:${derby}/${folder}/metadata;create=true`,
    'metadata.storage.connector.host': '127.0.0.1',
    'metadata.storage.connector.port': String(derby),
    'storage.type': 'local',
    'storage.storageDirectory': path.join(folder, 'segments'),
    'indexer.logs.type': 'file',
    'indexer.logs.directory': path.join(folder, 'task-logs'),
    'selectors.indexing.serviceName': 'druid/overlord',
    'selectors.coordinator.serviceName': 'druid/coordinator',
    'monitoring.monitors': '[]',
    'processing.buffer.sizeBytes': '10MiB',
    'processing.numThreads': '1',
    'processing.numMergeBuffers': '1',
  };
  const role = (name: string, heap: string, properties: Readonly<Record<string, string>>): ChildProcess => {
    const settings = Object.entries({ ...common, ...properties }).map(([key, value]) => `-Ddruid.${key}=${value}`);
    const temporary = path.join(folder, `${name}-temporary`);
    mkdirSync(temporary, { recursive: true });
    const memory = [`-Xmx${heap}`, '-XX:MaxDirectMemorySize=128m', `-Djava.io.tmpdir=${temporary}`];
    return run(name, [...memory, ...JAVA, ...JAVA_17, ...settings, '-cp', `${JARS}/*`, 'org.apache.druid.cli.Main', 'server', name]);
  };
  try {
    const settings = path.join(folder, 'zookeeper.cfg');
    const lines = ['tickTime=2000', `dataDir=${folder}/zookeeper`, `clientPort=${zooKeeper}`, 'clientPortAddress=127.0.0.1'];
    writeFileSync(settings, [...lines, 'admin.enableServer=false', ''].join('\n'));
    run('zookeeper', ['-Xmx128m', '-cp', `${JARS}/*`, 'org.apache.zookeeper.server.ZooKeeperServerMain', settings]);
    role('coordinator', '384m', {
      plaintextPort: String(overlord),
      service: 'druid/coordinator',
      'coordinator.asOverlord.enabled': 'true',
      'coordinator.asOverlord.overlordService': 'druid/overlord',
      'coordinator.startDelay': 'PT10S',
      'indexer.queue.startDelay': 'PT1S',
      'indexer.runner.type': 'httpRemote',
      'indexer.storage.type': 'metadata',
    });
    const middleManager = role('middleManager', '192m', {
      plaintextPort: String(worker),
      service: 'druid/middleManager',
      'worker.capacity': '1',
      'worker.baseTaskDirs': JSON.stringify([path.join(folder, 'tasks')]),
      'indexer.runner.ports': `[${peon}]`,
      'indexer.runner.javaOptsArray': JSON.stringify([...TASK_JAVA, `-Djava.io.tmpdir=${path.join(folder, 'tasks')}`]),
      ...Object.fromEntries(
        Object.entries(TASK_PROCESSING).map(([key, value]) => [`indexer.fork.property.druid.processing.${key}`, value]),
      ),
    });
    const url = `http://127.0.0.1:${overlord}`;
    await hasWorker(url, processes, logs);
    const broker = ({ host, port }: { readonly host: string; readonly port: number }) => `http://${host}:${port}`;
    return { word: 'druid', overlord: url, workerPid: middleManager.pid ?? 0, broker, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function hasWorker(overlord: string, processes: readonly ChildProcess[], logs: readonly string[]): Promise<void> {
  for (const untilMs = Date.now() + READY_WITHIN_MS; ; await wait(500)) {
    try {
      const workers = (await callJson('GET', `${overlord}/druid/indexer/v1/workers`)) as readonly unknown[];
      if (workers.length > 0) return;
    } catch {
      // It does not answer yet.
    }
    if (Date.now() < untilMs && processes.every(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) continue;
    throw new Error(`Druid was not ready:\n${logs.map((file) => `${file}\n${readFileSync(file, 'utf8').slice(-3000)}`).join('\n')}`);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const isEnded = child.exitCode !== null || child.signalCode !== null;
  const exited = isEnded ? undefined : new Promise<void>((resolve) => child.once('exit', () => resolve()));
  // A task may outlive the process that began it.
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  await exited;
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address === 'object' && address !== null) ports.push(address.port);
  }
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}
