import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { processorTime } from '../processor-time.js';

/*
 * node duckdb-load.js DATABASE THREADS LOADING CHECK: makes a table in a database file, and prints as JSON what that took and the
 * answer of the check. A process of its own: its memory is that of the load.
 */
const [file = '', threads = '1', loading = '', check = ''] = process.argv.slice(2);
const duckdb = await DuckDBInstance.create(file);
const connection = await duckdb.connect();
await connection.run(`SET threads = ${threads}`);
const [began, used] = [performance.now(), processorTime(process.pid)];
await connection.run(loading);
await connection.run('CHECKPOINT');
const seconds = (performance.now() - began) / 1000;
const processorSeconds = (processorTime(process.pid) - used) / 1e9;
const peakBytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
const [answer] = (await connection.runAndReadAll(check)).getRows();
console.log(JSON.stringify({ seconds, processorSeconds, peakBytes, answer: answer?.map(Number) }));
connection.closeSync();
duckdb.closeSync();
