#!/usr/bin/env node
// Runs kinesalite, a server of Kinesis in memory. Usage: node scripts/kinesis-server.mjs FOLDER PORT, FOLDER with its node_modules.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [folder = '.', port = '4567'] = process.argv.slice(2);
const require = createRequire(join(resolve(folder), 'package.json'));
const database = require('kinesalite/db');
const path = require.resolve('kinesalite/actions/getShardIterator');
const getShardIterator = require(path);

// It never answers a request for a time behind all records of a shard: there the end is what the request means.
require.cache[path].exports = (store, request, answer) => {
  if (request.ShardIteratorType !== 'AT_TIMESTAMP') return getShardIterator(store, request, answer);
  const shard = Number(/\d+$/.exec(request.ShardId)?.[0]);
  const range = { gt: database.shardIxToHex(shard), lt: database.shardIxToHex(shard + 1) };
  return database
    .lazy(store.getStreamDb(request.StreamName).createReadStream(range), answer)
    .filter(({ value }) => value.ApproximateArrivalTimestamp >= request.Timestamp)
    .join((later) =>
      getShardIterator(store, later.length > 0 ? request : { ...request, ShardIteratorType: 'LATEST', Timestamp: undefined }, answer),
    );
};

const milliseconds = { createStreamMs: 10, deleteStreamMs: 10, updateStreamMs: 10 };
require('kinesalite')({ ...milliseconds, shardLimit: 100 }).listen(Number(port), '127.0.0.1');
